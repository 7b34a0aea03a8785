// The keys of the page, and the list of them.
import { useEffect, useRef } from "preact/hooks";

export interface Key {
  keys: string[];
  label: string;
  run: () => void;
}

/** Runs what a key is for, unless the user is typing. */
export function useKeys(keys: Key[]): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      // A dialog has keys of its own.
      if (document.querySelector("dialog[open]") !== null) return;
      const { target } = event;
      if (target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]")) {
        if (event.key === "Escape") target.blur();
        return;
      }
      const found = current.current.find((key) => key.keys.includes(event.key));
      if (found === undefined) return;
      event.preventDefault();
      found.run();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

/** How keys are shown whose name is long. */
const SIGNS: Record<string, string> = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc" };

const TREE: [string, string][] = [
  ["↑ ↓", "row up, row down"],
  ["← →", "close or open a row; Alt with everything below"],
  ["Home End", "first row, last row"],
  ["Enter", "show the node"],
];

/** Lists the keys; those of the tree as well, where there is one. */
export function KeyHelp({ keys, hasTree = true, onClose }: { keys: Key[]; hasTree?: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={onClose} onClick={(event) => event.target === dialog.current && dialog.current?.close()}>
      <h2 id="help-title">Keys</h2>
      <dl>
        {keys.map((key) => (
          <div key={key.label}>
            <dt>
              {key.keys.map((one) => (
                <kbd key={one}>{SIGNS[one] ?? one}</kbd>
              ))}
            </dt>
            <dd>{key.label}</dd>
          </div>
        ))}
        {hasTree && <div class="part">In the tree</div>}
        {(hasTree ? TREE : []).map(([keys, label]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button>Close</button>
      </form>
    </dialog>
  );
}
