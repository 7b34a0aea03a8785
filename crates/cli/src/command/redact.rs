//! `ctx redact`: replaces content by a marker, in every snapshot.

use contextree_app::command::redact::{self, RedactRequest, RedactResponse};

use super::Call;
use super::confirm::confirm;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::text::{argument, count};

/// Replace the content of nodes by a marker in every snapshot, for good
///
/// For keys and personal data that must not stay. The content is replaced in the working state, in all snapshots of all contexts of the store, and
/// in every copy of it; the file does not contain it any more when the command returns. Hashes and digests stay as they are, so `ctx verify`
/// still proves that nothing else changed. It cannot be undone, and what was done before cannot be undone any more. On a terminal it asks
/// first; elsewhere `--yes` is needed. `ctx operations` lists what was redacted.
///
/// Attributes stay as they are, because digests cover their values; those that contain the text are named.
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
    let what =
        format!("{} of {}", count(found.contents, "content"), count(found.nodes.len(), "node"));
    if !args.dry_run {
        if !args.yes {
            let again = format!("ctx redact {} --yes", argument(&args.what));
            confirm("redact", &what, &again, call)?;
        }
        found = redact(false, call)?;
    }
    if call.output.format() != Format::Human {
        call.output.form(&found);
        return Ok(Exit::Ok);
    }
    call.output.text(&text(&found, &what, args.dry_run));
    for place in &found.elsewhere {
        call.output.note(&format!("not redacted: {place} contains the text"));
    }
    if !args.dry_run {
        call.output.note("this cannot be undone; backups and exports still have the content");
    }
    Ok(Exit::Ok)
}

fn text(found: &RedactResponse, what: &str, dry_run: bool) -> String {
    if dry_run {
        return format!("{what} would be redacted (--dry-run): {}\n", found.nodes.join(", "));
    }
    let copies = usize::try_from(found.copies).unwrap_or(usize::MAX);
    let copies = match copies {
        1 => "1 copy".to_owned(),
        copies => format!("{copies} copies"),
    };
    format!("redacted {what}: {copies} in {}\n", found.contexts.join(", "))
}
