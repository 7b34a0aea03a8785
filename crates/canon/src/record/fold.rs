//! A checkpoint and the commits behind it → one tree, without the trees between.
//!
//! Opening a context asks for its newest snapshot only. Records say how nodes are, not what to do, so those of many commits can be
//! laid over each other first; the tree is then built once, and has nothing of what has gone.

use std::collections::HashMap;

use contextree_tree::{Builder, Class, DuplicateId, NodeData, Region, Tree};

use super::apply::FindBody;
use super::bytes::RecordError;
use super::put::{BodyPlace, Put};
use super::read::{Effects, Subject};
use super::write::Heading;
use crate::digest::history_digest;
use crate::hash::Hash;
use crate::limits::Limits;

/// Nodes as records leave them behind. What is found to be wrong is an error; the fold is of no use then.
#[derive(Debug)]
pub struct Fold {
    nodes: Vec<Node>,
    /// Where the node with an id is. Never walked through: its order is nobody's.
    numbers: HashMap<Box<str>, u32>,
    next_cycle: u32,
    heading: Heading,
}

#[derive(Debug)]
struct Node {
    put: Put,
    parent: u32,
    is_gone: bool,
}

/// The root's parent.
const NOBODY: u32 = u32::MAX;

fn fail(message: String) -> RecordError {
    RecordError { message, offset: 0 }
}

impl Fold {
    /// Begins with a checkpoint.
    ///
    /// # Errors
    ///
    /// It is none, or is damaged.
    pub fn begin(checkpoint: Effects) -> Result<Fold, RecordError> {
        let Subject::Tree { next_cycle, heading } = checkpoint.subject else {
            return Err(fail("a history begins with a checkpoint".to_owned()));
        };
        Fold::whole(checkpoint.puts, next_cycle, heading)
    }

    fn whole(puts: Vec<Put>, next_cycle: u32, heading: Heading) -> Result<Fold, RecordError> {
        let mut fold = Fold {
            nodes: Vec::with_capacity(puts.len()),
            numbers: HashMap::with_capacity(puts.len()),
            next_cycle,
            heading,
        };
        for put in puts {
            let is_root = fold.nodes.is_empty();
            let parent = if is_root { NOBODY } else { fold.number(&put.parent)? };
            if fold.numbers.contains_key(&put.data.id) {
                return Err(fail(format!("`{}` stands in the tree twice", put.data.id)));
            }
            fold.push(put, parent)?;
        }
        let fixed = fold.nodes.iter().filter(|node| is_fixed(&node.put.data));
        if !fixed.map(|node| &*node.put.data.node_type).eq(["^root", "^sys", "^seq", "^ah"]) {
            return Err(fail("a tree has a root and three regions".to_owned()));
        }
        Ok(fold)
    }

    fn number(&self, id: &str) -> Result<u32, RecordError> {
        let number = self.numbers.get(id).copied();
        number.ok_or_else(|| fail(format!("`{id}` is not in the tree")))
    }

    fn push(&mut self, put: Put, parent: u32) -> Result<(), RecordError> {
        let number = u32::try_from(self.nodes.len()).ok().filter(|number| *number < NOBODY);
        let number = number.ok_or_else(|| fail("there are too many nodes".to_owned()))?;
        self.numbers.insert(put.data.id.clone(), number);
        self.nodes.push(Node { put, parent, is_gone: false });
        Ok(())
    }

    /// Lays a commit over what there is.
    ///
    /// # Errors
    ///
    /// It is none, is damaged, or does not follow.
    pub fn commit(&mut self, commit: Effects) -> Result<(), RecordError> {
        let Subject::Commit { cycle, digest, last_ns, previous, whole } = commit.subject else {
            return Err(fail("a commit was expected".to_owned()));
        };
        if previous != self.last_cycle() || cycle < self.next_cycle {
            return Err(fail(format!("@c{cycle} does not follow the commit before")));
        }
        let heading = Heading {
            digest,
            history: history_digest(self.heading.history, digest),
            last_ns,
            snapshots: self.heading.snapshots + 1,
        };
        let next_cycle = cycle.saturating_add(1);
        let puts = commit.puts.into_iter().map(|put| {
            // Bodies are asked for when all records are read, so they have to say where they are.
            let body = match put.body {
                BodyPlace::Here(index) => BodyPlace::At { cycle, index },
                other => other,
            };
            Put { body, ..put }
        });
        if whole {
            *self = Fold::whole(puts.collect(), next_cycle, heading)?;
            return Ok(());
        }
        for put in puts {
            self.put(put)?;
        }
        for id in &commit.gone {
            // It may have gone with its parent already.
            if let Some(number) = self.numbers.remove(id) {
                let node = &mut self.nodes[number as usize];
                if is_fixed(&node.put.data) {
                    return Err(fail(format!("`{id}` cannot go")));
                }
                node.is_gone = true;
            }
        }
        (self.next_cycle, self.heading) = (next_cycle, heading);
        Ok(())
    }

    fn put(&mut self, mut put: Put) -> Result<(), RecordError> {
        let id = &put.data.id;
        let parent = self.number(&put.parent)?;
        let Some(&own) = self.numbers.get(id) else {
            if put.body == BodyPlace::Kept {
                return Err(fail(format!("the body of `{id}` is not there to be kept")));
            }
            if is_fixed(&put.data) {
                return Err(fail(format!("`{id}` cannot change")));
            }
            return self.push(put, parent);
        };
        let node = &mut self.nodes[own as usize];
        if is_fixed(&put.data) || is_fixed(&node.put.data) {
            return Err(fail(format!("`{id}` cannot change")));
        }
        if put.body == BodyPlace::Kept {
            put.body = node.put.body;
        }
        *node = Node { put, parent, is_gone: false };
        Ok(())
    }

    /// Returns the newest commit so far.
    #[must_use]
    pub fn last_cycle(&self) -> Option<u32> {
        (self.heading.snapshots > 0).then(|| self.next_cycle.saturating_sub(1))
    }

    /// Returns the commit to come.
    #[must_use]
    pub fn next_cycle(&self) -> u32 {
        self.next_cycle
    }

    /// Returns what a checkpoint of the newest commit would begin with.
    #[must_use]
    pub fn heading(&self) -> &Heading {
        &self.heading
    }

    /// Returns the nodes that are there, with where their bodies are.
    pub fn bodies(&self) -> impl Iterator<Item = (&str, BodyPlace)> {
        let live = self.nodes.iter().filter(|node| !node.is_gone);
        live.map(|node| (&*node.put.data.id, node.put.body))
    }

    /// Builds the tree.
    ///
    /// # Errors
    ///
    /// It is none: a node stands below itself, or below one that has gone; or a body is missing.
    pub fn build(self, find_body: &mut FindBody<'_>) -> Result<Tree, RecordError> {
        let parents: Vec<u32> = self.nodes.iter().map(|node| node.parent).collect();
        let mut nodes: Vec<Option<Put>> =
            self.nodes.into_iter().map(|node| (!node.is_gone).then_some(node.put)).collect();
        let count = nodes.iter().flatten().count();
        let missing = || fail("a region is missing".to_owned());
        // Root and regions came first, and never change; nodes may stand between them.
        let fixed: Vec<usize> = (0..nodes.len())
            .filter(|number| nodes[*number].as_ref().is_some_and(|put| is_fixed(&put.data)))
            .collect();
        let [root, regions @ ..] = *<&[usize; 4]>::try_from(&fixed[..]).map_err(|_| missing())?;
        let mut full = |put: Option<Put>| -> Result<NodeData, RecordError> {
            let Put { mut data, body, .. } = put.ok_or_else(missing)?;
            if body != BodyPlace::None {
                data.body = find_body(body)?;
            }
            Ok(data)
        };
        let twice = |DuplicateId(id): DuplicateId| fail(format!("`{id}` stands in the tree twice"));
        let first = full(nodes[root].take())?;
        let mut three = regions.map(|number| nodes[number].take()).map(&mut full);
        let mut next = |index: usize| std::mem::replace(&mut three[index], Err(missing()));
        let regions_data = [next(0)?, next(1)?, next(2)?];
        let mut builder = Builder::with_capacity(first, regions_data, count).map_err(twice)?;
        // Where each node went, and how deep it is; 0 if it is not there yet.
        let mut handles = vec![(0_u32, 0_usize); nodes.len()];
        for (region, number) in Region::ALL.into_iter().zip(regions) {
            handles[number] = (builder.region(region), 2);
        }
        let mut way = Vec::new();
        for number in 0..nodes.len() {
            if nodes[number].is_none() {
                continue;
            }
            // Up to the first that is there already: a node that moved can stand below a younger one.
            let mut at = number;
            while handles[at].1 == 0 {
                way.push(at);
                at = parents[at] as usize;
                if way.len() > Limits::DEEPEST || at == root || at >= nodes.len() {
                    return Err(no_place(nodes[number].as_ref()));
                }
            }
            while let Some(one) = way.pop() {
                let (parent, depth) = handles[parents[one] as usize];
                if nodes[one].is_none() || depth + 1 > Limits::DEEPEST {
                    return Err(no_place(nodes[number].as_ref()));
                }
                let handle = builder.push(parent, full(nodes[one].take())?).map_err(twice)?;
                handles[one] = (handle, depth + 1);
            }
        }
        Ok(builder.finish(self.next_cycle))
    }
}

fn no_place(put: Option<&Put>) -> RecordError {
    let id = put.map_or("", |put| &*put.data.id);
    fail(format!("`{id}` has no place in the tree"))
}

fn is_fixed(data: &NodeData) -> bool {
    matches!(Class::of(&data.node_type), Class::Root | Class::Region)
}

/// Builds the tree of a record that is a whole snapshot.
///
/// # Errors
///
/// It is no tree, or a body is missing.
pub fn build(
    puts: Vec<Put>,
    next_cycle: u32,
    find_body: &mut FindBody<'_>,
) -> Result<Tree, RecordError> {
    let nothing = Hash([0; 32]);
    let heading = Heading { digest: nothing, history: nothing, last_ns: 0, snapshots: 0 };
    Fold::whole(puts, next_cycle, heading)?.build(find_body)
}
