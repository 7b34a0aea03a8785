//! `ctx fork`: another context with the same past.

use contextree_app::Address;
use contextree_app::command::fork::{self, ForkRequest};

use super::Call;
use crate::args::parse_address;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::text::argument;

/// Create a context that begins with a state of this one; they share the past
///
/// Costs the same for any history. Without an address it begins with the working state, uncommitted changes included.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx fork retry                  everything as it is now
  ctx fork what-if @c3            from commit 3 on
  ctx -c travel fork travel-2 @t-1")]
pub(crate) struct Args {
    /// The name of the new context
    name: String,

    /// The state to begin with [default: the working state]
    #[arg(value_parser = parse_address)]
    at: Option<Address>,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = ForkRequest { name: args.name.clone(), at: args.at };
    let made =
        call.on(&call.store(), |workspace, control| fork::fork(workspace, &request, control))?;
    if call.output.format() != Format::Human {
        call.output.form(&made.context);
        return Ok(Exit::Ok);
    }
    call.output.words([&args.name]);
    let from = match args.at {
        None | Some(Address::Working) => "the working state".to_owned(),
        Some(address) => address.to_string(),
    };
    let name = argument(&args.name);
    call.output.note(&format!(
        "begins with {from} of {}; go on with `ctx -c {name} …`, or `ctx switch {name}`",
        call.global.context
    ));
    Ok(Exit::Ok)
}
