//! Encodes trees and changes as records.

use contextree_json::Value;
use contextree_tree::diff::{Pair, written};
use contextree_tree::{Class, Cycle, NodeKey, NodeRef, Region, Tree, TreeRef};

use super::body::{Bodies, SharedContent};
use super::bytes::{close_frame, open_frame, varint, zigzag};
use super::put::{self, BodyPlace, Frame, differs, same_body};
use super::read::kind;
use super::value;
use super::words::WordWriter;
use crate::digest::snapshot_digest;
use crate::hash::Hash;

/// An encoded record, ready to be stored.
#[derive(Clone, Debug, Default)]
pub struct Encoded {
    /// The changes, or the full tree.
    pub effects: Vec<u8>,
    /// The bodies in this record; empty if there are none.
    pub bodies: Vec<u8>,
    /// Contents stored outside the record.
    pub shared: Vec<SharedContent>,
}

/// Counters of a working state, stored with its changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounters {
    /// The latest creation stamp assigned.
    pub last_ns: i64,
    /// The creation index of the next node.
    pub next_index: u32,
}

/// The heading of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The digest of the snapshot; meaningless for the tree before the first commit.
    pub digest: Hash,
    /// The digest of the history up to and including the snapshot.
    pub history: Hash,
    /// The latest creation stamp assigned so far.
    pub last_ns: i64,
    /// The number of snapshots so far, including this one.
    pub snapshots: u64,
}

/// Collects the parts of a record.
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
    fn new(kind: u8, cycle: Cycle) -> Self {
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

/// Encodes the commit between two trees; `before` is `None` for the first commit of a history. The
/// cost is proportional to the change. The account gives the reasons and is not interpreted here.
/// Contents of at least `shared_from` bytes are kept apart: usually [`SHARED_FROM`](super::SHARED_FROM).
#[must_use]
pub fn write_commit(
    before: Option<TreeRef<'_>>,
    after: &Tree,
    last_ns: i64,
    account: &Value,
    shared_from: usize,
) -> Encoded {
    let tree = after.view();
    let cycle = tree.next_cycle().previous();
    // Root and regions never change in a history of the engine. In a foreign one they may, and then
    // the tree is written in full.
    let is_whole = before.is_some_and(|before| {
        fixed(before)
            .zip(fixed(tree))
            .any(|(old, new)| old.id() != new.id() || differs(old, new) || !same_body(old, new))
    });
    let mut writer = Writer::new(if is_whole { kind::WHOLE } else { kind::COMMIT }, cycle);
    writer.bodies = Bodies::shared_from(shared_from);
    writer.out.extend_from_slice(&snapshot_digest(after).0);
    zigzag(&mut writer.out, last_ns);
    // The distance to the previous commit, so that a missing record is noticed.
    let distance = before.map_or(0, |before| cycle.get() - before.next_cycle().previous().get());
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

/// Encodes changes of a working state: the nodes with these keys as they are now. `last` is the
/// newest snapshot. Contents of at least `shared_from` bytes are kept apart.
#[must_use]
pub fn write_work(
    last: Option<TreeRef<'_>>,
    now: TreeRef<'_>,
    changed: &[NodeKey],
    counters: WorkCounters,
    account: &Value,
    shared_from: usize,
) -> Encoded {
    let mut writer = Writer::new(kind::WORK, now.next_cycle());
    writer.bodies = Bodies::shared_from(shared_from);
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

/// Encodes the tree before the first commit: root and regions only.
#[must_use]
pub fn write_base(tree: TreeRef<'_>, next_cycle: Cycle) -> Encoded {
    let heading =
        Heading { digest: Hash([0; 32]), history: Hash([0; 32]), last_ns: 0, snapshots: 0 };
    let mut writer = tree_writer(next_cycle, &heading);
    fixed(tree).for_each(|node| writer.put(node, None));
    writer.finish(&[], &Value::Null)
}

/// Encodes a full snapshot. `place` returns the commit that contains the body of a node; a body
/// without a place is written inline.
#[must_use]
pub fn write_checkpoint(
    tree: TreeRef<'_>,
    heading: &Heading,
    place: &mut dyn FnMut(NodeRef<'_>) -> Option<(Cycle, u32)>,
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

/// Like [`write_checkpoint`], but with everything in the record itself, regardless of length.
#[must_use]
pub fn write_alone(tree: TreeRef<'_>, heading: &Heading) -> Encoded {
    let mut writer = tree_writer(tree.next_cycle(), heading);
    writer.bodies = Bodies::shared_from(usize::MAX);
    tree.nodes().for_each(|(_, node)| writer.put(node, None));
    writer.finish(&[], &Value::Null)
}

fn tree_writer<'a>(next_cycle: Cycle, heading: &Heading) -> Writer<'a> {
    let mut writer = Writer::new(kind::TREE, next_cycle);
    writer.out.extend_from_slice(&heading.digest.0);
    writer.out.extend_from_slice(&heading.history.0);
    zigzag(&mut writer.out, heading.last_ns);
    varint(&mut writer.out, heading.snapshots);
    writer
}
