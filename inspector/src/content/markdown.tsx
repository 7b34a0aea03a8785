// Markdown as a model writes it: headings, lists, quotes, fenced code, emphasis. Nothing is loaded, and no HTML is interpreted.
import type { ComponentChildren } from "preact";

type Block =
  | { kind: "heading"; level: number; text: string }
  | { kind: "code"; language: string; text: string }
  | { kind: "list"; ordered: boolean; items: string[] }
  | { kind: "quote"; text: string }
  | { kind: "rule" }
  | { kind: "paragraph"; text: string };

export function Markdown({ text }: { text: string }) {
  return <div class="markdown">{blocks(text).map(draw)}</div>;
}

function blocks(text: string): Block[] {
  const found: Block[] = [];
  const lines = text.split("\n");
  for (let index = 0; index < lines.length; ) {
    const line = lines[index] ?? "";
    const fence = /^\s*(```+|~~~+)\s*(\S*)/.exec(line);
    if (fence !== null) {
      const [, mark = "```", language = ""] = fence;
      let end = index + 1;
      while (end < lines.length && !(lines[end] ?? "").trimStart().startsWith(mark)) end += 1;
      found.push({ kind: "code", language, text: lines.slice(index + 1, end).join("\n") });
      index = end + 1;
      continue;
    }
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (heading !== null) {
      found.push({ kind: "heading", level: heading[1]?.length ?? 1, text: heading[2] ?? "" });
      index += 1;
      continue;
    }
    if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      found.push({ kind: "rule" });
      index += 1;
      continue;
    }
    const item = /^\s*([-*+]|\d+[.)])\s+/;
    if (item.test(line)) {
      const items: string[] = [];
      const ordered = /^\s*\d/.test(line);
      for (; index < lines.length && (lines[index] ?? "").trim() !== ""; index += 1) {
        const next = lines[index] ?? "";
        if (item.test(next)) items.push(next.replace(item, ""));
        else items.push(`${items.pop() ?? ""}\n${next.trim()}`);
      }
      found.push({ kind: "list", ordered, items });
      continue;
    }
    if (line.startsWith(">")) {
      const quoted: string[] = [];
      for (; index < lines.length && (lines[index] ?? "").startsWith(">"); index += 1) quoted.push((lines[index] ?? "").replace(/^>\s?/, ""));
      found.push({ kind: "quote", text: quoted.join("\n") });
      continue;
    }
    if (line.trim() === "") {
      index += 1;
      continue;
    }
    const paragraph: string[] = [];
    for (; index < lines.length; index += 1) {
      const next = lines[index] ?? "";
      if (next.trim() === "" || /^\s*(```|~~~)|^#{1,6}\s|^>/.test(next) || item.test(next)) break;
      paragraph.push(next);
    }
    found.push({ kind: "paragraph", text: paragraph.join("\n") });
  }
  return found;
}

function draw(block: Block, key: number): ComponentChildren {
  switch (block.kind) {
    case "heading":
      return (
        <p key={key} class={`heading level-${Math.min(block.level, 4)}`}>
          {inline(block.text)}
        </p>
      );
    case "code":
      return (
        <pre key={key} data-language={block.language} tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      );
    case "list": {
      const items = block.items.map((item, index) => <li key={index}>{inline(item)}</li>);
      return block.ordered ? <ol key={key}>{items}</ol> : <ul key={key}>{items}</ul>;
    }
    case "quote":
      return <blockquote key={key}>{inline(block.text)}</blockquote>;
    case "rule":
      return <hr key={key} />;
    case "paragraph":
      return <p key={key}>{inline(block.text)}</p>;
  }
}

const INLINE = /(`+)([\s\S]+?)\1|\*\*([^*]+)\*\*|(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])|\[([^\]]+)\]\(([^)\s]+)\)/g;

/** Links are shown and not followed: a context is not a trusted page. */
function inline(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let last = 0;
  for (const match of text.matchAll(INLINE)) {
    parts.push(text.slice(last, match.index));
    const [all, , code, strong, emphasis, label, target] = match;
    if (code !== undefined) parts.push(<code>{code}</code>);
    else if (strong !== undefined) parts.push(<strong>{strong}</strong>);
    else if (emphasis !== undefined) parts.push(<em>{emphasis}</em>);
    else if (label !== undefined) parts.push(<span class="link" title={target}>{label}</span>);
    else parts.push(all);
    last = match.index + all.length;
  }
  parts.push(text.slice(last));
  return parts;
}
