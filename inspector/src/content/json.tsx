// JSON with a line for each value, coloured by type.
import type { ComponentChildren } from "preact";

/** Longer texts are cut; *raw* shows all of them. */
const LONGEST = 20_000;

export function Json({ value }: { value: unknown }) {
  return (
    <pre class="json" tabIndex={0}>
      {print(value, 0)}
    </pre>
  );
}

/** Shows the line ends and tabs in the strings of a JSON text. */
export function lineEnds(json: string): string {
  return json.replace(/\\(.)/g, (all, code: string) => (code === "n" ? "↵\n" : code === "t" ? "\t" : all));
}

function print(value: unknown, depth: number): ComponentChildren {
  const space = "  ".repeat(depth + 1);
  const close = `\n${"  ".repeat(depth)}`;
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return ["[", ...value.map((item, index) => [`\n${space}`, print(item, depth + 1), index + 1 < value.length ? "," : ""]), `${close}]`];
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 0) return "{}";
    return [
      "{",
      ...entries.map(([name, item], index) => [
        `\n${space}`,
        <span class="key">{JSON.stringify(name)}</span>,
        ": ",
        print(item, depth + 1),
        index + 1 < entries.length ? "," : "",
      ]),
      `${close}}`,
    ];
  }
  if (typeof value === "string") {
    const cut = value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value;
    // Line ends are shown as such, as in the request: most long texts in JSON are documents.
    return <span class="string">{lineEnds(JSON.stringify(cut))}</span>;
  }
  return <span class="literal">{String(value)}</span>;
}
