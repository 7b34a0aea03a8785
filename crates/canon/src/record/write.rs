//! Trees and their changes → records.

use contextree_json::Value;
use contextree_tree::diff::{Pair, written};
use contextree_tree::{Class, NodeKey, NodeRef, Region, Tree, TreeRef};

use super::body::{Bodies, SharedContent};
use super::bytes::{close_frame, open_frame, varint, zigzag};
use super::put::{self, BodyPlace, Frame, differs, same_body};
use super::read::kind;
use super::value;
use super::words::WordWriter;
use crate::digest::snapshot_digest;
use crate::hash::Hash;

/// A record, ready to be stored.
#[derive(Clone, Debug, Default)]
pub struct Encoded {
    /// What happened, or the whole tree.
    pub effects: Vec<u8>,
    /// The bodies that stand in this record; empty if there are none.
    pub bodies: Vec<u8>,
    /// Contents that stand elsewhere.
    pub shared: Vec<SharedContent>,
}

/// Counters of a working state, kept with what was done to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounters {
    /// The latest creation stamp that was given.
    pub last_ns: i64,
    /// The creation index that the next node gets.
    pub next_index: u32,
}

/// What stands before the tree in a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The digest of the snapshot; of no meaning for the tree before the first commit.
    pub digest: Hash,
    /// The digest of the history up to it.
    pub history: Hash,
    /// The latest creation stamp that was given by then.
    pub last_ns: i64,
    /// How many snapshots there were by then, this one included.
    pub snapshots: u64,
}

/// Collects a record.
#[derive(Debug)]
struct Writer<'a> {
    out: Vec<u8>,
    puts: Vec<u8>,
    count: u64,
    words: WordWriter<'a>,
    bodies: Bodies<'a>,
    frame: Frame,
}

impl<'a> Writer<'a> {
    fn new(kind: u8, cycle: u32) -> Self {
        let mut out = open_frame();
        out.push(kind);
        varint(&mut out, u64::from(cycle));
        Writer {
            out,
            puts: Vec::new(),
            count: 0,
            words: WordWriter::default(),
            bodies: Bodies::default(),
            frame: Frame { cycle, stamp: 0 },
        }
    }

    fn put(&mut self, node: NodeRef<'a>, before: Option<NodeRef<'a>>) {
        let body = match node.body() {
            None => BodyPlace::None,
            Some(_) if before.is_some_and(|before| same_body(before, node)) => BodyPlace::Kept,
            Some(body) => BodyPlace::Here(self.bodies.add(body) as u32),
        };
        self.put_with(node, body);
    }

    fn put_with(&mut self, node: NodeRef<'a>, body: BodyPlace) {
        put::write(&mut self.puts, &mut self.words, &mut self.frame, node, body);
        self.count += 1;
    }

    fn finish(mut self, gone: &[&'a str], account: &'a Value) -> Encoded {
        varint(&mut self.out, self.count);
        self.out.append(&mut self.puts);
        varint(&mut self.out, gone.len() as u64);
        for id in gone {
            self.words.write(&mut self.out, id);
        }
        value::write(&mut self.out, &mut self.words, account);
        let (bodies, shared) = self.bodies.finish();
        Encoded { effects: close_frame(self.out), bodies, shared }
    }
}

fn is_fixed(node: NodeRef<'_>) -> bool {
    matches!(node.class(), Class::Root | Class::Region)
}

fn fixed(tree: TreeRef<'_>) -> impl Iterator<Item = NodeRef<'_>> {
    std::iter::once(tree.root()).chain(Region::ALL.map(|region| tree.region(region)))
}

/// Writes the record of the commit that turned one tree into the next; `before` is missing for the first of a history. It costs what
/// changed. The account says in words why; it is not interpreted here.
#[must_use]
pub fn write_commit(
    before: Option<TreeRef<'_>>,
    after: &Tree,
    last_ns: i64,
    account: &Value,
) -> Encoded {
    let tree = after.view();
    let cycle = tree.next_cycle().saturating_sub(1);
    // Root and regions never change in a history of ours. In a foreign one they may: then the tree is written whole.
    let is_whole = before.is_some_and(|before| {
        fixed(before)
            .zip(fixed(tree))
            .any(|(old, new)| old.id() != new.id() || differs(old, new) || !same_body(old, new))
    });
    let mut writer = Writer::new(if is_whole { kind::WHOLE } else { kind::COMMIT }, cycle);
    writer.out.extend_from_slice(&snapshot_digest(after).0);
    zigzag(&mut writer.out, last_ns);
    // How far the commit before is: a record that is missing is noticed.
    let distance = before.map_or(0, |before| cycle - before.next_cycle().saturating_sub(1));
    varint(&mut writer.out, u64::from(distance));
    let mut gone = Vec::new();
    match before {
        Some(before) if !is_whole => {
            for pair in written(before, tree) {
                match pair {
                    Pair::Added(node) => writer.put(node, None),
                    Pair::Removed(node) => gone.push(node.id()),
                    Pair::Both(old, new) => {
                        if !is_fixed(new) && (differs(old, new) || !same_body(old, new)) {
                            writer.put(new, Some(old));
                        }
                    }
                }
            }
        }
        _ => {
            let nodes = tree.nodes().map(|(_, node)| node);
            nodes
                .filter(|node| is_whole || !is_fixed(*node))
                .for_each(|node| writer.put(node, None));
        }
    }
    writer.finish(&gone, account)
}

/// Writes what was done to a working state: the nodes with these keys as they are now. `last` is the newest snapshot.
#[must_use]
pub fn write_work(
    last: Option<TreeRef<'_>>,
    now: TreeRef<'_>,
    changed: &[NodeKey],
    counters: WorkCounters,
    account: &Value,
) -> Encoded {
    let mut writer = Writer::new(kind::WORK, now.next_cycle());
    zigzag(&mut writer.out, counters.last_ns);
    varint(&mut writer.out, u64::from(counters.next_index));
    let mut present = Vec::new();
    let mut gone = Vec::new();
    for key in changed {
        match now.at(*key) {
            Some(node) => present.push((node.place(), node)),
            None => gone.push(now.id_of(*key)),
        }
    }
    // Parents before children.
    present.sort_by(|(left, _), (right, _)| left.cmp(right));
    for (_, node) in present {
        let before = last.and_then(|last| last.get(node.id()));
        writer.put(node, before);
    }
    gone.sort_unstable();
    writer.finish(&gone, account)
}

/// Writes the tree before the first commit: root and regions only.
#[must_use]
pub fn write_base(tree: TreeRef<'_>, next_cycle: u32) -> Encoded {
    let heading =
        Heading { digest: Hash([0; 32]), history: Hash([0; 32]), last_ns: 0, snapshots: 0 };
    let mut writer = tree_writer(next_cycle, &heading);
    fixed(tree).for_each(|node| writer.put(node, None));
    writer.finish(&[], &Value::Null)
}

/// Writes a whole snapshot. `place` says in which commit the body of a node stands; one that stands nowhere is written here.
#[must_use]
pub fn write_checkpoint(
    tree: TreeRef<'_>,
    heading: &Heading,
    place: &mut dyn FnMut(NodeRef<'_>) -> Option<(u32, u32)>,
) -> Encoded {
    let mut writer = tree_writer(tree.next_cycle(), heading);
    for (_, node) in tree.nodes() {
        let found = node.body().and_then(|_| place(node));
        match found {
            Some((cycle, index)) => writer.put_with(node, BodyPlace::At { cycle, index }),
            None => writer.put(node, None),
        }
    }
    writer.finish(&[], &Value::Null)
}

/// As [`write_checkpoint`], with everything in the record itself, however long.
#[must_use]
pub fn write_alone(tree: TreeRef<'_>, heading: &Heading) -> Encoded {
    let mut writer = tree_writer(tree.next_cycle(), heading);
    writer.bodies = Bodies::alone();
    tree.nodes().for_each(|(_, node)| writer.put(node, None));
    writer.finish(&[], &Value::Null)
}

fn tree_writer<'a>(next_cycle: u32, heading: &Heading) -> Writer<'a> {
    let mut writer = Writer::new(kind::TREE, next_cycle);
    writer.out.extend_from_slice(&heading.digest.0);
    writer.out.extend_from_slice(&heading.history.0);
    zigzag(&mut writer.out, heading.last_ns);
    varint(&mut writer.out, heading.snapshots);
    writer
}
