//! `ctx fork`: another context with the same past.

use super::Call;
use super::contexts::row_value;
use crate::args::parse_address;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::source::{Access, Address, Home};

/// Make a context that begins with a state of this one; they share the past
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
    let home = Home::open(call.global, call.environment, Access::Write)?;
    // A context that is not there is explained with those that are.
    home.reader(call.global)?;
    let address = match args.at {
        None | Some(Address::Working) => None,
        Some(Address::Snapshot(address)) => Some(address),
    };
    let session = home.store.fork(&call.global.context, address, &args.name)?;
    if call.output.format() != Format::Human {
        call.output.value(&row_value(session.row()));
        return Ok(Exit::Ok);
    }
    call.output.text(&format!("{}\n", args.name));
    let from =
        address.map_or_else(|| "the working state".to_owned(), |address| address.to_string());
    call.output.note(&format!(
        "begins with {from} of {}; go on with `ctx -c {} …`",
        call.global.context, args.name
    ));
    Ok(Exit::Ok)
}
