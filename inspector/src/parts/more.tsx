// The beginning of a long list, and the rest on demand: a page stays usable whatever the context has.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { count, plural } from "../data/format";

interface Props<T> {
  items: T[];
  /** How many are drawn at first, and how many more each time. */
  step: number;
  noun: string;
  children: (item: T) => ComponentChildren;
}

export function More<T>({ items, step, noun, children }: Props<T>) {
  const [shown, setShown] = useState(step);
  const hidden = items.length - shown;
  return (
    <>
      {items.slice(0, shown).map(children)}
      {hidden > 0 && (
        <button type="button" class="show-more" onClick={() => setShown(shown + step)}>
          Show {count(Math.min(step, hidden))} of {plural(hidden, `more ${noun}`)}
        </button>
      )}
    </>
  );
}
