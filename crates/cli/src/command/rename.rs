//! `ctx rename`: another name for a context.

use contextree_app::command::rename::{self, RenameRequest};

use super::Call;
use crate::environment::context_of_folder;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::text::argument;

/// Give a context another name
///
/// Its history, and the contexts that began with it, stay as they are.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx rename what-if plan-b
  ctx rename main before-plan-b")]
pub(crate) struct Args {
    /// The name that it has
    name: String,

    /// The name that it gets
    to: String,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = RenameRequest { name: args.name.clone(), to: args.to.clone() };
    let done =
        call.on(&call.store(), |workspace, control| rename::rename(workspace, &request, control))?;
    if call.output.format() != Format::Human {
        call.output.form(&done.context);
        return Ok(Exit::Ok);
    }
    call.output.words([&args.to]);
    let (name, to) = (argument(&args.name), argument(&args.to));
    call.output.note(&format!("undo with `ctx rename {to} {name}`"));
    if context_of_folder().as_ref() == Some(&args.name) {
        let note = format!(
            "the file .contextree still names `{}`; `ctx switch {to}` changes that",
            args.name
        );
        call.output.note(&note);
    }
    Ok(Exit::Ok)
}
