// A request as a command for a shell. Keys stay in the environment.

const TARGETS: Record<string, { url: (model: string) => string; headers: string[] }> = {
  anthropic: { url: () => "https://api.anthropic.com/v1/messages", headers: ["x-api-key: $ANTHROPIC_API_KEY", "anthropic-version: 2023-06-01"] },
  "openai-chat": { url: () => "https://api.openai.com/v1/chat/completions", headers: ["authorization: Bearer $OPENAI_API_KEY"] },
  "openai-responses": { url: () => "https://api.openai.com/v1/responses", headers: ["authorization: Bearer $OPENAI_API_KEY"] },
  gemini: {
    url: (model) => `https://generativelanguage.googleapis.com/v1beta/models/${encodeURIComponent(model)}:generateContent`,
    headers: ["x-goog-api-key: $GEMINI_API_KEY"],
  },
};

/**
 * Returns a command that sends exactly these bytes; `undefined` for a format that no provider takes.
 *
 * Model and body may come from a log of a stranger: both are quoted. The shell itself writes the body to a pipe, because systems limit
 * how long an argument of a program may be.
 */
export function curl(provider: string, model: string | undefined, request: string): string | undefined {
  const target = TARGETS[provider];
  if (target === undefined) return undefined;
  const headers = ["content-type: application/json", ...target.headers].map((header) => `  -H "${header}" \\\n`);
  return `printf %s ${quoted(request)} |\n  curl ${quoted(target.url(model ?? "MODEL"))} \\\n${headers.join("")}  --data-binary @-\n`;
}

/** Returns a text as one word of a shell that means nothing else. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
