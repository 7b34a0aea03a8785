// What changed between two texts, by line.

export interface Line {
  mark: "same" | "added" | "removed";
  text: string;
}

/** Beyond this many lines, the texts are shown whole: a comparison would take too long to wait for. */
const MOST = 2_000;

/** Returns the lines of both texts, in an order that keeps the longest common part together. */
export function compareLines(before: string, after: string): Line[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  const same = (text: string): Line => ({ mark: "same", text });
  const middle = between(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  return [...old.slice(0, head).map(same), ...middle, ...old.slice(old.length - tail).map(same)];
}

function between(old: string[], now: string[]): Line[] {
  const whole = [...old.map((text): Line => ({ mark: "removed", text })), ...now.map((text): Line => ({ mark: "added", text }))];
  if (old.length === 0 || now.length === 0 || old.length > MOST || now.length > MOST) return whole;
  const width = now.length + 1;
  const length = new Uint16Array((old.length + 1) * width);
  for (let left = old.length - 1; left >= 0; left -= 1) {
    for (let right = now.length - 1; right >= 0; right -= 1) {
      const at = left * width + right;
      length[at] = old[left] === now[right] ? (length[at + width + 1] ?? 0) + 1 : Math.max(length[at + width] ?? 0, length[at + 1] ?? 0);
    }
  }
  const lines: Line[] = [];
  let [left, right] = [0, 0];
  while (left < old.length || right < now.length) {
    const at = left * width + right;
    if (left < old.length && right < now.length && old[left] === now[right]) {
      lines.push({ mark: "same", text: old[left] ?? "" });
      left += 1;
      right += 1;
    } else if (right >= now.length || (left < old.length && (length[at + width] ?? 0) >= (length[at + 1] ?? 0))) {
      lines.push({ mark: "removed", text: old[left] ?? "" });
      left += 1;
    } else {
      lines.push({ mark: "added", text: now[right] ?? "" });
      right += 1;
    }
  }
  return lines;
}
