//! A scan finds what a walk finds, in the same order, regardless of the order of rows in the log.

use contextree_json::{Object, Value};
use contextree_testkit::Rng;
use contextree_tree::{
    Body, Builder, Class, Content, Cycle, Draft, Hint, Names, NodeData, NodeKey, NodeRef, Region,
    RowNumber, TreeRef,
};

fn data(random: &mut Rng, number: u64, node_type: &str) -> NodeData {
    let mut data = NodeData::new(&format!("n{number}"), node_type);
    // Mostly in order of creation, sometimes not, so that rows are not in document order.
    data.offset = (if random.below(6) == 0 { -1 } else { 0 }).into();
    data.created_at_ns = number as i64;
    data.role = [None, Some("user"), Some("tool")][random.below(3) as usize].map(Into::into);
    data.kind = [None, Some("text"), Some("call")][random.below(3) as usize].map(Into::into);
    data.expires = (random.below(20) == 0).then(|| Cycle(1 + random.below(60) as u32));
    let mut attributes = Object::new();
    if random.below(4) == 0 {
        attributes.insert("key", Value::from(format!("k{}", random.below(5))));
    }
    data.body = Body::new(Content::Absent, attributes);
    data
}

fn draft() -> Draft {
    let node = |id: &str, node_type: &str| NodeData::new(id, node_type);
    let regions = [node("sys", "^sys"), node("seq", "^seq"), node("ah", "^ah")];
    Builder::new(node("root", "^root"), regions).expect("four ids").finish_draft(Cycle::FIRST)
}

/// Adds a turn with a core and blocks, as a commit does, then changes a few random nodes.
fn commit(draft: &mut Draft, random: &mut Rng, next: &mut u64) {
    let mut number = || {
        *next += 1;
        *next
    };
    let sequence = draft.view().region(Region::Seq).key_of();
    let turn_type = if random.below(5) == 0 { "seg:odd" } else { "seg" };
    let turn = draft.insert(sequence, data(random, number(), turn_type));
    let core = draft.insert(turn, data(random, number(), "cont"));
    for _ in 0..random.below(7) {
        let parent = if random.below(3) == 0 { turn } else { core };
        // The engine never creates a turn within a turn, but documents may contain one.
        let node_type = if random.below(40) == 0 { "seg" } else { "block" };
        draft.insert(parent, data(random, number(), node_type));
    }
    for _ in 0..random.below(3) {
        let Some(key) = any(draft.view(), random) else { continue };
        match random.below(3) {
            0 => drop(draft.remove(key)),
            1 => drop(draft.set_body(key, data(random, 0, "block").body)),
            _ => {
                draft.insert(key, data(random, number(), "block"));
            }
        }
    }
}

/// Returns a random node that is not fixed.
fn any(tree: TreeRef<'_>, random: &mut Rng) -> Option<NodeKey> {
    let nodes: Vec<NodeRef<'_>> = tree.nodes().map(|(_, node)| node).skip(4).collect();
    let at = random.below(nodes.len().max(1) as u64) as usize;
    nodes.get(at).filter(|node| node.region().is_some()).map(|node| node.key_of())
}

fn found(top: NodeRef<'_>, names: Names, hint: Hint, most: usize) -> Vec<String> {
    let mut ids = Vec::new();
    top.scan_below(names, hint, &mut |hits| {
        assert_eq!(hits.versions().len(), hits.nodes().count());
        ids.extend(hits.nodes().map(|node| node.id().to_owned()));
        ids.len() < most
    });
    ids
}

fn check(tree: TreeRef<'_>) {
    let tops = [tree.root(), tree.region(Region::Seq), tree.region(Region::Head)];
    let symbol = |text: &str| tree.symbol(text);
    for top in tops.into_iter().chain(tree.region(Region::Seq).children().take(5)) {
        let expected = |fits: &dyn Fn(NodeRef<'_>) -> bool| -> Vec<String> {
            let below = top.subtree().skip(1).filter(|(_, node)| fits(*node));
            below.map(|(_, node)| node.id().to_owned()).collect()
        };
        let all = found(top, Names::default(), Hint::default(), usize::MAX);
        assert_eq!(all, expected(&|_| true));
        let few = found(top, Names::default(), Hint::default(), 3);
        assert!(all.starts_with(&few) && few.len() >= all.len().min(3), "the first come first");
        let blocks = Names::default().with_class(Class::Block);
        let is_block = |node: NodeRef<'_>| node.class() == Class::Block;
        assert_eq!(found(top, blocks, Hint::default(), usize::MAX), expected(&is_block));
        if let (Some(user), Some(call)) = (symbol("user"), symbol("call")) {
            let names = blocks.with_role(user).with_kind(call);
            let fits = |node: NodeRef<'_>| {
                is_block(node) && node.role() == Some("user") && node.kind() == Some("call")
            };
            for hint in [Hint::default(), Hint::default().with_symbol(user).with_symbol(call)] {
                assert_eq!(found(top, names, hint, usize::MAX), expected(&fits));
            }
        }
        if let Some(odd) = symbol("seg:odd") {
            let fits = |node: NodeRef<'_>| node.node_type() == "seg:odd";
            let hint = Hint::default().with_symbol(odd);
            let names = Names::default().with_type(odd);
            assert_eq!(found(top, names, hint, usize::MAX), expected(&fits));
        }
        let hint = Hint::default().with_ttl_at_most(2, tree);
        let mut mortal = Vec::new();
        top.scan_below(Names::default(), hint, &mut |hits| {
            let due = hits.nodes().filter(|node| node.ttl().is_some_and(|ttl| ttl <= 2));
            mortal.extend(due.map(|node| node.id().to_owned()));
            true
        });
        assert_eq!(mortal, expected(&|node| node.ttl().is_some_and(|ttl| ttl <= 2)));
        if !top.may_have_inner_turns() {
            let inner = top.children().flat_map(|child| child.subtree().skip(1));
            assert!(inner.into_iter().all(|(_, node)| node.class() != Class::Turn));
        }
    }
    for number in 0..5 {
        let key = format!("k{number}");
        let keyed: Vec<&str> = tree.with_key(&key).map(NodeRef::id).collect();
        let nodes = tree.nodes().filter(|(_, node)| node.key() == Some(&key));
        assert_eq!(keyed, nodes.map(|(_, node)| node.id()).collect::<Vec<_>>(), "{key}");
    }
    let versions: Vec<RowNumber> = tree.nodes().map(|(_, node)| node.version()).collect();
    let again: Vec<RowNumber> =
        tree.at_versions(versions.iter().copied()).map(NodeRef::version).collect();
    assert_eq!(again, versions);
}

#[test]
fn a_scan_finds_what_a_walk_finds() {
    for seed in 0..40 {
        let mut random = Rng::new(seed);
        let mut next = 0;
        let mut draft = draft();
        let mut trees = Vec::new();
        for _ in 0..25 {
            commit(&mut draft, &mut random, &mut next);
            check(draft.view());
            trees.push(draft.freeze());
        }
        let mut fork = trees[random.below(25) as usize].fork();
        for _ in 0..10 {
            commit(&mut fork, &mut random, &mut next);
            check(fork.view());
            trees.push(fork.freeze());
            commit(&mut draft, &mut random, &mut next);
            trees.push(draft.freeze());
        }
        trees.iter().for_each(|tree| check(tree.view()));
    }
}

/// Uses more rows than are read at a time, in turns of all sizes.
#[test]
fn a_long_scan_finds_every_row_once() {
    let mut random = Rng::new(5);
    let mut draft = draft();
    let sequence = draft.view().region(Region::Seq).key_of();
    let mut number = 0;
    let mut tree = draft.freeze();
    for turn in 0..60 {
        let mut next = |node_type: &str| {
            number += 1;
            let mut data = NodeData::new(&format!("n{number}"), node_type);
            data.created_at_ns = number;
            data.role = (random.below(3) == 0).then(|| "user".into());
            data
        };
        let above = draft.insert(sequence, next("seg"));
        (0..turn * turn % 97).for_each(|_| {
            draft.insert(above, next("block"));
        });
        tree = draft.freeze();
    }
    check(tree.view());
}
