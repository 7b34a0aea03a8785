// The bar at the top: where we are, and the search.
import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import { changed, go, printPlace, type Place } from "../data/address";
import { plural } from "../data/format";
import type { Search } from "../data/search";
import { Icon, Sign } from "../parts/icon";

interface Props {
  place: Place;
  context?: string;
  live?: boolean;
  search?: Search;
  box?: RefObject<HTMLInputElement | null>;
  onHelp?: () => void;
}

export function Bar({ place, context, live, search, box, onHelp }: Props) {
  return (
    <header class="top">
      <a class="home" href="#/" title="All contexts">
        <Sign />
        <span>Contextree</span>
      </a>
      {context !== undefined && (
        <span class="crumb">
          <span aria-hidden="true">/</span> <a href={printPlace({ context, view: "tree" })}>{context}</a>
          <span class={live ? "live" : "live off"} title={live ? "changes appear at once" : "not connected"} role="status" aria-label={live ? "live" : "not connected"} />
        </span>
      )}
      {search !== undefined && box !== undefined && <SearchBox place={place} search={search} box={box} />}
      <span class="tools">
        <Theme />
        {onHelp !== undefined && (
          <button class="quiet" onClick={onHelp} aria-label="Keys">
            <kbd>?</kbd>
          </button>
        )}
      </span>
    </header>
  );
}

function SearchBox({ place, search, box }: { place: Place; search: Search; box: RefObject<HTMLInputElement | null> }) {
  const { problem } = search;
  const query = place.q ?? "";
  const caret = problem === undefined ? undefined : position(problem.details);
  return (
    <search class="search-box" data-selector={search.isSelector && query !== ""}>
      <label class="search">
        <Icon name="search" />
        <input
          ref={box}
          type="search"
          spellcheck={false}
          autocomplete="off"
          placeholder="Search text, or a selector: ^seq .block[role='user']"
          aria-label="Search text or a selector"
          aria-invalid={problem !== undefined}
          aria-describedby="search-result"
          value={query}
          onInput={(event) => go(changed(place, { q: event.currentTarget.value || undefined }), true)}
        />
        {query === "" && <kbd aria-hidden="true">/</kbd>}
      </label>
      <span id="search-result" class="result" role="status">
        {query !== "" && problem === undefined && search.count !== undefined && (search.count === 0 ? "no match" : plural(search.count, "match", "matches"))}
      </span>
      {problem !== undefined && (
        <div class="caret" role="alert">
          <pre>
            {query}
            {caret !== undefined && `\n${" ".repeat(caret)}^`}
          </pre>
          <p>{problem.message}</p>
          {problem.hint !== undefined && <p class="small">{problem.hint}</p>}
        </div>
      )}
    </search>
  );
}

/** Returns where a selector is wrong. */
function position(details: Record<string, unknown>): number | undefined {
  const errors = details.errors as { span?: number[] }[] | undefined;
  const span = errors?.[0]?.span ?? (details.span as number[] | undefined);
  return span?.[0];
}

const THEMES = ["auto", "light", "dark"] as const;

function Theme() {
  const [theme, setTheme] = useState(() => localStorage.getItem("theme") ?? "auto");
  const next = THEMES[(THEMES.indexOf(theme as (typeof THEMES)[number]) + 1) % THEMES.length] ?? "auto";
  const change = () => {
    localStorage.setItem("theme", next);
    applyTheme(next);
    setTheme(next);
  };
  return (
    <button class="quiet" onClick={change} aria-label={`Theme: ${theme}. Change to ${next}`} title={`theme: ${theme}`}>
      <Icon name="sun" />
    </button>
  );
}

export function applyTheme(theme: string): void {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

