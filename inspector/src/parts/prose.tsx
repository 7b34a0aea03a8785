// A sentence of the server: what is between backticks is code.
export function Prose({ text }: { text: string }) {
  const parts = text.split("`");
  // Without a partner, a backtick is a sign like any other.
  if (parts.length % 2 === 0) return <>{text}</>;
  return <>{parts.map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>))}</>;
}
