//! `ctx move`: a node goes somewhere else.

use contextree::{Op, Outcome, Place, WriteError, Zone};
use contextree_json::{Object, Value};

use super::Call;
use super::add::zone;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::source::{Change, place_of, targets};

/// Move a node, with everything below it
///
/// Within a region it keeps its id; a sealed node that goes to another region is created again, and the new ids are printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx move block:3.2 --at '(d0, cont[offset=0],)'    to the beginning of the core
  ctx move '#hint' --into ^sys
  ctx move block:3.2 --into ^ah --offset 1")]
pub(crate) struct Args {
    /// The id of a node, or a selector that matches one
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
    change: Change,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let edition = call.global.edition;
    let (id, outcome) = args.change.make(call, |context| {
        let mut ids = targets(context, &args.what, edition)?;
        let (Some(node), true) = (ids.pop(), ids.is_empty()) else {
            let ids = targets(context, &args.what, edition)?;
            let error = WriteError::Ambiguous { selector: args.what.clone(), ids };
            return Err(Failure::write(&error, &args.what));
        };
        let place = match (&args.at, &args.into) {
            (Some(position), _) => place_of(context, position, edition)?,
            (None, parent) => {
                let parent = parent.clone().unwrap_or_default();
                match args.zone {
                    Some(zone) => Place::Zone { turn: parent, zone },
                    None => Place::Into { parent, offset: args.offset },
                }
            }
        };
        let op = Op::Move { node: node.clone(), place };
        let outcome = context.apply(op).map_err(|error| Failure::refused(&error))?;
        Ok((node, outcome))
    })?;
    let renamed = match outcome {
        Outcome::Moved { renamed, .. } => renamed,
        _ => Vec::new(),
    };
    if call.output.format() != Format::Human {
        let pair = |(old, new): &(String, String)| {
            let pair = [("from", Value::from(old.as_str())), ("to", Value::from(new.as_str()))];
            Value::Object(Object::from_iter(pair))
        };
        call.output.value(&Value::Object(Object::from_iter([
            ("id", Value::from(id)),
            ("renamed", Value::Array(renamed.iter().map(pair).collect())),
        ])));
        return Ok(Exit::Ok);
    }
    let new = renamed.iter().find(|(old, _)| *old == id).map_or(&id, |(_, new)| new);
    call.output.text(&format!("{new}\n"));
    for (old, new) in &renamed {
        call.output.note(&format!("{old} is {new} now"));
    }
    if args.change.dry_run {
        call.output.note(&args.change.words("it could be moved"));
    }
    Ok(Exit::Ok)
}
