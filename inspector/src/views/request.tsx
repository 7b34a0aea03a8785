// The exact bytes of a request, with the node that each range belongs to.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { changed, go, printPlace, type Place } from "../data/address";
import { isOffline, url } from "../data/api";
import { bytes, count, plural } from "../data/format";
import type { Attempt, Rendered, Sent, Span } from "../data/wire";
import { curl } from "../content/curl";
import { pretty } from "../content/pretty";
import { Copy } from "../parts/copy";
import { Icon } from "../parts/icon";
import { Loading, Refused } from "../parts/notice";
import type { RequestResource } from "./request-data";

const FORMATS = ["anthropic", "openai-chat", "openai-responses", "gemini", "thread"];

/** Nodes of a request that are drawn at once. */
const WINDOW = 500;

interface Props {
  place: Place;
  context: string;
  at: string;
  resource: RequestResource;
  attempt: Attempt | undefined;
  /** Who speaks in a node, for the colour. */
  voiceOf: (node: string) => string;
}

export function RequestView({ place, context, at, resource, attempt, voiceOf }: Props) {
  const { format, value, problem } = resource;
  const formats = (
    <div class="formats" role="group" aria-label="Format">
      {FORMATS.filter((one) => !isOffline() || one === format).map((one) => (
        <a key={one} href={printPlace(changed(place, { provider: one }))} aria-current={one === format ? "true" : undefined}>
          {one}
        </a>
      ))}
    </div>
  );
  if (format === undefined) {
    return (
      <div class="request">
        <div class="toolbar">{formats}</div>
        <p class="notice">This context has not been sent to a provider yet. Choose a format to see its request.</p>
      </div>
    );
  }
  return (
    <div class="request">
      <div class="toolbar">
        {formats}
        <span class="grow" />
        <button class="quiet" aria-pressed={place.raw === true} onClick={() => go(changed(place, { raw: place.raw ? undefined : true }), true)}>
          raw
        </button>
        {value !== undefined && <Copy text={value.request} label="Copy the exact bytes">copy</Copy>}
        {value !== undefined && curl(format, attempt?.model, "") !== undefined && (
          <Copy text={() => curl(format, attempt?.model, value.request) ?? ""} label="Copy as a curl command">
            curl
          </Copy>
        )}
        <a class="quiet" href={url(context, resource.wasSent ? "sent" : "render", resource.wasSent ? { at, spans: true } : { at, format, spans: true })} aria-label="This request as JSON" title="This request as JSON">
          <Icon name="json" />
        </a>
      </div>
      {problem !== undefined && <Refused problem={problem} />}
      {value === undefined && problem === undefined && <Loading what="the request" />}
      {value !== undefined && <Proof value={value} wasSent={resource.wasSent} attempt={attempt} />}
      {value !== undefined && <Bytes value={value} place={place} voiceOf={voiceOf} />}
    </div>
  );
}

/** Says what the bytes are: those that were sent, proven by the hash, or what the state renders to. */
function Proof({ value, wasSent, attempt }: { value: Rendered | Sent; wasSent: boolean; attempt: Attempt | undefined }) {
  const recorded = attempt?.input;
  const isSame = wasSent && recorded === value.hash;
  const findings = "findings" in value ? value.findings : [];
  const losses = "losses" in value ? value.losses : [];
  return (
    <div class="proof">
      <p>
        <b>{bytes(value.request.length)}</b>
        <code title={value.hash}>sha256 {value.hash.replace(/^sha256:/, "").slice(0, 16)}…</code>
        {isSame && <span class="ok">the bytes that were sent: same hash as {attempt?.attempt_id}</span>}
        {wasSent && recorded === undefined && <span>known from a log that has no hash of the bytes</span>}
        {!wasSent && recorded === value.hash && <span class="ok">same bytes as the attempt's</span>}
        {!wasSent && recorded !== undefined && recorded !== value.hash && <span>not what was sent: rendered now</span>}
        {!wasSent && recorded === undefined && <span>rendered now, not sent</span>}
      </p>
      {findings.map((finding) => (
        <p key={finding.message} class={`finding ${finding.severity}`}>
          {finding.severity}: {finding.message}
        </p>
      ))}
      {losses.length > 0 && (
        <p class="finding loss">
          {plural(losses.length, "part")} cannot be expressed in this format: {losses.map((loss) => `${loss.node} (${loss.message})`).join("; ")}
        </p>
      )}
    </div>
  );
}

interface Segment {
  span: Span | undefined;
  text: string;
}

function Bytes({ value, place, voiceOf }: { value: Rendered | Sent; place: Place; voiceOf: (node: string) => string }) {
  const [hovered, setHovered] = useState<string>();
  const area = useRef<HTMLDivElement>(null);
  const map = useRef<HTMLUListElement>(null);
  const isRaw = place.raw === true;
  const spans = value.spans ?? [];
  const all = useMemo(() => cut(value.request, spans, isRaw), [value, isRaw]);
  const isLong = spans.length > WINDOW;
  const chosen = place.node === undefined ? -1 : spans.findIndex((span) => span.node === place.node);
  const first = isLong ? windowOf(place.from, chosen, spans.length) : 0;
  const shown = isLong ? spans.slice(first, first + WINDOW) : spans;
  const segments = isLong ? within(all, shown, first === 0, first + WINDOW >= spans.length) : all;
  useEffect(() => {
    if (place.node === undefined) return;
    for (const part of [map, area]) {
      const found = part.current?.querySelector(`[data-node="${CSS.escape(place.node)}"]`);
      found?.scrollIntoView({ block: "center" });
    }
  }, [place.node, value, isRaw]);
  const open = (node: string) => go(changed(place, { node }), place.node !== undefined);
  return (
    <>
    {isLong && <Pages place={place} first={first} total={spans.length} />}
    <div class="bytes">
      <ul class="map" ref={map} aria-label="Nodes in the request">
        {shown.map((span) => (
          <li key={span.start}>
            <button
              data-node={span.node}
              data-voice={voiceOf(span.node)}
              class={span.node === place.node ? "chosen" : span.node === hovered ? "hovered" : ""}
              onMouseEnter={() => setHovered(span.node)}
              onMouseLeave={() => setHovered(undefined)}
              onFocus={() => setHovered(span.node)}
              onBlur={() => setHovered(undefined)}
              onClick={() => open(span.node)}
              title={`${span.node} · ${span.path} · bytes ${count(span.start)}–${count(span.end)}`}
            >
              <span class="path">{span.path}</span>
              <span class="small">{bytes(span.end - span.start)}</span>
            </button>
          </li>
        ))}
      </ul>
      <div class="text" ref={area} tabIndex={0} role="region" aria-label="Bytes of the request">
        <pre data-raw={isRaw}>
          {segments.map((segment, index) =>
            segment.span === undefined ? (
              <span key={index} class="envelope">
                {segment.text}
              </span>
            ) : (
              <Range key={index} segment={segment} span={segment.span} voice={voiceOf(segment.span.node)} state={segment.span.node === place.node ? "chosen" : segment.span.node === hovered ? "hovered" : ""} onHover={setHovered} onOpen={open} />
            ),
          )}
        </pre>
      </div>
    </div>
    </>
  );
}

/** Returns the first node to show: the one in the address, the part with the chosen node, or the end, which is what a call added. */
function windowOf(from: string | undefined, chosen: number, total: number): number {
  const wanted = from !== undefined ? Number(from) : chosen >= 0 ? chosen - (chosen % WINDOW) : total - WINDOW;
  return Math.max(0, Math.min(total - 1, Number.isInteger(wanted) ? wanted : 0));
}

/** Returns the segments of some nodes, with what is between them. */
function within(segments: Segment[], shown: Span[], isBegin: boolean, isEnd: boolean): Segment[] {
  const start = shown[0]?.start ?? 0;
  const end = shown.at(-1)?.end ?? 0;
  const first = isBegin ? 0 : segments.findIndex((segment) => segment.span?.start === start);
  const last = isEnd ? segments.length : segments.findIndex((segment) => segment.span?.end === end) + 1;
  return segments.slice(first, last);
}

function Pages({ place, first, total }: { place: Place; first: number; total: number }) {
  const at = (from: number) => printPlace(changed(place, { from: String(Math.max(0, from)), node: undefined }));
  const last = Math.min(total, first + WINDOW);
  return (
    <nav class="pages" aria-label="Parts of the request">
      <span>
        Nodes <b>{count(first + 1)}–{count(last)}</b> of {count(total)}
      </span>
      {first > 0 && <a href={at(0)}>first</a>}
      {first > 0 && <a href={at(first - WINDOW)}>earlier</a>}
      {last < total && <a href={at(first + WINDOW)}>later</a>}
      {last < total && <a href={at(total - WINDOW)}>last</a>}
      <span class="small">copy and curl have all bytes</span>
    </nav>
  );
}

interface RangeProps {
  segment: Segment;
  span: Span;
  voice: string;
  state: string;
  onHover: (node: string | undefined) => void;
  onOpen: (node: string) => void;
}

function Range({ segment, span, voice, state, onHover, onOpen }: RangeProps) {
  return (
    <span
      class={`range ${state}`}
      data-node={span.node}
      data-voice={voice}
      onMouseEnter={() => onHover(span.node)}
      onMouseLeave={() => onHover(undefined)}
      onClick={() => getSelection()?.isCollapsed !== false && onOpen(span.node)}
    >
      {segment.text}
    </span>
  );
}

/** Cuts the text of a request where a node begins or ends. */
function cut(request: string, spans: Span[], isRaw: boolean): Segment[] {
  const pieces = isRaw ? undefined : pretty(request);
  const segments: Segment[] = [];
  let piece = 0;
  const take = (start: number, end: number): string => {
    if (pieces === undefined) return request.slice(start, end);
    let text = "";
    for (; piece < pieces.length && (pieces[piece]?.start ?? end) < end; piece += 1) text += pieces[piece]?.text ?? "";
    return text;
  };
  let at = 0;
  for (const span of spans) {
    if (span.start > at) segments.push({ span: undefined, text: take(at, span.start) });
    segments.push({ span, text: take(span.start, span.end) });
    at = span.end;
  }
  if (at < request.length) segments.push({ span: undefined, text: take(at, request.length) });
  return segments;
}
