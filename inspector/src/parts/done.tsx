// What was changed last, and the way back. It outlives the view that made the change: a node that was pruned has no panel any more.
import { useEffect, useState } from "preact/hooks";
import type { Problem } from "../data/api";
import { asProblem } from "../data/resource";
import { Icon } from "./icon";

export interface Done {
  text: string;
  /** Takes the change back; absent if that is not possible. */
  undo?: (() => Promise<unknown>) | undefined;
}

type Shown = Done & { problem?: Problem };

let shown: Shown | undefined;
const listeners = new Set<() => void>();

/** Says what was done. The last one replaces the one before. */
export function tell(done: Shown | undefined): void {
  shown = done;
  for (const listener of listeners) listener();
}

export function DoneBar() {
  const [, redraw] = useState(0);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    const listener = () => redraw((turn) => turn + 1);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, []);
  const undo = () => {
    const wanted = shown?.undo;
    if (wanted === undefined || isBusy) return;
    setBusy(true);
    wanted().then(
      () => tell({ text: "Taken back." }),
      (error: unknown) => tell({ text: "It could not be taken back.", problem: asProblem(error) }),
    ).finally(() => setBusy(false));
  };
  return (
    <div class="done-place" role="status">
      {shown !== undefined && (
        <p class="done" data-failed={shown.problem !== undefined}>
          <span>
            {shown.text}
            {shown.problem !== undefined && <span class="small"> {shown.problem.message}</span>}
          </span>
          {shown.undo !== undefined && (
            <button class="undo" disabled={isBusy} onClick={undo}>
              Undo
            </button>
          )}
          <button class="quiet" aria-label="Dismiss" onClick={() => tell(undefined)}>
            <Icon name="close" />
          </button>
        </p>
      )}
    </div>
  );
}
