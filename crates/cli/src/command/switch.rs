//! `ctx switch`: the default context of a directory.

use std::io::ErrorKind;

use contextree::json::{Object, Value};
use contextree_app::command::status::status;

use super::Call;
use crate::args::NamedBy;
use crate::environment::CONTEXT_FILE;
use crate::error::{Exit, Failure};
use crate::output::{Format, file};

/// Make a context the default of this directory, for commands without `-c`
///
/// The name is kept in the file `.contextree` of the working directory. `-c` and `CONTEXTREE_CONTEXT` come before it; without any of
/// them the context is `main`. Without a name, prints the context that commands use here.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx switch retry          like `git switch`
  ctx switch                which context is it?
  ctx switch --unset        back to `main`")]
pub(crate) struct Args {
    /// The context; it has to exist
    name: Option<String>,

    /// Remove the default of this directory
    #[arg(long, conflicts_with = "name")]
    unset: bool,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    if args.unset {
        match std::fs::remove_file(CONTEXT_FILE) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Failure::io(CONTEXT_FILE, error));
            }
            _ => return answer("main", "the default again", call),
        }
    }
    let Some(name) = &args.name else {
        let by = match call.global.named_by {
            NamedBy::Default => "the default",
            NamedBy::Option => "named by `-c`",
            NamedBy::Environment => "named by CONTEXTREE_CONTEXT",
            NamedBy::File => "named by .contextree",
        };
        return answer(&call.global.context, by, call);
    };
    // A name that does not exist gets the error of every other command, with the names that do.
    call.on(&call.store().with_context(name), status)?;
    file::replace(CONTEXT_FILE, format!("{name}\n").as_bytes())
        .map_err(|error| Failure::io(CONTEXT_FILE, error))?;
    answer(name, "the default context of this directory, kept in .contextree", call)
}

fn answer(name: &str, said: &str, call: &mut Call<'_>) -> Result<Exit, Failure> {
    if call.output.format() != Format::Human {
        call.output.value(&Value::Object(Object::from_iter([("context", Value::from(name))])));
        return Ok(Exit::Ok);
    }
    call.output.words([name]);
    call.output.note(said);
    Ok(Exit::Ok)
}
