//! `ctx delete`: a context goes.

use std::io::BufRead as _;

use contextree_json::{Object, Value};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::text::count;
use crate::source::{Access, Home};

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

    /// Do not ask
    #[arg(long, short)]
    yes: bool,

    /// Say what would go, and delete nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let access = if args.dry_run { Access::Read } else { Access::Write };
    let home = Home::open(call.global, call.environment, access)?;
    let reader = home.store.reader(&args.name).map_err(|error| home.explain(error))?;
    let snapshots = usize::try_from(reader.row().snapshots).unwrap_or(usize::MAX);
    let what = format!("the context `{}` with {}", args.name, count(snapshots, "snapshot"));
    if !args.dry_run {
        if !args.yes {
            confirm(&what, args, call)?;
        }
        home.store.delete(&args.name)?;
    }
    if call.output.format() != Format::Human {
        call.output.value(&Value::Object(Object::from_iter([
            ("name", Value::from(args.name.as_str())),
            ("snapshots", Value::from(snapshots as u64)),
            ("deleted", Value::from(!args.dry_run)),
        ])));
    } else if args.dry_run {
        call.output.note(&format!("{what} would be deleted (--dry-run)"));
    } else {
        call.output.note(&format!("deleted {what}"));
    }
    Ok(Exit::Ok)
}

fn confirm(what: &str, args: &Args, call: &Call<'_>) -> Result<(), Failure> {
    let environment = call.environment;
    if !(environment.stdin_is_terminal && environment.stderr_is_terminal) {
        return Err(Failure::usage(format!("{what} is not deleted without being asked for"))
            .hint(format!("`ctx delete {} --yes` deletes it", args.name)));
    }
    call.output.say(&format!("delete {what}? There is no way back. Type `yes`:"));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    match read {
        Ok(_) if answer.trim().eq_ignore_ascii_case("yes") => Ok(()),
        Ok(_) => Err(Failure::usage("nothing was deleted")),
        Err(error) => Err(Failure::io("standard input", &error)),
    }
}
