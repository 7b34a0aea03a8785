//! `ctx export`: a state or the whole history, as a document that can be read again.

use super::Call;
use crate::args::parse_address;
use crate::error::{Exit, Failure};
use crate::source::{Access, Address, Home, Source};

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

    /// Every snapshot that is sound, of a context that is damaged, as a history
    #[arg(long, conflicts_with_all = ["at", "history"])]
    salvage: bool,

    /// Write to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let bytes = if args.salvage { salvage(call)? } else { read(args, call)? };
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

fn read(args: &Args, call: &Call<'_>) -> Result<Vec<u8>, Failure> {
    let source = Source::open(call)?;
    if args.history {
        return source.export_history()?.ok_or_else(no_snapshot);
    }
    match args.at {
        Some(address) => Ok(source.state(address)?.export()),
        None => Ok(source.newest()?.export()),
    }
}

fn salvage(call: &mut Call<'_>) -> Result<Vec<u8>, Failure> {
    let home = Home::open(call.global, call.environment, Access::Read)?;
    let mut bytes = Vec::new();
    let written = home
        .store
        .salvage(&call.global.context, &mut bytes)
        .map_err(|error| home.explain(error))?;
    call.output.note(&format!("{written} snapshots are sound"));
    Ok(bytes)
}

fn no_snapshot() -> Failure {
    Failure::new("E_SNAPSHOT_NOT_FOUND", "there is no snapshot yet")
        .hint("`ctx commit` makes the first; `ctx export @` writes the working state")
}
