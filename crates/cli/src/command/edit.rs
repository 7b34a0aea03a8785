//! `ctx edit`: new content or attributes for nodes of the turn in progress.

use contextree_app::command::edit::{self, EditRequest};

use super::Call;
use super::input::{self, ContentOptions};
use super::output_ids;
use crate::error::{Exit, Failure};
use crate::output::text::parse_word;
use crate::source::ChangeOptions;

/// Change content or attributes of nodes that were added since the last commit
///
/// Sealed nodes cannot be edited: add a new one instead. A selector changes all nodes that it matches, or none. The content is an
/// argument, a file, or what comes through a pipe.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx edit block:3.1 'Will it rain in Bergen?'
  ctx edit '#forecast' --content-file forecast.txt
  jq .text forecast.json | ctx edit '#forecast'
  ctx edit block:3.1 --set key=question --unset tags
  ctx edit block:3.1 --set-json 'data_scores=[0.2,0.7]'")]
pub(crate) struct Args {
    /// The id of a node, or a selector without a time
    #[arg(value_parser = parse_word)]
    what: String,

    #[command(flatten)]
    content: ContentOptions,

    /// Set key, provenance, mime, encoding or an attribute to a text
    #[arg(long, value_name = "NAME=TEXT")]
    set: Vec<String>,

    /// Set tags or an attribute to a JSON value
    #[arg(long, value_name = "NAME=JSON")]
    set_json: Vec<String>,

    /// Remove one of these
    #[arg(long, value_name = "NAME")]
    unset: Vec<String>,

    #[command(flatten)]
    change: ChangeOptions,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    // With attributes to change, a pipe is not asked: a script that sets a key may have one.
    let has_changes = !(args.set.is_empty() && args.set_json.is_empty() && args.unset.is_empty());
    let content = match has_changes {
        true => args.content.read()?,
        false => args.content.read_or_piped(call)?,
    };
    let request = EditRequest {
        target: args.what.clone(),
        content,
        set: input::object(&args.set, &args.set_json)?,
        unset: args.unset.clone(),
        change: args.change.to_change(),
    };
    let edited = call.read(|workspace, control| edit::edit(workspace, &request, control))?;
    output_ids(&edited, &edited.changed, &args.change, "changed", call);
    if !args.change.to_change().dry_run {
        call.output.note(super::UNDO);
    }
    Ok(Exit::Ok)
}
