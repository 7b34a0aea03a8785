// The contexts of the store.
import { useEffect, useMemo, useState } from "preact/hooks";
import { changed, go, printPlace, type Place } from "../data/address";
import { forget, url } from "../data/api";
import { ago, count, moment, plural } from "../data/format";
import { useRead } from "../data/resource";
import type { ContextRow } from "../data/wire";
import { Icon } from "../parts/icon";
import { Empty, Loading, Refused } from "../parts/notice";

export function Contexts({ place }: { place: Place }) {
  const [version, setVersion] = useState(0);
  const { value, problem } = useRead<{ contexts: ContextRow[] }>(url(undefined, "contexts"), version);
  const [now, setNow] = useState(Date.now());

  // Live: any change of any context, by any process.
  useEffect(() => {
    const events = new EventSource("v1/events");
    const again = () => {
      forget(undefined);
      setVersion((version) => version + 1);
    };
    for (const name of ["changed", "deleted", "reset"]) events.addEventListener(name, again);
    const tick = setInterval(() => setNow(Date.now()), 30_000);
    return () => {
      events.close();
      clearInterval(tick);
    };
  }, []);

  const shown = useMemo(() => {
    const wanted = (place.q ?? "").toLowerCase();
    const all = value?.contexts ?? [];
    return all.filter((row) => row.name.toLowerCase().includes(wanted)).sort((a, b) => b.updated_ns - a.updated_ns);
  }, [value, place.q]);

  if (problem !== undefined) return <Refused problem={problem} />;
  if (value === undefined) return <Loading what="the contexts" />;
  return (
    <main class="contexts">
      <header>
        <h1>Contexts</h1>
        <label class="search">
          <Icon name="search" />
          <input
            type="search"
            placeholder="Filter by name"
            aria-label="Filter contexts by name"
            value={place.q ?? ""}
            onInput={(event) => go(changed(place, { q: event.currentTarget.value || undefined }), true)}
          />
        </label>
        <span class="small" role="status">
          {shown.length === value.contexts.length ? plural(shown.length, "context") : `${count(shown.length)} of ${plural(value.contexts.length, "context")}`}
        </span>
      </header>
      {value.contexts.length === 0 && (
        <Empty title="No context yet">
          <p>Import a log, or add a message, and this page shows it at once:</p>
          <pre>ctx import ~/.claude/projects/…/session.jsonl --as main</pre>
        </Empty>
      )}
      <ul class="cards">
        {shown.map((row) => (
          <li key={row.name}>
            <a href={printPlace({ context: row.name, view: "tree" })}>
              <span class="title">{row.name}</span>
              <span class="facts">
                <span>{plural(row.snapshots, "call")}</span>
                <span>{plural(row.revision, "change")}</span>
                {row.head !== null && <code title={row.head.digest}>{row.head.digest.replace(/^sha256:/, "").slice(0, 8)}</code>}
              </span>
              <time class="when" title={moment(row.updated_ns)}>{ago(row.updated_ns, now)}</time>
            </a>
          </li>
        ))}
      </ul>
    </main>
  );
}
