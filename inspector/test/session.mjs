// A session that has one of everything: tools, thinking, a document for one call, a picture, a failed try, pruning, a broken cache
// prefix, and a fork. Written by hand.

const MODEL = "claude-sonnet-5";
const SETTINGS = { model: MODEL, max_tokens: 4096 };

const SOURCE = [
  "fn take_number(text: &str) -> Option<(u64, &str)> {",
  "    let end = text.find(|c: char| !c.is_ascii_digit())?;",
  "    let number = text[..end].parse().ok()?;",
  "    Some((number, &text[end..]))",
  "}",
  "",
].join("\n");

const GUIDE = `# Style of the parser

1. A function that takes from the front returns the value and the **rest**.
2. The end of the text is not an error: return what was read.
3. Every branch has a test.

\`\`\`rust
assert_eq!(take_number("12"), Some((12, "")));
\`\`\`
`;

const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAGklEQVR42mO4Y8BHEmIY1TCqYVTDqIbhqgEAcYkBEFCkmvAAAAAASUVORK5CYII=";

function tool(name, description, properties) {
  return { role: "system", kind: "tool", data_name: name, content: { name, description, parameters: { type: "object", properties, required: Object.keys(properties) } } };
}

const text = { type: "string" };

/** Fills the context `parser`, and forks `parser/retry`. */
export async function makeSession(api) {
  const at = (command) => `contexts/parser/${command}`;
  const add = (node, place) => api(at("add"), { node, ...(place === undefined ? {} : { place }) });
  let answers = 0;
  let written = 0;
  const begin = (budget) => api(at("request"), { provider: "anthropic", settings: SETTINGS, ...(budget === undefined ? {} : { budget: { name: "budget.toml", text: budget } }) });
  const answer = (content, usage) => {
    answers += 1;
    const reads = usage.reads ?? written;
    const body = {
      id: `msg_${answers}`,
      type: "message",
      role: "assistant",
      model: MODEL,
      content,
      stop_reason: content.some((part) => part.type === "tool_use") ? "tool_use" : "end_turn",
      usage: { input_tokens: usage.fresh, cache_read_input_tokens: reads, cache_creation_input_tokens: usage.writes, output_tokens: usage.out },
    };
    written = reads + usage.writes;
    return api(at("answer"), { response: { text: JSON.stringify(body) } });
  };
  const result = (id, content, more = {}) => add({ role: "tool", kind: "result", data_call_id: id, content, ...more });
  const use = (id, name, input) => ({ type: "tool_use", id, name, input });
  const say = (text) => ({ type: "text", text });
  const think = (text) => ({ type: "thinking", thinking: text, signature: "c2lnbmF0dXJl" });

  await add({ role: "system", pinned: true, key: "rules", content: "You are a careful engineer. Read before you write, change as little as possible, and run the tests after every change." }, { parent: "^sys" });
  await add(tool("read_file", "Returns the text of a file of the repository.", { path: text }), { parent: "^sys" });
  await add(tool("edit_file", "Replaces a text in a file, once.", { path: text, before: text, after: text }), { parent: "^sys" });
  await add(tool("run_tests", "Runs the tests of a package and returns what failed.", { package: text }), { parent: "^sys" });

  // What fails?
  await add({ role: "user", content: "The tests of the `parser` package fail since yesterday. Find out why." });
  await begin();
  await answer([think("I have not seen the code. The tests tell where to look, so run them first."), say("I run the tests first."), use("toolu_01", "run_tests", { package: "parser" })], { fresh: 12, writes: 1420, out: 94, reads: 0 });
  await result("toolu_01", `running 214 tests\n${Array.from({ length: 60 }, (_, number) => `test number::case_${number} ... ok`).join("\n")}\ntest number::at_the_end ... FAILED\n\nassertion failed: take_number("12") == Some((12, ""))\n  left: None\n`, { priority: 10 });
  await begin();
  await answer([think("`None` for \"12\": the digits reach the end of the text. Probably `find` returns nothing there."), use("toolu_02", "read_file", { path: "src/number.rs" })], { fresh: 9, writes: 1180, out: 71 });
  await result("toolu_02", SOURCE.repeat(12), { priority: 10 });
  await begin();
  await api(at("cancel"), { error: "overloaded_error: the model is busy" });
  await begin();
  await answer([say("`take_number` uses `find(…)?`. If a number ends the text, there is no other character, `find` returns `None`, and `?` leaves the function.\n\n- **Cause:** the end of the text is treated as an error.\n- **Where:** `src/number.rs`, line 2.\n\nShall I fix it?")], { fresh: 8, writes: 940, out: 88 });

  // Fix it, with a document that only this call sees.
  await add({ role: "user", content: "Yes. Follow the style guide, and look at the diagram of the states." });
  await add({ role: "user", kind: "document", ttl: 1, mime: "text/plain", data_name: "STYLE.md", tags: ["retrieved"], content: GUIDE });
  await add({ role: "user", kind: "image", ttl: 2, mime: "image/png", encoding: "base64", data_name: "states.png", content: PICTURE });
  await begin();
  await answer([think("Rule 2 of the guide: return what was read. `unwrap_or(text.len())` does that."), use("toolu_03", "edit_file", { path: "src/number.rs", before: "?;", after: ".unwrap_or(text.len());" })], { fresh: 11, writes: 760, out: 102 });
  await result("toolu_03", "1 replacement in src/number.rs");
  await begin();
  await answer([use("toolu_04", "run_tests", { package: "parser" })], { fresh: 10, writes: 210, out: 40, reads: 3200 });
  await result("toolu_04", "running 214 tests\n214 passed; 0 failed");
  await begin();
  await answer([say("Fixed: `take_number` now returns the rest, which may be empty. All 214 tests pass.")], { fresh: 9, writes: 160, out: 33 });

  // A small budget: the old results are pruned. The time in the system text breaks the prefix.
  await add({ role: "user", content: "Thanks! Is there the same mistake elsewhere?" });
  await begin('tokenizer = "claude-sonnet-5"\nmax_tokens = 2000\nkeep_turns = 3\n');
  await answer([think("Look for the pattern in the other readers."), use("toolu_05", "read_file", { path: "src/word.rs" })], { fresh: 10, writes: 900, out: 52, reads: 640 });
  await result("toolu_05", SOURCE.replaceAll("number", "word"));
  await add({ role: "system", key: "clock", content: "It is 2026-11-18, 04:05." }, { parent: "^sys" });
  await begin();
  await answer([say("Yes, `take_word` has it, too: the same `find(…)?`.")], { fresh: 9, writes: 1900, out: 24, reads: 0 });
  await add({ role: "user", content: "Then fix that one as well." });

  await api(at("fork"), { name: "parser/retry", at: "@c4" });
  await api("contexts/parser%2Fretry/add", { node: { role: "user", content: "Write a failing test first, then fix it." } });
}

/** Makes the context `large` with about this many nodes. */
export async function makeLarge(api, nodes) {
  const messages = [];
  for (let index = 0; index < nodes / 2; index += 1) {
    messages.push({ role: "user", content: `Question ${index}: what is ${index} + ${index}?` }, { role: "assistant", content: `It is ${2 * index}.` });
  }
  await api("contexts/large/import", JSON.stringify({ model: "gpt-5", messages }));
}

/** Makes the context `many` with about this many nodes: what was imported, and two calls after it. */
export async function makeMany(api, nodes) {
  const messages = [{ role: "system", content: "Add numbers." }];
  for (let index = 0; index < nodes / 2; index += 1) {
    messages.push({ role: "user", content: `Question ${index}: what is ${index} + ${index}?` }, { role: "assistant", content: `It is ${2 * index}.` });
  }
  const at = (command) => `contexts/many/${command}`;
  await api(at("import"), JSON.stringify({ model: "gpt-5", messages }));
  const call = async (number, question, answer) => {
    await api(at("add"), { node: { role: "user", content: question } });
    await api(at("request"), { provider: "openai-chat", settings: { model: "gpt-5" } });
    const body = { id: `r${number}`, choices: [{ message: { role: "assistant", content: answer }, finish_reason: "stop" }], usage: { prompt_tokens: 12 * nodes + number, completion_tokens: 5 } };
    await api(at("answer"), { response: { text: JSON.stringify(body) } });
  };
  await call(1, "What is the largest of them?", "The last one.");
  await call(2, "And the smallest?", "Zero.");
}
