//! `ctx gc`: drops old snapshots and returns their space.

use contextree_app::command::gc::{self, GcRequest};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::text::{count, size};

/// Drop old snapshots, and free their space
///
/// Without a rule no snapshot is dropped, and only unused space is freed. The newest snapshot and those that another context began
/// with are kept. Kept snapshots do not change by a byte. What was done before cannot be undone any more: the operation log is
/// emptied, and undone commits are deleted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx gc                          only free unused space, and forget operations
  ctx gc --keep 1000              keep the newest thousand snapshots
  ctx gc --keep-days 30 --dry-run")]
pub(crate) struct Args {
    /// Keep the newest N snapshots
    #[arg(long, value_name = "N")]
    keep: Option<u64>,

    /// Keep the snapshots of the last N days
    #[arg(long, value_name = "N")]
    keep_days: Option<u32>,

    /// Report what would be dropped, and drop nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = GcRequest { keep: args.keep, keep_days: args.keep_days, dry_run: args.dry_run };
    let done = call.on(&call.store(), |workspace, control| gc::gc(workspace, &request, control))?;
    if call.output.format() != Format::Human {
        call.output.form(&done);
        return Ok(Exit::Ok);
    }
    let dropped = count(usize::try_from(done.dropped).unwrap_or(usize::MAX), "snapshot");
    let word = if args.dry_run { "would be dropped" } else { "dropped" };
    let mut text = format!("{dropped} {word}, {} kept\n", done.kept);
    if done.undone > 0 {
        text.push_str(&format!("{} deleted\n", count(done.undone, "undone line")));
    }
    for (kept, why) in [(done.pinned, "they are pinned"), (done.forked, "forks began with them")] {
        if kept > 0 {
            text.push_str(&format!("{kept} kept only because {why}\n"));
        }
    }
    if let Some(bytes) = done.bytes {
        text.push_str(&format!("the store takes {}\n", size(bytes)));
    }
    call.output.text(&text);
    match done.dropped > 0 || done.undone > 0 {
        _ if args.dry_run => {}
        true => call.output.note(super::FINAL),
        false => call.output.note("what was done before cannot be undone any more"),
    }
    Ok(Exit::Ok)
}
