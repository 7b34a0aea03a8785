//! `ctx thread`: what a model is shown, provider-neutral.

use contextree_app::Address;
use contextree_app::command::thread::{self, ThreadRequest};

use contextree_app::wire::Node;

use super::Call;
use crate::args::parse_address;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::one_line;
use crate::view::node;

/// Print the thread of a state: one JSON array with an object for every block
///
/// The bytes are exact and end without a line break (except on a terminal), so that they can be hashed and compared.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx thread                        the newest snapshot
  ctx thread @                      the working state
  ctx thread --table                one line per block
  ctx thread -f snapshot.json | sha256sum")]
pub(crate) struct Args {
    /// The state [default: the newest snapshot]
    #[arg(value_parser = parse_address)]
    at: Option<Address>,

    /// Print one line per block for people, with its place, its role, and the names of tools
    #[arg(long)]
    table: bool,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = ThreadRequest { at: args.at, nodes: args.table };
    let found = call.read(|workspace, control| thread::thread(workspace, &request, control))?;
    match args.table && call.output.format() == Format::Human {
        true => {
            let text = table(&found.nodes, call.output.width());
            call.output.text(&text);
        }
        false if args.table => call.output.forms(&found.nodes),
        false => call.output.bytes(found.thread.as_bytes()),
    }
    Ok(Exit::Ok)
}

fn table(nodes: &[Node], width: Option<usize>) -> String {
    let titles = ["at", "node", "role", "kind", "size", "text"];
    let mut table = Table::new(&titles).right(0).right(4).spare(&[4, 3]);
    for (index, node) in nodes.iter().enumerate() {
        table.row(vec![
            paint(style::DIM, index),
            paint(style::ID, one_line(node.id())),
            node::speaker(node),
            node.kind().map(one_line).unwrap_or_default(),
            node::bytes(node),
            node::preview(node),
        ]);
    }
    table.render(width)
}
