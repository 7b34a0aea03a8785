// Copies a text.
import { useState } from "preact/hooks";
import { Icon } from "./icon";

export function Copy({ text, label, children }: { text: string | (() => string); label: string; children?: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === "string" ? text : text());
    setDone(true);
    setTimeout(() => setDone(false), 1_500);
  };
  return (
    <button class="quiet" onClick={copy} aria-label={label} title={label}>
      {children === undefined ? <Icon name="copy" /> : done ? "copied" : children}
      {done && children === undefined && <span class="copied" role="status">copied</span>}
    </button>
  );
}
