// Two requests, byte by byte: what they begin with, what they end with, and what differs in between.
import { url } from "../data/api";
import { count, plural } from "../data/format";
import { useRead, type Resource } from "../data/resource";
import type { Rendered, Sent } from "../data/wire";
import { Icon } from "../parts/icon";
import { Loading, Refused } from "../parts/notice";

/** Bytes that are shown of what both have, on each side of the difference. */
const AROUND = 160;
/** Bytes that are shown of what differs. */
const MOST = 4_000;

interface Side {
  context: string;
  at: string;
}

interface Props {
  format: string;
  older: Side;
  newer: Side;
  version: number;
}

/** Compares what was sent, if both sides are calls in this format, and otherwise what both sides render to. */
export function ByteDiff({ format, older, newer, version }: Props) {
  const twins = { older: sentOf(older), newer: sentOf(newer) };
  const [sentOlder, sentNewer] = [useRead<Sent>(twins.older, version), useRead<Sent>(twins.newer, version)];
  const isOwn = ({ value }: { value: Sent | undefined }) => value?.attempt.provider === format;
  // The working state was not sent; a state without a call was not either.
  const isAnswered = (address: string | undefined, sent: Resource<Sent>) => address === undefined || (!sent.loading && (sent.value !== undefined || sent.problem !== undefined));
  const isKnown = isAnswered(twins.older, sentOlder) && isAnswered(twins.newer, sentNewer);
  const wereSent = isOwn(sentOlder) && isOwn(sentNewer);
  const mustRender = isKnown && !wereSent;
  const renderedOlder = useRead<Rendered>(mustRender ? renderOf(older, format) : undefined, version);
  const renderedNewer = useRead<Rendered>(mustRender ? renderOf(newer, format) : undefined, version);
  const problem = mustRender ? (renderedOlder.problem ?? renderedNewer.problem) : undefined;
  const before = wereSent ? sentOlder.value?.request : renderedOlder.value?.request;
  const after = wereSent ? sentNewer.value?.request : renderedNewer.value?.request;
  if (problem !== undefined) return <Refused problem={problem} />;
  if (before === undefined || after === undefined) return <Loading what="both requests" />;
  const { head, tail } = shared(before, after);
  const all = Math.max(1, before.length, after.length);
  const isSame = before === after;
  return (
    <section class="byte-diff">
      <p>
        {wereSent ? "The requests as they were sent" : "What both states render to"}: {isSame ? "the same, byte for byte." : (
          <>
            the same up to byte <b>{count(head)}</b>
            {tail > 0 && <>, and again in the last <b>{count(tail)}</b></>}. Between, the older one has <b>{plural(before.length - head - tail, "byte")}</b> and the newer one{" "}
            <b>{plural(after.length - head - tail, "byte")}</b>.
          </>
        )}{" "}
        <Twin address={twins.older !== undefined && wereSent ? twins.older : renderOf(older, format)} label="The older request as JSON" />
        <Twin address={twins.newer !== undefined && wereSent ? twins.newer : renderOf(newer, format)} label="The newer request as JSON" />
      </p>
      {[
        { name: "older", text: before, mark: "removed" },
        { name: "newer", text: after, mark: "added" },
      ].map(({ name, text, mark }) => (
        <div class="strip" key={name}>
          <span class="small">{name}</span>
          <span class="track" aria-hidden="true">
            <span class="cached" style={{ width: `${(100 * head) / all}%` }} />
            <span class={mark} style={{ width: `${(100 * (text.length - head - tail)) / all}%` }} />
            <span class="cached" style={{ width: `${(100 * tail) / all}%` }} />
          </span>
          <span class="small number">{plural(text.length, "byte")}</span>
        </div>
      ))}
      {!isSame && (
        <pre class="lines" tabIndex={0}>
          <span class="envelope">{before.slice(Math.max(0, head - AROUND), head)}</span>
          <Middle text={before.slice(head, before.length - tail)} kind="removed" />
          <Middle text={after.slice(head, after.length - tail)} kind="added" />
          <span class="envelope">{after.slice(after.length - tail, after.length - tail + AROUND)}</span>
        </pre>
      )}
    </section>
  );
}

function sentOf({ context, at }: Side): string | undefined {
  return at === "@" ? undefined : url(context, "sent", { at });
}

function renderOf({ context, at }: Side, format: string): string {
  return url(context, "render", { at, format });
}

function Twin({ address, label }: { address: string; label: string }) {
  return (
    <a class="quiet" href={address} title={label} aria-label={label}>
      <Icon name="json" />
    </a>
  );
}

function Middle({ text, kind }: { text: string; kind: "removed" | "added" }) {
  if (text === "") return null;
  const hidden = text.length - MOST;
  const Mark = kind === "removed" ? "del" : "ins";
  return (
    <Mark class={kind}>
      {text.slice(0, MOST)}
      {hidden > 0 && <span class="small"> … {plural(hidden, "more byte")}</span>}
    </Mark>
  );
}

/** Returns how many bytes two requests have in common at the beginning, and at the end after it. They are ASCII: bytes are characters. */
function shared(before: string, after: string): { head: number; tail: number } {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before.charCodeAt(head) === after.charCodeAt(head)) head += 1;
  let tail = 0;
  while (tail < most - head && before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)) tail += 1;
  return { head, tail };
}
