// A page without a server: it answers from the data in its own file, which `ctx export --html` wrote.
import { goOffline, Problem } from "./api";
import type { NodeResponse, Rows, Timeline } from "./wire";

interface Entry {
  command: string;
  answer: unknown;
  [field: string]: unknown;
}

interface Data {
  context: string;
  timeline: Timeline;
  answers: Entry[];
}

/** Reads the data of the file, if it has any. Returns the context that it shows. */
export function openFile(): string | undefined {
  const element = document.getElementById("data");
  if (element === null) return undefined;
  const data = JSON.parse(element.textContent ?? "") as Data;
  const known = new Map(data.answers.map((entry) => [keyOf(entry.command, (name) => entry[name] as string | undefined), entry.answer]));
  document.body.dataset.offline = "";
  goOffline((address) => answer(data, known, address));
  return data.context;
}

/** Fields that tell answers of a command apart. */
const FIELDS: Record<string, string[]> = { rows: ["at", "against"], diff: ["from", "to"], sent: ["at"], render: ["at", "format"], tokens: ["at", "by"], node: ["id"], "node-history": ["id"], cache: ["from"] };

function keyOf(command: string, field: (name: string) => string | undefined): string {
  return [command, ...(FIELDS[command] ?? []).map((name) => field(name) ?? "")].join("\n");
}

function answer(data: Data, known: Map<string, unknown>, address: string): unknown {
  const [path = "", query = ""] = address.split("?", 2);
  const parameters = new URLSearchParams(query);
  const command = path.split("/").at(-1) ?? "";
  if (command === "timeline") return data.timeline;
  if (command === "contexts") return { contexts: [row(data)] };
  const field = (name: string) => parameters.get(name) ?? undefined;
  const found = known.get(keyOf(command, field)) ?? fallback(known, command, field);
  if (found === undefined) throw new Problem(404, "E_NOT_IN_FILE", "this file does not have it", {}, "`ctx ui` on the store shows everything.");
  if (command !== "rows") return found;
  const rows = found as Rows;
  if (field("where") !== undefined) throw new Problem(400, "E_NOT_IN_FILE", "selectors need the program: search for a text, or use `ctx ui`", {}, undefined);
  const text = field("text")?.toLowerCase();
  const under = field("under");
  if (text === undefined && under === undefined) return rows;
  const matches = rows.positions.map((_, index) => index).filter((index) => (under === undefined ? has(known, rows, index, text ?? "") : rows.columns.id?.[index] === under));
  const page = matches.slice(Number(field("skip") ?? 0)).slice(0, Number(field("limit") ?? matches.length));
  return { ...rows, matched: matches.length, positions: page.map((index) => rows.positions[index]), columns: { id: page.map((index) => rows.columns.id?.[index] ?? "") } };
}

/** Rows that were not compared are those of the comparison without what was removed; only the marks are left out. */
function fallback(known: Map<string, unknown>, command: string, field: (name: string) => string | undefined): unknown {
  if (command !== "rows" || field("against") !== undefined) return undefined;
  for (const [key, found] of known) {
    if (!key.startsWith(`rows\n${field("at") ?? ""}\n`)) continue;
    return unmarked(found as Rows);
  }
  return undefined;
}

function unmarked(rows: Rows): Rows {
  const marks = rows.columns.mark ?? [];
  const kept = rows.positions.map((_, index) => index).filter((index) => marks[index] !== "removed");
  const place = new Map(kept.map((index, position) => [index, position]));
  const columns: Record<string, unknown> = {};
  for (const [name, values] of Object.entries(rows.columns)) {
    if (["mark", "fields", "reason", "below"].includes(name) || !Array.isArray(values)) continue;
    columns[name] = kept.map((index) => values[index] as unknown);
  }
  // Rows below a row follow it.
  columns.below = kept.map((index, position) => {
    const end = index + (rows.columns.below?.[index] ?? 0);
    let below = 0;
    for (let next = position + 1; next < kept.length && (kept[next] ?? 0) <= end; next += 1) below += 1;
    return below;
  });
  return { ...rows, total: kept.length, matched: kept.length, positions: kept.map((index) => place.get(index) ?? 0), columns: columns as Rows["columns"] };
}

function has(known: Map<string, unknown>, rows: Rows, index: number, text: string): boolean {
  const id = rows.columns.id?.[index] ?? "";
  if (id.toLowerCase().includes(text) || (rows.columns.key?.[index] ?? "").toLowerCase().includes(text)) return true;
  const node = known.get(`node\n${id}`) as NodeResponse | undefined;
  const content = node?.node.content;
  return content !== undefined && (typeof content === "string" ? content : JSON.stringify(content)).toLowerCase().includes(text);
}

function row({ context, timeline }: Data) {
  const last = timeline.calls.filter((call) => call.committed).at(-1);
  const time = last?.sealed_at_ns ?? 0;
  return { name: context, revision: 0, head: null, snapshots: timeline.calls.length + timeline.left_out, created_ns: time, updated_ns: time };
}
