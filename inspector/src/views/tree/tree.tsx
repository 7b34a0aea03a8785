// The tree of a state: only the rows in view are in the page, whatever the size of the tree.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useVirtual } from "../../parts/virtual";
import { marksOfHits, visible, type TreeModel } from "./model";
import { TreeRow } from "./row";

export const ROW = 28;

interface Props {
  model: TreeModel;
  node: string | undefined;
  /** Positions that a search found. */
  hits: number[] | undefined;
  onSelect: (id: string, mark: string) => void;
  /** Counts the times that everything is to be opened or closed. */
  fold: { turn: number; close: boolean };
}

export function Tree({ model, node, hits, onSelect, fold }: Props) {
  const area = useRef<HTMLDivElement>(null);
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set());
  const [active, setActive] = useState(0);
  const [, redraw] = useState(0);
  const marks = useMemo(() => (hits === undefined ? undefined : marksOfHits(model, hits)), [model, hits]);
  const chosen = model.folded[active] === 1 ? active : -1;
  const shown = useMemo(() => visible(model, closed, marks, chosen), [model, closed, marks, chosen]);
  const view = useVirtual(area, shown.length, ROW);

  useEffect(() => model.listen(() => redraw((turn) => turn + 1)), [model]);
  useEffect(() => {
    if (fold.turn > 0) setClosed(fold.close ? turnsOf(model) : new Set());
  }, [fold.turn]);

  // Shows the selected node, or the first change.
  useEffect(() => {
    let current = true;
    const show = (position: number, select: boolean) => {
      if (!current) return;
      setClosed((closed) => opened(model, closed, position));
      if (select) setActive(position);
      requestAnimationFrame(() => current && view.scrollTo(indexOf(visible(model, opened(model, closed, position), marks, position), position), true));
    };
    if (node !== undefined) {
      const row = model.row(active);
      if (row?.id === node) return;
      void model.find(node).then((position) => position !== undefined && show(position, true));
    } else {
      const first = firstChange(model);
      if (first > 0) show(first, false);
    }
    return () => {
      current = false;
    };
  }, [model, node]);

  const select = useCallback(
    (position: number) => {
      setActive(position);
      const row = model.row(position);
      if (row !== undefined) onSelect(row.id, model.markOf(position));
    },
    [model, onSelect],
  );
  const toggle = useCallback(
    (position: number, deep: boolean) =>
      setClosed((closed) => {
        const next = new Set(closed);
        const open = next.has(position);
        const end = deep ? (model.end[position] ?? position + 1) : position + 1;
        for (let at = position; at < end; at += 1) {
          if (open) next.delete(at);
          else if (model.hasChildren(at)) next.add(at);
        }
        return next;
      }),
    [model],
  );

  const move = (to: number) => {
    const position = shown[Math.max(0, Math.min(shown.length - 1, to))];
    if (position === undefined) return;
    select(position);
    view.scrollTo(Math.max(0, Math.min(shown.length - 1, to)));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey) return;
    const index = indexOf(shown, active);
    const page = Math.max(1, Math.floor((area.current?.clientHeight ?? ROW) / ROW) - 1);
    const isParent = model.hasChildren(active);
    switch (event.key) {
      case "ArrowDown":
        move(index + 1);
        break;
      case "ArrowUp":
        move(index - 1);
        break;
      case "PageDown":
        move(index + page);
        break;
      case "PageUp":
        move(index - page);
        break;
      case "Home":
        move(0);
        break;
      case "End":
        move(shown.length - 1);
        break;
      case "ArrowRight":
        if (isParent && closed.has(active)) toggle(active, event.altKey);
        else if (isParent) move(index + 1);
        break;
      case "ArrowLeft":
        if (isParent && !closed.has(active)) toggle(active, event.altKey);
        else move(indexOf(shown, model.parent[active] ?? 0));
        break;
      case "Enter":
      case " ":
        select(active);
        break;
      default:
        return;
    }
    event.preventDefault();
  };

  const rows = [];
  for (let index = view.first; index < view.last; index += 1) {
    const position = shown[index];
    if (position === undefined) continue;
    const row = model.row(position);
    rows.push(
      <TreeRow
        // Rows that leave the window become those that enter it: changing an element costs less than making one.
        key={index % view.most}
        model={model}
        counted={model.isCounted}
        position={position}
        row={row}
        open={!closed.has(position)}
        selected={row !== undefined && row.id === node}
        hit={marks !== undefined && marks[position] === 2}
        onSelect={select}
        onToggle={toggle}
      />,
    );
  }
  const isActiveShown = indexOf(shown, active) >= view.first && indexOf(shown, active) < view.last;
  return (
    <div
      ref={area}
      class="tree"
      role="tree"
      aria-label="Nodes of the context"
      tabIndex={0}
      aria-activedescendant={isActiveShown ? `row-${active}` : undefined}
      onKeyDown={onKeyDown}
    >
      <div class="extent" role="presentation" style={{ height: `${view.height}px` }}>
        <div class="rows" role="presentation" style={{ transform: `translateY(${view.top}px)` }}>
          {rows}
        </div>
      </div>
    </div>
  );
}

/** Returns the index of a position, or of the nearest one before it: positions are in order. */
function indexOf(shown: Uint32Array, position: number): number {
  let [low, high] = [0, shown.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((shown[middle] ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** Returns the rows to close so that one line a turn is left. */
function turnsOf(model: TreeModel): Set<number> {
  const closed = new Set<number>();
  for (let position = 0; position < model.total; position += 1) {
    if (model.depth[position] === 2 && model.hasChildren(position)) closed.add(position);
  }
  return closed;
}

/** Returns the closed rows without those above a position. */
function opened(model: TreeModel, closed: ReadonlySet<number>, position: number): ReadonlySet<number> {
  const next = new Set(closed);
  for (let above = model.parent[position] ?? -1; above >= 0; above = model.parent[above] ?? -1) next.delete(above);
  return next.size === closed.size ? closed : next;
}

function firstChange(model: TreeModel): number {
  for (let position = 0; position < model.total; position += 1) {
    if (model.mark[position] !== 0) return position;
  }
  return 0;
}
