//! `ctx export`: a state or the whole history, as a document that can be read again.

use super::Call;
use crate::args::parse_address;
use crate::error::{Exit, Failure};
use crate::source::{Address, Source};

/// Write a snapshot, the working state or the whole history as a document
///
/// The document is canonical: the same snapshot always has the same bytes. `ctx import` and `-f` read it again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx export > snapshot.json              the newest snapshot
  ctx export @c3 -o third.json            another one
  ctx export @                            the working state
  ctx export --history -o history.jsonl   everything, one line per commit")]
pub(crate) struct Args {
    /// The state [default: the newest snapshot]
    #[arg(value_parser = parse_address)]
    at: Option<Address>,

    /// The whole history as JSON Lines: a snapshot, then what each commit changed
    #[arg(long, conflicts_with = "at")]
    history: bool,

    /// Write to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let mut source = Source::open(call.global)?;
    let bytes = if args.history {
        source.export_history()?.ok_or_else(no_snapshot)?
    } else {
        match args.at {
            Some(address) => source.state(address)?.export(),
            None => source.newest()?.export(),
        }
    };
    match &args.output {
        None => call.output.bytes(&bytes),
        Some(file) => {
            std::fs::write(file, &bytes).map_err(|error| Failure::io(file, &error))?;
            call.output.note(&format!(
                "wrote {} to {file}",
                crate::output::text::size(bytes.len() as u64)
            ));
        }
    }
    Ok(Exit::Ok)
}

fn no_snapshot() -> Failure {
    Failure::new("E_SNAPSHOT_NOT_FOUND", "there is no snapshot yet")
        .hint("`ctx commit` makes the first; `ctx export @` writes the working state")
}
