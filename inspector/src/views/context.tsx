// A context: its calls on the left, what is chosen of the current one in the middle, the chosen node on the right.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { changed, go, printPlace, VIEWS, type Place, type View } from "../data/address";
import { forget, isOffline, url, type Problem } from "../data/api";
import { listen } from "../data/events";
import { asProblem, useRead } from "../data/resource";
import type { CacheResponse, CacheStep, Timeline } from "../data/wire";
import { KeyHelp, useKeys, type Key } from "../parts/keys";
import { Empty, Loading, Refused } from "../parts/notice";
import { useSearch } from "../data/search";
import { Bar } from "./bar";
import { BudgetView } from "./budget";
import { CacheView, prices } from "./cache";
import { DiffView } from "./diff";
import { NodePanel } from "./node";
import { RequestView } from "./request";
import { useRequest } from "./request-data";
import { StateHead } from "./state";
import { attemptOf, billedInput, TimelineView } from "./timeline";
import { TreeModel } from "./tree/model";
import { voice } from "./tree/row";
import { Tree } from "./tree/tree";

const TITLES: Record<View, string> = { tree: "Tree", request: "Request", diff: "Diff", budget: "Budget", cache: "Cache" };

/** How many calls the timeline has at first, and how many more each time. */
const CALLS = 400;
/** How many calls of a longer history the report on the cache has: each request is rendered for it. */
const CACHED = 20;

export function ContextPage({ place, context }: { place: Place; context: string }) {
  const [version, setVersion] = useState(0);
  const [live, setLive] = useState(false);
  useEffect(() => isOffline() ? undefined : follow(context, setLive, () => setVersion((version) => version + 1)), [context]);
  const [calls, setCalls] = useState(CALLS);
  const timeline = useRead<Timeline>(url(context, "timeline", { limit: calls }), version);
  if (timeline.value === undefined) {
    return (
      <div class="page home-page">
        <Bar place={place} context={context} live={live} />
        <main>{timeline.problem === undefined ? <Loading what={context} /> : <Missing problem={timeline.problem} context={context} />}</main>
      </div>
    );
  }
  const onChange = () => setVersion((version) => version + 1);
  return <Loaded place={place} context={context} timeline={timeline.value} version={version} live={live} onChange={onChange} onMore={() => setCalls(calls + CALLS)} />;
}

/** What is shown if the context cannot be read. */
function Missing({ problem, context }: { problem: Problem; context: string }) {
  if (problem.code !== "E_CONTEXT_NOT_FOUND") return <Refused problem={problem} />;
  return (
    <Empty title={`There is no context ${context}`}>
      <p>
        It was deleted or renamed, or its name is written differently. <a href="#/">All contexts</a>
      </p>
    </Empty>
  );
}

/** Listens to changes of the context, by any process. The first event of a connection says what is known already. */
function follow(context: string, setLive: (live: boolean) => void, onChange: () => void): () => void {
  let seen: string | undefined;
  return listen(url(context, "events"), {
    onOpen: () => setLive(true),
    onLost: () => setLive(false),
    on: {
      changed: ({ lastEventId }) => {
        if (seen !== undefined && seen !== lastEventId) {
          forget(context);
          onChange();
        }
        seen = lastEventId;
      },
      deleted: () => {
        setLive(false);
        forget(context);
        onChange();
        return false;
      },
    },
  });
}

interface LoadedProps {
  place: Place;
  context: string;
  timeline: Timeline;
  version: number;
  live: boolean;
  onChange: () => void;
  /** Reads older calls as well. */
  onMore: () => void;
}

function Loaded({ place, context, timeline, version, live, onChange, onMore }: LoadedProps) {
  const at = stateOf(place.at, timeline);
  const against = place.against === "none" ? undefined : (place.against ?? stateBefore(at, timeline));
  const model = place.model ?? timeline.tokenizer;
  const provider = place.provider ?? timeline.provider;
  const call = timeline.calls.find((call) => at === `@c${call.cycle}`);

  const tree = useTree(context, at, against, model, version);
  const search = useSearch(context, place.q, { at, against }, tree.model?.first, version);
  const ready = tree.model !== undefined;
  const cache = useRead<CacheResponse>(ready && provider !== undefined && timeline.calls.length > 0 ? url(context, "cache", { format: provider, limit: timeline.left_out > 0 ? CACHED : undefined, prices: place.view === "cache" ? prices() : undefined }) : undefined, version);
  const steps = useMemo(() => byCycle(cache.value), [cache.value]);
  const isRequestWanted = ready && (place.node !== undefined || place.view === "request");
  const request = useRequest({ context, at, call, chosen: place.provider, known: timeline.provider, isWanted: isRequestWanted, version });
  const span = request.value?.spans?.find((span) => span.node === place.node);
  const [mark, setMark] = useState("same");
  const isRemoved = mark === "removed" && against !== undefined;

  const [fold, setFold] = useState({ turn: 0, close: false });
  const [isHelp, setHelp] = useState(false);
  const box = useRef<HTMLInputElement>(null);
  const step = (by: number) => {
    const states = [...timeline.calls.filter((call) => call.committed).map((call) => `@c${call.cycle}`), "@"];
    const next = states[Math.max(0, Math.min(states.length - 1, states.indexOf(at) + by))];
    go(changed(place, { at: next, against: undefined }));
  };
  const keys: Key[] = [
    { keys: ["["], label: "previous call", run: () => step(-1) },
    { keys: ["]"], label: "next call", run: () => step(1) },
    { keys: ["/"], label: "search", run: () => box.current?.focus() },
    ...VIEWS.map((view, index): Key => ({ keys: [String(index + 1)], label: TITLES[view], run: () => go(changed(place, { view })) })),
    { keys: ["e"], label: "one line a turn, or everything", run: () => setFold(({ turn, close }) => ({ turn: turn + 1, close: !close })) },
    { keys: ["r"], label: "raw or formatted", run: () => go(changed(place, { raw: place.raw ? undefined : true }), true) },
    { keys: ["c"], label: "compare with the call before, or with nothing", run: () => go(changed(place, { against: place.against === "none" ? undefined : "none" }), true) },
    { keys: ["Escape"], label: "close the node", run: () => go(changed(place, { node: undefined })) },
    { keys: ["?"], label: "this list", run: () => setHelp(true) },
  ];
  useKeys(keys);

  return (
    <div class="page" data-node={place.node !== undefined}>
      <Bar place={place} context={context} live={live} search={search} box={box} onHelp={() => setHelp(true)} />
      <TimelineView timeline={timeline} place={place} current={at} steps={steps} onMore={onMore} />
      <main class="middle">
        <StateHead place={place} context={context} at={at} against={against} call={call} timeline={timeline} step={call === undefined ? undefined : steps.get(call.cycle)} model={tree.model} />
        <nav class="tabs" aria-label="Views">
          {VIEWS.map((view) => (
            <a key={view} href={printPlace(changed(place, { view }))} aria-current={place.view === view ? "page" : undefined}>
              {TITLES[view]}
            </a>
          ))}
        </nav>
        {place.view === "tree" && (
          <TreePart tree={tree} place={place} hits={search.positions} fold={fold} onMark={setMark} />
        )}
        {place.view === "request" && (
          <RequestView place={place} context={context} at={at} resource={request} attempt={call === undefined ? undefined : attemptOf(call)} voiceOf={(id) => voice(tree.model?.peek(id) ?? {})} />
        )}
        {place.view === "diff" && <DiffView place={place} context={context} at={at} against={against} provider={timeline.provider} version={version} />}
        {place.view === "budget" && <BudgetView place={place} context={context} at={at} model={model} tree={tree.model} billed={call === undefined ? undefined : billedInput(attemptOf(call))} isLogged={call !== undefined && attemptOf(call)?.input === undefined} version={version} />}
        {place.view === "cache" && <CacheView place={place} context={context} provider={provider} timeline={timeline} cache={cache} at={at} />}
      </main>
      {place.node !== undefined && (
        <NodePanel
          context={context}
          place={place}
          at={isRemoved && against !== undefined ? against : at}
          isRemoved={isRemoved}
          model={model}
          span={span}
          requestBytes={request.value?.request.length}
          version={version}
          onChange={onChange}
        />
      )}
      {isHelp && <KeyHelp keys={keys} onClose={() => setHelp(false)} />}
    </div>
  );
}

interface TreePartProps {
  tree: { model?: TreeModel; problem?: Problem };
  place: Place;
  hits: number[] | undefined;
  fold: { turn: number; close: boolean };
  onMark: (mark: string) => void;
}

function TreePart({ tree, place, hits, fold, onMark }: TreePartProps) {
  const { model, problem } = tree;
  if (problem !== undefined) return <Refused problem={problem} />;
  if (model === undefined) return <Loading what="the tree" />;
  // The root and its regions.
  if (model.total <= 4) {
    return (
      <Empty title="Nothing here yet">
        <p>This state has no nodes besides its regions.</p>
      </Empty>
    );
  }
  const select = (id: string, mark: string) => {
    onMark(mark);
    go(changed(place, { node: id }), place.node !== undefined);
  };
  return <Tree model={model} node={place.node} hits={hits} fold={fold} onSelect={select} />;
}

/** Returns a state by the name that never changes its meaning: `@c12`, or `@`. */
function stateOf(at: string | undefined, timeline: Timeline): string {
  const cycles = timeline.calls.filter((call) => call.committed).map((call) => call.cycle);
  if (at === undefined || at === "@t0") return cycles.length > 0 ? `@c${cycles.at(-1)}` : "@";
  const back = /^@t-(\d+)$/.exec(at);
  if (back !== null) return `@c${cycles.at(-1 - Number(back[1])) ?? 0}`;
  return /^\d+$/.test(at) ? `@c${at}` : at;
}

function stateBefore(at: string, timeline: Timeline): string | undefined {
  const cycles = timeline.calls.filter((call) => call.committed).map((call) => call.cycle);
  const before = at === "@" ? cycles.at(-1) : cycles.filter((cycle) => cycle < Number(at.slice(2))).at(-1);
  // Older than the timeline.
  if (before === undefined && timeline.left_out > 0 && at !== "@") return `@c${Number(at.slice(2)) - 1}`;
  return before === undefined ? undefined : `@c${before}`;
}

/** Reads the tree of a state; the last one stays until the next is there. */
function useTree(context: string, at: string, against: string | undefined, model: string, version: number) {
  const [loaded, setLoaded] = useState<{ model?: TreeModel; problem?: Problem }>({});
  const turn = useRef(0);
  useEffect(() => {
    const mine = ++turn.current;
    const show = (model: TreeModel) => mine === turn.current && setLoaded({ model });
    TreeModel.load(context, { at, against, model }, show).then(
      show,
      (error: unknown) => mine === turn.current && setLoaded({ problem: asProblem(error) }),
    );
  }, [context, at, against, model, version]);
  return loaded;
}

function byCycle(cache: CacheResponse | undefined): Map<number, CacheStep> {
  const steps = new Map<number, CacheStep>();
  for (const step of cache?.calls ?? []) {
    if (step.cycle !== null) steps.set(step.cycle, step);
  }
  return steps;
}
