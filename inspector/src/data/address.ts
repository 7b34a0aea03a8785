// What is shown is a function of the address: `#/CONTEXT/STATE/VIEW?node=…&against=…&q=…`.
import { useEffect, useState } from "preact/hooks";

export const VIEWS = ["tree", "request", "diff", "budget", "cache"] as const;
export type View = (typeof VIEWS)[number];

export interface Place {
  context?: string;
  /** `@c12`, `@` for the working state; absent for the newest call. */
  at?: string;
  view: View;
  /** The state that it is compared with; absent for the one before, `none` for none. */
  against?: string;
  node?: string;
  /** The provider whose request is shown. */
  provider?: string;
  raw?: boolean;
  /** What is searched for: a text, or a selector. */
  q?: string;
  /** What counts tokens. */
  model?: string;
  /** The budget of a what-if. */
  budget?: string;
  /** The first node of a long request that is shown, by its number. */
  from?: string;
  /** A state of another context to compare with: `NAME@t0`. */
  with?: string;
}

const FIELDS = ["against", "node", "provider", "q", "model", "budget", "from", "with"] as const;

export function parsePlace(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2) as [string?, string?];
  const [context, at, view] = path.split("/").map(decodeURIComponent);
  const parameters = new URLSearchParams(query);
  const place: Place = { view: VIEWS.find((known) => known === view) ?? "tree" };
  if (context) place.context = context;
  if (at) place.at = at;
  for (const field of FIELDS) {
    const value = parameters.get(field);
    if (value !== null) place[field] = value;
  }
  if (parameters.has("raw")) place.raw = true;
  return place;
}

export function printPlace(place: Place): string {
  if (place.context === undefined) return place.q ? `#/?q=${encodeURIComponent(place.q)}` : "#/";
  const parts = [encodeURIComponent(place.context)];
  if (place.at !== undefined || place.view !== "tree") parts.push(encode(place.at ?? "@t0"));
  if (place.view !== "tree") parts.push(place.view);
  const query = FIELDS.flatMap((field) => (place[field] ? [`${field}=${encode(place[field])}`] : []));
  if (place.raw) query.push("raw");
  return `#/${parts.join("/")}${query.length > 0 ? `?${query.join("&")}` : ""}`;
}

/** Leaves the signs of ids and addresses as they are: people read them in the address bar. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/%3A/g, ":").replace(/%40/g, "@").replace(/%2C/g, ",");
}

/** Changes a place; `undefined` removes a field. */
export type Change = { [K in keyof Place]?: Place[K] | undefined };

export function changed(place: Place, change: Change): Place {
  const next: Record<string, unknown> = { ...place, ...change };
  for (const key of Object.keys(next)) {
    if (next[key] === undefined) delete next[key];
  }
  if (next.view === undefined) next.view = "tree";
  // A part of another request.
  if ("at" in change && !("from" in change)) delete next.from;
  return next as unknown as Place;
}

/** Goes to a place. A step of the same kind as the last one replaces it, so that *back* leaves a series of steps at once. */
export function go(place: Place, replace = false): void {
  const hash = printPlace(place);
  if (hash === location.hash) return;
  if (replace) history.replaceState(null, "", location.pathname + location.search + hash);
  else history.pushState(null, "", location.pathname + location.search + hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function usePlace(): Place {
  const [place, setPlace] = useState(() => parsePlace(location.hash));
  useEffect(() => {
    const follow = () => setPlace(parsePlace(location.hash));
    addEventListener("hashchange", follow);
    addEventListener("popstate", follow);
    return () => {
      removeEventListener("hashchange", follow);
      removeEventListener("popstate", follow);
    };
  }, []);
  return place;
}
