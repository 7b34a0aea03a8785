//! Finds expired nodes and the path to each.

use std::hint::black_box;

use crate::class::Region;
use crate::list::{Children, Items, List, Run, Runs};
use crate::node::NodeRef;
use crate::row::RowNumber;
use crate::rows::Rows;
use crate::view::TreeRef;

/// An expired node.
#[derive(Clone, Debug)]
pub struct Due<'a> {
    /// The node.
    pub node: NodeRef<'a>,
    /// Its position in the tree.
    pub place: Place,
}

/// The position of a node in one state of a tree, for returning to it without a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub(crate) region: Region,
    /// The steps from the region's list down to the node.
    pub(crate) steps: Vec<Step>,
}

/// One list on the path to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Step {
    pub(crate) position: usize,
    /// The row at this position.
    pub(crate) row: RowNumber,
}

impl Place {
    /// Returns whether this place equals the other or is below it.
    pub(crate) fn is_within(&self, other: &Place) -> bool {
        self.region == other.region && self.steps.starts_with(&other.steps)
    }
}

impl<'a> TreeRef<'a> {
    /// Returns the nodes that expire at the next commit, in document order. Summaries limit the
    /// search to lists that contain such a node.
    #[must_use]
    pub fn due(self) -> Vec<Due<'a>> {
        let mut due = Vec::new();
        for region in Region::ALL {
            let mut walk = Walk {
                tree: self,
                commit: self.base.next_cycle.get(),
                paths: Vec::new(),
                next: Vec::new(),
                found: Vec::new(),
                siblings: Vec::new(),
                runs: Vec::new(),
                beside: Vec::new(),
            };
            walk.list(&self.base.regions[region.index()], NO_PATH);
            let mut now = Vec::new();
            while !walk.next.is_empty() {
                std::mem::swap(&mut now, &mut walk.next);
                walk.fetch(&now);
                now.drain(..).for_each(|spot| walk.expand(spot));
            }
            walk.fetch_around();
            let mut found: Vec<Vec<Step>> =
                walk.found.iter().map(|path| walk.steps_to(*path)).collect();
            // Sorting by the positions from the top gives document order.
            found.sort_unstable();
            due.extend(found.into_iter().map(|steps| {
                let row = steps.last().expect("a node is in a list").row;
                Due { node: self.node_at(row), place: Place { region, steps } }
            }));
        }
        due
    }
}

/// The start of every path: the region's own list.
const NO_PATH: usize = usize::MAX;

/// Something that contains an expired node.
enum Spot<'a> {
    /// The list at the end of a path.
    List(&'a List),
    /// A run of the list at the end of a path, and the position at which it begins.
    Run(&'a Run, usize),
    /// A row that may contain one.
    Row(Step),
}

/// Follows all paths in parallel, one level at a time.
///
/// Nodes that expire together may be far apart, and in a large tree nothing on the paths to them is
/// in the cache. Depth first, each access would wait for memory. So each step first touches
/// everything it will need, which lets the processor overlap the cache misses, and then reads it.
struct Walk<'a> {
    tree: TreeRef<'a>,
    commit: u32,
    /// Steps, each with the index of the step before it.
    paths: Vec<(Step, usize)>,
    /// What to examine next, and the path to the list that contains it.
    next: Vec<(Spot<'a>, usize)>,
    /// The paths to expired nodes.
    found: Vec<usize>,
    /// Siblings of the rows on the paths, for runs that do not cache their rows' digests.
    siblings: Vec<RowNumber>,
    /// Runs of runs on the paths.
    runs: Vec<&'a Runs>,
    /// The cached digests of runs on the paths.
    beside: Vec<&'a [[u8; 32]]>,
}

impl<'a> Walk<'a> {
    /// Touches everything that the next step reads.
    fn fetch(&self, spots: &[(Spot<'a>, usize)]) {
        let mut rows = Rows::of(self.tree);
        black_box(spots.iter().fold(0, |seen, (spot, _)| match spot {
            Spot::List(list) => seen ^ list.levels.len(),
            Spot::Run(run, _) => seen ^ run.count as usize,
            Spot::Row(step) => {
                // A row spans several cache lines and all of it is copied: touch its beginning,
                // middle and end.
                let row = rows.row(step.row);
                seen ^ row.offset as usize ^ row.version as usize ^ row.summary.expires as usize
            }
        }));
        black_box(spots.iter().fold(0, |seen, (spot, _)| match spot {
            Spot::Run(run, _) => seen ^ run.last().unwrap_or_default().0,
            _ => seen,
        }));
    }

    /// Touches everything that removing the nodes reads: the digests of their siblings and of their
    /// ancestors' siblings, their names, and the slots of their newest rows.
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
        black_box(self.paths.iter().fold(0, |seen, (step, _)| {
            let node = rows.row(step.row).node;
            let newest = space.own().newest(node).unwrap_or_default().0;
            seen ^ newest ^ u32::from(space.ids.touch(node.0))
        }));
    }

    fn expand(&mut self, (spot, path): (Spot<'a>, usize)) {
        match spot {
            Spot::List(list) => self.runs(list, path),
            Spot::Run(run, start) => self.run(run, start, path),
            Spot::Row(step) => {
                let row = self.tree.row(step.row);
                if row.summary.expires <= self.commit {
                    self.paths.push((step, path));
                    let path = self.paths.len() - 1;
                    if row.expires <= self.commit {
                        self.found.push(path);
                    }
                    self.list(&row.children, path);
                }
            }
        }
    }

    fn list(&mut self, children: &'a Children, path: usize) {
        match children {
            Children::Few { .. } => {
                let rows = children.iter().enumerate();
                self.next
                    .extend(rows.map(|(position, row)| (Spot::Row(Step { position, row }), path)));
            }
            Children::Some(run) => self.next.push((Spot::Run(run, 0), path)),
            Children::Many(list) => self.next.push((Spot::List(list), path)),
        }
    }

    fn runs(&mut self, list: &'a List, path: usize) {
        let mut start = 0;
        for run in list.levels.iter().rev() {
            if run.summary.expires <= self.commit {
                self.next.push((Spot::Run(run, start), path));
            }
            start += run.count as usize;
        }
    }

    fn run(&mut self, run: &'a Run, mut start: usize, path: usize) {
        match &run.items {
            Items::Rows(rows) => {
                match run.beside.get() {
                    Some(beside) => self.beside.push(beside.digests()),
                    None => self.siblings.extend(rows.iter().map(|entry| entry.row)),
                }
                for entry in rows {
                    if entry.expires <= self.commit {
                        let step = Step { position: start, row: entry.row };
                        self.next.push((Spot::Row(step), path));
                    }
                    start += 1;
                }
            }
            Items::Runs(runs) => {
                self.runs.push(runs);
                for child in runs.iter() {
                    if child.summary.expires <= self.commit {
                        self.next.push((Spot::Run(&child.run, start), path));
                    }
                    start += child.count as usize;
                }
            }
        }
    }

    fn steps_to(&self, mut path: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        while path != NO_PATH {
            let (step, before) = self.paths[path];
            steps.push(step);
            path = before;
        }
        steps.reverse();
        steps
    }
}
