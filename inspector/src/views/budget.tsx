// Where the tokens are, and what a budget would remove before it does.
import { useEffect, useMemo, useState } from "preact/hooks";
import { changed, go, printPlace, type Place } from "../data/address";
import { dryRun, isOffline, url, type Problem } from "../data/api";
import { count, percent, plural, short } from "../data/format";
import { asProblem, useRead } from "../data/resource";
import type { BudgetResponse, CommitResponse, TokensResponse } from "../data/wire";
import { Icon } from "../parts/icon";
import { More } from "../parts/more";
import { Loading, Refused } from "../parts/notice";
import { Prose } from "../parts/prose";
import type { TreeModel } from "./tree/model";
import { rowName } from "./tree/row";

interface Props {
  place: Place;
  context: string;
  at: string;
  model: string;
  tree: TreeModel | undefined;
  /** Input tokens that the provider billed for this call. */
  billed: number | undefined;
  /** The call is known from a log, not from its bytes. */
  isLogged: boolean;
  version: number;
}

/** Nodes of a what-if that are shown at first. */
const GOING = 200;

interface Part {
  name: string;
  tokens: number;
  voice: string;
}

export function BudgetView({ place, context, at, model, tree, billed, isLogged, version }: Props) {
  const twin = url(context, "tokens", { at, model, by: "region" });
  const byRegion = useRead<TokensResponse>(twin, version);
  const byKind = useRead<TokensResponse>(url(context, "tokens", { at, model, by: "kind" }), version);
  const stored = useRead<BudgetResponse>(isOffline() ? undefined : url(context, "budget"), version);
  const problem = byRegion.problem ?? byKind.problem;
  if (problem !== undefined) {
    return (
      <div class="report budget">
        <Counter place={place} model={model} />
        <Refused problem={problem} />
      </div>
    );
  }
  if (byRegion.value === undefined || byKind.value === undefined) return <Loading what="the tokens" />;
  const regions = byRegion.value.counts[0];
  const kinds = byKind.value.counts[0];
  if (regions === undefined || kinds === undefined) return <Loading what="the tokens" />;
  const parts = partsOf(regions.groups, kinds.groups);
  const missing = (billed ?? 0) - regions.tokens;
  // Beyond what the estimate may be off.
  if (missing > (regions.tokens * (regions.error_percent + 5)) / 100) parts.push({ name: isLogged ? "billed, not in the log" : "billed beyond the count", tokens: missing, voice: "missing" });
  const own = limitOf(stored.value?.budget);
  const limit = Number(place.budget ?? own ?? 0);
  const counted = regions.tokens;
  const total = parts.reduce((sum, part) => sum + part.tokens, 0);
  return (
    <div class="report budget" tabIndex={0} role="region" aria-label="Budget">
      <section>
        <h2>
          <b>{count(counted)}</b> tokens <Counter place={place} model={model} /> <span class="small">{byRegion.value.counted_by}</span>
          <a class="quiet" href={twin} title="These counts as JSON" aria-label="These counts as JSON">
            <Icon name="json" />
          </a>
        </h2>
        <Stack parts={parts} total={total} counted={counted} limit={limit} />
      </section>
      {tree !== undefined && <Treemap tree={tree} place={place} free={limit > total ? (limit - total) / (counted + limit - total) : 0} />}
      <section>
        <h3>By kind</h3>
        <ul class="kinds">
          {kinds.groups.map((group) => (
            <li key={group.name}>
              <span>{group.name ?? "without a kind"}</span>
              <span class="track" aria-hidden="true">
                <span style={{ width: `${(100 * group.tokens) / Math.max(1, counted)}%` }} />
              </span>
              <span class="number">{count(group.tokens)}</span>
              <span class="small">{plural(group.blocks, "block")}</span>
            </li>
          ))}
        </ul>
      </section>
      {!isOffline() && <WhatIf place={place} context={context} model={model} own={own} stored={stored.value?.budget} version={version} />}
    </div>
  );
}

/** The limit of the whole request in a budget in TOML: `max_tokens = 50_000` or `"50k"`, before the first table. */
const LIMIT = /^([ \t]*max_tokens[ \t]*=[ \t]*)("[^"\n]*"|'[^'\n]*'|[^\s#]+)/m;

/** Cuts a budget in what is about the whole request, and the tables that follow it. */
function cut(budget: string): [whole: string, tables: string] {
  const first = budget.search(/^[ \t]*\[/m);
  return first < 0 ? [budget, ""] : [budget.slice(0, first), budget.slice(first)];
}

/** Returns the limit of a budget in TOML, if it has one for the whole request. */
function limitOf(budget: string | undefined): number | undefined {
  const value = LIMIT.exec(cut(budget ?? "")[0])?.[2];
  const found = /^["']?([\d_]+)\s*([kKmM]?)/.exec(value ?? "");
  if (found === null) return undefined;
  const [, digits = "", unit = ""] = found;
  return Number(digits.replaceAll("_", "")) * ({ k: 1e3, m: 1e6 }[unit.toLowerCase()] ?? 1);
}

/** Returns the same budget with another limit of the whole request: what it protects and how it counts stays. */
function withLimit(budget: string, limit: number): string {
  const [whole, tables] = cut(budget);
  if (!LIMIT.test(whole)) return `max_tokens = ${limit}\n${budget}`;
  return whole.replace(LIMIT, (_, name: string) => `${name}${limit}`) + tables;
}

/** Tool definitions are only in the system region, so both groupings can be combined. */
function partsOf(regions: { name: string | null; tokens: number }[], kinds: { name: string | null; tokens: number }[]): Part[] {
  const of = (groups: { name: string | null; tokens: number }[], name: string) => groups.find((group) => group.name === name)?.tokens ?? 0;
  const tools = of(kinds, "tool");
  const retrieved = of(kinds, "document");
  return [
    { name: "tools", tokens: tools, voice: "tool" },
    { name: "system", tokens: Math.max(0, of(regions, "^sys") - tools), voice: "system" },
    { name: "history", tokens: Math.max(0, of(regions, "^seq") - documentsIn(retrieved, of(regions, "^seq"))), voice: "assistant" },
    { name: "retrieved", tokens: retrieved, voice: "document" },
    { name: "head", tokens: of(regions, "^ah") - (retrieved - documentsIn(retrieved, of(regions, "^seq"))), voice: "user" },
  ];
}

/** Documents are in turns, as far as turns have room for them; the rest is in the head. */
function documentsIn(retrieved: number, turns: number): number {
  return Math.min(retrieved, turns);
}

/** Chooses what counts: a model, an encoding or an estimate. */
function Counter({ place, model }: { place: Place; model: string }) {
  return (
    <label class="counter">
      <span class="small">for</span>{" "}
      <input value={model} spellcheck={false} aria-label="Model that counts the tokens" onChange={(event) => go(changed(place, { model: event.currentTarget.value.trim() || undefined }), true)} />
    </label>
  );
}

/** A budget limits what the state has. What was billed beyond it is not in its power, but takes room as well. */
function Stack({ parts, total, counted, limit }: { parts: Part[]; total: number; counted: number; limit: number }) {
  const all = Math.max(total, limit, 1);
  const free = Math.max(0, limit - total);
  return (
    <>
      <div class="stack" aria-hidden="true">
        {parts.filter((part) => part.tokens > 0).map((part) => (
          <span key={part.name} data-voice={part.voice} style={{ width: `${(100 * part.tokens) / all}%` }} />
        ))}
        {limit > 0 && limit < all && <i style={{ left: `${(100 * limit) / all}%` }} />}
      </div>
      <ul class="legend">
        {parts.map((part) => (
          <li key={part.name} data-voice={part.voice}>
            <span class="voice-dot" aria-hidden="true" /> {part.name} <b>{count(part.tokens)}</b> <span class="small">{percent(part.tokens, all)}</span>
          </li>
        ))}
        {limit > 0 && (
          <li>
            {counted <= limit ? (
              <>
                <span class="free-dot" aria-hidden="true" /> free <b>{count(free)}</b> <span class="small">{percent(free, all)}</span>
              </>
            ) : (
              <b class="over">{count(counted - limit)} over the budget</b>
            )}
          </li>
        )}
      </ul>
    </>
  );
}

interface Tile {
  position: number;
  tokens: number;
  left: number;
  top: number;
  width: number;
  height: number;
}

/** The turns and system nodes as areas, in order: the eye finds the large ones. */
function Treemap({ tree, place, free }: { tree: TreeModel; place: Place; free: number }) {
  const [, redraw] = useState(0);
  useEffect(() => tree.listen(() => redraw((turn) => turn + 1)), [tree]);
  const tiles = useMemo(() => layOut(tree, 100 * (1 - free)), [tree, tree.isCounted, free]);
  return (
    <section>
      <h3>
        By turn <span class="small">content alone, without what a request adds around it</span>
      </h3>
      <div class="treemap">
        {tiles.map((tile) => {
          const row = tree.row(tile.position);
          const name = row === undefined ? "…" : rowName(row);
          return (
            <a
              key={tile.position}
              href={printPlace(changed(place, { view: "tree", node: row?.id }))}
              data-voice={partOf(tree, tile.position)}
              style={{ left: `${tile.left}%`, top: `${tile.top}%`, width: `${tile.width}%`, height: `${tile.height}%` }}
              title={`${name}: ${count(tile.tokens)} tokens`}
            >
              {tile.width > 5 && tile.height > 12 && (
                <span>
                  {name} <b>{short(tile.tokens)}</b>
                </span>
              )}
            </a>
          );
        })}
        {free > 0 && (
          <span class="free" style={{ left: `${100 * (1 - free)}%`, width: `${100 * free}%` }}>
            {free > 0.05 && "free"}
          </span>
        )}
      </div>
    </section>
  );
}

/** Returns the colour of a tile: that of its part in the bar above. */
function partOf(tree: TreeModel, position: number): string {
  const region = tree.row(tree.parent[position] ?? 0)?.type;
  if (region === "^ah") return "user";
  if (region !== "^sys") return "assistant";
  return tree.row(position)?.kind === "tool" ? "tool" : "system";
}

/** Cuts the area in halves of about equal tokens, along the longer side: neighbours in the tree stay neighbours. */
function layOut(tree: TreeModel, width: number): Tile[] {
  const found: { position: number; tokens: number }[] = [];
  for (let position = 0; position < tree.total; position += 1) {
    const tokens = tree.tokens[position] ?? 0;
    if (tree.depth[position] === 2 && tokens > 0 && tree.mark[position] !== 3) found.push({ position, tokens });
  }
  // Small tiles cannot be seen: the largest are enough.
  const kept = new Set([...found].sort((a, b) => b.tokens - a.tokens).slice(0, 200));
  const tiles: Tile[] = [];
  const place = (items: typeof found, left: number, top: number, width: number, height: number) => {
    if (items.length === 0) return;
    if (items.length === 1 && items[0] !== undefined) {
      tiles.push({ ...items[0], left, top, width, height });
      return;
    }
    const all = items.reduce((sum, item) => sum + item.tokens, 0);
    let part = 0;
    let end = 0;
    while (end < items.length - 1 && (end === 0 || part + (items[end]?.tokens ?? 0) / 2 < all / 2)) {
      part += items[end]?.tokens ?? 0;
      end += 1;
    }
    const share = part / all;
    // The area is about four times as wide as high.
    if (width * 4 >= height) {
      place(items.slice(0, end), left, top, width * share, height);
      place(items.slice(end), left + width * share, top, width * (1 - share), height);
    } else {
      place(items.slice(0, end), left, top, width, height * share);
      place(items.slice(end), left, top + height * share, width, height * (1 - share));
    }
  };
  place(found.filter((item) => kept.has(item)), 0, 0, width, 100);
  return tiles;
}

function outcome(cleared: number, pruned: number): string {
  const parts = [cleared > 0 && `${plural(cleared, "tool result")} would be cleared`, pruned > 0 && `${plural(pruned, "node")} would be pruned`].filter(Boolean);
  return parts.length === 0 ? "Nothing would be pruned" : parts.join(", ");
}

/** Asks the server what the next commit would prune under a budget. Nothing is changed. */
function WhatIf({ place, context, model, own, stored, version }: { place: Place; context: string; model: string; own: number | undefined; stored: string | undefined; version: number }) {
  const [answer, setAnswer] = useState<{ value?: CommitResponse; problem?: Problem }>({});
  const limit = Number(place.budget ?? 0);
  useEffect(() => {
    let current = true;
    if (!(limit > 0)) {
      setAnswer({});
      return;
    }
    const text = stored === undefined ? `tokenizer = ${JSON.stringify(model)}\nmax_tokens = ${Math.round(limit)}\n` : withLimit(stored, Math.round(limit));
    dryRun<CommitResponse>(context, "commit", { budget: { name: "what-if.toml", text } }).then(
      (value) => current && setAnswer({ value }),
      (error: unknown) => current && setAnswer({ problem: asProblem(error) }),
    );
    return () => {
      current = false;
    };
  }, [context, limit, model, stored, version]);
  const budget = answer.value?.budget;
  const cleared = budget?.cleared ?? [];
  return (
    <section class="what-if">
      <h3>What if</h3>
      <p>
        <label>
          the next call may have at most{" "}
          <input
            type="number"
            min="1"
            step="100"
            value={place.budget ?? ""}
            placeholder={own === undefined ? "tokens" : String(own)}
            onChange={(event) => go(changed(place, { budget: event.currentTarget.value || undefined }), true)}
          />{" "}
          tokens
        </label>
        {own !== undefined && <span class="small"> The budget of this context allows {count(own)}.</span>}
      </p>
      {answer.problem !== undefined && <Refused problem={answer.problem} />}
      {budget !== undefined && (
        <>
          <p role="status">
            {outcome(cleared.length, budget.going.length)}: the request has <b>{count(budget.tokens_after)}</b> tokens instead of <b>{count(budget.tokens_before)}</b>
            {budget.tokens_expiring > 0 && `, ${count(budget.tokens_expiring)} of them expire`}. {budget.kept ? "" : "The budget cannot be kept: everything left is protected."}
          </p>
          <ol class="going">
            <More items={[...cleared, ...budget.going]} step={GOING} noun="node">
            {(going) => (
              <li key={going.node}>
                <a class="id" href={printPlace(changed(place, { at: "@", view: "tree", node: going.node }))}>
                  {going.node}
                </a>
                <span class="number">{count(going.tokens)}</span>
                <span class="small"><Prose text={going.reason} /></span>
              </li>
            )}
            </More>
          </ol>
        </>
      )}
    </section>
  );
}
