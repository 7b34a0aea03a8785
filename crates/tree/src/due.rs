//! Finding the nodes whose ttl has run out, and the way to each.

use std::hint::black_box;

use crate::class::Region;
use crate::list::{Children, Items, List, Run, Runs};
use crate::node::NodeRef;
use crate::rows::Rows;
use crate::view::TreeRef;

/// A node whose ttl has run out.
#[derive(Clone, Debug)]
pub struct Due<'a> {
    /// The node.
    pub node: NodeRef<'a>,
    /// Where it stands.
    pub place: Place,
}

/// Where a node stands in one state of a tree: to come back to it without looking for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub(crate) region: Region,
    /// From the region's list down to the node.
    pub(crate) steps: Vec<Step>,
}

/// One list on the way to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Step {
    pub(crate) position: usize,
    /// The row that stands there.
    pub(crate) row: u32,
}

impl Place {
    /// True if this place is that of the other, or below it.
    pub(crate) fn is_within(&self, other: &Place) -> bool {
        self.region == other.region && self.steps.starts_with(&other.steps)
    }
}

impl<'a> TreeRef<'a> {
    /// Returns the nodes whose ttl has run out: those that expire at the commit to come, in document order. Looks only where there
    /// is one.
    #[must_use]
    pub fn due(self) -> Vec<Due<'a>> {
        let mut due = Vec::new();
        for region in Region::ALL {
            let mut walk = Walk {
                tree: self,
                commit: self.base.next_cycle,
                ways: Vec::new(),
                next: Vec::new(),
                found: Vec::new(),
                siblings: Vec::new(),
                runs: Vec::new(),
                beside: Vec::new(),
            };
            walk.list(&self.base.regions[region.index()], NO_WAY);
            let mut now = Vec::new();
            while !walk.next.is_empty() {
                std::mem::swap(&mut now, &mut walk.next);
                walk.fetch(&now);
                now.drain(..).for_each(|spot| walk.expand(spot));
            }
            walk.fetch_around();
            let mut found: Vec<Vec<Step>> =
                walk.found.iter().map(|way| walk.steps_to(*way)).collect();
            // By the positions from the top: document order.
            found.sort_unstable();
            due.extend(found.into_iter().map(|steps| {
                let row = steps.last().expect("a node stands in a list").row;
                Due { node: self.node_at(row), place: Place { region, steps } }
            }));
        }
        due
    }
}

/// The end of a way: the region's own list.
const NO_WAY: usize = usize::MAX;

/// Something with a due node in it.
enum Spot<'a> {
    /// The list at the end of a way.
    List(&'a List),
    /// A run of the list at the end of a way, and the position at which it begins.
    Run(&'a Run, usize),
    /// A row that may have one in it.
    Row(Step),
}

/// Follows all ways side by side, a step at a time.
///
/// Nodes that expire together may stand far apart, and in a large tree nothing on the way to them is in the cache. One after the other,
/// each look would wait for memory; so the walk first touches all that a step needs, which the processor does for many at once, and
/// then looks.
struct Walk<'a> {
    tree: TreeRef<'a>,
    commit: u32,
    /// Steps, each with the one before it.
    ways: Vec<(Step, usize)>,
    /// What is to be looked at next, and the way to the list that it is in.
    next: Vec<(Spot<'a>, usize)>,
    /// The ways to due nodes.
    found: Vec<usize>,
    /// Rows that stand beside those on the ways, where their digests do not.
    siblings: Vec<u32>,
    /// Runs on the ways, with the runs beside them.
    runs: Vec<&'a Runs>,
    /// The digests that stand beside the rows on the ways.
    beside: Vec<&'a [[u8; 32]]>,
}

impl<'a> Walk<'a> {
    /// Touches what the next step looks at.
    fn fetch(&self, spots: &[(Spot<'a>, usize)]) {
        let mut rows = Rows::of(self.tree);
        black_box(spots.iter().fold(0, |seen, (spot, _)| match spot {
            Spot::List(list) => seen ^ list.levels.len(),
            Spot::Run(run, _) => seen ^ run.count as usize,
            Spot::Row(step) => {
                // All of a row is copied: its beginning, its middle and its end.
                let row = rows.row(step.row);
                seen ^ row.offset as usize ^ row.version as usize ^ row.summary.expires as usize
            }
        }));
        black_box(spots.iter().fold(0, |seen, (spot, _)| match spot {
            Spot::Run(run, _) => seen ^ run.last().unwrap_or_default(),
            _ => seen,
        }));
    }

    /// Touches what the removal of the nodes looks at: the digests of their siblings and of those of their ancestors, their names, where
    /// their newest rows are noted.
    fn fetch_around(&self) {
        let mut rows = Rows::of(self.tree);
        black_box(self.siblings.iter().fold(0, |seen, sibling| {
            let digest = rows.row(*sibling).digest.get();
            seen ^ digest.map_or(0, |digest| digest[0])
        }));
        let runs = self.runs.iter().map(|runs| runs.kept_digests());
        let beside = runs.chain(self.beside.iter().copied()).flatten();
        black_box(beside.fold(0, |seen, digest| seen ^ digest[0]));
        black_box(self.runs.iter().fold(0, |seen, runs| seen ^ runs.touch_changes()));
        let space = &self.tree.base.space;
        black_box(self.ways.iter().fold(0, |seen, (step, _)| {
            let node = rows.row(step.row).node;
            let newest = space.own().newest(node).unwrap_or_default();
            seen ^ newest ^ u32::from(space.ids.touch(node))
        }));
    }

    fn expand(&mut self, (spot, way): (Spot<'a>, usize)) {
        match spot {
            Spot::List(list) => self.runs(list, way),
            Spot::Run(run, start) => self.run(run, start, way),
            Spot::Row(step) => {
                let row = self.tree.row(step.row);
                if row.summary.expires <= self.commit {
                    self.ways.push((step, way));
                    let way = self.ways.len() - 1;
                    if row.expires <= self.commit {
                        self.found.push(way);
                    }
                    self.list(&row.children, way);
                }
            }
        }
    }

    fn list(&mut self, children: &'a Children, way: usize) {
        match children {
            Children::Few { .. } => {
                let rows = children.iter().enumerate();
                self.next
                    .extend(rows.map(|(position, row)| (Spot::Row(Step { position, row }), way)));
            }
            Children::Some(run) => self.next.push((Spot::Run(run, 0), way)),
            Children::Many(list) => self.next.push((Spot::List(list), way)),
        }
    }

    fn runs(&mut self, list: &'a List, way: usize) {
        let mut start = 0;
        for run in list.levels.iter().rev() {
            if run.summary.expires <= self.commit {
                self.next.push((Spot::Run(run, start), way));
            }
            start += run.count as usize;
        }
    }

    fn run(&mut self, run: &'a Run, mut start: usize, way: usize) {
        match &run.items {
            Items::Rows(rows) => {
                match run.beside.get() {
                    Some(beside) => self.beside.push(beside.digests()),
                    None => self.siblings.extend(rows.iter().map(|entry| entry.row)),
                }
                for entry in rows {
                    if entry.expires <= self.commit {
                        let step = Step { position: start, row: entry.row };
                        self.next.push((Spot::Row(step), way));
                    }
                    start += 1;
                }
            }
            Items::Runs(runs) => {
                self.runs.push(runs);
                for child in runs.iter() {
                    if child.summary.expires <= self.commit {
                        self.next.push((Spot::Run(&child.run, start), way));
                    }
                    start += child.count as usize;
                }
            }
        }
    }

    fn steps_to(&self, mut way: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        while way != NO_WAY {
            let (step, before) = self.ways[way];
            steps.push(step);
            way = before;
        }
        steps.reverse();
        steps
    }
}
