// Completion of the search: earlier queries, names of the selector language, and values that occur in the tree.
import { store, stored } from "./storage";
import type { Rows } from "./wire";

const KEPT = 12;
const KEY = "searches";

export function earlier(): string[] {
  try {
    const found: unknown = JSON.parse(stored(KEY) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

/** Remembers a query, the newest first. */
export function remember(query: string): void {
  const wanted = query.trim();
  if (wanted === "") return;
  store(KEY, JSON.stringify([wanted, ...earlier().filter((one) => one !== wanted)].slice(0, KEPT)));
}

export interface Suggestion {
  /** The whole query with the completion. */
  query: string;
  label: string;
  note: string;
}

const STARTS: [string, string][] = [
  ["^sys", "system region"],
  ["^seq", "turns"],
  ["^ah", "head: the turn in progress"],
  [".block", "blocks"],
  [".turn", "turns"],
  ["#", "a node by its id"],
];
const ATTRIBUTES = ["role", "kind", "key", "tag", "ttl", "priority", "pinned", "cycle", "data_name", "id", "depth"];

/** The values of the rows that have been read, by attribute. */
export function valuesOf(rows: Rows | undefined): Map<string, string[]> {
  const found = new Map<string, string[]>();
  if (rows === undefined) return found;
  const { columns, words } = rows;
  const word = (index: number | null) => (index === null ? undefined : words[index]);
  const add = (name: string, values: (string | null | undefined)[] | undefined) => {
    const all = [...new Set((values ?? []).filter((value): value is string => typeof value === "string" && value !== ""))];
    found.set(name, all.sort());
  };
  add("role", columns.role?.map(word));
  add("kind", columns.kind?.map(word));
  add("key", columns.key);
  add("data_name", columns.name);
  add("tag", columns.tags?.flat());
  add("id", columns.id);
  add("pinned", ["true", "false"]);
  return found;
}

const MOST = 8;

/** Returns how a query may go on. */
export function suggest(query: string, values: Map<string, string[]>): Suggestion[] {
  if (query.trim() === "") return earlier().map((one) => ({ query: one, label: one, note: "searched before" })).slice(0, MOST);
  const value = /\[\s*(\w+)\s*[!^$*~]?=\s*(['"]?)([^'"\]]*)$/.exec(query);
  if (value !== null) {
    const [whole, name = "", , begun = ""] = value;
    const head = query.slice(0, query.length - whole.length) + whole.slice(0, whole.length - begun.length - (value[2]?.length ?? 0));
    return (values.get(name) ?? [])
      .filter((one) => one.toLowerCase().startsWith(begun.toLowerCase()) && one !== begun)
      .slice(0, MOST)
      .map((one) => ({ query: `${head}'${one}']`, label: one, note: name }));
  }
  const attribute = /\[\s*(\w*)$/.exec(query);
  if (attribute !== null) {
    const begun = attribute[1] ?? "";
    const head = query.slice(0, query.length - begun.length);
    return ATTRIBUTES.filter((one) => one.startsWith(begun)).slice(0, MOST).map((one) => ({ query: `${head}${one}=`, label: one, note: "attribute" }));
  }
  const start = /(^|\s)([\^.#][\w:]*)$/.exec(query);
  if (start !== null) {
    const begun = start[2] ?? "";
    const head = query.slice(0, query.length - begun.length);
    const ids = begun.startsWith("#") && begun.length > 1 ? (values.get("id") ?? []).filter((id) => id.startsWith(begun.slice(1))).map((id): [string, string] => [`#${id}`, "node"]) : [];
    return [...STARTS.filter(([one]) => one.startsWith(begun) && one !== begun), ...ids].slice(0, MOST).map(([one, note]) => ({ query: head + one, label: one, note }));
  }
  return [];
}
