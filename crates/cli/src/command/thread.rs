//! `ctx thread`: what a model is shown, provider-neutral.

use contextree_app::Address;
use contextree_app::command::thread::{self, ThreadRequest};

use super::Call;
use crate::args::parse_address;
use crate::error::{Exit, Failure};

/// Print the thread of a state: one JSON array with an object for every block
///
/// The bytes are exact and end without a line break (except on a terminal), so that they can be hashed and compared.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx thread                        the newest snapshot
  ctx thread @                      the working state
  ctx thread -f snapshot.json | sha256sum")]
pub(crate) struct Args {
    /// The state [default: the newest snapshot]
    #[arg(value_parser = parse_address)]
    at: Option<Address>,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = ThreadRequest { at: args.at };
    let found = call.read(|workspace, control| thread::thread(workspace, &request, control))?;
    call.output.bytes(found.thread.as_bytes());
    Ok(Exit::Ok)
}
