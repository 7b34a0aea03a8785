//! `ctx export`: a state or the whole history, as a document that can be read again.

use contextree_app::Address;
use contextree_app::command::export::{self, ExportRequest, ExportWhat};

use super::Call;
use crate::args::parse_address;
use crate::error::{Exit, Failure};
use crate::output::file;
use crate::output::text::{count, size};

/// Write a snapshot, the working state or the whole history as a document
///
/// The document is canonical: the same snapshot always has the same bytes. `ctx import` and `-f` read it again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx export > snapshot.json              the newest snapshot
  ctx export @c3 -o third.json            another one
  ctx export @                            the working state
  ctx export --history -o history.jsonl   everything, one line per commit
  ctx export --html -o session.html       a page to read and send: calls, trees, requests, diffs")]
pub(crate) struct Args {
    /// The state [default: the newest snapshot]
    #[arg(value_parser = parse_address)]
    at: Option<Address>,

    /// The whole history as JSON Lines: a snapshot, then what each commit changed
    #[arg(long, conflicts_with = "at")]
    history: bool,

    /// Every intact snapshot of a damaged context, as a history
    #[arg(long, conflicts_with_all = ["at", "history"])]
    salvage: bool,

    /// The page of `ctx ui` as one file that needs no server
    #[arg(long, conflicts_with_all = ["at", "history", "salvage"])]
    html: bool,

    /// Write to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let what = match (args.history, args.salvage) {
        (_, true) => ExportWhat::Salvage,
        (true, _) => ExportWhat::History,
        _ => ExportWhat::State,
    };
    let workspace = if args.salvage { call.store() } else { call.workspace()? };
    if args.html {
        let page = call.on(&workspace, |workspace, control| {
            contextree_server::export_html(workspace, control)
        })?;
        return write(page.as_bytes(), args, call);
    }
    let request = ExportRequest { at: args.at, what };
    let found =
        call.on(&workspace, |workspace, control| export::export(workspace, &request, control))?;
    if let Some(intact) = found.intact {
        let are = if intact == 1 { "is" } else { "are" };
        let snapshots = count(usize::try_from(intact).unwrap_or(usize::MAX), "snapshot");
        call.output.note(&format!("{snapshots} {are} intact"));
    }
    write(found.document.as_bytes(), args, call)
}

fn write(bytes: &[u8], args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    match &args.output {
        None => call.output.bytes(bytes),
        Some(name) => {
            file::replace(name, bytes).map_err(|error| Failure::io(name, error))?;
            call.output.note(&format!("wrote {} to {name}", size(bytes.len() as u64)));
        }
    }
    Ok(Exit::Ok)
}
