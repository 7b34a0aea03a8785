//! `ctx diff`: what changed between two states.

use contextree_app::command::diff::{self, DiffRequest};
use contextree_app::{Address, Range};

use super::Call;
use crate::args::parse_range;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::view::{difference, report};

/// Show what changed between two states; exits with 1 if something did
///
/// Without arguments: from the newest snapshot to the working state. With one: from that snapshot to the working state. With
/// two, or `A..B`: from the older to the newer.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx diff                         what is not committed yet
  ctx diff @t-1..@t0               what the newest commit did
  ctx diff 3 7                     between commits 3 and 7
  ctx diff 3 7 --select '^sys *'   only nodes that a selector matches
  ctx diff 3 7 --json              {\"added\":[…],\"changed\":[…],\"removed\":[…]}")]
pub(crate) struct Args {
    /// The first state, or both as `A..B`
    #[arg(value_parser = parse_range)]
    from: Option<Range>,

    /// The second state
    #[arg(value_parser = crate::args::parse_address)]
    to: Option<Address>,

    /// Compare only nodes that this selector matches
    #[arg(long, value_name = "SELECTOR")]
    select: Option<String>,

    /// With --json: old and new values, parents and children
    #[arg(long, conflicts_with = "select")]
    values: bool,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let is_human = call.output.format() == Format::Human;
    let request = DiffRequest {
        from: args.from,
        to: args.to,
        select: args.select.clone(),
        values: args.values && !is_human,
        detail: is_human,
    };
    let response = call.read(|workspace, control| diff::diff(workspace, &request, control))?;
    let exit = if response.diff.is_empty() { Exit::Ok } else { Exit::No };
    match (&response.detail, &response.values) {
        (Some(detail), _) => {
            let causes = report::causes_of(&detail.reports);
            let text = difference::draw(&response, detail, &causes, call.output.width());
            call.output.text(&text);
        }
        _ if is_human => {
            let (older, newer) = (&response.older.label, &response.newer.label);
            call.output.note(&format!("{older} and {newer} are equal"));
        }
        (None, Some(values)) => call.output.form(values),
        (None, None) => call.output.form(&response.diff),
    }
    Ok(exit)
}
