//! Folds a checkpoint and the commits after it into one tree, without building the trees in
//! between.
//!
//! Opening a context needs only its newest snapshot. Records state how nodes are, not what to do,
//! so a later record of a node simply replaces an earlier one. The tree is built once at the end,
//! and contains nothing of removed nodes. Building each commit's tree instead would cost an
//! insertion into sorted lists for every change in the history.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use contextree_tree::{
    Body, Builder, Class, Cycle, DuplicateId, NodeData, Region, RowNumber, Tree,
};

use super::apply::FindBody;
use super::bytes::RecordError;
use super::put::{BodyPlace, Put};
use super::read::{Effects, Subject};
use super::write::Heading;
use crate::digest::history_digest;
use crate::hash::Hash;
use crate::limits::Limits;

/// The state of nodes after a sequence of records. After an error the fold must not be used.
///
/// Texts are borrowed from the records: nodes that are removed again are never copied.
#[derive(Debug)]
pub struct Fold<'a> {
    nodes: Vec<Put<'a>>,
    /// By node: its position and state.
    places: Vec<Place>,
    /// The number of the node with an id. Never iterated, so its order cannot affect output.
    numbers: HashMap<&'a str, u32>,
    /// The node that was put last.
    last: u32,
    next_cycle: Cycle,
    heading: Heading,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    parent: u32,
    is_fixed: bool,
    is_gone: bool,
}

impl Place {
    fn new(node: &Put<'_>, parent: u32) -> Self {
        let is_fixed = matches!(Class::of(node.data.node_type), Class::Root | Class::Region);
        Place { parent, is_fixed, is_gone: false }
    }
}

/// The parent number of the root.
const NO_PARENT: u32 = u32::MAX;

/// How many ancestors of the last node are tried as the parent before a lookup by id.
const NEAR: usize = 4;

fn fail(message: String) -> RecordError {
    RecordError { message, offset: 0 }
}

impl<'a> Fold<'a> {
    /// Starts a fold with a checkpoint.
    ///
    /// # Errors
    ///
    /// If the record is not a checkpoint or is damaged.
    pub fn begin(checkpoint: Effects<'a>) -> Result<Fold<'a>, RecordError> {
        let Subject::Tree { next_cycle, heading } = checkpoint.subject else {
            return Err(fail("a history must begin with a checkpoint".to_owned()));
        };
        Fold::whole(checkpoint.puts, next_cycle, heading)
    }

    fn whole(
        puts: Vec<Put<'a>>,
        next_cycle: Cycle,
        heading: Heading,
    ) -> Result<Fold<'a>, RecordError> {
        u32::try_from(puts.len()).ok().filter(|len| *len < NO_PARENT).ok_or_else(too_many)?;
        let mut fold = Fold {
            places: Vec::with_capacity(puts.len()),
            numbers: HashMap::with_capacity(puts.len()),
            nodes: puts,
            last: NO_PARENT,
            next_cycle,
            heading,
        };
        for number in 0..fold.nodes.len() {
            let node = fold.nodes[number];
            let parent = if number == 0 { NO_PARENT } else { fold.parent(node.parent)? };
            if fold.numbers.insert(node.data.id, number as u32).is_some() {
                return Err(fail(format!("duplicate id `{}`", node.data.id)));
            }
            fold.places.push(Place::new(&node, parent));
            fold.last = number as u32;
        }
        let fixed = fold.nodes.iter().zip(&fold.places).filter(|(_, place)| place.is_fixed);
        if !fixed.map(|(node, _)| node.data.node_type).eq(["^root", "^sys", "^seq", "^ah"]) {
            return Err(fail("the root or a region is missing".to_owned()));
        }
        Ok(fold)
    }

    /// Returns the number of a node's parent. Records list children after their parents, so it is
    /// usually the last node or one of its ancestors: comparing these few ids is cheaper than
    /// hashing.
    fn parent(&self, id: &str) -> Result<u32, RecordError> {
        let mut number = self.last;
        for _ in 0..NEAR {
            let Some(place) = self.places.get(number as usize) else { break };
            if self.nodes[number as usize].data.id == id && !place.is_gone {
                return Ok(number);
            }
            number = place.parent;
        }
        let number = self.numbers.get(id).copied();
        number.ok_or_else(|| fail(format!("`{id}` is not in the tree")))
    }

    /// Applies a commit.
    ///
    /// # Errors
    ///
    /// If the record is not a commit, is damaged, or does not follow the previous commit.
    pub fn commit(&mut self, commit: Effects<'a>) -> Result<(), RecordError> {
        let Subject::Commit { cycle, digest, last_ns, previous, whole } = commit.subject else {
            return Err(fail("expected a commit".to_owned()));
        };
        if previous != self.last_cycle() || cycle < self.next_cycle {
            return Err(fail(format!("@c{cycle} does not follow the previous commit")));
        }
        let heading = Heading {
            digest,
            history: history_digest(self.heading.history, digest),
            last_ns,
            snapshots: self.heading.snapshots + 1,
        };
        let next_cycle = cycle.next();
        let puts = commit.puts.into_iter().map(|mut put| {
            // Bodies are fetched after all records are read, so each must name the commit that
            // contains it.
            if let BodyPlace::Here(index) = put.data.body {
                put.data.body = BodyPlace::At { cycle, index };
            }
            put
        });
        if whole {
            *self = Fold::whole(puts.collect(), next_cycle, heading)?;
            return Ok(());
        }
        for put in puts {
            self.put(put)?;
        }
        for id in &commit.gone {
            // It may already have been removed with its parent.
            if let Some(number) = self.numbers.remove(id) {
                let place = &mut self.places[number as usize];
                if place.is_fixed {
                    return Err(fail(format!("`{id}` cannot be removed")));
                }
                place.is_gone = true;
            }
        }
        (self.next_cycle, self.heading) = (next_cycle, heading);
        Ok(())
    }

    fn put(&mut self, mut node: Put<'a>) -> Result<(), RecordError> {
        let id = node.data.id;
        let place = Place::new(&node, self.parent(node.parent)?);
        if place.is_fixed {
            return Err(fail(format!("`{id}` cannot be changed")));
        }
        let is_kept = node.data.body == BodyPlace::Kept;
        self.last = match self.numbers.entry(id) {
            Entry::Vacant(_) if is_kept => {
                return Err(fail(format!("the body of `{id}` is missing")));
            }
            Entry::Vacant(entry) => {
                // New, or removed by an earlier commit: then its old slot stays, marked as gone.
                let number = u32::try_from(self.nodes.len()).ok().filter(|len| *len < NO_PARENT);
                self.nodes.push(node);
                self.places.push(place);
                *entry.insert(number.ok_or_else(too_many)?)
            }
            Entry::Occupied(own) => {
                // The slot keeps its number, because children refer to it. So a node that moved can have a parent with a higher
                // number; `build` sorts that out.
                let number = *own.get() as usize;
                if self.places[number].is_fixed {
                    return Err(fail(format!("`{id}` cannot be changed")));
                }
                if is_kept {
                    node.data.body = self.nodes[number].data.body;
                }
                (self.nodes[number], self.places[number]) = (node, place);
                *own.get()
            }
        };
        Ok(())
    }

    /// Returns the newest commit so far.
    #[must_use]
    pub fn last_cycle(&self) -> Option<Cycle> {
        (self.heading.snapshots > 0).then(|| self.next_cycle.previous())
    }

    /// Returns the number of the next commit.
    #[must_use]
    pub fn next_cycle(&self) -> Cycle {
        self.next_cycle
    }

    /// Returns the heading that a checkpoint of the newest commit would have.
    #[must_use]
    pub fn heading(&self) -> &Heading {
        &self.heading
    }

    /// Returns the ids of existing nodes, with the places of their bodies.
    pub fn bodies(&self) -> impl Iterator<Item = (&'a str, BodyPlace)> {
        let live = self.nodes.iter().zip(&self.places).filter(|(_, place)| !place.is_gone);
        live.map(|(node, _)| (node.data.id, node.data.body))
    }

    /// Builds the tree.
    ///
    /// # Errors
    ///
    /// If the records do not form a tree: a node is its own ancestor, or its parent was removed. If
    /// a body is missing.
    pub fn build(self, find_body: &mut FindBody<'_>) -> Result<Tree, RecordError> {
        // Frees memory for the tree.
        drop(self.numbers);
        let (nodes, places) = (self.nodes, self.places);
        let count = places.iter().filter(|place| !place.is_gone).count();
        let missing = || fail("a region is missing".to_owned());
        // Root and regions come first and never change; other nodes may be between them.
        let fixed: Vec<usize> = (0..places.len()).filter(|at| places[*at].is_fixed).collect();
        let [root, regions @ ..] = *<&[usize; 4]>::try_from(&fixed[..]).map_err(|_| missing())?;
        let mut full = |number: usize| -> Result<NodeData<&'a str>, RecordError> {
            let data = nodes[number].data;
            let body = match data.body {
                BodyPlace::None => Body::default(),
                place => find_body(place)?,
            };
            Ok(data.replace_body(body))
        };
        let twice = |DuplicateId(id): DuplicateId| fail(format!("duplicate id `{id}`"));
        let first = full(root)?;
        let [system, sequence, head] = regions.map(&mut full);
        let three = [system?, sequence?, head?];
        let mut builder = Builder::with_capacity(first, three, count).map_err(twice)?;
        // The handle and depth of each node; depth 0 if it is not built yet.
        let mut handles = vec![(RowNumber::default(), 0_usize); nodes.len()];
        for (region, number) in Region::ALL.into_iter().zip(regions) {
            handles[number] = (builder.region(region), 2);
        }
        let mut path = Vec::new();
        for number in 0..nodes.len() {
            if places[number].is_gone || number == root {
                continue;
            }
            let no_place = || {
                fail(format!(
                    "`{}` is its own ancestor, too deep, or below a removed node",
                    nodes[number].data.id
                ))
            };
            // Collect ancestors up to the first one that is built: a moved node can have a parent
            // with a higher number. The depth limit also ends the loop if a node is its own
            // ancestor.
            let mut at = number;
            while handles[at].1 == 0 {
                path.push(at);
                at = places[at].parent as usize;
                if path.len() > Limits::DEEPEST || at == root || at >= nodes.len() {
                    return Err(no_place());
                }
            }
            while let Some(one) = path.pop() {
                let Place { parent, is_gone, .. } = places[one];
                let (parent, depth) = handles[parent as usize];
                if is_gone || depth + 1 > Limits::DEEPEST {
                    return Err(no_place());
                }
                let handle = builder.push(parent, full(one)?).map_err(twice)?;
                handles[one] = (handle, depth + 1);
            }
        }
        drop(nodes);
        Ok(builder.finish(self.next_cycle))
    }
}

fn too_many() -> RecordError {
    fail("too many nodes".to_owned())
}

/// Builds the tree of a record that is a full snapshot.
///
/// # Errors
///
/// If the records do not form a tree, or a body is missing.
pub fn build(
    puts: Vec<Put<'_>>,
    next_cycle: Cycle,
    find_body: &mut FindBody<'_>,
) -> Result<Tree, RecordError> {
    let empty = Hash([0; 32]);
    let heading = Heading { digest: empty, history: empty, last_ns: 0, snapshots: 0 };
    Fold::whole(puts, next_cycle, heading)?.build(find_body)
}
