//! Operations that are refused: code, reason, place, and nothing changed.

use contextree::canon::Limits;
use contextree::engine::{Cue, Warning};
use contextree::json::Value;
use contextree::{Context, ContextOptions, Edit, NewNode, Op, Place, Zone};

use crate::support::{apply, block, commit, group, move_to, refuse, refuse_add, turns};

/// A context in which every kind of node stands: sealed turns with context, groups, an active head.
fn full() -> Context {
    let mut context = turns(1);
    context.add(Place::at("^ah", 1), group("old-group")).unwrap();
    context.add(Place::into("old-group"), block("old-inner")).unwrap();
    commit(&mut context);
    context.add(Place::system(), group("sys-group")).unwrap();
    context.add(Place::into("sys-group"), block("rule")).unwrap();
    context.add(Place::head(), block("ask")).unwrap();
    context.add(Place::at("^ah", 1), group("group")).unwrap();
    context.add(Place::into("group"), block("inner")).unwrap();
    context
}

fn add(place: Place, node: NewNode) -> Op {
    Op::Add { place, node }
}

fn edit(node: &str, edit: Edit) -> Op {
    Op::Edit { node: node.into(), edit }
}

const PLACEMENT: &str = "E_INVALID_PLACEMENT";

// covers: STR-024, ER-139
#[test]
fn every_item_of_the_list_of_invalid_placements_is_refused() {
    let mut context = full();
    let cases: Vec<(Op, &str, &str, &str)> = vec![
        // A second core in a turn.
        (add(Place::head(), group("c")), PLACEMENT, "second_core", "c"),
        (add(Place::zone("seg:1", Zone::Core), group("c")), PLACEMENT, "second_core", "c"),
        (move_to("group", Place::at("^ah", 0)), PLACEMENT, "second_core", "group"),
        (move_to("old-group", Place::at("seg:1", 0)), PLACEMENT, "second_core", "old-group"),
        // A turn anywhere but under the sequence.
        (add(Place::head(), NewNode::container("seg")), PLACEMENT, "turn_outside_sequence", "seg"),
        (add(Place::system(), NewNode::container("mt")), PLACEMENT, "turn_outside_sequence", "mt"),
        (move_to("seg:1", Place::head()), PLACEMENT, "turn_outside_sequence", "seg:1"),
        // Anything but a turn under the sequence.
        (add(Place::into("^seq"), block("x")), PLACEMENT, "not_a_turn", "seq"),
        (move_to("ask", Place::into("^seq")), PLACEMENT, "not_a_turn", "seq"),
        (add(Place::cue("^seq", Cue::End), block("x")), PLACEMENT, "not_a_turn", "seq"),
        // Extra or duplicate regions.
        (add(Place::into("^root"), block("x")), PLACEMENT, "extra_region", "root"),
        (add(Place::into("^root"), NewNode::container("^ah")), PLACEMENT, "extra_region", "^ah"),
        (add(Place::head(), NewNode::container("^sys")), PLACEMENT, "extra_region", "^sys"),
        // Children under a block.
        (add(Place::into("ask"), block("x")), PLACEMENT, "children_under_block", "ask"),
        (
            add(Place::cue("rule", Cue::Start), block("x")),
            PLACEMENT,
            "children_under_block",
            "rule",
        ),
        (move_to("ask", Place::into("rule")), PLACEMENT, "children_under_block", "rule"),
        // A node below itself.
        (move_to("group", Place::into("group")), PLACEMENT, "cycle", "group"),
        (move_to("group", Place::cue("inner", Cue::End)), PLACEMENT, "cycle", "group"),
        // An unknown parent.
        (add(Place::into("nobody"), block("x")), PLACEMENT, "unknown_parent", "nobody"),
        (add(Place::zone("nobody", Zone::Pre), block("x")), PLACEMENT, "unknown_parent", "nobody"),
        (move_to("ask", Place::into("nobody")), PLACEMENT, "unknown_parent", "nobody"),
        // A duplicate id.
        (add(Place::head(), block("u1")), PLACEMENT, "duplicate_id", "u1"),
        (add(Place::head(), block("ask")), PLACEMENT, "duplicate_id", "ask"),
        (add(Place::head(), block("ah")), PLACEMENT, "duplicate_id", "ah"),
        // Edits of sealed cores.
        (add(Place::into("cont:1"), block("x")), "E_SEALED", "", "cont:1"),
        (add(Place::cue("cont:1", Cue::After(1)), block("x")), "E_SEALED", "", "cont:1"),
        (add(Place::zone("seg:1", Zone::Core), block("x")), "E_SEALED", "", "seg:1"),
        (move_to("ask", Place::into("cont:1")), "E_SEALED", "", "cont:1"),
        (move_to("u1", Place::head()), "E_SEALED", "", "u1"),
        (Op::Remove { node: "a1".into() }, "E_SEALED", "", "a1"),
        (edit("u1", Edit::default()), "E_SEALED", "", "u1"),
        // A negative ttl.
        (add(Place::head(), block("x").ttl(-1)), PLACEMENT, "negative_ttl", "x"),
        (add(Place::system(), block("x").ttl(i64::MIN)), PLACEMENT, "negative_ttl", "x"),
        // Reserved names.
        (add(Place::head(), block("x").attribute("ttl", 1)), PLACEMENT, "reserved_name", "ttl"),
        (
            add(Place::head(), block("x").attribute("parent", 1)),
            PLACEMENT,
            "reserved_name",
            "parent",
        ),
    ];
    for (op, code, reason, place) in cases {
        refuse(&mut context, op, code, reason, place);
    }
}

#[test]
fn everything_else_that_is_refused_says_why() {
    let mut context = full();
    let set =
        |name: &str, value: Value| Edit { set: vec![(name.into(), value)], ..Edit::default() };
    let content = || Edit { content: Some("x".into()), ..Edit::default() };
    let cases: Vec<(Op, &str, &str, &str)> = vec![
        (add(Place::head(), NewNode::container("cont:x").id("g")), PLACEMENT, "group_at_core", "g"),
        (
            add(Place::at("^ah", 2), NewNode { content: "x".into(), ..group("g") }),
            PLACEMENT,
            "content_on_container",
            "g",
        ),
        (add(Place::head(), block("x").removable(true)), PLACEMENT, "removable_block", "x"),
        (edit("group", content()), PLACEMENT, "content_on_container", "group"),
        (edit("^sys", Edit::default()), PLACEMENT, "fixed_node", "^sys"),
        (edit("nobody", Edit::default()), "E_NODE_NOT_FOUND", "", "nobody"),
        (edit("ask", set("role", "r".into())), "E_IMMUTABLE", "", "ask"),
        (edit("ask", set("tags", "t".into())), PLACEMENT, "invalid_header", "tags"),
        (
            edit("ask", set("tags", vec![Value::from(1)].into())),
            PLACEMENT,
            "invalid_header",
            "tags",
        ),
        (edit("ask", set("key", 1.into())), PLACEMENT, "invalid_header", "key"),
        (edit("ask", set("mime", Value::Null)), PLACEMENT, "invalid_header", "mime"),
        (edit("ask", set("plain", 1.into())), PLACEMENT, "attribute_not_namespaced", "plain"),
        (Op::Remove { node: "nobody".into() }, "E_NODE_NOT_FOUND", "", "nobody"),
        (Op::Remove { node: "^ah".into() }, PLACEMENT, "fixed_node", "^ah"),
        (Op::Remove { node: "seg:1".into() }, "E_SEALED", "", "seg:1"),
        (move_to("nobody", Place::head()), "E_NODE_NOT_FOUND", "", "nobody"),
        (move_to("^ah", Place::system()), PLACEMENT, "fixed_node", "^ah"),
        (add(Place::zone("group", Zone::Post), block("x")), PLACEMENT, "not_a_turn", "group"),
        (add(Place::zone("^sys", Zone::Pre), block("x")), PLACEMENT, "not_a_turn", "sys"),
        (Op::Pin { node: "nobody".into() }, "E_NODE_NOT_FOUND", "", "nobody"),
        (Op::Pin { node: "^sys".into() }, PLACEMENT, "fixed_node", "^sys"),
        (Op::Unpin { node: "^root".into() }, PLACEMENT, "fixed_node", "^root"),
        (
            Op::SetPriority { node: "ask".into(), priority: 1, policy: String::new() },
            "E_IMMUTABLE",
            "",
            "ask",
        ),
    ];
    for (op, code, reason, place) in cases {
        refuse(&mut context, op, code, reason, place);
    }
    for cue in [Cue::After(0), Cue::Before(0), Cue::After(2), Cue::Before(2), Cue::After(u32::MAX)]
    {
        refuse_add(
            &mut context,
            Place::cue("group", cue),
            block("x"),
            "position_out_of_range",
            "group",
        );
    }
}

#[test]
fn a_position_between_sealed_siblings_with_one_offset_is_not_expressible() {
    let mut context = turns(0);
    for id in ["a", "b"] {
        context.add(Place::system(), block(id)).unwrap();
    }
    for (id, offset) in [("p", 1), ("q", 1), ("r", 2)] {
        context.add(Place::at("^ah", offset), block(id)).unwrap();
    }
    commit(&mut context);
    refuse_add(
        &mut context,
        Place::cue("^sys", Cue::After(1)),
        block("x"),
        "position_not_expressible",
        "sys",
    );
    refuse_add(
        &mut context,
        Place::cue("seg:1", Cue::After(2)),
        block("x"),
        "position_not_expressible",
        "seg:1",
    );
    // Between 1 and 2 there is room behind the last of offset 1.
    context.add(Place::cue("seg:1", Cue::After(3)), block("x")).unwrap();
    assert_eq!(
        crate::support::children(context.working(), "seg:1"),
        ["cont:1", "p", "q", "x", "r"]
    );
}

/// A list of one text.
fn list(text: &str) -> Value {
    Value::from(vec![Value::from(text)])
}

#[test]
fn limits_are_kept_by_every_operation() {
    let limits = Limits {
        max_depth: 6,
        max_nodes: 12,
        max_content_bytes: 10,
        max_name_bytes: 8,
        max_attributes: 2,
        ..Limits::default()
    };
    let mut context = Context::with_options(ContextOptions { limits, ..ContextOptions::default() });
    context.add(Place::system(), group("a")).unwrap();
    context.add(Place::into("a"), group("b")).unwrap();
    context.add(Place::into("b"), group("c")).unwrap();
    context.add(Place::into("c"), block("x")).unwrap();
    let limit = "E_LIMIT";
    refuse(
        &mut context,
        add(Place::system(), NewNode::text("12345678901").id("y")),
        limit,
        "max_content_bytes",
        "y",
    );
    // Ten bytes as JSON are allowed, eleven are not.
    context.add(Place::system(), NewNode::json(list("123456")).id("z")).unwrap();
    context.remove("z").unwrap();
    refuse(
        &mut context,
        add(Place::system(), NewNode::json(list("12345\n")).id("y")),
        limit,
        "max_content_bytes",
        "y",
    );
    refuse(
        &mut context,
        add(Place::system(), block("123456789")),
        limit,
        "max_name_bytes",
        "123456789",
    );
    refuse(
        &mut context,
        add(Place::system(), block("y").role("123456789")),
        limit,
        "max_name_bytes",
        "y",
    );
    let many = ["data_a", "data_b", "data_c"];
    let node = many.iter().fold(block("y"), |node, name| node.attribute(*name, 1));
    refuse(&mut context, add(Place::system(), node), limit, "max_attributes", "y");
    let long = Edit { content: Some("12345678901".into()), ..Edit::default() };
    refuse(&mut context, edit("x", long), limit, "max_content_bytes", "x");
    let set =
        Edit { set: many.map(|name| (name.to_owned(), 1.into())).to_vec(), ..Edit::default() };
    refuse(&mut context, edit("x", set), limit, "max_attributes", "x");
    // Levels: ^root, ^sys, a, b, c, x are six.
    context.add(Place::into("c"), group("d")).unwrap();
    refuse(&mut context, add(Place::into("d"), block("y")), limit, "max_depth", "y");
    context.add(Place::system(), group("e")).unwrap();
    context.add(Place::into("e"), block("f")).unwrap();
    refuse(&mut context, move_to("e", Place::into("c")), limit, "max_depth", "e");
    context.add(Place::system(), block("last")).unwrap();
    refuse(&mut context, add(Place::system(), block("y")), limit, "max_nodes", "y");
}

#[test]
fn very_deep_trees_are_refused_and_never_overflow() {
    for (asked, deepest) in [(64, 64), (400, 400), (1_000_000, 400)] {
        let limits = Limits { max_depth: asked, ..Limits::default() };
        let mut context =
            Context::with_options(ContextOptions { limits, ..ContextOptions::default() });
        let mut parent = "^sys".to_owned();
        let mut level = 2;
        let error = loop {
            match context.add(Place::into(&parent), NewNode::container("cont")) {
                Ok(id) => parent = id,
                Err(error) => break error,
            }
            level += 1;
            assert!(level <= 400, "a limit of {asked} has no effect");
        };
        assert_eq!((error.code(), level), ("E_LIMIT", deepest));
        commit(&mut context);
        let export = crate::support::head(&context).export();
        let options = ContextOptions { limits, ..ContextOptions::default() };
        let again =
            Context::import_snapshot(&export, contextree::Profile::Strict, options).unwrap();
        assert_eq!(crate::support::head(&again).export(), export);
        assert_eq!(crate::support::head(&again).digest(), crate::support::head(&context).digest());
    }
}

// covers: IDH-023
#[test]
fn an_attribute_that_changes_its_type_is_warned_of() {
    let mut context = turns(0);
    context.add(Place::head(), block("x").attribute("data_n", 1)).unwrap();
    let set =
        |value: Value| edit("x", Edit { set: vec![("data_n".into(), value)], ..Edit::default() });
    apply(&mut context, set(2.into()));
    apply(&mut context, set("two".into()));
    let report = commit(&mut context);
    let expected = Warning::AttributeType {
        node: "x".into(),
        attribute: "data_n".into(),
        from: "number",
        to: "string",
    };
    assert_eq!(report.warnings, [expected]);
    assert!(commit(&mut context).warnings.is_empty(), "once is enough");
}

#[test]
fn a_role_without_a_namespace_that_nobody_knows_is_warned_of() {
    let mut context = Context::new();
    for role in ["user", "assistant", "tool", "system", "other", "acme:judge"] {
        context.add(Place::head(), NewNode::text("x").role(role)).unwrap();
    }
    context.add(Place::head(), block("odd").role("judge")).unwrap();
    let warnings = commit(&mut context).warnings;
    assert_eq!(warnings, [Warning::Role { node: "odd".into(), role: "judge".into() }]);
}
