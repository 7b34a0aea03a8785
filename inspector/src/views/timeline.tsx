// The calls of a context, by the user message that they serve.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { changed, printPlace, type Place } from "../data/address";
import { isOffline, url } from "../data/api";
import { clock, count, duration, moment, percent, plural, short } from "../data/format";
import type { Attempt, CacheStep, Timeline, TimelineCall } from "../data/wire";
import { Icon } from "../parts/icon";

export interface Group {
  key: string;
  title: string;
  node: string | undefined;
  calls: TimelineCall[];
}

/** Groups calls that follow each other and serve the same message. */
export function groups(timeline: Timeline): Group[] {
  const found: Group[] = [];
  for (const call of timeline.calls) {
    const message = call.serves === undefined ? undefined : timeline.messages[call.serves];
    const last = found.at(-1);
    const node = message?.node;
    if (last !== undefined && (last.node === node || node === undefined)) {
      last.calls.push(call);
      continue;
    }
    const title = message?.excerpt ?? (node === undefined ? "Without a user message" : node);
    found.push({ key: `${call.cycle}`, title, node, calls: [call] });
  }
  return found;
}

/** Returns the attempt that counts: the completed one, or the newest. */
export function attemptOf(call: TimelineCall): Attempt | undefined {
  return call.attempts.find((attempt) => attempt.status === "completed") ?? call.attempts.at(-1);
}

/** Returns all input tokens that the provider billed, cached ones included. */
export function billedInput(attempt: Attempt | undefined): number | undefined {
  return attempt?.token_in ?? undefined;
}

interface Props {
  timeline: Timeline;
  place: Place;
  current: string;
  steps: Map<number, CacheStep>;
  onMore: () => void;
}

export function TimelineView({ timeline, place, current, steps, onMore }: Props) {
  const list = useRef<HTMLElement>(null);
  const all = useMemo(() => groups(timeline), [timeline]);
  const most = useMemo(() => {
    const sizes = timeline.calls.map((call) => billedInput(attemptOf(call)) ?? steps.get(call.cycle)?.tokens ?? 0);
    return Math.max(1, ...sizes);
  }, [timeline, steps]);
  const cycle = current === "@" ? Infinity : Number(current.slice(2));

  useEffect(() => {
    const now = list.current?.querySelector("[aria-current]");
    now?.scrollIntoView({ block: "nearest", inline: "nearest" });
    // The report on the cache makes some calls higher.
  }, [current, steps.size > 0]);

  return (
    <nav class="timeline" aria-label="Calls" ref={list}>
      <p class="sum">
        <span>{plural(timeline.calls.length + timeline.left_out, "call")}</span>
        <a class="quiet" href={url(place.context, "timeline", { limit: timeline.calls.length })} title="The calls as JSON" aria-label="The calls as JSON">
          <Icon name="json" />
        </a>
      </p>
      {timeline.left_out > 0 && (
        <p class="note">
          {plural(timeline.left_out, "older call")} not shown{" "}
          {!isOffline() && <button class="link" onClick={onMore}>show more</button>}
        </p>
      )}
      <ol>
        {all.map((group) => (
          <li key={group.key} class="group">
            <h3 title={group.title}>{group.title}</h3>
            <ol>
              {group.calls.map((call) => (
                <li key={call.cycle}>
                  <Call call={call} place={place} cycle={cycle} most={most} step={steps.get(call.cycle)} />
                </li>
              ))}
            </ol>
          </li>
        ))}
        <li class="group working">
          <a
            class="call"
            href={printPlace(changed(place, { at: "@", node: undefined, against: undefined }))}
            aria-current={current === "@" ? "step" : undefined}
          >
            <span class="number">now</span>
            <span class="line">working state</span>
            <span class="size">next call</span>
          </a>
        </li>
      </ol>
    </nav>
  );
}

interface CallProps {
  call: TimelineCall;
  place: Place;
  cycle: number;
  most: number;
  step: CacheStep | undefined;
}

function Call({ call, place, cycle, most, step }: CallProps) {
  const attempt = attemptOf(call);
  const tokens = billedInput(attempt) ?? step?.tokens;
  const cached = attempt?.cache_read ?? (attempt?.token_in == null ? step?.cached : undefined);
  const took = attempt?.ended_at != null ? attempt.ended_at - attempt.started_at : undefined;
  const failed = call.attempts.filter((attempt) => attempt.status === "error" || attempt.status === "canceled").length;
  const removed = call.expired + call.pruned + call.dropped + (call.cleared ?? 0);
  const isNow = cycle === call.cycle;
  const state = call.committed ? `@c${call.cycle}` : "@";
  const title = [
    `Call ${call.cycle}`,
    attempt?.model,
    call.sealed_at_ns !== undefined ? moment(call.sealed_at_ns) : undefined,
    tokens !== undefined ? `${count(tokens)} tokens in` : undefined,
    cached !== undefined && tokens !== undefined ? `${percent(cached, tokens)} from the cache${attempt?.cache_read === undefined ? ", predicted" : ""}` : undefined,
    attempt?.cache_read !== undefined && step !== undefined ? `predicted ${percent(step.cached, step.tokens)}` : undefined,
    step?.broken !== undefined ? `prefix broken: ${step.broken.message}` : undefined,
    step?.broken === undefined && step?.miss !== undefined ? `not read from the cache: ${step.miss.message}` : undefined,
  ];
  return (
    <a
      class="call"
      href={printPlace(changed(place, { at: state, node: undefined, against: undefined }))}
      aria-current={isNow ? "step" : undefined}
      data-later={call.cycle > cycle}
      title={title.filter(Boolean).join(" · ")}
    >
      <span class="number">{call.cycle}</span>
      <span class="line">
        <span class="track" aria-hidden="true">
          {tokens !== undefined && <span class="fresh" style={{ width: `${(100 * tokens) / most}%` }} />}
          {tokens !== undefined && cached !== undefined && <span class="cached" style={{ width: `${(100 * Math.min(cached, tokens)) / most}%` }} />}
        </span>
        <span class="marks">
          {cached !== undefined && tokens !== undefined && tokens > 0 && (
            <span class="flag share">
              {percent(cached, tokens)} cached
              {attempt?.cache_read !== undefined && step !== undefined && step.tokens > 0 && Math.abs(cached / tokens - step.cached / step.tokens) > 0.1 && `, ≈ ${percent(step.cached, step.tokens)} predicted`}
            </span>
          )}
          {step?.broken !== undefined && <span class="flag broken">cache break</span>}
          {step?.broken === undefined && step?.miss !== undefined && <span class="flag broken missed">cache miss: {step.miss.reason.replaceAll("_", " ")}</span>}
          {removed > 0 && <span class="flag gone">−{removed} {reasonOf(call)}</span>}
          {failed > 0 && <span class="flag failed">{plural(failed, "failed try", "failed tries")}</span>}
          {attempt?.status === "running" && <span class="flag running">running</span>}
        </span>
      </span>
      <span class="size">
        <span>{tokens !== undefined ? short(tokens) : call.changes !== undefined ? `+${call.changes.added}` : ""}</span>
        <span class="small">{took !== undefined && took > 0 ? duration(took) : call.sealed_at_ns !== undefined && call.sealed_at_ns > 1e15 ? clock(call.sealed_at_ns) : ""}</span>
      </span>
    </a>
  );
}

function reasonOf(call: TimelineCall): string {
  const kinds = Object.entries({ pruned: call.pruned, expired: call.expired, cleared: call.cleared ?? 0, dropped: call.dropped }).filter(([, number]) => number > 0);
  const [only] = kinds;
  return kinds.length === 1 && only !== undefined && only[0] !== "dropped" ? only[0] : "removed";
}
