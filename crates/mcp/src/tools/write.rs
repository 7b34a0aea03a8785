//! Tools that write. Each is one durable step.

use contextree_app::command::add::{self, AddRequest};
use contextree_app::command::apply::{self, ApplyRequest};
use contextree_app::command::fork::{self, ForkRequest};
use contextree_app::command::pin::{self, PinRequest, UnpinRequest};
use contextree_app::command::recall::{self, RecallRequest};
use contextree_app::wire::{NewNode, Op};
use contextree_app::{Change, Control, Document, Error, Workspace};

use super::arguments;
use super::text::context_line;

/// Who changed a priority, in the entries of the policy.
const POLICY: &str = "mcp";

pub(super) fn note(
    workspace: &Workspace,
    arguments: &arguments::Note,
    control: &Control<'_>,
) -> Result<Vec<String>, Error> {
    if arguments.text.trim().is_empty() {
        return Err(Error::usage("the note is empty"));
    }
    at_least_one(arguments.ttl)?;
    let mut node = contextree::user(&arguments.text);
    node.ttl = arguments.ttl;
    node.key.clone_from(&arguments.key);
    node.tags.clone_from(&arguments.tags);
    let request = AddRequest { node: NewNode(node), ..AddRequest::default() };
    let added = add::add(workspace, &request, control)?;
    Ok(vec![format!("added {}", added.id)])
}

/// Checks that a list names something: an answer without a line would read like a success.
fn not_empty(nodes: &[String]) -> Result<(), Error> {
    match nodes.is_empty() {
        true => Err(Error::usage("no node is named").with_hint("`select` finds ids")),
        false => Ok(()),
    }
}

/// Checks a ttl: what no call sees would be lost without a word.
fn at_least_one(ttl: Option<i64>) -> Result<(), Error> {
    match ttl.is_some_and(|ttl| ttl < 1) {
        true => Err(Error::usage("`ttl` is the number of calls that see it, at least 1")),
        false => Ok(()),
    }
}

pub(super) fn pin(
    workspace: &Workspace,
    arguments: &arguments::Nodes,
    control: &Control<'_>,
) -> Result<Vec<String>, Error> {
    not_empty(&arguments.nodes)?;
    let request = PinRequest { targets: arguments.nodes.clone(), change: Change::default() };
    let done = pin::pin(workspace, &request, control)?;
    Ok(done.pinned.iter().map(|id| format!("pinned {id}")).collect())
}

pub(super) fn unpin(
    workspace: &Workspace,
    arguments: &arguments::Nodes,
    control: &Control<'_>,
) -> Result<Vec<String>, Error> {
    not_empty(&arguments.nodes)?;
    let request = UnpinRequest { targets: arguments.nodes.clone(), change: Change::default() };
    let done = pin::unpin(workspace, &request, control)?;
    Ok(done.unpinned.iter().map(|id| format!("unpinned {id}")).collect())
}

pub(super) fn set_priority(
    workspace: &Workspace,
    arguments: &arguments::Priority,
    control: &Control<'_>,
) -> Result<Vec<String>, Error> {
    not_empty(&arguments.nodes)?;
    let mut lines = Vec::new();
    for node in &arguments.nodes {
        let (node, priority, policy) = (node.clone(), arguments.priority, POLICY.to_owned());
        lines.extend(Op::SetPriority { node, priority, policy }.to_value().to_canonical());
        lines.push(b'\n');
    }
    let operations = Document::new("the operations", lines);
    let request = ApplyRequest { operations, change: Change::default() };
    apply::apply(workspace, &request, control)?;
    let line = |id: &String| format!("priority of {id} is {}", arguments.priority);
    Ok(arguments.nodes.iter().map(line).collect())
}

pub(super) fn fork(
    workspace: &Workspace,
    arguments: &arguments::Fork,
    control: &Control<'_>,
) -> Result<Vec<String>, Error> {
    let request = ForkRequest { name: arguments.name.clone(), at: arguments.at };
    let made = fork::fork(workspace, &request, control)?;
    Ok(vec![context_line(&made.context)])
}

pub(super) fn restore(
    workspace: &Workspace,
    arguments: &arguments::Restore,
    control: &Control<'_>,
) -> Result<Vec<String>, Error> {
    at_least_one(arguments.ttl)?;
    let request = RecallRequest {
        id: arguments.node.clone(),
        at: arguments.at,
        ttl: arguments.ttl,
        change: Change::default(),
    };
    let done = recall::recall(workspace, &request, control)?;
    let (id, from, ttl) = (done.id, done.from, done.ttl);
    let calls = if ttl == 1 { "the next call".to_owned() } else { format!("{ttl} calls") };
    Ok(vec![format!("added {id} with the content of {from}, for {calls}")])
}
