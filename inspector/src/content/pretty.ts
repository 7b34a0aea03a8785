// A request with a line for each value. Works on the text, so that every piece keeps the byte it begins with.

export interface Piece {
  /** The first byte of it in the request. */
  start: number;
  text: string;
}

const SPACES = "  ";

/** Returns the pieces of a JSON text that has no spaces between its values. The text is ASCII: bytes are characters. */
export function pretty(json: string): Piece[] {
  const pieces: Piece[] = [];
  let depth = 0;
  const line = () => `\n${SPACES.repeat(depth)}`;
  for (let at = 0; at < json.length; ) {
    const sign = json[at] ?? "";
    if (sign === '"') {
      const end = endOfString(json, at);
      pieces.push({ start: at, text: readable(json.slice(at, end)) });
      at = end;
      continue;
    }
    if (sign === "{" || sign === "[") {
      const close = sign === "{" ? "}" : "]";
      if (json[at + 1] === close) {
        pieces.push({ start: at, text: sign + close });
        at += 2;
        continue;
      }
      depth += 1;
      pieces.push({ start: at, text: sign + line() });
    } else if (sign === "}" || sign === "]") {
      depth -= 1;
      pieces.push({ start: at, text: line() + sign });
    } else if (sign === ",") pieces.push({ start: at, text: sign + line() });
    else if (sign === ":") pieces.push({ start: at, text: ": " });
    else {
      let end = at;
      while (end < json.length && !",]}".includes(json[end] ?? "")) end += 1;
      pieces.push({ start: at, text: json.slice(at, end) });
      at = end;
      continue;
    }
    at += 1;
  }
  return pieces;
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** Shows line ends as line ends, and letters as letters. */
function readable(text: string): string {
  return text.replace(/\\(u[0-9a-f]{4}|.)/gi, (all, code: string) => {
    if (code === "n") return "↵\n";
    if (code === "t") return "\t";
    if (code[0] === "u" && code.length === 5) {
      const value = Number.parseInt(code.slice(1), 16);
      return value < 32 ? all : String.fromCharCode(value);
    }
    return all;
  });
}
