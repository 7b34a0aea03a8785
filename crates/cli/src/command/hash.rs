//! `ctx hash`: content hashes of nodes that are given as JSON Lines.

use contextree::canon::{content_hash_of_document, hashed_text};
use contextree_json::{Object, Value};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::source::{objects, read_bytes};

/// Print the content hash of every node of a file of JSON Lines
///
/// Each line is a node as an export has it. Of its fields `content`, `kind`, `role` and every `content_…` and `data_…` count.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  echo '{\"id\":\"a\",\"role\":\"user\",\"content\":\"Hello world\"}' | ctx hash
  ctx hash nodes.jsonl --jsonl        with ids
  ctx hash nodes.jsonl --hashed       the exact text that is hashed")]
pub(crate) struct Args {
    /// The file; `-` is standard input
    #[arg(default_value = "-", hide_default_value = true)]
    nodes: String,

    /// Print the text that is hashed instead of the hash
    #[arg(long)]
    hashed: bool,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let name = call.global.file.as_deref().unwrap_or(&args.nodes);
    let place = if name == "-" { "standard input" } else { name };
    let nodes = objects(place, &read_bytes(name)?)?;
    let result = |node: &Object| match args.hashed {
        true => hashed_text(node),
        false => content_hash_of_document(node).to_string(),
    };
    if call.output.format() == Format::Human {
        let lines: String = nodes.iter().map(|(_, node)| result(node) + "\n").collect();
        call.output.bytes(lines.as_bytes());
        return Ok(Exit::Ok);
    }
    let name = if args.hashed { "hashed" } else { "content_hash" };
    let object = |(line, node): &(usize, Object)| {
        let id = node.get("id").cloned().unwrap_or_default();
        let entries =
            [("id", id), ("line", Value::from(*line as u64)), (name, result(node).into())];
        Value::Object(Object::from_iter(entries))
    };
    call.output.values(nodes.iter().map(object).collect());
    Ok(Exit::Ok)
}
