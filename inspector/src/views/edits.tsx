// Changes of a node: each is shown before it is made, confirmed, and can be taken back, except for a redaction.
import { useEffect, useState } from "preact/hooks";
import { changed, go, type Place } from "../data/address";
import { call, dryRun, forget, post, Problem, read, url } from "../data/api";
import { plural } from "../data/format";
import { asProblem, useRead } from "../data/resource";
import type { Session } from "../data/session";
import type { ContextRow, Node, Redacted } from "../data/wire";
import { Confirm } from "../parts/confirm";
import { tell } from "../parts/done";
import { Refused } from "../parts/notice";
import { Redact } from "./redact";

/** Who sets priorities, as the history names it. */
const POLICY = "inspector";

interface Props {
  context: string;
  place: Place;
  at: string;
  id: string;
  /** The node is not in the state that is shown, but in the one before: nothing but its content is left to change. */
  isRemoved: boolean;
  hasContent: boolean;
  session: Session;
  version: number;
  /** Reads the context again. */
  onChange: () => void;
}

type Question = "pin" | "priority" | "prune" | "fork" | "redact";

export function Edits({ context, place, at, id, isRemoved, hasContent, session, version, onChange }: Props) {
  // What is edited is the node in the working state, whatever state is shown.
  const working = useRead<{ found: { nodes?: Node[] } }>(isRemoved ? undefined : url(context, "select", { selector: `[id='${id}']` }), version);
  const [asked, setAsked] = useState<Question>();
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => setProblem(undefined), [id]);
  const close = () => setAsked(undefined);
  const node = working.value?.found.nodes?.find((node) => node.id === id);
  // A sealed node keeps its header; what was set after that counts.
  const isPinned = (node?.derived.pinned ?? node?.pinned) === true;
  const before = Number(node?.derived.priority ?? node?.priority ?? 0);
  const change = (command: string, request: object) => post(context, command, request).then(() => {
      forget(context);
      onChange();
    });
  const pin = (to: boolean) => change(to ? "pin" : "unpin", { targets: [id] });
  const rank = (priority: number) =>
    change("apply", { operations: { name: "inspector", text: JSON.stringify({ op: "set_priority", node: id, priority, policy: POLICY }) } });
  /** Makes a change; `done` says what it was, and how to take it back. */
  const run = (work: Promise<unknown>, done: () => void | Promise<void>) => {
    close();
    work.then(() => {
      setProblem(undefined);
      return done();
    }).catch((error: unknown) => setProblem(asProblem(error)));
  };
  const prune = (text: string) =>
    run(change("remove", { targets: [id] }), async () => {
      const mine = await newest(context);
      go(changed(place, { at: "@", node: undefined }));
      tell({ text, undo: () => undo(context, mine) });
    });
  const fork = (name: string) =>
    run(post(context, "fork", { name, at }), async () => {
      forget(undefined);
      const made = await revision(name);
      go(changed({ view: "tree" }, { context: name, at: "@", node: place.node }));
      // Only an administrator may delete a context.
      tell({ text: `Forked ${name}.`, undo: session.right === "admin" ? () => unfork(name, made, changed(place, {})) : undefined });
    });
  const redact = (reason: string) =>
    run(
      post<Redacted>(context, "redact", { target: id, ...(reason === "" ? {} : { reason }) }).then(({ copies, elsewhere }) => {
        forget(undefined);
        onChange();
        const left = elsewhere.length > 0 ? ` It is also in ${plural(elsewhere.length, "side record")}, which stay as they are: ${elsewhere.slice(0, 3).join(", ")}.` : "";
        tell({ text: `Redacted ${plural(copies, "stored copy", "stored copies")} for good.${left}` });
      }),
      () => {},
    );
  const isContent = node !== undefined && !["root", "region"].includes(node.derived.class);
  const mayRedact = session.right === "admin" && session.prefixes === null && hasContent;
  if (isRemoved && !mayRedact) return null;
  return (
    <div class="edits">
      <div class="choices" role="group" aria-label="Change this node">
        {isContent && <button onClick={() => setAsked("pin")}>{isPinned ? "Unpin" : "Pin"}</button>}
        {isContent && <button onClick={() => setAsked("priority")}>Priority</button>}
        {isContent && <button onClick={() => setAsked("prune")}>Prune</button>}
        {!isRemoved && <button onClick={() => setAsked("fork")}>Fork</button>}
        {mayRedact && <button class="final" onClick={() => setAsked("redact")}>Redact</button>}
      </div>
      {problem !== undefined && <Refused problem={problem} />}
      {asked === "pin" && (
        <Confirm title={isPinned ? "Unpin this node?" : "Pin this node?"} action={isPinned ? "Unpin" : "Pin"} onClose={close}
          onConfirm={() => run(pin(!isPinned), () => tell({ text: isPinned ? "Unpinned." : "Pinned.", undo: () => pin(isPinned) }))}>
          <p>{isPinned ? "Budgets may prune it again." : "No budget prunes it."} Only the working state changes; calls that were made stay as they are.</p>
        </Confirm>
      )}
      {asked === "priority" && (
        <Priority before={before} onClose={close}
          onConfirm={(priority) => run(rank(priority), () => tell({ text: `Priority ${priority}, it was ${before}.`, undo: () => rank(before) }))} />
      )}
      {asked === "prune" && <Prune context={context} node={id} onClose={close} onConfirm={prune} />}
      {asked === "fork" && <Fork context={context} at={at} onClose={close} onConfirm={fork} />}
      {asked === "redact" && <Redact context={context} node={id} onClose={close} onConfirm={redact} />}
    </div>
  );
}

interface Operations {
  operations: { operation: number; command: string }[];
}

/** Returns the number of the newest operation of a context. */
async function newest(context: string): Promise<number | undefined> {
  forget(context);
  const { operations } = await read<Operations>(url(context, "operations", { limit: 1 }));
  return operations[0]?.operation;
}

/** Undoes an operation, unless something else was done after it. */
async function undo(context: string, operation: number | undefined): Promise<void> {
  if (operation === undefined || (await newest(context)) !== operation) {
    throw new Problem(409, "E_CONFLICT", "The context was changed since then; `ctx undo` goes back step by step.", {}, undefined);
  }
  await post(context, "undo", {});
  forget(context);
}

async function revision(name: string): Promise<number | undefined> {
  forget(undefined);
  const { contexts } = await read<{ contexts: ContextRow[] }>(url(undefined, "contexts"));
  return contexts.find((row) => row.name === name)?.revision;
}

/** Deletes a fork that no one has used yet, and goes back to where it was made. */
async function unfork(name: string, made: number | undefined, back: Place): Promise<void> {
  if (made === undefined || (await revision(name)) !== made) {
    throw new Problem(409, "E_CONFLICT", `${name} was changed since then; \`ctx delete\` deletes it.`, {}, undefined);
  }
  await call("delete", { name });
  forget(undefined);
  go(back);
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
