//! Removing many nodes at once gives the same tree as removing them one by one.

use std::collections::BTreeSet;

use contextree_json::{Object, Value};
use contextree_testkit::Rng;
use contextree_tree::{
    Body, Builder, Content, Cycle, Draft, Due, MerkleHasher, NodeData, NodeKey, NodeRef, Region,
    Tree, TreeRef, root_digest,
};

/// Not a secure hash, but it depends on every digest and its position.
struct Weak;

fn mix(state: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(state, |state, byte| {
        (state.rotate_left(5) ^ u64::from(*byte)).wrapping_mul(0x517c_c1b7_2722_0a95)
    })
}

fn digest(state: u64) -> [u8; 32] {
    let mut digest = [0; 32];
    digest[..8].copy_from_slice(&state.to_le_bytes());
    digest
}

impl MerkleHasher for Weak {
    fn node(&self, node: NodeRef<'_>, children: Option<[u8; 32]>) -> [u8; 32] {
        let state = mix(children.is_some().into(), node.id().as_bytes());
        let expires = node.expires().map_or(0, |commit| commit.get() + 1);
        digest(mix(mix(state, &expires.to_le_bytes()), &children.unwrap_or_default()))
    }

    fn join(&self, level: u8, digests: &[[u8; 32]]) -> [u8; 32] {
        digest(mix(u64::from(level) + 1, digests.as_flattened()))
    }
}

fn draft() -> Draft {
    let node = |id: &str, node_type: &str| NodeData::new(id, node_type);
    let regions = [node("sys", "^sys"), node("seq", "^seq"), node("ah", "^ah")];
    Builder::new(node("root", "^root"), regions).expect("four ids").finish_draft(Cycle::FIRST)
}

/// Adds nodes below existing ones: mostly to the three regions, so that lists of all sizes occur.
fn grow(draft: &mut Draft, random: &mut Rng, next: &mut u32) {
    let mut parents: Vec<NodeKey> =
        Region::ALL.map(|region| draft.view().region(region).key_of()).to_vec();
    for _ in 0..random.index(160) {
        *next += 1;
        let is_container = random.index(8) == 0;
        let node_type = if is_container { "cont" } else { "block" };
        let mut data = NodeData::new(&format!("n{next}"), node_type);
        data.created_at_ns = i64::from(*next);
        data.removable = random.index(4) == 0;
        data.expires = (random.index(5) == 0).then(|| {
            draft.view().next_cycle().plus(u32::try_from(random.index(6)).expect("small"))
        });
        let mut attributes = Object::new();
        if random.index(20) == 0 {
            attributes.insert("data_refs", Value::from("n1"));
        }
        data.body = Body::new(Content::Absent, attributes);
        let parent = parents[random.index(parents.len())];
        let key = draft.insert(parent, data);
        if is_container && parents.len() < 12 {
            parents.push(key);
        }
    }
}

fn ids(nodes: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    nodes.into_iter().map(|id| id.as_ref().to_owned()).collect()
}

fn due_ids(tree: TreeRef<'_>) -> Vec<String> {
    ids(tree.due().into_iter().map(|due| due.node.id()))
}

/// Checks that both trees answer every query alike.
fn check_same(left: TreeRef<'_>, right: TreeRef<'_>) {
    let all = |tree: TreeRef<'_>| -> Vec<(usize, String)> {
        tree.nodes().map(|(depth, node)| (depth, node.id().to_owned())).collect()
    };
    assert_eq!(all(left), all(right));
    assert_eq!(left.node_count(), right.node_count());
    assert_eq!(left.node_count(), all(left).len());
    assert_eq!(root_digest(left, &Weak), root_digest(right, &Weak));
    assert_eq!(due_ids(left), due_ids(right));
    let marked = |nodes: Vec<NodeRef<'_>>| ids(nodes.into_iter().map(NodeRef::id));
    assert_eq!(marked(left.referring()), marked(right.referring()));
    assert_eq!(marked(left.empty_removable()), marked(right.empty_removable()));
}

fn check_due(tree: TreeRef<'_>) {
    let plain = tree.nodes().map(|(_, node)| node).filter(|node| node.ttl() == Some(0));
    assert_eq!(due_ids(tree), ids(plain.map(NodeRef::id)), "in document order");
}

/// Returns the nodes that a watched draft reports as changed.
fn changed(draft: &mut Draft) -> BTreeSet<NodeKey> {
    draft.take_changed().into_iter().collect()
}

/// Removes the expired nodes at once, except some; returns their keys in document order.
fn remove_at_once(draft: &mut Draft, keeps: impl Fn(&Due<'_>) -> bool) -> Vec<NodeKey> {
    let due: Vec<_> = draft.view().due().into_iter().filter(|due| !keeps(due)).collect();
    let keys = due.iter().map(|due| due.node.key_of()).collect();
    let places: Vec<_> = due.into_iter().map(|due| due.place).collect();
    draft.remove_all(&places);
    keys
}

#[test]
fn removing_at_once_equals_removing_one_by_one() {
    let mut removed = 0;
    for seed in 0..60 {
        let mut random = Rng::new(seed);
        let mut next = 0;
        let mut draft = draft();
        let mut before: Option<(Tree, Vec<String>)> = None;
        for _ in 0..12 {
            grow(&mut draft, &mut random, &mut next);
            check_due(draft.view());
            // Some are kept, like nodes that others refer to, and with them the expired nodes above
            // them.
            let kept = format!("n{}", random.index(next as usize + 2));
            let keeps = |due: &Due<'_>| due.node.subtree().any(|(_, node)| node.id() == kept);
            let mut single = draft.fork();
            draft.watch();
            single.watch();
            let nodes = draft.view().node_count();
            let keys = remove_at_once(&mut draft, keeps);
            for key in keys {
                if single.view().contains(key) {
                    single.remove(key);
                }
            }
            removed += nodes - draft.view().node_count();
            check_same(draft.view(), single.view());
            assert_eq!(
                changed(&mut draft),
                changed(&mut single),
                "both drafts report the same changes"
            );
            check_same(draft.freeze().view(), single.freeze().view());
            let tree = draft.view();
            if let Some((before, nodes)) = before.take() {
                let now = ids(before.view().nodes().map(|(_, node)| node.id()));
                assert_eq!(now, nodes, "earlier trees stay as they were");
            }
            let nodes = ids(tree.nodes().map(|(_, node)| node.id()));
            before = Some((draft.freeze(), nodes));
        }
    }
    assert!(removed > 5_000, "the test is about something: {removed}");
}

/// A store that records every change would otherwise lose the removal.
#[test]
fn nodes_removed_at_once_are_reported_to_a_watched_draft() {
    let mut draft = draft();
    let system = draft.view().region(Region::Sys).key_of();
    let node = |id: &str, node_type: &str, expires: Option<u32>| {
        let mut data = NodeData::new(id, node_type);
        data.expires = expires.map(Cycle);
        data
    };
    let stays = draft.insert(system, node("stays", "cont", None));
    let old = draft.insert(stays, node("old", "block", Some(2)));
    let group = draft.insert(system, node("group", "cont", Some(2)));
    let below = draft.insert(group, node("below", "block", None));
    let due_below = draft.insert(group, node("due-below", "block", Some(2)));
    draft.freeze();
    let young = draft.insert(stays, node("young", "block", Some(2)));
    draft.watch();
    drop(draft.take_changed());
    draft.checkpoint();
    let keys = remove_at_once(&mut draft, |_| false);
    assert_eq!(keys.len(), 4);
    let gone: BTreeSet<NodeKey> = [old, group, below, due_below, young].into();
    assert_eq!(changed(&mut draft), gone);
    assert!(gone.iter().all(|key| !draft.view().contains(*key)));
    // All of it can be rolled back.
    draft.roll_back();
    assert!(gone.iter().all(|key| draft.view().contains(*key)));
    assert_eq!(due_ids(draft.view()), ["group", "due-below", "old", "young"]);
    remove_at_once(&mut draft, |_| false);
    let left = draft.freeze();
    let left = ids(left.view().region(Region::Sys).subtree().map(|(_, node)| node.id()));
    assert_eq!(left, ["sys", "stays"]);
}

#[test]
fn an_outer_checkpoint_takes_back_what_an_inner_one_kept() {
    let node = |id: &str| NodeData::new(id, "block");
    let regions = [("sys", "^sys"), ("seq", "^seq"), ("ah", "^ah")];
    let regions = regions.map(|(id, word)| NodeData::new(id, word));
    let mut draft =
        Builder::new(NodeData::new("root", "^root"), regions).unwrap().finish_draft(Cycle::FIRST);
    let system = draft.view().region(Region::Sys).key_of();
    draft.insert(system, node("first"));
    draft.freeze();
    draft.insert(system, node("before"));
    let all =
        |draft: &Draft| ids(draft.view().region(Region::Sys).children().map(|child| child.id()));
    let before = all(&draft);
    draft.checkpoint();
    draft.remove(draft.key("before").unwrap());
    draft.checkpoint();
    draft.insert(system, node("kept"));
    draft.remove(draft.key("first").unwrap());
    draft.keep();
    draft.checkpoint();
    draft.insert(system, node("taken back"));
    draft.roll_back();
    assert_eq!(all(&draft), ["kept"]);
    let shared = draft.share();
    draft.roll_back();
    assert_eq!(all(&draft), before);
    draft.insert(system, node("later"));
    draft.freeze();
    let kept = shared.view().region(Region::Sys).children().map(|child| child.id());
    assert_eq!(ids(kept), ["kept"], "a shared working tree never changes");
}
