//! `ctx hash`: content hashes of nodes that are given as JSON Lines.

use contextree_app::Control;
use contextree_app::command::hash::{self, HashRequest, HashedNode};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::source::document;

/// Print the content hash of every node of a file of JSON Lines
///
/// Each line is a node as in an export. The hash covers `content`, `kind`, `role`, and every `content_…` and `data_…`.
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
    let request = HashRequest { nodes: document(name)?, hashed: args.hashed };
    let found = hash::hash(&request, &Control::default())?;
    for node in &found.nodes {
        if let Some(warning) = &node.warning {
            call.output.warning(&format!("line {}: {warning}", node.line));
        }
    }
    if call.output.format() == Format::Human {
        let line = |node: &HashedNode| {
            let text = node.content_hash.as_deref().or(node.hashed.as_deref());
            text.unwrap_or_default().to_owned() + "\n"
        };
        let lines: String = found.nodes.iter().map(line).collect();
        call.output.bytes(lines.as_bytes());
    } else {
        call.output.forms(&found.nodes);
    }
    Ok(Exit::Ok)
}
