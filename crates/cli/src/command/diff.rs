//! `ctx diff`: what changed between two states.

use contextree_app::command::diff::{self, DiffRequest, DiffResponse};
use contextree_app::{Compared, StateRef};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::view::{difference, report};

/// Show what changed between two states; exits with 1 if something did
///
/// Without arguments: from the newest snapshot to the working state. With one: from that snapshot to the working state. With
/// two, or `A..B`: from the older to the newer.
///
/// States of other contexts are written `NAME@t0`, and `NAME` alone is a context as it is now. Nodes of two contexts are matched by id
/// and content: a message that both have is not a difference, and equal ids of different messages do not hide one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx diff                         what is not committed yet
  ctx diff @t-1..@t0               what the newest commit did
  ctx diff 3 7                     between commits 3 and 7
  ctx diff main..alt               what two contexts do not have in common
  ctx diff alt@t0 main@t-2         the same, of older states
  ctx diff 3 7 --select '^sys *'   only nodes that a selector matches
  ctx diff 3 7 --json              {\"added\":[…],\"changed\":[…],\"removed\":[…]}
  ctx diff 3 7 --json --details    also what was moved, and where the nodes are in the threads")]
pub(crate) struct Args {
    /// The first state, or both as `A..B`
    from: Option<String>,

    /// The second state
    to: Option<String>,

    /// Compare only nodes that this selector matches
    #[arg(long, value_name = "SELECTOR")]
    select: Option<String>,

    /// With --json: old and new values, parents and children
    #[arg(long, conflicts_with = "select")]
    values: bool,

    /// With --json: everything, with nodes, moves and positions in the threads
    #[arg(long, conflicts_with = "values")]
    details: bool,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let is_human = call.output.format() == Format::Human;
    for (name, given) in [("values", args.values), ("details", args.details)] {
        if given && is_human {
            call.output.warning(&format!("`{name}` is ignored: it belongs to `--json`"));
        }
    }
    let request = DiffRequest {
        from: args.from.as_deref().map(str::parse::<Compared>).transpose()?,
        to: args.to.as_deref().map(str::parse::<StateRef>).transpose()?,
        select: args.select.clone(),
        values: args.values && !is_human,
        detail: is_human || args.details,
    };
    let response = call.read(|workspace, control| diff::diff(workspace, &request, control))?;
    for warning in &response.warnings {
        call.output.warning(warning);
    }
    let exit = if response.diff.is_empty() { Exit::Ok } else { Exit::No };
    if !is_human {
        match &response.values {
            _ if args.details => call.output.form(&response),
            Some(values) => call.output.form(values),
            None => call.output.form(&response.diff),
        }
        return Ok(exit);
    }
    match &response.detail {
        Some(detail) => {
            let causes = report::causes_of(&detail.reports);
            let text = difference::draw(&response, detail, &causes, call.output.width());
            call.output.text(&text);
        }
        None if args.from.is_none() && has_no_snapshot(&response) => {
            let text =
                "there is no snapshot to compare with yet: `ctx show` draws the working state";
            call.output.note(text);
        }
        None => {
            let (older, newer) =
                (difference::name(&response.older), difference::name(&response.newer));
            call.output.note(&format!("{older} and {newer} are equal"));
        }
    }
    note_order(&response, call);
    Ok(exit)
}

/// Returns whether a context was compared with itself because it has no snapshot.
fn has_no_snapshot(response: &DiffResponse) -> bool {
    let states = [&response.older, &response.newer];
    states.iter().all(|state| state.cycle.is_none() && state.context.is_none())
}

/// Says so if the states were named the other way round.
fn note_order(response: &DiffResponse, call: &mut Call<'_>) {
    if response.swapped {
        let (older, newer) = (&response.older.label, &response.newer.label);
        call.output.note(&format!("compared from {older} to {newer}: the older state comes first"));
    }
}
