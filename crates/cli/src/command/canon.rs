//! `ctx canon`: the bytes of the specification's reference serializer.

use contextree_app::Control;
use contextree_app::command::canon::{self, CanonRequest};

use super::Call;
use crate::error::{Exit, Failure};
use crate::source::document;

/// Print the reference bytes of a root node, for comparison with other engines
///
/// The input is a root node, or a snapshot whose root is taken. The output leaves out attributes and `creation_index`, as the
/// specification's serializer does; use `ctx export` for everything but comparison. The bytes end without a line break.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx canon root.json | sha256sum
  ctx export | ctx canon")]
pub(crate) struct Args {
    /// The file; `-` is standard input
    #[arg(default_value = "-", hide_default_value = true)]
    node: String,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let name = call.global.file.as_deref().unwrap_or(&args.node);
    let request = CanonRequest { node: document(name)? };
    let found = canon::canon(&request, &Control::default())?;
    call.output.bytes(found.text.as_bytes());
    Ok(Exit::Ok)
}
