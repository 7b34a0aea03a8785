// Search: a text, or a selector. Both find rows of the state that is shown.
import { url, type Problem } from "./api";
import { useRead } from "./resource";
import type { Rows } from "./wire";

export interface Search {
  isSelector: boolean;
  positions: number[] | undefined;
  count: number | undefined;
  problem: Problem | undefined;
}

/** Returns whether a query is a selector: it begins with a sign that begins one. */
export function isSelector(query: string): boolean {
  return /^[\^.#@?[({*!]|^(not|and|or)\b.*[[{]/.test(query.trim());
}

const MOST = 100_000;

export function useSearch(context: string, query: string | undefined, states: { at: string; against: string | undefined }, version: number): Search {
  const wanted = query?.trim() ?? "";
  const selects = isSelector(wanted);
  const filter = selects ? { where: wanted } : { text: wanted };
  const address = wanted === "" ? undefined : url(context, "rows", { ...states, ...filter, columns: ["depth"], limit: MOST });
  const { value, problem } = useRead<Rows>(address, version);
  return { isSelector: selects, positions: value?.positions, count: value?.matched, problem };
}
