//! The tour, step by step.

use std::path::Path;

use super::step;
use crate::command::Call;
use crate::error::Failure;
use crate::output::style::{self, paint};

/// A chapter: a title, what is to be seen, and the commands.
type Chapter = (&'static str, &'static str, &'static [&'static [&'static str]]);

const CHAPTERS: [Chapter; 10] = [
    (
        "A conversation is a tree, not a list",
        "A context lives in a store: here a file, contextree.db. Instructions are added to the system region `^sys`, and no budget \
         prunes them (`--pinned`). Everything else is added to the turn in progress, `^ah`. A tool call and its result share a \
         `data_call_id`: they are kept or pruned together.",
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
                "assistant",
                "--kind",
                "call",
                "--attr",
                "data_call_id=c1",
                "--priority",
                "-1",
                "weather(Oslo)",
            ],
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
            &["add", "--role", "assistant", "Yes, from two o'clock on."],
        ],
    ),
    (
        "What is worth keeping, and for how long",
        "A retrieved document follows the core of the turn (`--offset 1`) and survives one commit (`--ttl 1`). It has a key, so that \
         it can be found again. Nothing is sealed yet.",
        &[
            &[
                "add",
                "--role",
                "tool",
                "--offset",
                "1",
                "--ttl",
                "1",
                "--key",
                "forecast",
                "--tag",
                "retrieved",
                "Yr.no: Oslo, rain from 14:00, 8 degrees, wind from the west",
            ],
            &["show"],
        ],
    ),
    (
        "A commit seals the turn",
        "It expires, prunes, seals, and adds one immutable snapshot. One turn later the forecast expires. The report \
         names what was removed, and why.",
        &[
            &["commit"],
            &["add", "--role", "user", "And tomorrow?"],
            &["add", "--role", "assistant", "Sunny, 12 degrees."],
            &["commit"],
        ],
    ),
    (
        "What changed between two turns?",
        "`@t0` is the newest snapshot, `@t-1` the one before; `ctx help addresses` has the rest.",
        &[&["diff", "@t-1..@t0"]],
    ),
    (
        "Nothing is ever lost",
        "Every snapshot stays as it was. This is what the model saw after the first commit.",
        &[&["log"], &["thread", "@c1"]],
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
        "A commit under 130 bytes of content: the lowest priority is pruned first, then the oldest. First as a dry run.",
        &[
            &["add", "--role", "user", "Thanks! Is there a train to Bergen?"],
            &["commit", "--max-bytes", "130", "--dry-run"],
            &["commit", "--max-bytes", "130"],
        ],
    ),
    (
        "To the model, and what it costs",
        "The same state always gives the same bytes, so that a provider can read the beginning of a request from its cache. `cache` names what \
         broke it; no provider caches prompts this short.",
        &[
            &["tokens", "--model", "gpt-5"],
            &["render", "--as", "openai-chat", "--model", "gpt-5"],
            &["cache", "--as", "openai-chat", "--model", "gpt-5"],
        ],
    ),
    (
        "Another try, from any moment on",
        "A fork shares the past and costs the same for any history.",
        &[
            &["fork", "rome", "@c1"],
            &["-c", "rome", "add", "--role", "user", "Forget Oslo. What about Rome?"],
            &["-c", "rome", "commit"],
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
