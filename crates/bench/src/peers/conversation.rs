//! Conversations in a file that every program reads: one line of JSON for each step.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;

use contextree::json::{Value, parse, write};
use contextree_testkit::Rng;

/// The workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A question and an answer of 500 bytes each.
    Chat,
    /// A tool call and its result of 20 KB. The first line is the question of the user.
    Agent,
}

impl Kind {
    /// Returns the workload with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Kind> {
        match name {
            "chat" => Some(Kind::Chat),
            "agent" => Some(Kind::Agent),
            _ => None,
        }
    }
}

/// One step.
#[derive(Clone, Debug)]
pub enum Line {
    /// A question and its answer.
    Turn {
        /// The question.
        user: String,
        /// The answer.
        assistant: String,
    },
    /// The task of an agent.
    Task {
        /// The question.
        user: String,
    },
    /// A tool call of the agent, with its result.
    Call {
        /// A sentence before the call.
        say: String,
        /// The id of the call.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments, JSON.
        arguments: String,
        /// The result.
        result: String,
    },
}

/// The number of bytes of a message, and of a tool result.
const MESSAGE: usize = 500;
const SENTENCE: usize = 100;
const RESULT: usize = 20_000;

/// Writes a conversation of this many turns or calls.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write(file: &Path, kind: Kind, length: u64) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    let words = words();
    let mut random = Rng::new(1);
    let mut text = |length: usize| text(&words, &mut random, length);
    if kind == Kind::Agent {
        object(&mut out, &[("user", &text(MESSAGE))])?;
    }
    for number in 1..=length {
        match kind {
            Kind::Chat => {
                object(&mut out, &[("user", &text(MESSAGE)), ("assistant", &text(MESSAGE))])?;
            }
            Kind::Agent => object(
                &mut out,
                &[
                    ("say", &text(SENTENCE)),
                    ("id", &format!("call_{number}")),
                    ("name", "read_file"),
                    ("arguments", &format!("{{\"path\": \"src/part_{number}.rs\"}}")),
                    ("result", &text(RESULT)),
                ],
            )?,
        }
    }
    out.flush()
}

fn object(out: &mut impl std::io::Write, fields: &[(&str, &str)]) -> std::io::Result<()> {
    let mut line = Vec::new();
    for (index, (name, text)) in fields.iter().enumerate() {
        line.push(if index == 0 { b'{' } else { b',' });
        write::string(&mut line, name);
        line.push(b':');
        write::string(&mut line, text);
    }
    line.extend_from_slice(b"}\n");
    out.write_all(&line)
}

/// Reads a conversation line by line, so that no program holds it in memory besides its own state.
///
/// # Errors
///
/// If the file does not exist.
///
/// # Panics
///
/// If a line was not written by [`write()`].
pub fn lines(file: &Path) -> std::io::Result<impl Iterator<Item = Line>> {
    let file = BufReader::new(File::open(file)?);
    Ok(file.lines().map(|line| {
        let line = line.expect("the file can be read");
        let line = parse(line.as_bytes()).expect("it was written as JSON");
        let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or("").to_owned();
        if line.get("result").is_some() {
            let (id, name, arguments) = (text("id"), text("name"), text("arguments"));
            Line::Call { say: text("say"), id, name, arguments, result: text("result") }
        } else if line.get("assistant").is_some() {
            Line::Turn { user: text("user"), assistant: text("assistant") }
        } else {
            Line::Task { user: text("user") }
        }
    }))
}

/// Returns four thousand random words of two to ten letters, which compress like text.
fn words() -> Vec<String> {
    let mut random = Rng::new(7);
    (0..4_000)
        .map(|_| {
            let length = 2 + random.below(9);
            (0..length).map(|_| char::from(b'a' + random.below(26) as u8)).collect()
        })
        .collect()
}

fn text(words: &[String], random: &mut Rng, length: usize) -> String {
    let mut text = String::with_capacity(length + 12);
    while text.len() < length {
        text.push_str(&words[random.index(words.len())]);
        text.push(' ');
    }
    text.truncate(length);
    text
}
