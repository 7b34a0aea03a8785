//! `ctx move`: a node gets another place.

use contextree_app::command::move_::{self, MoveRequest};
use contextree_app::wire::Zone;

use super::Call;
use super::add::{place, zone};
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::text::parse_word;
use crate::source::ChangeOptions;

/// Move a node, with everything below it
///
/// Within a region it keeps its id; a sealed node that is moved to another region is created again, and the new ids are printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx move block:3.2 --at '(d0, cont[offset=0],)'    to the beginning of the core
  ctx move '#hint' --into ^sys
  ctx move block:3.2 --into ^ah --offset 1")]
pub(crate) struct Args {
    /// The id of a node, or a selector that matches one
    #[arg(value_parser = parse_word)]
    what: String,

    /// The new parent: ^ah, ^sys, or an id
    #[arg(long, value_name = "PARENT", required_unless_present = "at", conflicts_with = "at")]
    into: Option<String>,

    /// A position: hops to the parent, and a cue (`,` start, `end`, `+N`, `-N`)
    #[arg(long, value_name = "POSITION", conflicts_with = "offset")]
    at: Option<String>,

    /// The offset [default: the one it has]
    #[arg(long, allow_negative_numbers = true)]
    offset: Option<i64>,

    /// A zone of the turn named by --into: pre, core or post
    #[arg(long, value_name = "ZONE", conflicts_with_all = ["at", "offset"], value_parser = zone)]
    zone: Option<Zone>,

    #[command(flatten)]
    change: ChangeOptions,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = MoveRequest {
        target: args.what.clone(),
        place: place(args.at.as_deref(), args.into.as_deref(), args.zone, args.offset),
        change: args.change.to_change(),
    };
    let moved = call.read(|workspace, control| move_::move_(workspace, &request, control))?;
    if call.output.format() != Format::Human {
        call.output.form(&moved);
        return Ok(Exit::Ok);
    }
    let new = moved.renamed.iter().find(|renamed| renamed.from == moved.id);
    call.output.words([new.map_or(&moved.id, |renamed| &renamed.to)]);
    for renamed in &moved.renamed {
        call.output.note(&format!("{} is now {}", renamed.from, renamed.to));
    }
    call.output.note(match args.change.dry_run {
        true => "it could be moved (--dry-run)",
        false => super::UNDO,
    });
    Ok(Exit::Ok)
}
