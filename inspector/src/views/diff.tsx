// What differs between two states: by node, and by byte of the request.
import { useState } from "preact/hooks";
import { changed, go, printPlace, type Place } from "../data/address";
import { isOffline, url } from "../data/api";
import { bytes, count, percent, plural } from "../data/format";
import { useRead } from "../data/resource";
import type { CacheResponse, ContextRow, DiffResponse, Node } from "../data/wire";
import { lineEnds } from "../content/json";
import { compareLines, type Line } from "../content/lines";
import { Icon } from "../parts/icon";
import { More } from "../parts/more";
import { Empty, Loading, Refused } from "../parts/notice";
import { Prose } from "../parts/prose";
import { ByteDiff } from "./byte-diff";
import { REASONS, SYMBOLS, voice } from "./tree/row";

/** Lines of a content that are shown before it is opened. */
const LINES = 12;
/** Nodes of each kind that are shown at first. */
const CARDS = 200;

interface Props {
  place: Place;
  context: string;
  at: string;
  against: string | undefined;
  provider: string | undefined;
  version: number;
}

export function DiffView({ place, context, at, against, provider, version }: Props) {
  const from = place.with ?? against;
  const address = from === undefined ? undefined : url(context, "diff", { from, to: at, detail: true });
  const { value, problem } = useRead<DiffResponse>(address, version);
  const format = place.provider ?? provider;
  const cache = useRead<CacheResponse>(!isOffline() && against !== undefined && place.with === undefined && format !== undefined ? url(context, "cache", { from: against, to: at, format }) : undefined, version);
  if (address === undefined) {
    return (
      <Empty title="Nothing to compare with">
        <p>Choose a state above, or another context:</p>
        <Others place={place} context={context} />
      </Empty>
    );
  }
  if (problem !== undefined) return <Refused problem={problem} />;
  if (value === undefined) return <Loading what="the diff" />;
  const { detail } = value;
  const reasons = reasonsOf(value);
  const step = cache.value?.calls.at(-1);
  const side = (cycle: number | null) => (cycle === null ? "@" : `@c${cycle}`);
  const [older, newer] = [side(value.older.cycle), side(value.newer.cycle)];
  const page = (state: typeof value.older) => printPlace(changed(place, { context: state.context ?? context, at: side(state.cycle), against: undefined, with: undefined, view: "tree", node: undefined }));
  return (
    <div class="report diff" tabIndex={0} role="region" aria-label="Diff">
      <p class="sides">
        <a href={page(value.older)}>{value.older.label}</a>
        <span aria-hidden="true">→</span>
        <a href={page(value.newer)}>{value.newer.label}</a>
        <a class="quiet" href={address} aria-label="This diff as JSON" title="This diff as JSON">
          <Icon name="json" />
        </a>
        {!isOffline() && format !== undefined && (
          <button class="quiet" aria-pressed={place.raw === true} title="Compare the requests byte by byte" onClick={() => go(changed(place, { raw: place.raw ? undefined : true }), true)}>
            bytes
          </button>
        )}
        <Others place={place} context={context} />
        <span class="deltas">
          <span class="mark-added">+{count(value.diff.added.length)}</span>
          <span class="mark-removed">−{count(value.diff.removed.length)}</span>
          <span class="mark-changed">~{count(value.diff.changed.length)}</span>
        </span>
      </p>
      {step?.bytes !== undefined && step.prefix_bytes !== undefined && (
        <div class="prefix">
          <span class="track" aria-hidden="true">
            <span class="cached" style={{ width: `${(100 * step.prefix_bytes) / Math.max(1, step.bytes)}%` }} />
          </span>
          <p>
            The {format} requests share their first <b>{count(step.prefix_bytes)}</b> of {count(step.bytes)} bytes ({percent(step.prefix_bytes, step.bytes)}).{" "}
            {step.broken === undefined ? (
              "The newer one only adds."
            ) : (
              <>
                They differ first at byte {count(step.broken.offset)}
                {step.broken.path !== null && (
                  <>
                    , in <code>{step.broken.path}</code>
                  </>
                )}
                :{" "}
                {step.broken.node !== null && (
                  <>
                    <code>{step.broken.node}</code>{" "}
                  </>
                )}
                <Prose text={step.broken.message} />.
              </>
            )}
          </p>
        </div>
      )}
      {place.raw === true && !isOffline() && format !== undefined ? (
        <ByteDiff key={[value.older.context, older, value.newer.context, newer, format].join(" ")} format={format} older={{ context: value.older.context ?? context, at: older }} newer={{ context: value.newer.context ?? context, at: newer }} version={version} />
      ) : (
        <>
      {detail === undefined && <p class="notice">Nothing differs.</p>}
      <More items={detail?.removed.filter(isBlock) ?? []} step={CARDS} noun="removed node">
        {(node) => <Card key={node.id} place={place} node={node} mark="removed" reason={reasons.get(node.id)} at={older} />}
      </More>
      <More items={detail?.changed ?? []} step={CARDS} noun="changed node">
        {({ before, after, fields }) => (
        <article key={after.id} class="card mark-changed" data-voice={voice({ role: after.role, kind: after.kind })}>
          <Title place={place} node={after} mark="changed" note={fields.join(", ")} at={newer} />
          <Lines lines={compareLines(textOf(before), textOf(after))} />
          <dl class="fields">
            {fields
              .filter((field) => field !== "content" && field !== "content_hash")
              .map((field) => (
                <div key={field}>
                  <dt>{field}</dt>
                  <dd>
                    <del>{JSON.stringify(before[field]) ?? "absent"}</del> <ins>{JSON.stringify(after[field]) ?? "absent"}</ins>
                  </dd>
                </div>
              ))}
          </dl>
        </article>
        )}
      </More>
      <More items={detail?.added.filter(isBlock) ?? []} step={CARDS} noun="added node">
        {(node) => <Card key={node.id} place={place} node={node} mark="added" at={newer} />}
      </More>
        </>
      )}
    </div>
  );
}

/** Chooses a state of another context to compare with. */
function Others({ place, context }: { place: Place; context: string }) {
  const { value } = useRead<{ contexts: ContextRow[] }>(isOffline() ? undefined : url(undefined, "contexts"));
  const names = (value?.contexts ?? []).map((row) => row.name).filter((name) => name !== context);
  if (names.length === 0) return null;
  return (
    <label class="small">
      branch{" "}
      <select value={place.with ?? ""} onChange={(event) => go(changed(place, { with: event.currentTarget.value || undefined }))}>
        <option value="">this one</option>
        {names.flatMap((name) => [
          <option key={`${name}@t0`} value={`${name}@t0`}>{name}, newest call</option>,
          <option key={`${name}@`} value={`${name}@`}>{name}, working state</option>,
        ])}
      </select>
    </label>
  );
}

function isBlock(node: Node): boolean {
  return node.derived.class === "block";
}

function textOf(node: Node): string {
  if (node.content === undefined) return "";
  return typeof node.content === "string" ? node.content : lineEnds(JSON.stringify(node.content, null, 2));
}

interface CardProps {
  place: Place;
  node: Node;
  mark: "added" | "removed";
  reason?: string | undefined;
  at: string;
}

function Card({ place, node, mark, reason, at }: CardProps) {
  const lines = textOf(node)
    .split("\n")
    .map((text): Line => ({ mark, text }));
  return (
    <article class={`card mark-${mark}`} data-voice={voice({ role: node.role, kind: node.kind })}>
      <Title place={place} node={node} mark={mark} note={reason === undefined ? "" : (REASONS[reason] ?? reason)} at={at} />
      <Lines lines={lines} />
    </article>
  );
}

function Title({ place, node, mark, note, at }: { place: Place; node: Node; mark: "added" | "removed" | "changed"; note: string; at: string }) {
  return (
    <h3>
      <span class="gutter">{SYMBOLS[mark]}</span>
      <span class="voice">{[node.role, node.kind === "text" ? undefined : node.kind].filter(Boolean).join(" ") || node.nodeType}</span>
      <a class="id" href={printPlace(changed(place, { at, against: undefined, view: "tree", node: node.id }))}>
        {node.id}
      </a>
      <span class="small">{bytes(node.derived.bytes)}</span>
      {note !== "" && <span class="badge">{note}</span>}
    </h3>
  );
}

function Lines({ lines }: { lines: Line[] }) {
  const [isOpen, setOpen] = useState(false);
  const around = lines.filter((line, index) => line.mark !== "same" || lines.slice(Math.max(0, index - 2), index + 3).some((near) => near.mark !== "same"));
  const shown = isOpen ? lines : around.slice(0, LINES);
  const hidden = lines.length - shown.length;
  if (around.length === 0) return null;
  return (
    <div class="lines">
      {shown.map((line, index) => (
        <div key={index} class={`line ${line.mark}`}>
          <span aria-hidden="true">{SYMBOLS[line.mark] || " "}</span>
          {line.text}
        </div>
      ))}
      {hidden > 0 && (
        <button class="more" onClick={() => setOpen(true)}>
          {plural(hidden, "more line")}
        </button>
      )}
    </div>
  );
}

function reasonsOf({ detail }: DiffResponse): Map<string, string> {
  const reasons = new Map<string, string>();
  for (const report of detail?.reports ?? []) {
    for (const id of report.expired) reasons.set(id, "expired");
    for (const id of report.cascaded) reasons.set(id, "cascaded");
    for (const id of report.dropped ?? []) reasons.set(id, "dropped");
    for (const { id } of report.cleared ?? []) reasons.set(id, "cleared");
    for (const id of report.along) reasons.set(id, "along");
    for (const { id, along } of report.pruned) {
      reasons.set(id, "pruned");
      for (const other of along) reasons.set(other, "along");
    }
  }
  return reasons;
}
