//! `ctx thread`: what a model is shown, provider-neutral.

use super::Call;
use crate::args::parse_address;
use crate::error::{Exit, Failure};
use crate::source::{Address, Source};

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
    let source = Source::open(call)?;
    let state = match args.at {
        Some(address) => source.state(address)?,
        None => source.newest()?,
    };
    call.output.bytes(&contextree::thread(state.tree()));
    Ok(Exit::Ok)
}
