// Search: a text, or a selector. Both find rows of the state that is shown.
import { useMemo } from "preact/hooks";
import { read, url, type Problem } from "./api";
import { valuesOf } from "./complete";
import { useRead } from "./resource";
import type { Rows } from "./wire";

export interface Search {
  isSelector: boolean;
  positions: number[] | undefined;
  count: number | undefined;
  problem: Problem | undefined;
  /** Values of attributes that occur, for completion. */
  values: Map<string, string[]>;
  /** The matches as JSON; absent without a query. */
  twin: string | undefined;
  /** Returns the id of a match by its number. */
  nodeAt: (index: number) => Promise<string | undefined>;
}

/** Returns whether a query is a selector: it begins with a sign that begins one. */
export function isSelector(query: string): boolean {
  return /^[\^.#@?[({*!]|^(not|and|or)\b.*[[{]/.test(query.trim());
}

const MOST = 100_000;

export function useSearch(context: string, query: string | undefined, states: { at: string; against: string | undefined }, first: Rows | undefined, version: number): Search {
  const wanted = query?.trim() ?? "";
  const selects = isSelector(wanted);
  const filter = selects ? { where: wanted } : { text: wanted };
  const address = wanted === "" ? undefined : url(context, "rows", { ...states, ...filter, columns: ["depth"], limit: MOST });
  const { value, problem } = useRead<Rows>(address, version);
  const values = useMemo(() => valuesOf(first), [first]);
  const nodeAt = async (index: number) => {
    const found = await read<Rows>(url(context, "rows", { ...states, ...filter, columns: ["id"], skip: index, limit: 1 }));
    return found.columns.id?.[0];
  };
  const twin = wanted === "" ? undefined : url(context, "rows", { ...states, ...filter });
  return { twin, isSelector: selects, positions: value?.positions, count: value?.matched, problem, values, nodeAt };
}
