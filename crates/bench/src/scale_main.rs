//! Large stores, and many commits for a long time. It writes to the disk that the present directory is on, and deletes what it wrote.
//!
//! `contextree-bench-scale [--quick] [contexts] [turns] [content] [sqlite] [postgres] [--contexts N] [--turns N] [--bytes N] [--rate N]
//! [--seconds N] [--json FILE]`. Without a part, all of them.
#![expect(clippy::print_stdout, reason = "the program's output")]

use std::process::ExitCode;

use contextree_bench::outcome::{finish, note, option};
use contextree_bench::scale::{Found, Size, Target, content, contexts, rate, turns};
use contextree_bench::table;
use contextree_store::StoreError;

const PARTS: [&str; 5] = ["contexts", "turns", "content", "sqlite", "postgres"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let base = if has("--quick") { Size::QUICK } else { Size::FULL };
    let number = |name: &str| option(name).and_then(|text| text.parse::<f64>().ok());
    let size = Size {
        contexts: number("--contexts").map_or(base.contexts, |number| number as u64),
        turns: number("--turns").map_or(base.turns, |number| number as u64),
        bytes: number("--bytes").map_or(base.bytes, |number| number as u64),
        rate: number("--rate").unwrap_or(base.rate),
        seconds: number("--seconds").unwrap_or(base.seconds),
    };
    let chosen: Vec<&str> = PARTS.into_iter().filter(|part| has(part)).collect();
    let chosen = if chosen.is_empty() { PARTS.to_vec() } else { chosen };
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    for part in chosen {
        match run(part, &size) {
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
                println!("{part}: {}: {error}", error.code());
                return ExitCode::FAILURE;
            }
        }
    }
    finish(&rows, &notes)
}

fn run(part: &str, size: &Size) -> Result<Found, StoreError> {
    match part {
        "contexts" => contexts(size.contexts),
        "turns" => turns(size.turns),
        "content" => content(size.bytes),
        "sqlite" => rate(Target::Sqlite, size.rate, size.seconds),
        _ => rate(Target::Postgres, size.rate, size.seconds),
    }
}
