//! `thread`: the provider-neutral form of what a model is shown.

use contextree::canon::thread::blocks;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::{self, Node};
use crate::workspace::Address;
use crate::{Control, Error, Workspace};

/// Renders the thread of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ThreadRequest {
    /// The state; the newest snapshot if it is absent.
    pub at: Option<Address>,
    /// Returns the nodes as well, in the order of the thread.
    pub nodes: bool,
}

/// The thread of a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadResponse {
    /// A JSON array with an object for every block. The bytes are exact, so that they can be hashed and compared.
    pub thread: String,
    /// The nodes, if they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Node>,
}

/// Renders the thread of a state.
///
/// # Errors
///
/// If the state does not exist.
pub fn thread(
    workspace: &Workspace,
    request: &ThreadRequest,
    control: &Control<'_>,
) -> Result<ThreadResponse, Error> {
    let _span = workspace.span("thread");
    control.check()?;
    let mut reader = workspace.read()?;
    let state = match request.at {
        Some(address) => reader.state(address)?,
        None => reader.newest()?,
    };
    control.check_results(blocks(state.tree()).count())?;
    let nodes = match request.nodes {
        true => wire::nodes(blocks(state.tree()).map(|(_, node)| node), reader.edition()),
        false => Vec::new(),
    };
    Ok(ThreadResponse { thread: super::ascii(contextree::thread(state.tree())), nodes })
}
