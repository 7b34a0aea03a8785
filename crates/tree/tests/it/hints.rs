//! Hints never hide a matching node, and keys are found in every version and branch.

use contextree_json::{Object, Value};
use contextree_tree::{
    Body, Builder, Content, Cycle, Draft, Hint, NodeData, NodeRef, Region, TreeRef,
};

fn draft() -> Draft {
    let node = |id: &str, node_type: &str| NodeData::new(id, node_type);
    let regions = [node("sys", "^sys"), node("seq", "^seq"), node("ah", "^ah")];
    Builder::new(node("root", "^root"), regions).expect("four ids").finish_draft(Cycle::FIRST)
}

/// Returns a block whose role, kind, ttl and key are derived from its number.
fn block(number: u32) -> NodeData {
    let mut data = NodeData::new(&format!("b{number}"), "block");
    data.created_at_ns = i64::from(number);
    data.role = Some(if number.is_multiple_of(50) { "tool".into() } else { "user".into() });
    data.kind = number.is_multiple_of(7).then(|| "call".into());
    data.expires = number.is_multiple_of(90).then_some(Cycle(3 + number % 4));
    let mut attributes = Object::new();
    if number.is_multiple_of(30) {
        attributes.insert("key", Value::from(format!("k{}", number % 4)));
    }
    data.body = Body::new(Content::Absent, attributes);
    data
}

/// Checks that a walk with a hint visits every matching node that a plain walk visits.
fn check(tree: TreeRef<'_>, hint: Hint, fits: impl Fn(NodeRef<'_>) -> bool) {
    let ids = |walk: contextree_tree::Preorder<'_>| -> Vec<String> {
        walk.filter(|(_, node)| fits(*node)).map(|(_, node)| node.id().to_owned()).collect()
    };
    assert_eq!(ids(tree.nodes_with(hint)), ids(tree.nodes()));
}

fn check_all(tree: TreeRef<'_>) {
    for role in ["tool", "user"] {
        let symbol = tree.symbol(role).expect("the role occurs");
        check(tree, Hint::default().with_symbol(symbol), |node| node.role() == Some(role));
    }
    let call = tree.symbol("call").expect("the kind occurs");
    check(tree, Hint::default().with_symbol(call), |node| node.kind() == Some("call"));
    for ttl in [0, 1, 3] {
        let hint = Hint::default().with_ttl_at_most(ttl, tree);
        check(tree, hint, |node| node.ttl().is_some_and(|left| left <= ttl));
    }
    check(tree, Hint::default().with_key(), |node| node.key().is_some());
    for key in ["k0", "k1", "k2", "k3", "none"] {
        let found: Vec<&str> = tree.with_key(key).map(NodeRef::id).collect();
        let sought: Vec<&str> = tree
            .nodes()
            .filter(|(_, node)| node.key() == Some(key))
            .map(|(_, node)| node.id())
            .collect();
        assert_eq!(found, sought, "{key}");
    }
}

#[test]
fn a_hint_skips_only_what_cannot_match() {
    let mut draft = draft();
    let system = draft.view().region(Region::Sys).key_of();
    (0..1000).for_each(|number| {
        draft.insert(system, block(number));
    });
    check_all(draft.view());
    let first = draft.freeze();
    // Removing and changing nodes must not clear a mark that another node still has.
    for number in (0..1000).step_by(3) {
        let key = draft.key(&format!("b{number}")).expect("it was added");
        draft.remove(key);
    }
    check_all(draft.view());
    let second = draft.freeze();
    let mut fork = first.fork();
    let group = fork.insert(system, NodeData::new("group", "cont"));
    (2000..2100).for_each(|number| {
        fork.insert(group, block(number));
    });
    check_all(fork.view());
    let third = fork.freeze();
    for tree in [&first, &second, &third] {
        check_all(tree.view());
    }
}
