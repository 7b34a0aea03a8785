// The rows of a state: their shape in typed arrays, all of it at once; their words a page at a time, when they come into view.
import { read, url, type Parameters } from "../../data/api";
import type { Mark, Rows } from "../../data/wire";

/** How many rows the first request brings. */
const FIRST = 400;
/** How many rows a page of words has. */
const PAGE = 200;
/** How many rows the shape is read in at a time: each answer is parsed in a few milliseconds. */
const SHAPE = 20_000;

const MARKS: Mark[] = ["same", "added", "changed", "removed"];
const REMOVED = MARKS.indexOf("removed");
const SHAPE_COLUMNS = ["depth", "below", "mark"];
/** What a row shows. Sums over whole trees, which the server would have to compute first, are not among it. */
const WORDS = ["id", "depth", "below", "class", "type", "role", "kind", "key", "name", "tags", "ttl", "priority", "pinned", "mark", "fields", "reason", "excerpt"];

export interface Row {
  id: string;
  class: string;
  type: string;
  role: string | undefined;
  kind: string | undefined;
  key: string | undefined;
  /** Of a tool or a file. */
  name: string | undefined;
  tags: string[];
  ttl: number | null;
  priority: number | string;
  pinned: boolean;
  fields: string[];
  reason: string | undefined;
  excerpt: string | undefined;
}

export class TreeModel {
  readonly total: number;
  readonly depth: Uint16Array;
  /** The position after the last row below each. */
  readonly end: Uint32Array;
  readonly mark: Uint8Array;
  readonly tokens: Float64Array;
  /** Whether the tokens are counted. */
  isCounted = false;
  /** The tokens of the largest row that has others below it, and of the largest that has none. */
  private readonly largest = { inner: 0, leaf: 0 };
  readonly parent: Int32Array;
  /** The position among siblings, from 1, and how many there are. */
  readonly place: Uint32Array;
  readonly siblings: Uint32Array;
  /** The core of a turn that has nothing else: a row of its own would only repeat the turn. */
  readonly folded: Uint8Array;
  private readonly words = new Map<number, Row>();
  private readonly positions = new Map<string, number>();
  private readonly asked = new Set<number>();
  private readonly listeners = new Set<() => void>();

  private constructor(
    private readonly context: string,
    private readonly request: Parameters,
    readonly first: Rows,
    shape: Rows[],
    isWhole: boolean,
  ) {
    // Until the whole shape is there, the first rows are all there is.
    const total = isWhole ? first.total : first.positions.length;
    this.total = total;
    this.depth = new Uint16Array(total);
    this.end = new Uint32Array(total);
    this.mark = new Uint8Array(total);
    this.tokens = new Float64Array(total);
    this.parent = new Int32Array(total).fill(-1);
    this.place = new Uint32Array(total);
    this.siblings = new Uint32Array(total);
    this.folded = new Uint8Array(total);
    for (const rows of shape) this.addShape(rows);
    this.relate();
    this.addWords(first);
  }

  /** Reads a tree. `onFirst` gets the beginning of a large one at once. */
  static async load(context: string, request: Parameters, onFirst: (model: TreeModel) => void): Promise<TreeModel> {
    // Without a model: the rows need not wait until all tokens are counted.
    const { model: _, ...plain } = request;
    const first = await read<Rows>(url(context, "rows", { ...plain, columns: WORDS, limit: FIRST }));
    let model = new TreeModel(context, request, first, [first], first.next === undefined);
    onFirst(model);
    const pages = (request: Parameters, columns: string[]) => {
      const starts = Array.from({ length: Math.ceil(first.total / SHAPE) }, (_, index) => index * SHAPE);
      return Promise.all(starts.map((skip) => read<Rows>(url(context, "rows", { ...request, columns, skip, limit: Math.min(SHAPE, first.total - skip) }))));
    };
    if (first.next !== undefined) {
      model = new TreeModel(context, request, first, await pages(plain, SHAPE_COLUMNS), true);
      onFirst(model);
    }
    for (const rows of await pages(request, ["tokens_below"])) model.addShape(rows);
    model.measure();
    model.isCounted = true;
    return model;
  }

  /** Returns the words of a row; asks for them if they are not there yet. */
  row(position: number): Row | undefined {
    const row = this.words.get(position);
    if (row === undefined) this.ask(Math.floor(position / PAGE));
    return row;
  }

  markOf(position: number): Mark {
    return MARKS[this.mark[position] ?? 0] ?? "same";
  }

  /** Returns how far a row is indented: its depth, without rows that are folded away above it. */
  level(position: number): number {
    let level = this.depth[position] ?? 0;
    for (let above = this.parent[position] ?? -1; above > 0; above = this.parent[above] ?? -1) level -= this.folded[above] ?? 0;
    return level;
  }

  hasChildren(position: number): boolean {
    return (this.end[position] ?? 0) > position + 1;
  }

  /**
   * Returns the tokens that fill the bar of a row: all, for the regions; those of the largest turn, for turns; those of the largest block,
   * for blocks. Against all of a long context, every bar would be empty.
   */
  scaleOf(position: number): number {
    if ((this.depth[position] ?? 0) < 2) return this.tokens[0] ?? 0;
    return this.hasChildren(position) ? this.largest.inner : this.largest.leaf;
  }

  private measure(): void {
    for (let position = 0; position < this.total; position += 1) {
      if ((this.depth[position] ?? 0) < 2 || this.mark[position] === REMOVED) continue;
      const kind = this.hasChildren(position) ? "inner" : "leaf";
      this.largest[kind] = Math.max(this.largest[kind], this.tokens[position] ?? 0);
    }
  }

  /** Calls back when more words have arrived. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Returns the words of a node, if they are there. */
  peek(id: string): Row | undefined {
    return this.words.get(this.positions.get(id) ?? -1);
  }

  /** Finds a node, also one whose words are not there yet. */
  async find(id: string): Promise<number | undefined> {
    const known = this.positions.get(id);
    if (known !== undefined || this.words.size === this.total) return known;
    const { model: _, ...plain } = this.request;
    try {
      const found = await read<Rows>(url(this.context, "rows", { ...plain, columns: ["id"], under: id, limit: 1 }));
      return found.positions[0];
    } catch {
      return undefined;
    }
  }

  private ask(page: number): void {
    if (this.asked.has(page)) return;
    this.asked.add(page);
    const { model: _, ...plain } = this.request;
    read<Rows>(url(this.context, "rows", { ...plain, columns: WORDS, skip: page * PAGE, limit: PAGE })).then(
      (rows) => {
        this.addWords(rows);
        for (const listener of this.listeners) listener();
      },
      () => this.asked.delete(page),
    );
  }

  private addShape({ positions, columns }: Rows): void {
    positions.forEach((position, index) => {
      if (columns.depth !== undefined) this.depth[position] = columns.depth[index] ?? 0;
      if (columns.below !== undefined) this.end[position] = Math.min(this.total, position + 1 + (columns.below[index] ?? 0));
      if (columns.mark !== undefined) this.mark[position] = MARKS.indexOf(columns.mark[index] ?? "same");
      if (columns.tokens_below !== undefined) this.tokens[position] = columns.tokens_below[index] ?? 0;
    });
  }

  private relate(): void {
    for (let parent = 0; parent < this.total; parent += 1) {
      const end = this.end[parent] ?? 0;
      let number = 0;
      for (let child = parent + 1; child < end; child = this.end[child] ?? end) {
        this.parent[child] = parent;
        this.place[child] = number += 1;
      }
      for (let child = parent + 1; child < end; child = this.end[child] ?? end) this.siblings[child] = number;
    }
    if (this.total > 0) this.place[0] = this.siblings[0] = 1;
    this.fold();
  }

  /** The regions are the system, the turns and the head, which is a turn itself. */
  private fold(): void {
    const below = (parent: number) => {
      const children = [];
      for (let child = parent + 1; child < (this.end[parent] ?? 0); child = this.end[child] ?? this.total) children.push(child);
      return children;
    };
    const [, turns, head] = below(0);
    const all = [...(turns === undefined ? [] : below(turns)), ...(head === undefined ? [] : [head])];
    for (const turn of all) {
      if (this.siblings[turn + 1] === 1 && this.parent[turn + 1] === turn && this.hasChildren(turn + 1)) this.folded[turn + 1] = 1;
    }
  }

  private addWords({ positions, columns, words }: Rows): void {
    const word = (index: number | null | undefined) => (index == null ? undefined : words[index]);
    positions.forEach((position, index) => {
      this.positions.set(columns.id?.[index] ?? "", position);
      this.words.set(position, {
        id: columns.id?.[index] ?? "",
        class: word(columns.class?.[index]) ?? "block",
        type: word(columns.type?.[index]) ?? "",
        role: word(columns.role?.[index]),
        kind: word(columns.kind?.[index]),
        key: columns.key?.[index] ?? undefined,
        name: columns.name?.[index] ?? undefined,
        tags: columns.tags?.[index] ?? [],
        ttl: columns.ttl?.[index] ?? null,
        priority: columns.priority?.[index] ?? 0,
        pinned: columns.pinned?.[index] ?? false,
        fields: columns.fields?.[index] ?? [],
        reason: word(columns.reason?.[index]),
        excerpt: columns.excerpt?.[index] ?? undefined,
      });
    });
  }
}

/**
 * Returns the positions that are shown: all but what is below a closed row, or, for a search, the hits and what is above them. A folded
 * row is shown if it was chosen or found.
 */
export function visible(model: TreeModel, closed: ReadonlySet<number>, hits?: Uint8Array, chosen = -1): Uint32Array {
  const shown = new Uint32Array(model.total);
  let length = 0;
  for (let position = 0; position < model.total; ) {
    if (model.folded[position] === 1 && position !== chosen && hits?.[position] !== 2) {
      position += 1;
      continue;
    }
    if (hits === undefined || hits[position] !== 0) {
      shown[length] = position;
      length += 1;
    } else {
      position += 1;
      continue;
    }
    position = closed.has(position) ? (model.end[position] ?? position + 1) : position + 1;
  }
  return shown.subarray(0, length);
}

/** Returns a mark for each row of a search: 2 a hit, 1 above a hit, 0 neither. */
export function marksOfHits(model: TreeModel, positions: number[]): Uint8Array {
  const marks = new Uint8Array(model.total);
  for (const position of positions) {
    marks[position] = 2;
    for (let above = model.parent[position] ?? -1; above >= 0 && marks[above] === 0; above = model.parent[above] ?? -1) marks[above] = 1;
  }
  return marks;
}
