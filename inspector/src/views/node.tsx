// One node: what it says, its headers, its history, and where its bytes are in the request.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { changed, go, printPlace, type Place } from "../data/address";
import { url } from "../data/api";
import { bytes, count, plural } from "../data/format";
import { useRead } from "../data/resource";
import { useWriter } from "../data/session";
import type { Node, NodeHistory, NodeResponse, Span } from "../data/wire";
import { Content } from "../content/content";
import { Copy } from "../parts/copy";
import { Icon } from "../parts/icon";
import { Loading, Refused } from "../parts/notice";
import { Edits } from "./edits";
import { REASONS, SYMBOLS, voice } from "./tree/row";

interface Props {
  context: string;
  place: Place;
  /** The state that has the node: the one it is compared with, for a removed node. */
  at: string;
  isRemoved: boolean;
  model: string;
  span: Span | undefined;
  requestBytes: number | undefined;
  version: number;
  onChange: () => void;
}

const FIRST = ["id", "nodeType", "role", "kind", "key", "ttl", "priority", "pinned", "removable", "offset", "cycle", "created_at_iso", "creation_index", "tags"];
const HIDDEN = new Set(["content", "derived", "created_at_ns"]);

export function NodePanel({ context, place, at, isRemoved, model, span, requestBytes, version, onChange }: Props) {
  const id = place.node ?? "";
  const address = url(context, "node", { id, at, model });
  const { value, problem } = useRead<NodeResponse>(address, version);
  const history = useRead<NodeHistory>(url(context, "node-history", { id }), version);
  const writer = useWriter();
  const close = () => go(changed(place, { node: undefined, raw: undefined }));
  return (
    <aside class="node" aria-label="Node">
      <header>
        <h2 title={id}>{id}</h2>
        <Copy text={id} label="Copy the id" />
        <a class="quiet" href={address} title="This node as JSON" aria-label="This node as JSON">
          <Icon name="json" />
        </a>
        <button class="quiet" onClick={close} aria-label="Close">
          <Icon name="close" />
        </button>
      </header>
      {problem !== undefined && <Refused problem={problem} />}
      {value === undefined && problem === undefined && <Loading what="the node" />}
      {value !== undefined && (
        <div class="body">
          <Summary response={value} isRemoved={isRemoved} />
          {writer !== undefined && <Edits context={context} place={place} at={at} id={id} isRemoved={isRemoved} hasContent={value.node.content !== undefined} session={writer} version={version} onChange={onChange} />}
          {(value.node.content !== undefined || value.node.derived.class === "block") && (
            <Section title="Content" tools={<Raw place={place} />} open>
              <Content node={value.node} raw={place.raw === true} />
            </Section>
          )}
          <Section title="Headers">
            <Headers node={value.node} />
          </Section>
          <Section title="History" open>
            <HistoryList context={context} place={place} history={history.value} />
          </Section>
          <Section title="In the request" open>
            {span === undefined ? (
              <p class="small">No bytes of its own in this request.</p>
            ) : (
              <p class="small">
                <a href={printPlace(changed(place, { view: "request" }))}>
                  <code>{span.path}</code>
                </a>
                {" · bytes "}
                {count(span.start)}–{count(span.end)}
                {requestBytes !== undefined && ` of ${count(requestBytes)}`}
              </p>
            )}
          </Section>
        </div>
      )}
    </aside>
  );
}

function Raw({ place }: { place: Place }) {
  return (
    <button class="quiet" aria-pressed={place.raw === true} onClick={() => go(changed(place, { raw: place.raw ? undefined : true }), true)}>
      raw
    </button>
  );
}

function Summary({ response, isRemoved }: { response: NodeResponse; isRemoved: boolean }) {
  const { node, tokens, state, children } = response;
  return (
    <p class="summary" data-voice={voice({ role: node.role, kind: node.kind })}>
      <span class="voice">{node.role ?? node.derived.class}</span>
      {node.kind !== undefined && <span>{node.kind}</span>}
      {node.content !== undefined && tokens !== undefined && <span>{plural(tokens, "token")}</span>}
      {node.content !== undefined && <span>{bytes(node.derived.bytes)}</span>}
      {children.length > 0 && <span>{plural(children.length, "child", "children")}</span>}
      {isRemoved && <span class="badge reason">as it was in {state.label}</span>}
    </p>
  );
}

function Section({ title, tools, open, children }: { title: string; tools?: ComponentChildren; open?: boolean; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(open === true);
  return (
    <section class="section">
      <h3>
        <button class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span class="twist" data-open={isOpen}>
            <Icon name="chevron" />
          </span>
          {title}
        </button>
        {isOpen && tools}
      </h3>
      {isOpen && children}
    </section>
  );
}

function Headers({ node }: { node: Node }) {
  const rest = Object.keys(node).filter((name) => !HIDDEN.has(name) && !FIRST.includes(name));
  const names = [...FIRST.filter((name) => node[name] !== undefined), ...rest.sort()];
  const derived: [string, unknown][] = [
    ["parent", node.derived.parent],
    ["region", node.derived.region],
    ["depth", node.derived.depth],
    ["content_hash", node.derived.content_hash],
  ];
  const all: [string, unknown][] = [...names.map((name): [string, unknown] => [name, node[name]]), ...derived];
  return (
    <dl class="headers">
      {all.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === "string" ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function HistoryList({ context, place, history }: { context: string; place: Place; history: NodeHistory | undefined }) {
  if (history === undefined) return <p class="small">Not in a snapshot yet.</p>;
  if (history.events.length === 0) return <p class="small">Not in a snapshot yet.</p>;
  return (
    <ol class="history">
      {history.events.map((event) => (
        <li key={event.cycle} class={`mark-${event.event}`}>
          <span class="gutter" aria-hidden="true">
            {SYMBOLS[event.event]}
          </span>
          <a href={printPlace(changed(place, { context, at: `@c${event.cycle}`, against: undefined, view: "tree" }))}>@c{event.cycle}</a>{" "}
          {event.event}
          {event.fields !== undefined && event.fields.length > 0 && <span class="small"> {event.fields.join(", ")}</span>}
          {event.reason !== undefined && <span class="small"> {REASONS[event.reason] ?? event.reason}</span>}
        </li>
      ))}
      {history.next !== undefined && <li class="small">and later snapshots, not looked at</li>}
    </ol>
  );
}
