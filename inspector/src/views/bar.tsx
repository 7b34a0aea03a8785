// The bar at the top: where we are, and the search.
import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import { printPlace, type Place } from "../data/address";
import { isOffline, signOut } from "../data/api";
import type { Search } from "../data/search";
import { useWho } from "../data/session";
import { store, stored } from "../data/storage";
import { Icon, Sign } from "../parts/icon";
import { SearchBox } from "./search-box";

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
          {!isOffline() && <span class={live ? "live" : "live off"} title={live ? "changes appear at once" : "not connected"} role="status" aria-label={live ? "live" : "not connected"} />}
        </span>
      )}
      {search !== undefined && box !== undefined && <SearchBox place={place} search={search} box={box} />}
      <span class="tools">
        <Who />
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

/** Who is signed in, and the way out. */
function Who() {
  const who = useWho();
  if (who === undefined) return null;
  // Signed out or not, the page then shows what the server says.
  const leave = () => void signOut().finally(() => location.reload());
  return (
    <button class="quiet" onClick={leave} title={`signed in with the token ${who.name}, which may ${RIGHTS[who.right]}`}>
      sign out
    </button>
  );
}

const RIGHTS = { read: "read", write: "read and write", admin: "do everything" } as const;

const THEMES = ["auto", "light", "dark"] as const;

function Theme() {
  const [theme, setTheme] = useState(() => stored("theme") ?? "auto");
  const next = THEMES[(THEMES.indexOf(theme as (typeof THEMES)[number]) + 1) % THEMES.length] ?? "auto";
  const change = () => {
    store("theme", next);
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

