//! Compares the matches of adjacent snapshots.

use std::collections::BTreeMap;

use contextree_canon::content_hash;
use contextree_json::{Object, Value};
use contextree_selector::Mode;
use contextree_tree::diff::{Pair, changed_fields, pairs_unordered};
use contextree_tree::{Cycle, NodeKey, NodeRef, Region, TreeRef};

use super::content_diff::ContentDiff;
use super::local::{LocalQuery, Matcher};
use super::options::{Materialize, RangeOptions};
use super::result::{
    ChangedNode, DiffBlock, FieldDelta, Limits, RangeDiff, RangeError, SnapshotKind, SnapshotRef,
    Stats,
};
use crate::evaluate::{Env, evaluate_some, has_elided_core, is_zoned};
use crate::meter::Meter;
use crate::plan::Plan;
use crate::resolve::ResolvedRange;
use crate::suspect::suspects;
use crate::timeline::{Moment, Timeline};

/// Compares what a plan matches over a range.
pub(crate) fn range_diff<T: Timeline + ?Sized>(
    plan: &Plan,
    range: &ResolvedRange,
    text: &str,
    timeline: &T,
    options: &RangeOptions,
    meter: &Meter<'_>,
) -> Result<RangeDiff, T::Error> {
    let newest = timeline.snapshot_count();
    let most = options.max_snapshots.unwrap_or(usize::MAX);
    let (mut snapshots, mut moments): (Vec<SnapshotRef>, Vec<Moment<'_>>) = Default::default();
    for position in range.positions.iter().take(most) {
        let Some(moment) = timeline.snapshot(*position)? else { continue };
        snapshots.push(snapshot_ref(*position, newest, moment.cycle, range.by_cycle));
        moments.push(moment);
    }
    let is_cut = range.positions.len() > most;
    let mut result = RangeDiff {
        query: text.to_owned(),
        snapshots,
        diffs: Vec::new(),
        limits: None,
        warnings: Vec::new(),
        errors: Vec::new(),
    };
    if range.clipped {
        result.warnings.push("range clipped to available snapshots".to_owned());
    }
    if is_cut {
        result.errors.push(RangeError {
            code: "E_SNAPSHOT_RANGE_LIMIT",
            message: format!(
                "the range has {} snapshots, the newest {most} were compared",
                range.positions.len()
            ),
        });
    }
    let mut is_truncated = is_cut;
    let cap = options.max_changes_per_snapshot.unwrap_or(usize::MAX);
    let mut compare = Compare::new(plan, &moments, meter);
    for (newer, older) in neighbours(plan.query.mode, moments.len()) {
        let changes = compare.pair(newer, older);
        meter.check()?;
        let (from, to) = (result.snapshots[newer].clone(), result.snapshots[older].clone());
        is_truncated |= changes.len() > cap;
        result.diffs.push(block(changes, from, to, cap, options));
    }
    if let Some(newest) = moments.first()
        && result.diffs.iter().all(DiffBlock::is_empty)
    {
        // A range without changes may be due to a typing error.
        let suspicious = suspects(&plan.query, &[newest.tree]);
        result.warnings.extend(suspicious.iter().map(ToString::to_string));
    }
    if options.max_snapshots.is_some() || options.max_changes_per_snapshot.is_some() {
        result.limits = Some(Limits {
            max_snapshots: options.max_snapshots,
            max_changes_per_snapshot: options.max_changes_per_snapshot,
            truncated: is_truncated,
        });
    }
    Ok(result)
}

fn snapshot_ref(position: usize, count: usize, cycle: Cycle, by_cycle: bool) -> SnapshotRef {
    if by_cycle {
        let label = format!("@c{cycle}");
        return SnapshotRef { kind: SnapshotKind::Cycle, value: cycle.into(), label, cycle };
    }
    let back = (count - 1 - position) as i64;
    let label = format!("@t{}", -back);
    SnapshotRef { kind: SnapshotKind::Turn, value: -back, label, cycle }
}

/// Returns the snapshots to compare: each with the next older one, or the newest with the oldest.
fn neighbours(mode: Mode, count: usize) -> Vec<(usize, usize)> {
    match mode {
        _ if count < 2 => Vec::new(),
        Mode::Reduce => vec![(0, count - 1)],
        Mode::Union | Mode::Latest => (1..count).map(|older| (older - 1, older)).collect(),
    }
}

/// The matching differences between two snapshots.
#[derive(Default)]
pub(super) struct Matched<'t> {
    pub(super) added: Vec<NodeRef<'t>>,
    pub(super) removed: Vec<NodeRef<'t>>,
    /// Newer, older.
    pub(super) changed: Vec<(NodeRef<'t>, NodeRef<'t>)>,
}

impl Matched<'_> {
    fn len(&self) -> usize {
        self.added.len() + self.removed.len() + self.changed.len()
    }

    /// ER-033: sorts nodes of the newer tree by their position there.
    fn order_present(&mut self) {
        self.added.sort_by_cached_key(|node| node.place());
        self.changed.sort_by_cached_key(|(node, _)| node.place());
    }

    /// ER-033: the same for removed nodes; those missing in the newer tree are last, by id.
    pub(super) fn order_removed(&mut self, newer: TreeRef<'_>) {
        self.removed.sort_by_cached_key(|node| {
            let place = newer.get(node.id()).map(NodeRef::place);
            (place.is_none(), place, node.id())
        });
    }
}

struct Compare<'c, 't> {
    plan: &'c Plan,
    moments: &'c [Moment<'t>],
    meter: &'c Meter<'c>,
    local: Option<LocalQuery>,
    /// The matches of the snapshot that was last compared as the older one; it is the newer one of
    /// the next pair.
    known: Option<(usize, BTreeMap<&'t str, NodeRef<'t>>)>,
    /// With `@mode=latest`: the ids matched in the newest snapshot, for queries that are not local.
    latest: Option<BTreeMap<&'t str, NodeRef<'t>>>,
}

impl<'c, 't> Compare<'c, 't> {
    fn new(plan: &'c Plan, moments: &'c [Moment<'t>], meter: &'c Meter<'c>) -> Self {
        let local = LocalQuery::new(&plan.query);
        let mut compare = Compare { plan, moments, meter, local, known: None, latest: None };
        if compare.local.is_none() && plan.query.mode == Mode::Latest && !moments.is_empty() {
            compare.latest = Some(compare.matches(0));
        }
        compare
    }

    fn pair(&mut self, newer: usize, older: usize) -> Matched<'t> {
        let (new, old) = (self.moments[newer], self.moments[older]);
        let recency = self.plan.query.recency;
        let matcher = |moment| self.local.as_ref()?.matcher(moment, recency);
        let mut matched = match (matcher(old), matcher(new)) {
            (Some(before), Some(after)) => compare_locally((old, &before), (new, &after)),
            _ => {
                let before = self.matches(older);
                let after = match self.known.take() {
                    Some((position, known)) if position == newer => known,
                    _ => self.matches(newer),
                };
                let matched = compare_sets(&before, &after);
                self.known = Some((older, before));
                matched
            }
        };
        if self.plan.query.mode == Mode::Latest {
            let head = self.moments[0];
            let local = self.local.as_ref().and_then(|local| local.matcher(head, recency));
            let is_latest = |id: &str| match (&local, &self.latest) {
                (Some(matcher), _) => head.tree.get(id).is_some_and(|node| matcher.matches(node)),
                (None, Some(latest)) => latest.contains_key(id),
                (None, None) => true,
            };
            matched.added.retain(|node| is_latest(node.id()));
            matched.removed.retain(|node| is_latest(node.id()));
            matched.changed.retain(|(node, _)| is_latest(node.id()));
        }
        matched.order_removed(new.tree);
        matched
    }

    fn matches(&self, at: usize) -> BTreeMap<&'t str, NodeRef<'t>> {
        let Moment { cycle, tree } = self.moments[at];
        let env = Env::metered(Some(cycle), self.meter);
        let nodes = evaluate_some(self.plan, tree, &env, None);
        nodes.into_iter().map(|node| (node.id(), node)).collect()
    }
}

/// Compares two sets of matches.
pub(super) fn compare_sets<'t>(
    before: &BTreeMap<&'t str, NodeRef<'t>>,
    after: &BTreeMap<&'t str, NodeRef<'t>>,
) -> Matched<'t> {
    let mut matched = Matched::default();
    for (id, node) in after {
        match before.get(id) {
            None => matched.added.push(*node),
            Some(old) if changed_fields(*old, *node).is_empty() => {}
            Some(old) => matched.changed.push((*node, *old)),
        }
    }
    let gone = before.iter().filter(|(id, _)| !after.contains_key(*id));
    matched.removed = gone.map(|(_, node)| *node).collect();
    matched.order_present();
    matched
}

/// Compares the matches of a local query by examining only what was written between two snapshots.
fn compare_locally<'t>(
    (older, old_matcher): (Moment<'t>, &Matcher<'_, 't>),
    (newer, new_matcher): (Moment<'t>, &Matcher<'_, 't>),
) -> Matched<'t> {
    let mut matched = Matched::default();
    let mut decide = |before: Option<NodeRef<'t>>, after: Option<NodeRef<'t>>| {
        let before = before.filter(|node| old_matcher.matches(*node));
        let after = after.filter(|node| new_matcher.matches(*node));
        match (before, after) {
            (None, None) => {}
            (None, Some(after)) => matched.added.push(after),
            (Some(before), None) => matched.removed.push(before),
            (Some(before), Some(after)) => {
                if !changed_fields(before, after).is_empty() {
                    matched.changed.push((after, before));
                }
            }
        }
    };
    let written = pairs_unordered(older.tree, newer.tree);
    let mut tops = Vec::new();
    let mut seen: Vec<NodeKey> = Vec::with_capacity(written.len());
    for pair in &written {
        match *pair {
            Pair::Added(after) => {
                seen.push(after.key_of());
                decide(None, Some(after));
            }
            Pair::Removed(before) => decide(Some(before), None),
            Pair::Both(before, after) => {
                seen.push(after.key_of());
                decide(Some(before), Some(after));
                if after.child_count() > 0 && looks_different_from_below(before, after) {
                    tops.push(after);
                }
            }
        }
    }
    // The children of regions are not part of their rows, so the head is never among the written
    // nodes.
    let heads = [older.tree, newer.tree].map(|tree| tree.region(Region::Head));
    if has_elided_core(heads[0]) != has_elided_core(heads[1]) {
        tops.push(heads[1]);
    }
    // Nodes below a changed node may match differently without having been written themselves.
    seen.sort_unstable();
    let mut visited: Vec<NodeKey> = Vec::new();
    for (_, node) in tops.iter().flat_map(|top| top.subtree().skip(1)) {
        if seen.binary_search(&node.key_of()).is_err() {
            visited.push(node.key_of());
        }
    }
    visited.sort_unstable();
    visited.dedup();
    for node in visited.into_iter().filter_map(|key| newer.tree.at(key)) {
        decide(older.tree.get(node.id()), Some(node));
    }
    // Only matches need to be sorted.
    matched.order_present();
    matched
}

/// Returns whether a node may satisfy other conditions than before, or elides its core where it did
/// not.
fn looks_different_from_below(before: NodeRef<'_>, after: NodeRef<'_>) -> bool {
    !changed_fields(before, after).is_empty()
        || (is_zoned(after) && has_elided_core(before) != has_elided_core(after))
}

fn block(
    matched: Matched<'_>,
    from: SnapshotRef,
    to: SnapshotRef,
    cap: usize,
    options: &RangeOptions,
) -> DiffBlock {
    let stats = Stats {
        added: matched.added.len(),
        removed: matched.removed.len(),
        changed: matched.changed.len(),
    };
    let ids = |nodes: &[NodeRef<'_>], most: usize| -> Vec<String> {
        nodes.iter().take(most).map(|node| node.id().to_owned()).collect()
    };
    let added = ids(&matched.added, cap);
    let removed = ids(&matched.removed, cap - added.len());
    let left = cap - added.len() - removed.len();
    let pairs = matched.changed.into_iter().take(left);
    let labels = (to.label.as_str(), from.label.as_str());
    let changed = pairs.map(|(new, old)| changed_node(new, old, labels, options)).collect();
    DiffBlock { from, to, added, removed, changed, stats }
}

fn changed_node(
    newer: NodeRef<'_>,
    older: NodeRef<'_>,
    labels: (&str, &str),
    options: &RangeOptions,
) -> ChangedNode {
    let fields = changed_fields(older, newer);
    let is_scalar = |value: &Value| !matches!(value, Value::Array(_) | Value::Object(_));
    let mut delta = Vec::new();
    for field in &fields {
        let (from, to) = match (value(newer, field), value(older, field)) {
            // A stored hash may be stale: then the computed ones show the change.
            (from, to) if field == "content_hash" && from == to => {
                (content_hash(newer).to_string().into(), content_hash(older).to_string().into())
            }
            values => values,
        };
        if is_scalar(&from) && is_scalar(&to) {
            delta.push(FieldDelta { field: field.to_string(), from, to });
        }
    }
    let content_changed = fields.iter().any(|field| field == "content_hash");
    let materialized = (!options.materialize.is_empty()).then(|| {
        (materialize(newer, &options.materialize), materialize(older, &options.materialize))
    });
    ChangedNode {
        id: newer.id().to_owned(),
        content_diff: (options.include_content && content_changed)
            .then(|| ContentDiff::new(older, newer, labels, options)),
        fields: fields.into_iter().map(Into::into).collect(),
        delta,
        materialized,
    }
}

fn value(node: NodeRef<'_>, field: &str) -> Value {
    match field {
        "parent" => node.parent_id().map_or(Value::Null, Value::from),
        "content_hash" => hash(node),
        _ => node.header(field).unwrap_or_default(),
    }
}

/// Returns the stored hash, or the computed one.
fn hash(node: NodeRef<'_>) -> Value {
    match node.attribute("content_hash") {
        Some(stored) => stored.clone(),
        None => content_hash(node).to_string().into(),
    }
}

fn materialize(node: NodeRef<'_>, fields: &[Materialize]) -> Object {
    let mut object = Object::new();
    for field in fields {
        let attribute = |name: &str| {
            let prefixed = format!("content_{name}");
            node.attribute(name).or_else(|| node.attribute(&prefixed)).cloned()
        };
        let value = match field {
            Materialize::Content => node.content().to_value(),
            Materialize::ContentHash => Some(hash(node)),
            Materialize::Mime | Materialize::Encoding => attribute(field.as_str()),
        };
        if let Some(value) = value {
            object.insert(field.as_str(), value);
        }
    }
    object
}
