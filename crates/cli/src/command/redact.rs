//! `ctx redact`: replaces content by a marker, in every snapshot.

use contextree_app::command::redact::{self, RedactRequest, RedactResponse};

use super::Call;
use super::confirm::{again, confirm};
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::text::count;

/// How many places are named one by one.
const NAMED: usize = 10;

/// Replace the content of nodes by a marker in every snapshot, for good
///
/// For keys and personal data that must not stay. The content is replaced in the working state, in all snapshots of all contexts of the store, and
/// in every copy of it; the file does not contain it any more when the command returns. Hashes and digests stay as they are, so `ctx verify`
/// still proves that nothing else changed. It cannot be undone, and what was done before cannot be undone any more. On a terminal it asks
/// first; elsewhere `--yes` is needed. `ctx operations` lists what was redacted.
///
/// Every equal content is replaced, in whatever node and context; `--dry-run` and the question count them. Longer contents with the text stay as
/// they are, and so do attributes, because digests cover their values: those that contain the text are named.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx redact block:3.2 --reason 'a pasted key'
  ctx redact '.block[role=tool]' --dry-run
  ctx redact \"@* { id='block:3.2' }\" --yes")]
pub(crate) struct Args {
    /// The id of a node, or a selector; with a time such as `@*`, in snapshots
    what: String,

    /// Who redacts, and why: kept with the context, and part of the marker
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// Redact without a question
    #[arg(long, short)]
    yes: bool,

    /// Report what would be redacted, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let redact = |dry_run: bool, call: &Call<'_>| {
        let request =
            RedactRequest { target: args.what.clone(), reason: args.reason.clone(), dry_run };
        call.on(&call.store(), |workspace, control| redact::redact(workspace, &request, control))
    };
    let mut found = redact(true, call)?;
    if !args.dry_run {
        if !args.yes {
            // Who is asked has to know what else has the text.
            if call.output.format() == Format::Human {
                left(&found).iter().for_each(|line| call.output.say(line));
            }
            confirm("redact", &what(&found), &again(call), call)?;
        }
        found = redact(false, call)?;
    }
    if call.output.format() != Format::Human {
        call.output.form(&found);
        return Ok(Exit::Ok);
    }
    let what = what(&found);
    call.output.text(&match args.dry_run {
        true => format!("{what} would be redacted (--dry-run): {}\n", named(&found.everywhere)),
        false => format!("redacted {what}\n"),
    });
    if args.dry_run || args.yes {
        left(&found).iter().for_each(|line| call.output.note(line));
    }
    if !args.dry_run {
        call.output.note("this cannot be undone; backups and exports still have the content");
    }
    Ok(Exit::Ok)
}

/// Returns how much would be redacted, in the whole store.
fn what(found: &RedactResponse) -> String {
    let copies = match found.copies {
        1 => "1 copy".to_owned(),
        copies => format!("{copies} copies"),
    };
    format!(
        "{} of {}: {copies} in {} ({})",
        count(found.contents, "content"),
        count(found.everywhere.len(), "node"),
        count(found.contexts.len(), "context"),
        named(&found.contexts),
    )
}

/// Returns names in a row, the first ones of many.
fn named(names: &[String]) -> String {
    let first = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(NAMED) {
        None | Some(0) => first,
        Some(more) => format!("{first} and {more} more"),
    }
}

/// Returns lines about what contains the text and stays.
fn left(found: &RedactResponse) -> Vec<String> {
    let first = found.elsewhere.iter().take(NAMED);
    let mut lines: Vec<String> =
        first.map(|place| format!("not redacted: {place} contains the text")).collect();
    if found.elsewhere.len() > NAMED {
        let more = found.elsewhere.len() - NAMED;
        lines.push(format!("not redacted: {more} more places contain the text"));
    }
    if found.elsewhere.iter().any(|place| place.starts_with("the node ")) {
        // Not a command to copy: the context is that of the node, which may be another one.
        let target = "\"@* ?? { content~'…' }\"";
        lines.push(format!(
            "hint: the target {target}, with the text for `…`, and `-c` for the context redact all contents that have it"
        ));
    }
    lines
}
