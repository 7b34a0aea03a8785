// The search: a text or a selector, with the place of an error, counts, steps from match to match, completion, and earlier queries.
import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import { changed, go, type Place } from "../data/address";
import { remember, suggest } from "../data/complete";
import { count, plural } from "../data/format";
import type { Search } from "../data/search";
import { Icon } from "../parts/icon";
import { Prose } from "../parts/prose";

interface Props {
  place: Place;
  search: Search;
  box: RefObject<HTMLInputElement | null>;
}

export function SearchBox({ place, search, box }: Props) {
  const { problem } = search;
  const query = place.q ?? "";
  const caret = problem === undefined ? undefined : position(problem.details);
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const [hit, setHit] = useState({ of: "", index: -1 });
  const shown = isOpen ? suggest(query, search.values) : [];
  const write = (query: string) => {
    setActive(-1);
    go(changed(place, { q: query || undefined }), true);
  };
  const take = (query: string) => {
    write(query);
    setOpen(/=$/.test(query));
    box.current?.focus();
  };
  /** Goes to the next match, or to the one before. */
  const step = (by: number) => {
    if (search.count === undefined || search.count === 0) return;
    const from = hit.of === query ? hit.index : by > 0 ? -1 : 0;
    const index = (from + by + search.count) % search.count;
    setHit({ of: query, index });
    void search.nodeAt(index).then((node) => node !== undefined && go(changed(place, { node, view: "tree" }), true));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" && !isOpen) setOpen(true);
    else if (event.key === "ArrowDown" && shown.length > 0) setActive((active + 1) % shown.length);
    else if (event.key === "ArrowUp" && shown.length > 0) setActive((active + shown.length - 1) % shown.length);
    else if (event.key === "Tab" && !event.shiftKey && isOpen && active >= 0) take(shown[active]?.query ?? query);
    else if (event.key === "Enter") {
      const chosen = shown[active];
      if (chosen !== undefined) take(chosen.query);
      else {
        remember(query);
        setOpen(false);
        step(event.shiftKey ? -1 : 1);
      }
    } else if (event.key === "Escape" && isOpen && shown.length > 0) {
      setOpen(false);
      event.stopPropagation();
    } else return;
    event.preventDefault();
  };
  return (
    <search class="search-box" data-selector={search.isSelector && query !== ""}>
      <label class="search">
        <Icon name="search" />
        <input
          ref={box}
          type="search"
          list={undefined}
          role="combobox"
          spellcheck={false}
          autocomplete="off"
          placeholder="Search text, or a selector: ^seq .block[role='user']"
          aria-label="Search text or a selector"
          aria-invalid={problem !== undefined}
          aria-describedby="search-result"
          aria-expanded={shown.length > 0}
          aria-controls="search-suggestions"
          aria-autocomplete="list"
          aria-activedescendant={active >= 0 ? `suggestion-${active}` : undefined}
          value={query}
          onInput={(event) => {
            setOpen(true);
            write(event.currentTarget.value);
          }}
          onFocus={() => setOpen(true)}
          onBlur={() => {
            setOpen(false);
            if (problem === undefined && search.count !== undefined && search.count > 0) remember(query);
          }}
          onKeyDown={onKeyDown}
        />
        {query === "" && <kbd aria-hidden="true">/</kbd>}
      </label>
      <span id="search-result" class="result" role="status">
        {query !== "" && problem === undefined && search.count !== undefined && (
          search.count === 0 ? "no match" : hit.of === query && hit.index >= 0 ? `${count(hit.index + 1)} of ${plural(search.count, "match", "matches")}` : plural(search.count, "match", "matches")
        )}
      </span>
      {search.twin !== undefined && problem === undefined && (
        <a class="quiet" href={search.twin} title="These matches as JSON" aria-label="These matches as JSON">
          <Icon name="json" />
        </a>
      )}
      <div class="popup">
      <ul id="search-suggestions" class="suggestions" role="listbox" aria-label="Completions" hidden={shown.length === 0}>
        {shown.map((one, index) => (
          // Before the box loses the focus.
          <li key={one.query} id={`suggestion-${index}`} role="option" aria-selected={index === active} onMouseDown={(event) => { event.preventDefault(); take(one.query); }}>
            <code>{one.label}</code> <span class="small">{one.note}</span>
          </li>
        ))}
      </ul>
      {problem !== undefined && (
        <div class="caret" role="alert">
          <pre>
            {query}
            {caret !== undefined && `\n${" ".repeat(caret)}^`}
          </pre>
          <p>
            <Prose text={problem.message} />
          </p>
          {problem.hint !== undefined && <p class="small"><Prose text={problem.hint} /></p>}
        </div>
      )}
      </div>
    </search>
  );
}

/** Returns where a selector is wrong. */
function position(details: Record<string, unknown>): number | undefined {
  const errors = details.errors as { span?: number[] }[] | undefined;
  const span = errors?.[0]?.span ?? (details.span as number[] | undefined);
  return span?.[0];
}
