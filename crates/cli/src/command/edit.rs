//! `ctx edit`: another content, or other attributes, for nodes of the active turn.

use contextree::{Edit, Op};
use contextree_json::Value;

use super::Call;
use super::input::{self, ContentOptions};
use super::output_ids;
use crate::error::{Exit, Failure};
use crate::source::{Change, targets};

/// Change content or attributes of nodes that were added since the last commit
///
/// Sealed nodes are not edited: add a new one instead. A selector changes all nodes that it matches, or none.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx edit block:3.1 'Will it rain in Bergen?'
  ctx edit '#forecast' --content-file forecast.txt
  ctx edit block:3.1 --set key=question --unset tags
  ctx edit block:3.1 --set-json 'data_scores=[0.2,0.7]'")]
pub(crate) struct Args {
    /// The id of a node, or a selector without a time
    what: String,

    #[command(flatten)]
    content: ContentOptions,

    /// Set key, provenance, mime, encoding or an attribute to a text
    #[arg(long, value_name = "NAME=TEXT")]
    set: Vec<String>,

    /// Set tags or an attribute to a JSON value
    #[arg(long, value_name = "NAME=JSON")]
    set_json: Vec<String>,

    /// Take one of these away
    #[arg(long, value_name = "NAME")]
    unset: Vec<String>,

    #[command(flatten)]
    change: Change,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let mut set: Vec<(String, Value)> = input::texts(&args.set)?;
    set.extend(input::values(&args.set_json)?);
    let edit = Edit { content: args.content.read()?, set, unset: args.unset.clone() };
    if edit == Edit::default() {
        return Err(Failure::usage("nothing is to be changed")
            .hint("give a content, --set, --set-json or --unset"));
    }
    let edition = call.global.edition;
    let ids = args.change.make(call, |context| {
        let ids = targets(context, &args.what, edition)?;
        let op = |node: &String| Op::Edit { node: node.clone(), edit: edit.clone() };
        context
            .batch(ids.iter().map(op).collect())
            .map_err(|batch| Failure::refused(&batch.error))?;
        Ok(ids)
    })?;
    output_ids(&ids, &args.change, "changed", call);
    Ok(Exit::Ok)
}
