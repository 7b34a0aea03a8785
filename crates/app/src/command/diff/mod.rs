//! `diff`: what changed between two states.

use contextree::Class;
use contextree::diff::{changes, diff as compare};
use contextree::query::{diff_selected, plan, resolve_on_tree};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::{Changes, Diff, Node, Report};
use crate::workspace::{Address, Range, Reader, State};
use crate::{Advice, Control, Error, Workspace};

/// Compares two states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DiffRequest {
    /// The first state, or both as `A..B`; the newest snapshot if it is absent.
    pub from: Option<Range>,
    /// The second state; the working state if it is absent.
    pub to: Option<Address>,
    /// Compares only nodes that this selector matches.
    pub select: Option<String>,
    /// Returns old and new values, parents and children as well.
    pub values: bool,
    /// Returns the nodes themselves as well, and the reports that say why nodes were removed.
    pub detail: bool,
}

/// What changed between two states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffResponse {
    /// The older state.
    pub older: StateName,
    /// The newer state.
    pub newer: StateName,
    /// What changed.
    pub diff: Diff,
    /// What changed, with values, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Changes>,
    /// The nodes, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<DiffDetail>,
}

/// The name of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateName {
    /// `@c12`, or `working state`.
    pub label: String,
    /// The number of its commit; null for the working state.
    pub cycle: Option<u32>,
}

impl From<&State> for StateName {
    fn from(state: &State) -> Self {
        StateName { label: state.label.clone(), cycle: state.cycle() }
    }
}

/// The nodes of a diff.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffDetail {
    /// Added nodes, as they are in the newer state.
    pub added: Vec<Node>,
    /// Removed nodes, as they are in the older state.
    pub removed: Vec<Node>,
    /// Changed nodes, on both sides, with the names of the fields that differ.
    pub changed: Vec<ChangedNode>,
    /// The bytes of all contents in the older state.
    pub bytes_before: u64,
    /// The bytes of all contents in the newer state.
    pub bytes_after: u64,
    /// The bytes of the older state's thread.
    pub thread_bytes: u64,
    /// The bytes at the beginning of the thread that both states share.
    pub thread_bytes_shared: u64,
    /// The reports of the commits between the two states, oldest first.
    pub reports: Vec<Report>,
}

/// A changed node on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangedNode {
    /// The node in the older state.
    pub before: Node,
    /// The node in the newer state.
    pub after: Node,
    /// The fields that differ.
    pub fields: Vec<String>,
}

/// Compares two states; the older one comes first, whatever the order in the request.
///
/// # Errors
///
/// If a state does not exist, three are named, or the selector is invalid.
pub fn diff(
    workspace: &Workspace,
    request: &DiffRequest,
    control: &Control<'_>,
) -> Result<DiffResponse, Error> {
    let _span = workspace.span("diff");
    control.check()?;
    let mut reader = workspace.read()?;
    let (left, right) = states(request, &mut reader)?;
    let (older, newer) = in_order(left, right);
    let found = match &request.select {
        None => compare(older.tree(), newer.tree()),
        Some(text) => selected(text, &reader, &older, &newer)?,
    };
    let found = Diff::from(&found);
    let values = request.values.then(|| Changes::from(&changes(older.tree(), newer.tree())));
    let detail = match request.detail && !found.is_empty() {
        true => Some(detail(&found, &older, &newer, &mut reader)?),
        false => None,
    };
    let (older, newer) = ((&older).into(), (&newer).into());
    Ok(DiffResponse { older, newer, diff: found, values, detail })
}

fn states(request: &DiffRequest, reader: &mut Reader) -> Result<(State, State), Error> {
    match (request.from, request.to) {
        (None, _) => Ok((reader.newest()?, reader.working()?)),
        (Some(Range { from, to: None }), to) => {
            Ok((reader.state(from)?, reader.state(to.unwrap_or(Address::Working))?))
        }
        (Some(Range { from, to: Some(to) }), None) => Ok((reader.state(from)?, reader.state(to)?)),
        (Some(_), Some(_)) => Err(Error::usage("three states are given, two can be compared")
            .with_advice(Advice::TwoStates("diff"))),
    }
}

/// Returns the older state first; the working state is the newest of all.
pub(super) fn in_order(left: State, right: State) -> (State, State) {
    let age = |state: &State| state.cycle().unwrap_or(u32::MAX);
    if age(&left) <= age(&right) { (left, right) } else { (right, left) }
}

fn selected(
    text: &str,
    reader: &Reader,
    older: &State,
    newer: &State,
) -> Result<contextree::diff::Diff, Error> {
    let selector = contextree::parse(text, reader.edition())
        .map_err(|errors| Error::selector(&errors, text))?;
    let query = resolve_on_tree(&selector).map_err(|error| Error::query(&error.into(), text))?;
    Ok(diff_selected(&plan(query), (older.tree(), older.cycle()), (newer.tree(), newer.cycle())))
}

fn detail(
    diff: &Diff,
    older: &State,
    newer: &State,
    reader: &mut Reader,
) -> Result<DiffDetail, Error> {
    let nodes = |state: &State, ids: &[String]| -> Vec<Node> {
        ids.iter().filter_map(|id| state.tree().get(id)).map(Node::from).collect()
    };
    let changed = diff.changed.iter().filter_map(|changed| {
        Some(ChangedNode {
            before: older.tree().get(&changed.id)?.into(),
            after: newer.tree().get(&changed.id)?.into(),
            fields: changed.fields.clone(),
        })
    });
    let bytes = |state: &State| -> u64 {
        let blocks = state.tree().nodes().filter(|(_, node)| node.class() == Class::Block);
        blocks.map(|(_, block)| block.content().byte_len() as u64).sum()
    };
    let (before, after) = (contextree::thread(older.tree()), contextree::thread(newer.tree()));
    let shared = before.iter().zip(&after).take_while(|(left, right)| left == right).count();
    let last = newer.cycle().or(older.cycle()).unwrap_or(0);
    let reports = reader.reports(older.cycle().unwrap_or(0), last)?;
    Ok(DiffDetail {
        added: nodes(newer, &diff.added),
        removed: nodes(older, &diff.removed),
        changed: changed.collect(),
        bytes_before: bytes(older),
        bytes_after: bytes(newer),
        thread_bytes: before.len() as u64,
        thread_bytes_shared: shared as u64,
        reports: reports.values().map(Report::from).collect(),
    })
}
