// What is shown: the call, its model, tokens and times, and what it is compared with.
import { changed, go, type Place } from "../data/address";
import { url } from "../data/api";
import { count, duration, moment, percent, plural, short } from "../data/format";
import type { CacheStep, Timeline, TimelineCall } from "../data/wire";
import { Icon } from "../parts/icon";
import { Prose } from "../parts/prose";
import { attemptOf } from "./timeline";
import type { TreeModel } from "./tree/model";

interface Props {
  place: Place;
  context: string;
  at: string;
  against: string | undefined;
  call: TimelineCall | undefined;
  timeline: Timeline;
  step: CacheStep | undefined;
  model: TreeModel | undefined;
}

export function StateHead({ place, context, at, against, call, timeline, step, model }: Props) {
  const attempt = call === undefined ? undefined : attemptOf(call);
  const tokens = attempt?.token_in ?? undefined;
  const took = attempt?.ended_at != null ? attempt.ended_at - attempt.started_at : undefined;
  const states = [...timeline.calls.filter((call) => call.committed).map((call) => `@c${call.cycle}`), "@"].filter((state) => state !== at);
  const counted = model?.isCounted === true ? model.tokens[0] : undefined;
  // Beyond what the estimate may be off: a log has messages, but often neither the system text nor the tools.
  const missing = attempt?.input === undefined && tokens !== undefined && counted !== undefined && tokens > 1.25 * counted ? tokens - counted : undefined;
  return (
    <header class="state">
      <div class="what">
        <h1>{at === "@" ? "Working state" : `Call ${at.slice(2)}`}</h1>
        {attempt !== undefined && <span class="chip">{attempt.answered_by ?? attempt.model}</span>}
        {attempt !== undefined && attempt.status !== "completed" && <span class={`chip status-${attempt.status}`}>{attempt.status}</span>}
        <a class="quiet" href={url(context, "rows", { at, against })} title="These rows as JSON" aria-label="These rows as JSON">
          <Icon name="json" />
        </a>
      </div>
      <p class="facts">
        {tokens !== undefined ? (
          <span title="as the provider billed it">
            <b>{count(tokens)}</b> tokens in
            {missing !== undefined && (
              <span class="small" title={`The nodes of this state have about ${count(tokens - missing)} tokens. The provider billed more: a log leaves out the system text and the tools.`}>
                , ≈ {short(missing)} not in the log
              </span>
            )}
          </span>
        ) : (
          counted !== undefined && (
            <span title={`estimated by ${timeline.tokenizer}`}>
              <b>≈ {count(counted)}</b> tokens of content
            </span>
          )
        )}
        {attempt?.token_out != null && (
          <span>
            <b>{count(attempt.token_out)}</b> out
          </span>
        )}
        {tokens !== undefined && attempt?.cache_read !== undefined ? (
          <span class="fact-cached">
            <b>{percent(attempt.cache_read, tokens)}</b> cached
          </span>
        ) : (
          step !== undefined &&
          step.tokens > 0 && (
            <span class="fact-cached" title="what the provider can read from its cache, if nothing in it expires">
              <b>≈ {percent(step.cached, step.tokens)}</b> cacheable
            </span>
          )
        )}
        {took !== undefined && took > 0 && <span>{duration(took)}</span>}
        {call?.sealed_at_ns !== undefined && call.sealed_at_ns > 1e15 && <span>{moment(call.sealed_at_ns)}</span>}
        {(call !== undefined || model !== undefined) && <span>{plural(call?.nodes ?? model?.first.total ?? 0, "node")}</span>}
      </p>
      <p class="compare">
        <label>
          compared with{" "}
          <select value={against ?? "none"} onChange={(event) => go(changed(place, { against: event.currentTarget.value }), true)}>
            <option value="none">nothing</option>
            {[...states].reverse().map((state) => (
              <option key={state} value={state}>
                {state === "@" ? "working state" : `call ${state.slice(2)}`}
              </option>
            ))}
          </select>
        </label>
        {call?.changes !== undefined && against !== undefined && place.against === undefined && (
          <span class="deltas">
            <span class="mark-added">+{count(call.changes.added)}</span>
            <span class="mark-removed">−{count(call.changes.removed)}</span>
            <span class="mark-changed">~{count(call.changes.changed)}</span>
          </span>
        )}
      </p>
      {step?.broken !== undefined && (
        <p class="break">
          <strong>The cached prefix broke</strong> at byte {count(step.broken.offset)}:{" "}
          {step.broken.node !== null && (
            <>
              <button class="link" onClick={() => go(changed(place, { node: step.broken?.node ?? undefined }))}>
                {step.broken.node}
              </button>{" "}
            </>
          )}
          <Prose text={step.broken.message} />. {plural(step.broken.tokens_lost, "token")} lost.
        </p>
      )}
      {step?.broken === undefined && step?.miss !== undefined && (
        <p class="break missed">
          <strong>Not all of the last request was read from the cache</strong>: <Prose text={step.miss.message} />. <Prose text={step.miss.advice} />
        </p>
      )}
    </header>
  );
}
