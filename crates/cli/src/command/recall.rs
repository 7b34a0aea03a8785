//! `ctx recall`: what expired or was pruned, once more.

use contextree_app::Address;
use contextree_app::command::recall::{self, RecallRequest};

use super::Call;
use crate::args::parse_address;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::text::parse_word;
use crate::source::ChangeOptions;

/// Bring back what expired or was pruned, as a document that expires
///
/// The content of the node is added to the turn in progress. The snapshots of the past stay as they are.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx recall block:3.2               the next call sees it
  ctx recall block:3.2 --ttl 5       the next five calls see it
  ctx recall block:3.2 --at @c4      its content in call 4")]
pub(crate) struct Args {
    /// The id of the node
    #[arg(value_parser = parse_word)]
    id: String,

    /// How many calls see it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..))]
    ttl: i64,

    /// The state that has the node [default: the last snapshot that had it]
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    at: Option<Address>,

    #[command(flatten)]
    change: ChangeOptions,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = RecallRequest {
        id: args.id.clone(),
        at: args.at,
        ttl: Some(args.ttl),
        change: args.change.to_change(),
    };
    let done =
        call.on(&call.store(), |workspace, control| recall::recall(workspace, &request, control))?;
    if call.output.format() != Format::Human {
        call.output.form(&done);
        return Ok(Exit::Ok);
    }
    call.output.words([&done.id]);
    let calls =
        if done.ttl == 1 { "call sees".to_owned() } else { format!("{} calls see", done.ttl) };
    call.output.note(&format!("the content of {} in {}; the next {calls} it", args.id, done.from));
    Ok(Exit::Ok)
}
