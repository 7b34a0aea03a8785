// The contexts of the store.
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { changed, go, printPlace, type Place } from "../data/address";
import { forget, forgetOne, isOffline, url } from "../data/api";
import { ago, count, moment, plural, short } from "../data/format";
import { listen } from "../data/events";
import { useRead } from "../data/resource";
import type { Branch, ContextRow, Timeline } from "../data/wire";
import { Icon } from "../parts/icon";
import { KeyHelp, useKeys, type Key } from "../parts/keys";
import { More } from "../parts/more";
import { Empty, Loading, Refused } from "../parts/notice";
import { Bar } from "./bar";
import { attemptOf } from "./timeline";

const LIST = url(undefined, "contexts", { branches: true });

/** Contexts that are shown at first: the newest call of each is a request of its own. */
const CARDS = 100;

/** Moves the focus along the list. */
function move(by: number): void {
  const links = [...document.querySelectorAll<HTMLElement>(".cards a")];
  const now = links.findIndex((link) => link === document.activeElement);
  links[Math.max(0, Math.min(links.length - 1, now + by))]?.focus();
}

export function ContextsPage({ place }: { place: Place }) {
  const box = useRef<HTMLInputElement>(null);
  const [isHelp, setHelp] = useState(false);
  const keys: Key[] = [
    { keys: ["ArrowDown"], label: "next context", run: () => move(1) },
    { keys: ["ArrowUp"], label: "previous context", run: () => move(-1) },
    { keys: ["/"], label: "filter by name", run: () => box.current?.focus() },
    { keys: ["?"], label: "this list", run: () => setHelp(true) },
  ];
  useKeys(keys);
  return (
    <div class="page home-page">
      <Bar place={place} onHelp={() => setHelp(true)} />
      <Contexts place={place} box={box} />
      {isHelp && <KeyHelp keys={keys} hasTree={false} onClose={() => setHelp(false)} />}
    </div>
  );
}

function Contexts({ place, box }: { place: Place; box: RefObject<HTMLInputElement | null> }) {
  const [version, setVersion] = useState(0);
  const { value, problem } = useRead<{ contexts: ContextRow[]; branches?: Branch[] }>(LIST, version);
  const [now, setNow] = useState(Date.now());

  // Live: any change of any context, by any process.
  useEffect(() => {
    if (isOffline()) return;
    const again = () => {
      forget(undefined);
      setVersion((version) => version + 1);
    };
    const onOpen = () => {
      // From here on no change is missed; one may have been made since the list was read.
      forgetOne(LIST);
      setVersion((version) => version + 1);
    };
    const end = listen("v1/events", { on: { changed: again, deleted: again, reset: again }, onOpen });
    const tick = setInterval(() => setNow(Date.now()), 30_000);
    return () => {
      end();
      clearInterval(tick);
    };
  }, []);

  const shown = useMemo(() => {
    const wanted = (place.q ?? "").toLowerCase();
    const all = value?.contexts ?? [];
    return grouped(all.filter((row) => row.name.toLowerCase().includes(wanted)).sort((a, b) => b.updated_ns - a.updated_ns), value?.branches ?? []);
  }, [value, place.q]);

  if (problem !== undefined) return <Refused problem={problem} />;
  if (value === undefined) return <Loading what="the contexts" />;
  return (
    <main class="contexts">
      <header>
        <h1>Contexts</h1>
        <label class="search">
          <Icon name="search" />
          <input
            ref={box}
            type="search"
            placeholder="Filter by name"
            aria-label="Filter contexts by name"
            value={place.q ?? ""}
            onInput={(event) => go(changed(place, { q: event.currentTarget.value || undefined }), true)}
          />
        </label>
        <span class="small" role="status">
          {shown.length === value.contexts.length ? plural(shown.length, "context") : `${count(shown.length)} of ${plural(value.contexts.length, "context")}`}
        </span>
        {!isOffline() && (
          <a class="quiet" href={LIST} title="The contexts as JSON" aria-label="The contexts as JSON">
            <Icon name="json" />
          </a>
        )}
      </header>
      {value.contexts.length === 0 && (
        <Empty title="No context yet">
          <p>Import a log, or add a message, and this page shows it at once:</p>
          <pre>ctx import ~/.claude/projects/…/session.jsonl --as main</pre>
        </Empty>
      )}
      <ul class="cards">
        <More items={shown} step={CARDS} noun="context">
          {({ row, cycle, rails, isOrigin }) => (
          <li key={row.name}>
            <Rails rails={rails} isOrigin={isOrigin} />
            <a href={printPlace({ context: row.name, view: "tree" })}>
              <span class="title">
                <span class="name">{row.name}</span>
                {rails.length > 0 && <span class="small">{cycle === 0 ? "from the beginning" : `from call ${cycle}`}</span>}
              </span>
              <span class="facts">
                <LastCall name={row.snapshots > 0 ? row.name : undefined} version={row.revision} />
                <span class="number">{plural(row.snapshots, "call")}</span>
                {row.head !== null && <code title={row.head.digest}>{row.head.digest.replace(/^sha256:/, "").slice(0, 8)}</code>}
              </span>
              <time class="when" title={moment(row.updated_ns)}>{ago(row.updated_ns, now)}</time>
            </a>
          </li>
          )}
        </More>
      </ul>
    </main>
  );
}

/** The size and the model of the newest call. */
function LastCall({ name, version }: { name: string | undefined; version: number }) {
  const { value } = useRead<Timeline>(name === undefined ? undefined : url(name, "timeline", { limit: 1 }), version);
  const call = value?.calls.at(-1);
  const attempt = call === undefined ? undefined : attemptOf(call);
  // Each fact has its column, also where there is none.
  return (
    <>
      <span class="model">{attempt?.answered_by ?? attempt?.model}</span>
      <span class="number" title="tokens of the newest call">{attempt?.token_in != null && `${short(attempt.token_in)} tokens`}</span>
      <span class="number">{call !== undefined && plural(call.nodes, "node")}</span>
    </>
  );
}

/** What is drawn left of a branch, in a column for each context that it descends from. */
type Rail = "line" | "blank" | "tee" | "elbow";

interface Placed {
  row: ContextRow;
  cycle: number;
  rails: Rail[];
  /** Others were forked from it. */
  isOrigin: boolean;
}

/** The graph of the branches: a dot for each context, and lines from the one that it was forked from. */
function Rails({ rails, isOrigin }: { rails: Rail[]; isOrigin: boolean }) {
  return (
    <span class="rails" aria-hidden="true">
      {rails.map((rail, index) => (
        <span key={index} class={`rail ${rail}`} />
      ))}
      <span class="rail dot" data-origin={isOrigin} data-branch={rails.length > 0} />
    </span>
  );
}

/** Puts each branch after the context that it was forked from. Those that a filter left without it are on their own. */
function grouped(rows: ContextRow[], branches: Branch[]): Placed[] {
  const origin = new Map(branches.map((branch) => [branch.context, branch]));
  const names = new Set(rows.map((row) => row.name));
  const below = new Map<string | undefined, ContextRow[]>();
  for (const row of rows) {
    const from = origin.get(row.name)?.from;
    const parent = from != null && names.has(from) ? from : undefined;
    const siblings = below.get(parent);
    if (siblings === undefined) below.set(parent, [row]);
    else siblings.push(row);
  }
  const placed: Placed[] = [];
  const place = (row: ContextRow, rails: Rail[]) => {
    const children = below.get(row.name) ?? [];
    placed.push({ row, cycle: origin.get(row.name)?.cycle ?? 0, rails, isOrigin: children.length > 0 });
    const passed = rails.map((rail): Rail => (rail === "tee" || rail === "line" ? "line" : "blank"));
    children.forEach((child, index) => place(child, [...passed, index + 1 < children.length ? "tee" : "elbow"]));
  };
  for (const row of below.get(undefined) ?? []) place(row, []);
  return placed;
}
