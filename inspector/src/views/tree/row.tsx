// One row of the tree.
import { Component } from "preact";
import { count, percent, short } from "../../data/format";
import { Icon } from "../../parts/icon";
import type { Row, TreeModel } from "./model";

/** What a reason means, for people. */
export const REASONS: Record<string, string> = {
  expired: "its ttl ran out",
  pruned: "over the budget",
  cleared: "cleared: an old tool result",
  cascaded: "its container became empty",
  dropped: "the request no longer had it",
  removed: "removed by the caller",
  along: "removed with its parent",
};

export const SYMBOLS = { same: "", added: "+", changed: "~", removed: "−" } as const;

/** Who speaks, as one of a few words that have a colour. */
export function voice(row: { role?: string | undefined; kind?: string | undefined; class?: string | undefined }): string {
  if (row.kind !== undefined && /^(call|result|tool|function)/.test(row.kind)) return "tool";
  if (row.kind !== undefined && /^(document|image|audio|file)/.test(row.kind)) return "document";
  if (row.kind !== undefined && /^(reasoning|thinking)/.test(row.kind)) return "thinking";
  switch (row.role) {
    case "system":
    case "developer":
      return "system";
    case "user":
      return "user";
    case "assistant":
    case "model":
      return "assistant";
    case "tool":
    case "function":
      return "tool";
    default:
      return "plain";
  }
}

const REGIONS: Record<string, string> = { "^sys": "System", "^seq": "Turns", "^ah": "Head", "^root": "Context" };

interface Props {
  model: TreeModel;
  /** Whether the tokens of the model are counted. */
  counted: boolean;
  position: number;
  row: Row | undefined;
  open: boolean;
  selected: boolean;
  hit: boolean;
  onSelect: (position: number) => void;
  onToggle: (position: number, deep: boolean) => void;
}

/** A row is drawn again only if it shows something else: while the tree scrolls, most of them do not. */
export class TreeRow extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    return (Object.keys(next) as (keyof Props)[]).some((name) => next[name] !== this.props[name]);
  }

  override render(props: Props) {
    return <Drawn {...props} />;
  }
}

function Drawn({ model, position, row, open, selected, hit, onSelect, onToggle }: Props) {
  const level = model.level(position);
  const mark = model.markOf(position);
  const tokens = model.tokens[position] ?? 0;
  const all = model.tokens[0] || 1;
  const scale = model.scaleOf(position) || 1;
  const isParent = model.hasChildren(position);
  const name = row === undefined ? "…" : rowName(row);
  const below = (model.end[position] ?? 0) - position - 1;
  return (
    <div
      id={`row-${position}`}
      role="treeitem"
      aria-level={level + 1}
      aria-setsize={model.siblings[position]}
      aria-posinset={model.place[position]}
      aria-expanded={isParent ? open : undefined}
      aria-selected={selected}
      class={`row ${row?.class ?? ""} mark-${mark} ${hit ? "hit" : ""}`}
      data-voice={row === undefined ? "plain" : voice(row)}
      onClick={() => onSelect(position)}
      onDblClick={() => isParent && onToggle(position, false)}
    >
      <span class="gutter" aria-hidden="true">{SYMBOLS[mark]}</span>
      {mark !== "same" && <span class="unseen">{mark}</span>}
      <span class="indent" style={{ width: `${level * 14}px` }} />
      {isParent ? (
        <button
          class="twist"
          tabIndex={-1}
          aria-hidden="true"
          data-open={open}
          onClick={(event) => {
            event.stopPropagation();
            onToggle(position, event.altKey);
          }}
        >
          <Icon name="chevron" />
        </button>
      ) : (
        <span class="twist voice-dot" aria-hidden="true" />
      )}
      <span class="name">{name}</span>
      <span class="excerpt">{row?.excerpt ?? (isParent && !open ? `${count(below)} below` : "")}</span>
      <span class="badges">
        {row?.reason !== undefined && mark === "removed" && <span class="badge reason" title={REASONS[row.reason]}>{row.reason}</span>}
        {mark === "changed" && row !== undefined && row.fields.length > 0 && <span class="badge field">{row.fields.slice(0, 3).join(", ")}</span>}
        {row?.pinned && <span class="badge pin" title="pinned: never pruned"><Icon name="pin" /><span class="unseen">pinned</span></span>}
        {row != null && row.ttl !== null && mark !== "removed" && (
          <span class="badge ttl" title={row.ttl === 0 ? "expires with the next call" : `survives ${row.ttl} more calls`}>ttl {row.ttl}</span>
        )}
        {row !== undefined && isNotable(row.priority) && <span class="badge" title="pruning removes the lowest priority first">prio {String(row.priority)}</span>}
        {row?.tags.slice(0, 2).map((tag) => <span class="badge tag" key={tag}>{tag}</span>)}
      </span>
      <span class="bar" aria-hidden="true"><span class="fill" style={{ width: `${Math.min(100, (100 * tokens) / scale)}%` }} /></span>
      <span class="tokens" title={model.isCounted ? `${count(tokens)} tokens, ${percent(tokens, all)} of all` : undefined}>{mark === "removed" || !model.isCounted ? "" : short(tokens)}</span>
    </div>
  );
}

function isNotable(priority: number | string): boolean {
  return Number(priority) !== 0 && Number(priority) !== 50;
}

/** Returns what a row is called: the words that tell most. */
export function rowName(row: Row): string {
  if (row.class === "root" || row.class === "region") return REGIONS[row.type] ?? row.id;
  if (row.class === "turn") return row.id.replace(/^(seg|mt):/, "Turn ");
  if (row.class === "container") return row.key ?? (row.type.includes(":") ? row.type.split(":")[1] || "group" : "core");
  const kind = row.kind !== undefined && row.kind !== "text" && row.kind !== row.role ? row.kind.replace(/_/g, " ") : undefined;
  const who = row.role ?? row.type.replace(/^(block|cb):?/, "");
  return [kind === undefined ? who : kind, row.name].filter(Boolean).join(" ") || "block";
}
