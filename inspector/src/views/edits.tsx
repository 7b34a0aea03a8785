// Changes of the working state: each is shown before it is made, confirmed, and can be taken back where that is possible.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { changed, go, type Place } from "../data/address";
import { dryRun, forget, post, url, type Problem } from "../data/api";
import { plural } from "../data/format";
import { asProblem, useRead } from "../data/resource";
import type { Node } from "../data/wire";
import { Refused } from "../parts/notice";

/** Who sets priorities, as the history names it. */
const POLICY = "inspector";

interface Done {
  text: string;
  undo?: () => Promise<unknown>;
}

interface Props {
  context: string;
  place: Place;
  at: string;
  id: string;
  version: number;
}

export function Edits({ context, place, at, id, version }: Props) {
  // What is edited is the node in the working state, whatever state is shown.
  const working = useRead<{ found: { nodes?: Node[] } }>(url(context, "select", { selector: `[id='${id}']` }), version);
  const [asked, setAsked] = useState<"pin" | "priority" | "prune" | "fork">();
  const [done, setDone] = useState<Done>();
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => {
    setDone(undefined);
    setProblem(undefined);
  }, [id]);
  const node = working.value?.found.nodes?.find((node) => node.id === id);
  // A sealed node keeps its header; what was set after that counts.
  const isPinned = (node?.derived.pinned ?? node?.pinned) === true;
  const before = Number(node?.derived.priority ?? node?.priority ?? 0);
  const pin = (to: boolean) => post(context, to ? "pin" : "unpin", { targets: [id] });
  const rank = (priority: number) =>
    post(context, "apply", { operations: { name: "inspector", text: JSON.stringify({ op: "set_priority", node: id, priority, policy: POLICY }) } });
  const run = (work: () => Promise<unknown>, done: Done) => {
    setAsked(undefined);
    work().then(
      () => {
        forget(context);
        setProblem(undefined);
        setDone(done);
      },
      (error: unknown) => setProblem(asProblem(error)),
    );
  };
  const isContent = node !== undefined && !["root", "region"].includes(node.derived.class);
  return (
    <div class="edits">
      <div class="choices" role="group" aria-label="Change the working state">
        {isContent && <button onClick={() => setAsked("pin")}>{isPinned ? "Unpin" : "Pin"}</button>}
        {isContent && <button onClick={() => setAsked("priority")}>Priority</button>}
        {isContent && <button onClick={() => setAsked("prune")}>Prune</button>}
        <button onClick={() => setAsked("fork")}>Fork</button>
      </div>
      {done !== undefined && (
        <p class="done" role="status">
          {done.text}{" "}
          {done.undo !== undefined && (
            <button class="link" onClick={() => run(done.undo ?? (() => Promise.resolve()), { text: "Taken back." })}>
              Undo
            </button>
          )}
        </p>
      )}
      {problem !== undefined && <Refused problem={problem} />}
      {asked === "pin" && (
        <Confirm title={isPinned ? "Unpin this node?" : "Pin this node?"} action={isPinned ? "Unpin" : "Pin"} onClose={() => setAsked(undefined)}
          onConfirm={() => run(() => pin(!isPinned), { text: isPinned ? "Unpinned." : "Pinned.", undo: () => pin(isPinned) })}>
          <p>{isPinned ? "Budgets may prune it again." : "No budget prunes it."} Only the working state changes; calls that were made stay as they are.</p>
        </Confirm>
      )}
      {asked === "priority" && (
        <Priority before={before} onClose={() => setAsked(undefined)}
          onConfirm={(priority) => run(() => rank(priority), { text: `Priority ${priority}, it was ${before}.`, undo: () => rank(before) })} />
      )}
      {asked === "prune" && <Prune context={context} node={id} onClose={() => setAsked(undefined)} onConfirm={(text) => run(() => post(context, "remove", { targets: [id] }).then(() => go(changed(place, { at: "@", node: undefined }))), { text })} />}
      {asked === "fork" && (
        <Fork context={context} at={at} onClose={() => setAsked(undefined)}
          onConfirm={(name) => {
            setAsked(undefined);
            post(context, "fork", { name, at }).then(
              () => go(changed({ view: "tree" }, { context: name, at: "@", node: place.node })),
              (error: unknown) => setProblem(asProblem(error)),
            );
          }} />
      )}
    </div>
  );
}

interface ConfirmProps {
  title: string;
  action: string;
  isReady?: boolean;
  children: ComponentChildren;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before a change. Escape and a click beside the dialog change nothing. */
function Confirm({ title, action, isReady = true, children, onConfirm, onClose }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    if (isReady) onConfirm();
  };
  return (
    <dialog ref={dialog} class="confirm" aria-labelledby="confirm-title" onClose={onClose} onClick={(event) => event.target === dialog.current && dialog.current?.close()}>
      <form onSubmit={submit}>
        <h2 id="confirm-title">{title}</h2>
        {children}
        <p class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>Cancel</button>
          <button class="strong" disabled={!isReady}>{action}</button>
        </p>
      </form>
    </dialog>
  );
}

function Priority({ before, onConfirm, onClose }: { before: number; onConfirm: (priority: number) => void; onClose: () => void }) {
  const [text, setText] = useState(String(before));
  const priority = Number(text);
  return (
    <Confirm title="Change the priority?" action="Change" isReady={Number.isInteger(priority) && text.trim() !== "" && priority !== before} onConfirm={() => onConfirm(priority)} onClose={onClose}>
      <label>
        Priority <input type="number" step="1" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <p class="small">It is {before}. Budgets prune the lowest priority first.</p>
    </Confirm>
  );
}

/** Shows what the removal takes along, before it is made. */
function Prune({ context, node, onConfirm, onClose }: { context: string; node: string; onConfirm: (text: string) => void; onClose: () => void }) {
  const [tried, setTried] = useState<{ removed?: string[]; problem?: Problem }>({});
  useEffect(() => {
    dryRun<{ removed: string[] }>(context, "remove", { targets: [node] }).then(
      ({ removed }) => setTried({ removed }),
      (error: unknown) => setTried({ problem: asProblem(error) }),
    );
  }, [context, node]);
  const { removed, problem } = tried;
  return (
    <Confirm title="Prune this node?" action="Prune" isReady={removed !== undefined} onConfirm={() => onConfirm(`Removed ${plural(removed?.length ?? 0, "node")}; snapshots keep them.`)} onClose={onClose}>
      {problem !== undefined && <Refused problem={problem} />}
      {removed === undefined && problem === undefined && <p role="status">Asking what it would remove …</p>}
      {removed !== undefined && (
        <>
          <p>{plural(removed.length, "node")} would be removed from the working state. Calls that were made keep them.</p>
          <ul class="ids">
            {removed.slice(0, 8).map((id) => (
              <li key={id}>{id}</li>
            ))}
            {removed.length > 8 && <li>and {plural(removed.length - 8, "more node")}</li>}
          </ul>
        </>
      )}
    </Confirm>
  );
}

function Fork({ context, at, onConfirm, onClose }: { context: string; at: string; onConfirm: (name: string) => void; onClose: () => void }) {
  const [name, setName] = useState(`${context}/fork`);
  const from = at === "@" ? "the working state" : `call ${at.slice(2)}`;
  return (
    <Confirm title={`Fork from ${from}?`} action="Fork" isReady={name.trim() !== "" && name !== context} onConfirm={() => onConfirm(name.trim())} onClose={onClose}>
      <label>
        Name of the new context <input value={name} spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <p class="small">It begins with {from} and shares the past. {context} stays as it is.</p>
    </Confirm>
  );
}
