// The content of a node in the form that suits it, or raw.
import type { Node } from "../data/wire";
import { Json } from "./json";
import { Markdown } from "./markdown";

export function Content({ node, raw }: { node: Node; raw: boolean }) {
  const { content } = node;
  if (content === undefined) return <p class="small">No content.</p>;
  const text = typeof content === "string" ? content : JSON.stringify(content, null, 2);
  if (raw) {
    return (
      <pre class="raw" tabIndex={0}>
        {text}
      </pre>
    );
  }
  const image = imageOf(node);
  if (image !== undefined) return <img class="picture" src={image} alt={`Image of node ${node.id}`} />;
  if (typeof content !== "string") return <Json value={content} />;
  const parsed = parsedJson(content);
  if (parsed !== undefined) return <Json value={parsed} />;
  return <Markdown text={content} />;
}

/** Returns an image as a data URL, if the node is one that carries its bytes. */
function imageOf(node: Node): string | undefined {
  const mime = typeof node.mime === "string" ? node.mime : undefined;
  const { content } = node;
  if (mime?.startsWith("image/") && typeof content === "string" && /^[A-Za-z0-9+/=\s]+$/.test(content)) return `data:${mime};base64,${content}`;
  if (typeof content === "string" && /^data:image\/[a-z+.-]+;base64,[A-Za-z0-9+/=]+$/.test(content)) return content;
  if (typeof content !== "object" || content === null) return undefined;
  const source = (content as { source?: { data?: unknown; media_type?: unknown } }).source;
  if (typeof source?.data === "string" && typeof source.media_type === "string" && source.media_type.startsWith("image/")) {
    return `data:${source.media_type};base64,${source.data}`;
  }
  return undefined;
}

/** Returns the value of a text that is a JSON object or list. */
function parsedJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
