//! `ctx delete`: removes a context.

use contextree_app::command::delete::{self, DeleteRequest};

use super::Call;
use super::confirm::{again, confirm};
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::text::count;

/// Delete a context, with everything that no other context needs
///
/// On a terminal it asks first; elsewhere `--yes` is needed. Contexts that began with it keep what they share.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx delete what-if
  ctx delete what-if --yes
  ctx delete what-if --dry-run")]
pub(crate) struct Args {
    /// The name of the context; it must be given
    name: String,

    /// Delete without a question
    #[arg(long, short)]
    yes: bool,

    /// Report what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let delete = |dry_run: bool, call: &Call<'_>| {
        let request = DeleteRequest { name: args.name.clone(), dry_run };
        call.on(&call.store(), |workspace, control| delete::delete(workspace, &request, control))
    };
    let mut found = delete(true, call)?;
    let snapshots = usize::try_from(found.snapshots).unwrap_or(usize::MAX);
    let what = format!("the context `{}` with {}", args.name, count(snapshots, "snapshot"));
    if !args.dry_run {
        if !args.yes {
            confirm("delete", &what, &again(call), call)?;
        }
        found = delete(false, call)?;
    }
    if call.output.format() != Format::Human {
        call.output.form(&found);
    } else if args.dry_run {
        call.output.note(&format!("{what} would be deleted (--dry-run)"));
    } else {
        call.output.note(&format!("deleted {what}"));
        call.output.note(super::FINAL);
    }
    Ok(Exit::Ok)
}
