//! Measures large stores, and many commits for a long time. Writes to the disk of the current
//! directory, and deletes what it wrote.
#![expect(clippy::print_stdout, reason = "the program's output")]

use std::process::ExitCode;

use clap::ValueEnum as _;
use contextree_store::StoreError;

use super::Common;
use crate::outcome::{finish, note};
use crate::scale::{Found, Size, Target, content, contexts, rate, turns};
use crate::table;

/// Options of `scale`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// What to measure; all if none is named
    parts: Vec<Part>,
    /// Contexts in one store
    #[arg(long)]
    contexts: Option<f64>,
    /// Turns in one context
    #[arg(long)]
    turns: Option<f64>,
    /// Bytes of one content
    #[arg(long)]
    bytes: Option<f64>,
    /// Commits per second
    #[arg(long)]
    rate: Option<f64>,
    /// How long commits are made at that rate
    #[arg(long)]
    seconds: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Contexts,
    Turns,
    Content,
    Sqlite,
    Postgres,
}

pub(crate) fn run(common: &Common, options: &Options) -> ExitCode {
    let base = if common.quick { Size::QUICK } else { Size::FULL };
    let size = Size {
        contexts: options.contexts.map_or(base.contexts, |number| number as u64),
        turns: options.turns.map_or(base.turns, |number| number as u64),
        bytes: options.bytes.map_or(base.bytes, |number| number as u64),
        rate: options.rate.unwrap_or(base.rate),
        seconds: options.seconds.unwrap_or(base.seconds),
    };
    let all = Part::value_variants();
    let chosen = all.iter().filter(|part| options.parts.is_empty() || options.parts.contains(part));
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    for part in chosen {
        match measure(*part, &size) {
            Ok(found) => {
                for row in found.rows {
                    println!("{}", table::line(&row));
                    rows.push(row);
                }
                for text in found.notes {
                    println!("{text}");
                    notes.push(note(&text));
                }
            }
            Err(error) => {
                println!("{part:?}: {}: {error}", error.code());
                return ExitCode::FAILURE;
            }
        }
    }
    finish(common, &rows, &notes)
}

fn measure(part: Part, size: &Size) -> Result<Found, StoreError> {
    match part {
        Part::Contexts => contexts(size.contexts),
        Part::Turns => turns(size.turns),
        Part::Content => content(size.bytes),
        Part::Sqlite => rate(Target::Sqlite, size.rate, size.seconds),
        Part::Postgres => rate(Target::Postgres, size.rate, size.seconds),
    }
}
