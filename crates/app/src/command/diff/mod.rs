//! `diff`: what changed between two states.

mod branches;
mod detail;
mod states;

use contextree::diff::{changes, diff as compare, moved};
use contextree::query::{diff_selected, plan, resolve_on_tree};
use contextree::selector::{parse, parse_on_snapshots};
use contextree::{Cycle, content_hash};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use detail::{ChangedNode, DiffDetail, ThreadPosition};
pub(super) use states::in_order;
use states::{Pair, pair};

use crate::wire::{Changes, Diff, Moved};
use crate::workspace::{Compared, Reader, State, StateRef};
use crate::{Control, Error, Workspace};

/// Compares two states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DiffRequest {
    /// The first state, or both as `A..B`; the newest snapshot if it is absent.
    pub from: Option<Compared>,
    /// The second state; the working state if it is absent.
    pub to: Option<StateRef>,
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
    /// True if the states were named in the other order; of one context, the older one always comes first.
    #[serde(default)]
    pub swapped: bool,
    /// What is suspicious in the request: a range that begins before the oldest snapshot begins with that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What changed.
    pub diff: Diff,
    /// Pairs of a removed and an added node with the same content, which were probably moved. Between two contexts: nodes of
    /// the same content under different ids, which are neither added nor removed.
    #[serde(default)]
    pub moved: Vec<Moved>,
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
    /// The context, if two are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}

impl From<&State> for StateName {
    fn from(state: &State) -> Self {
        StateName {
            label: state.label.clone(),
            cycle: state.cycle().map(Cycle::get),
            context: None,
        }
    }
}

/// Compares two states. Of one context the older one comes first, whatever the order in the request; of two contexts the first one.
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
    match pair(workspace, request)? {
        Pair::OfOne { mut reader, older, newer, swapped, clipped } => {
            let mut response = of_one(request, &reader, &older, &newer, control)?;
            response.swapped = swapped;
            check_size(&response, control)?;
            if clipped {
                response.warnings.push("range clipped to available snapshots".to_owned());
            }
            if request.detail && !response.diff.is_empty() {
                let last = newer.cycle().or(older.cycle()).unwrap_or_default();
                let reports = reader.reports(older.cycle().unwrap_or_default(), last)?;
                let edition = reader.edition();
                response.detail =
                    Some(detail::of(&response.diff, &older, &newer, &reports, edition));
            }
            Ok(response)
        }
        Pair::OfTwo { left, right } => {
            if request.select.is_some() {
                return Err(Error::usage(
                    "a selector cannot restrict the comparison of two contexts",
                )
                .with_hint("compare them without it"));
            }
            let matched = branches::compare(left.state.tree(), right.state.tree());
            let name = |side: &states::Side| StateName {
                context: Some(side.context.clone()),
                ..StateName::from(&side.state)
            };
            let mut response = DiffResponse {
                older: name(&left),
                newer: name(&right),
                swapped: false,
                warnings: Vec::new(),
                diff: matched.diff,
                moved: matched.same,
                values: None,
                detail: None,
            };
            check_size(&response, control)?;
            if request.values {
                let changes = changes(left.state.tree(), right.state.tree());
                response.values = Some(Changes::from(&changes));
            }
            if request.detail && !response.diff.is_empty() {
                let (left, right) = (&left.state, &right.state);
                let none = std::collections::BTreeMap::new();
                let edition = workspace.edition().unwrap_or_default();
                response.detail = Some(detail::of(&response.diff, left, right, &none, edition));
            }
            Ok(response)
        }
    }
}

/// Refuses a comparison that found too many nodes.
fn check_size(response: &DiffResponse, control: &Control<'_>) -> Result<(), Error> {
    let Diff { added, removed, changed } = &response.diff;
    control.check_results(added.len() + removed.len() + changed.len() + response.moved.len())
}

fn of_one(
    request: &DiffRequest,
    reader: &Reader,
    older: &State,
    newer: &State,
    control: &Control<'_>,
) -> Result<DiffResponse, Error> {
    let found = match &request.select {
        None => compare(older.tree(), newer.tree()),
        Some(text) => selected(text, reader, (older, newer), control)?,
    };
    let found = Diff::from(&found);
    // Moves are guessed among what was added and removed.
    let moves = match found.added.is_empty() || found.removed.is_empty() {
        true => Vec::new(),
        false => {
            let moves = moved(older.tree(), newer.tree(), |node| content_hash(node).0);
            log_collisions(&moves.collisions);
            moves.moved
        }
    };
    let is_meant = |from: &str, to: &str| {
        found.removed.iter().any(|id| id == from) && found.added.iter().any(|id| id == to)
    };
    let moved = moves.into_iter().filter(|found| is_meant(&found.from, &found.to));
    Ok(DiffResponse {
        older: older.into(),
        newer: newer.into(),
        swapped: false,
        warnings: Vec::new(),
        moved: moved.map(|moved| Moved { from: moved.from, to: moved.to }).collect(),
        diff: found,
        values: request.values.then(|| Changes::from(&changes(older.tree(), newer.tree()))),
        detail: None,
    })
}

/// Logs nodes whose contents differ and have one hash: they were not moved, whatever the hash says.
fn log_collisions(collisions: &[(String, String)]) {
    for (from, to) in collisions {
        tracing::warn!(from, to, "different contents have one content hash");
    }
}

fn selected(
    text: &str,
    reader: &Reader,
    (older, newer): (&State, &State),
    control: &Control<'_>,
) -> Result<contextree::diff::Diff, Error> {
    // Facets exist on snapshots, so both sides must be one.
    let both = older.cycle().is_some() && newer.cycle().is_some();
    let parsed = match both {
        true => parse_on_snapshots(text, reader.edition()),
        false => parse(text, reader.edition()),
    };
    let selector = parsed.map_err(|errors| {
        Error::facets(&errors, text, "compare two snapshots, as in `@t-1..@t0`")
    })?;
    let query = resolve_on_tree(&selector).map_err(|error| Error::query(&error.into(), text))?;
    let (older, newer) = ((older.tree(), older.cycle()), (newer.tree(), newer.cycle()));
    diff_selected(&plan(query), older, newer, &control.query_limits(None))
        .map_err(|error| Error::query(&error, text))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tracing::{Event, Level, Metadata, Subscriber, span};

    use super::log_collisions;

    /// Counts warnings.
    struct Warnings(Arc<AtomicUsize>);

    impl Subscriber for Warnings {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }

        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

        fn event(&self, event: &Event<'_>) {
            let is_warning = *event.metadata().level() == Level::WARN;
            self.0.fetch_add(usize::from(is_warning), Ordering::Relaxed);
        }

        fn enter(&self, _: &span::Id) {}

        fn exit(&self, _: &span::Id) {}
    }

    // covers: ERC-009
    #[test]
    fn a_hash_that_two_contents_share_is_logged() {
        // That two nodes are found is a test of `moved` with such a hash.
        let collisions = [("p1".to_owned(), "other".to_owned())];
        let count = Arc::new(AtomicUsize::new(0));
        tracing::subscriber::with_default(Warnings(Arc::clone(&count)), || {
            log_collisions(&collisions);
        });
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }
}
