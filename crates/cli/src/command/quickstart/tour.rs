//! The tour, step by step.

use std::path::Path;

use super::step;
use crate::command::Call;
use crate::error::Failure;
use crate::output::style::{self, paint};

/// A chapter: a title, what is to be seen, and the commands.
type Chapter = (&'static str, &'static str, &'static [&'static [&'static str]]);

/// Files that the commands of the tour read: what a provider returned, and a budget.
const FILES: [(&str, &str); 4] = [
    (
        "first.json",
        r#"{"id":"r1","choices":[{"message":{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":57,"completion_tokens":14}}"#,
    ),
    (
        "second.json",
        r#"{"id":"r2","choices":[{"message":{"role":"assistant","content":"Yes, from two o'clock on."},"finish_reason":"stop"}],"usage":{"prompt_tokens":71,"completion_tokens":9}}"#,
    ),
    (
        "third.json",
        r#"{"id":"r3","choices":[{"message":{"role":"assistant","content":"Sunny, 12 degrees."},"finish_reason":"stop"}],"usage":{"prompt_tokens":94,"completion_tokens":7}}"#,
    ),
    ("budget.toml", "tokenizer = \"gpt-5\"\nmax_tokens = 100\n"),
];

/// A request for the model of the tour.
const REQUEST: &[&str] = &["request", "--as", "openai-chat", "--model", "gpt-5"];

const CHAPTERS: [Chapter; 10] = [
    (
        "A conversation is a tree, not a list",
        "A context lives in a store: here a file, contextree.db. Instructions are added to the system region `^sys`, and no budget \
         prunes them (`--pinned`). Everything else is added to `^ah`, the active head: what the next model call is sent. A document that \
         was retrieved for this question follows it (`--offset 1`) and is seen by exactly one call (`--ttl 1`).",
        &[
            &["new"],
            &[
                "add",
                "--into",
                "^sys",
                "--role",
                "system",
                "--pinned",
                "You are a travel assistant. Be brief.",
            ],
            &["add", "--role", "user", "Will it rain in Oslo?"],
            &[
                "add",
                "--role",
                "user",
                "--offset",
                "1",
                "--ttl",
                "1",
                "--key",
                "forecast",
                "--tag",
                "retrieved",
                "Yr.no: Oslo, 8 degrees, wind from the west",
            ],
            &["show"],
        ],
    ),
    (
        "When do I commit?",
        "You don't: completing a model call commits exactly what was sent. `request` begins a call and prints what to send. \
         Your client sends it, and `answer` takes the response. Here it is a file of the tour, in which the model asks for a tool. \
         In Rust: `let call = request.begin(&mut session)?;`, send `call.bytes`, then `call.complete(&mut session, &response)?`.",
        &[REQUEST, &["answer", "first.json"], &["status"]],
    ),
    (
        "A tool loop",
        "The answer is the first content of the next cycle. The result of the tool names the call that it answers: both are kept or \
         pruned together. The document has expired, and the report says so.",
        &[
            &[
                "add",
                "--role",
                "tool",
                "--kind",
                "result",
                "--attr",
                "data_call_id=c1",
                "--priority",
                "-1",
                "--content-json",
                "{\"rain\":true,\"from\":\"14:00\"}",
            ],
            REQUEST,
            &["answer", "second.json"],
            &["add", "--role", "user", "And tomorrow?"],
            REQUEST,
            &["answer", "third.json"],
        ],
    ),
    (
        "Which calls did one question need?",
        "`log` lists calls by the message that they serve. `@t0` is what the model saw last, `@t-1` what it saw before; \
         `ctx help addresses` has the rest.",
        &[&["log"], &["diff", "@t-1..@t0"]],
    ),
    (
        "Nothing is ever lost",
        "Every snapshot is a request that was sent. This is the first one, byte for byte.",
        &[&["render", "@c1", "--sent"]],
    ),
    (
        "Selectors name nodes in space and time",
        "In a pipe `select` prints ids, with --json whole nodes. `ctx help selectors` is the language on one page.",
        &[
            &["select", "^seq .block[role=user]"],
            &["select", "@* #forecast"],
            &["select", "@t-1..@t0 .block"],
        ],
    ),
    (
        "A budget that never tears a call from its result",
        "At most 50 tokens: the lowest priority is pruned first, then the oldest. As a dry run, which begins no call.",
        &[
            &["add", "--role", "user", "Thanks! Is there a train to Bergen?"],
            &[
                "request",
                "--as",
                "openai-chat",
                "--model",
                "gpt-5",
                "--budget",
                "budget.toml",
                "--dry-run",
            ],
        ],
    ),
    (
        "For any model, and what it costs",
        "The same state always gives the same bytes, so that a provider can read the beginning of a request from its cache. The tool \
         call was made by one provider and can be sent to another. `cache` names what broke the cache; no provider caches prompts this short.",
        &[
            &["tokens", "--model", "gpt-5"],
            &["render", "@t0", "--as", "gemini", "--model", "gemini-3-pro"],
            &["cache"],
        ],
    ),
    (
        "Another try, from any moment on",
        "A fork shares the past and costs the same for any history. A call can be canceled: nothing is sealed.",
        &[
            &["fork", "rome", "@c1"],
            &["-c", "rome", "add", "--role", "user", "Forget Oslo. What about Rome?"],
            &["-c", "rome", "request", "--as", "openai-chat", "--model", "gpt-5"],
            &["-c", "rome", "cancel"],
            &["contexts"],
        ],
    ),
    (
        "Out, in, and checked",
        "Documents are canonical: the same history always has the same bytes. Everything that is stored can be checked at any time.",
        &[
            &["export", "--history", "-o", "history.jsonl"],
            &["-c", "copy", "import", "history.jsonl"],
            &["verify"],
        ],
    ),
];

/// Plays all chapters.
pub(super) fn play(folder: &Path, call: &Call<'_>) -> Result<(), Failure> {
    for (name, text) in FILES {
        std::fs::write(folder.join(name), text).map_err(|error| Failure::io(name, error))?;
    }
    for (number, (title, text, commands)) in CHAPTERS.iter().enumerate() {
        let title = format!("{}. {title}", number + 1);
        call.output.say_data(&format!("\n{}\n", paint(style::TITLE, title)))?;
        for line in wrapped(text, call.output.width().unwrap_or(100).min(100)) {
            call.output.say_data(&line)?;
        }
        call.output.say_data("")?;
        for words in *commands {
            step(folder, words, call)?;
        }
    }
    Ok(())
}

/// Wraps a text into lines of at most `width` columns.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
