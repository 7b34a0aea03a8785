// What the provider's prompt cache could reuse and what it billed, call by call, with the reason of each miss.
import { useEffect, useRef } from "preact/hooks";
import { changed, printPlace, type Place } from "../data/address";
import { isOffline, url } from "../data/api";
import { count, percent, plural, short } from "../data/format";
import type { Resource } from "../data/resource";
import { store, stored } from "../data/storage";
import type { Attempt, CacheResponse, Timeline } from "../data/wire";
import { Icon } from "../parts/icon";
import { Loading, Refused } from "../parts/notice";
import { Prose } from "../parts/prose";
import { attemptOf } from "./timeline";

const PRICES = "prices";

/** Returns the price file that was chosen in this browser. */
export function prices(): { name: string; text: string } | undefined {
  const text = isOffline() ? null : stored(PRICES);
  return text === null ? undefined : { name: "prices.toml", text };
}

function PriceFile({ isSet }: { isSet: boolean }) {
  const choose = async (event: { currentTarget: HTMLInputElement }) => {
    const text = await event.currentTarget.files?.[0]?.text();
    if (text === undefined) return;
    store(PRICES, text);
    dispatchEvent(new HashChangeEvent("hashchange"));
  };
  const clear = () => {
    store(PRICES, null);
    dispatchEvent(new HashChangeEvent("hashchange"));
  };
  if (isSet) return <button class="quiet" onClick={clear}>without prices</button>;
  return (
    <label class="quiet file">
      price file … <input class="unseen" type="file" accept=".toml,text/plain" onChange={choose} />
    </label>
  );
}

/** 1,234,567 millionths are 1.23. */
function money(micros: number, currency: string): string {
  return `${(micros / 1e6).toFixed(micros < 1e6 ? 4 : 2)} ${currency}`;
}

interface Props {
  place: Place;
  context: string;
  provider: string | undefined;
  timeline: Timeline;
  cache: Resource<CacheResponse>;
  at: string;
}

export function CacheView({ place, context, provider, timeline, cache, at }: Props) {
  const table = useRef<HTMLTableElement>(null);
  const isThere = cache.value !== undefined;
  useEffect(() => table.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "center" }), [at, isThere]);
  if (provider === undefined) return <p class="notice">No provider is known for this context, so there is no cache to compare with.</p>;
  if (cache.problem !== undefined) return <Refused problem={cache.problem} />;
  if (cache.value === undefined) return <Loading what="the report on the cache" />;
  const { value } = cache;
  const calls = new Map(timeline.calls.map((call) => [call.cycle, attemptOf(call)]));
  let billedIn = 0;
  let billedRead = 0;
  for (const step of value.calls) {
    const attempt = step.cycle === null ? undefined : calls.get(step.cycle);
    billedIn += attempt?.token_in ?? 0;
    billedRead += attempt?.cache_read ?? 0;
  }
  return (
    <div class="report cache">
      <div class="totals">
        <Total title="predicted" part={value.cached} all={value.tokens} note={`of ≈ ${short(value.tokens)} input tokens`} />
        {billedIn > 0 && <Total title="billed" part={billedRead} all={billedIn} note={`of ${short(billedIn)} input tokens`} />}
        {value.cost !== undefined && (
          <p class="total">
            <b>{money(value.cost.micros, value.cost.currency)}</b>
            <span>cost</span>
            <span class="small">with these prices</span>
          </p>
        )}
        <p class="small">
          Rules of {value.rules}: at least {count(value.min_tokens)} tokens, counted by {value.tokenizer} (±{value.error_percent}&nbsp;%).{" "}
          {assumption(value, calls)}
        </p>
        <p class="more-of-it">
          {!isOffline() && <PriceFile isSet={prices() !== undefined} />}
          <a class="quiet" href={url(context, "cache", { format: provider })} title="This report as JSON" aria-label="This report as JSON">
            <Icon name="json" />
          </a>
        </p>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Calls and their cache">
        <table ref={table}>
          <thead>
            <tr>
              <th scope="col">call</th>
              <th scope="col" class="number">tokens</th>
              <th scope="col">predicted</th>
              <th scope="col">billed</th>
              {value.cost !== undefined && <th scope="col" class="number">cost, in all</th>}
              <th scope="col">why not all of it</th>
            </tr>
          </thead>
          <tbody>
            {value.calls.map((step) => {
              const attempt = step.cycle === null ? undefined : calls.get(step.cycle);
              return (
                <tr key={step.state} aria-current={step.state === at ? "true" : undefined}>
                  <th scope="row">
                    <a href={printPlace(changed(place, { at: step.state, against: undefined, node: undefined }))}>{step.cycle ?? "now"}</a>
                  </th>
                  <td class="number">{count(attempt?.token_in ?? step.tokens)}</td>
                  <td>
                    <Share part={step.cached} all={step.tokens} />
                  </td>
                  <td>{attempt?.cache_read !== undefined && attempt.token_in != null ? <Share part={attempt.cache_read} all={attempt.token_in} /> : <span class="small">not reported</span>}</td>
                  {value.cost !== undefined && (
                    <td class="number">
                      {step.cost !== undefined && (
                        <>
                          {money(step.cost.micros, "")} <span class="small">{money(step.cost.total_micros, step.cost.currency)}</span>
                        </>
                      )}
                    </td>
                  )}
                  <td class="why">
                    {step.broken !== undefined && (
                      <>
                        <strong>{step.broken.reason.replaceAll("_", " ")}</strong>{" "}
                        {step.broken.node !== null && (
                          <a class="id" href={printPlace(changed(place, { at: step.state, against: undefined, view: "tree", node: step.broken.node }))}>
                            {step.broken.node}
                          </a>
                        )}{" "}
                        <Prose text={step.broken.message} />; {count(step.broken.tokens_lost)} tokens lost
                        <span class="advice"><Prose text={step.broken.advice} /></span>
                      </>
                    )}
                    {step.broken === undefined && step.miss !== undefined && (
                      <>
                        <strong>{step.miss.reason.replaceAll("_", " ")}</strong> <Prose text={step.miss.message} />
                        <span class="advice"><Prose text={step.miss.advice} /></span>
                      </>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** Says what the predictions of these calls rest on. Breakpoints are read from requests whose bytes are known, and assumed for others. */
function assumption(cache: CacheResponse, attempts: Map<number, Attempt | undefined>): string {
  const found = cache.calls.map((step) => ({ step, attempt: step.cycle === null ? undefined : attempts.get(step.cycle) }));
  const known = found.filter(({ attempt }) => attempt?.input !== undefined).length;
  const read = "Predictions follow the breakpoints in the requests that were sent";
  const assumed = "Predictions assume that the advised breakpoints are set";
  const basis = known === 0 ? `${assumed}.` : known === found.length ? `${read}.` : `${read}; for calls without their bytes, that the advised ones are set.`;
  const against = found.filter(({ step, attempt }) => step.cached === 0 && (attempt?.cache_read ?? 0) > 0);
  if (against.length === 0) return basis;
  const isUnmarked = against.every(({ step }) => step.miss?.reason === "no_breakpoint");
  const why = isUnmarked ? ": their requests have no breakpoint as they were recorded" : "";
  return `${basis} For ${plural(against.length, "call")} nothing is predicted${why}. They read from the cache nonetheless; what was billed holds.`;
}

function Total({ title, part, all, note }: { title: string; part: number; all: number; note: string }) {
  return (
    <p class="total">
      <b>{percent(part, all)}</b>
      <span>{title}</span>
      <span class="small">{note}</span>
    </p>
  );
}

function Share({ part, all }: { part: number; all: number }) {
  return (
    <span class="share">
      <span class="track" aria-hidden="true">
        <span class="cached" style={{ width: `${all > 0 ? Math.min(100, (100 * part) / all) : 0}%` }} />
      </span>
      {percent(part, all)}
    </span>
  );
}
