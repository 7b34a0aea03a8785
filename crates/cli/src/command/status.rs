//! `ctx status`: the newest snapshot, what is not committed, what expires next.

use contextree_app::command::status::status;

use super::Call;
use crate::args::NamedBy;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::text::{ago, count, one_line, size, word};
use crate::view::difference::words;

/// Show the newest snapshot, what is not committed, and what expires next
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx status
  ctx status --json | jq .due      what expires with the coming commit")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let found = call.read(status)?;
    if call.output.format() != Format::Human {
        call.output.form(&found);
        return Ok(Exit::Ok);
    }
    let mut out = String::new();
    let mut line = |label: &str, text: String| {
        out.push_str(&format!("{}{text}\n", paint(style::DIM, format!("{label:<9} "))));
    };
    let by = match call.global.named_by {
        _ if call.global.file.is_some() => "",
        NamedBy::Environment => ", named by CONTEXTREE_CONTEXT",
        NamedBy::File => ", named by .contextree",
        NamedBy::Default | NamedBy::Option => "",
    };
    line("from", format!("{}{by}", one_line(&found.place)));
    let newest = match &found.head {
        Some(head) => {
            let digest: String = head.digest.chars().take(12).collect();
            let label = paint(style::TITLE, format!("@c{}", head.cycle));
            format!("{label}  {}, digest {digest}", count(found.snapshots, "snapshot"))
        }
        None => "no snapshot yet".to_owned(),
    };
    line("newest", newest);
    if let Some(running) = &found.running {
        let (attempt, model) = (word(&running.attempt), one_line(&running.model));
        let since = ago(running.started_at, call.environment.now);
        let text =
            format!("{attempt}, {model}, begun {since}: `ctx answer` or `ctx cancel` ends it");
        line("running", paint(style::DUE, text));
    }
    for region in ["^sys", "^seq", "^ah"] {
        let Some(contents) = found.regions.get(region) else { continue };
        let turns = match region {
            "^seq" => format!("{}, ", count(found.turns, "turn")),
            _ => String::new(),
        };
        let (blocks, bytes) = (count(contents.blocks, "block"), size(contents.bytes));
        line(region, format!("{turns}{blocks}, {bytes}"));
    }
    let pending = match &found.head {
        Some(_) => words(found.pending),
        None if found.pending.added == 0 => {
            "nothing yet: `ctx add --role user 'Hello'` adds a node".to_owned()
        }
        None => count(found.pending.added, "node"),
    };
    line("pending", pending);
    if !found.due.is_empty() {
        let (nodes, cycle) = (count(found.due.len(), "node"), found.next_cycle);
        let text = format!("{nodes} with commit {cycle}: {}", found.due.join(", "));
        line("expires", paint(style::DUE, text));
    }
    call.output.text(&out);
    Ok(Exit::Ok)
}
