//! STR: one tree, three regions, turns, types.

use std::path::Path;

use contextree::json::{Value, parse};
use contextree::{Class, CommitOptions, Edit, Limit, NewNode, Op, Place, Policy, Region};

use crate::support::{
    apply, block, children, commit, group, head, ids, lenient, lenient_working, move_to,
    random_context, refuse, refuse_add, run_session, strict, thread_ids, turns,
};

// covers: STR-001, SEA-002, PLO-015
#[test]
fn every_state_of_a_random_session_passes_strict_validation() {
    for seed in 0..60 {
        run_session(seed, |driver, _| {
            let working = driver.context.export_working();
            strict(&working).unwrap_or_else(|error| panic!("seed {seed}, working: {error}"));
        });
        for snapshot in random_context(seed).history().iter() {
            let text = snapshot.export();
            strict(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
    }
}

// covers: STR-002
#[test]
fn every_node_is_a_descendant_of_the_one_root() {
    for seed in 0..40 {
        let context = random_context(seed);
        for tree in context.history().iter().map(|snapshot| snapshot.view()) {
            let nodes: Vec<_> = tree.nodes().map(|(_, node)| node).collect();
            assert_eq!(nodes.len(), tree.node_count(), "the walk finds every node");
            let rootless: Vec<_> = nodes.iter().filter(|node| node.parent().is_none()).collect();
            assert_eq!(rootless, [&tree.root()]);
            for node in nodes {
                let top = node.ancestors().last().unwrap_or(node);
                assert_eq!(top, tree.root(), "{node:?} is a descendant of the root");
                assert_eq!(tree.get(node.id()), Some(node), "and is found by its id");
            }
        }
    }
}

// covers: STR-003
#[test]
fn root_exists_from_the_beginning_and_in_every_snapshot() {
    let mut context = contextree::Context::new();
    assert_eq!(context.working().resolve("^root").unwrap().node_type(), "^root");
    for _ in 0..3 {
        commit(&mut context);
        assert!(context.working().resolve("^root").is_some());
    }
    assert!(context.history().iter().all(|snapshot| snapshot.view().resolve("^root").is_some()));
}

/// Returns a policy that prunes everything it can.
fn greedy() -> Policy {
    Policy {
        protect_turns: 0,
        limits: vec![Limit::Remove(1_000_000), Limit::Depth(0)],
        ..Policy::default()
    }
}

// covers: STR-004
#[test]
fn root_cannot_be_removed() {
    let mut context = turns(2);
    for name in ["^root", "root"] {
        refuse(
            &mut context,
            Op::Remove { node: name.into() },
            "E_INVALID_PLACEMENT",
            "fixed_node",
            name,
        );
    }
    let edit = Edit { set: vec![("ttl".into(), Value::from(0))], ..Edit::default() };
    let op = Op::Edit { node: "^root".into(), edit };
    refuse(&mut context, op, "E_INVALID_PLACEMENT", "fixed_node", "^root");
    let policy = greedy();
    for _ in 0..50 {
        let options = CommitOptions { policy: Some(&policy), ..CommitOptions::default() };
        context.commit_with(&options).unwrap();
        assert_eq!(head(&context).view().root().id(), "root");
    }
}

// covers: STR-004, STR-007, LIF-010
#[test]
fn ttl_or_removable_on_the_root_or_a_region_has_no_effect() {
    let document = r#"{"root":{"id":"r","nodeType":"^root","ttl":0,"removable":true,"children":[
        {"id":"s","nodeType":"^sys","ttl":0,"removable":true},
        {"id":"q","nodeType":"^seq","ttl":1,"removable":true},
        {"id":"h","nodeType":"^ah","ttl":0,"removable":true}]}}"#;
    let mut context = lenient_working(document);
    for _ in 0..4 {
        let report = commit(&mut context);
        assert!(report.expired.is_empty() && report.cascaded.is_empty(), "{report:?}");
        assert_eq!(context.working().root().id(), "r");
        assert_eq!(ids(context.working().root().children()), ["s", "q", "h"]);
    }
}

// covers: STR-005
#[test]
fn root_has_exactly_the_three_regions_in_order() {
    let mut context = turns(1);
    assert_eq!(ids(context.working().root().children()), ["sys", "seq", "ah"]);
    refuse_add(&mut context, Place::into("^root"), block("x"), "extra_region", "root");
    for word in ["^sys", "^seq", "^ah", "^extra", "^root"] {
        let node = NewNode::container(word);
        refuse_add(&mut context, Place::into("^root"), node, "extra_region", word);
    }
    for region in Region::ALL {
        let op = Op::Remove { node: region.word().into() };
        refuse(&mut context, op, "E_INVALID_PLACEMENT", "fixed_node", region.word());
    }
    // In any order of the document.
    let shuffled = r#"{"root":{"id":"r","children":[{"id":"h","nodeType":"^ah"},
        {"id":"q","nodeType":"^seq"},{"id":"s","nodeType":"^sys"}]}}"#;
    assert_eq!(ids(lenient(shuffled).working().root().children()), ["s", "q", "h"]);
}

// covers: STR-006
#[test]
fn document_with_two_heads_is_refused_and_one_without_gets_one() {
    let twice = br#"{"root":{"id":"r","children":[{"id":"h","nodeType":"^ah"},
        {"id":"i","nodeType":"^ah"}]}}"#;
    let options = contextree::ContextOptions::default;
    let error =
        contextree::Context::import_snapshot(twice, contextree::Profile::Lenient, options())
            .unwrap_err();
    assert_eq!((error.code(), error.reason()), ("E_INVALID_PLACEMENT", "duplicate_region"));
    let context = lenient(r#"{"root":{"id":"r"}}"#);
    assert_eq!(context.working().region(Region::Head).node_type(), "^ah");
    for snapshot in turns(5).history().iter() {
        let heads = snapshot.view().nodes().filter(|(_, node)| node.node_type() == "^ah");
        assert_eq!(heads.count(), 1);
    }
}

// covers: STR-007
#[test]
fn empty_regions_stay() {
    let mut context = contextree::Context::new();
    context.add(Place::system(), block("s").ttl(0)).unwrap();
    context.add(Place::system(), group("g").removable(true)).unwrap();
    context.add(Place::head(), block("u")).unwrap();
    commit(&mut context);
    let policy = greedy();
    let options = CommitOptions { policy: Some(&policy), ..CommitOptions::default() };
    context.commit_with(&options).unwrap();
    let tree = head(&context).view();
    assert_eq!(ids(tree.root().children()), ["sys", "seq", "ah"]);
    assert_eq!(children(tree, "^sys"), [""; 0]);
    assert_eq!(children(tree, "^ah"), [""; 0]);
    assert_eq!(tree.turn_count(), 1, "only the turn that was sealed just now");
}

// covers: STR-008
#[test]
fn regions_are_not_moved() {
    let mut context = turns(1);
    for name in ["^sys", "^seq", "^ah", "sys", "^root"] {
        for place in [Place::into("^ah"), Place::at("seg:1", 1), Place::into("^root")] {
            refuse(&mut context, move_to(name, place), "E_INVALID_PLACEMENT", "fixed_node", name);
        }
    }
}

// covers: STR-009
#[test]
fn nodes_in_the_system_region_persist() {
    let mut context = turns(0);
    assert_eq!(context.working().get("s").unwrap().ttl(), None);
    for _ in 0..20 {
        commit(&mut context);
    }
    assert_eq!(children(head(&context).view(), "^sys"), ["s"]);
}

// covers: STR-010, PLO-014
#[test]
fn sequence_has_only_turns_in_commit_order() {
    let mut context = turns(3);
    assert_eq!(children(context.working(), "^seq"), ["seg:1", "seg:2", "seg:3"]);
    refuse_add(&mut context, Place::into("^seq"), block("x"), "not_a_turn", "seq");
    let turn = NewNode::container("seg");
    refuse_add(&mut context, Place::into("^seq"), turn, "turn_outside_sequence", "seg");
    for (index, snapshot) in context.history().iter().enumerate() {
        let tree = snapshot.view();
        let expected = ["seg:1", "seg:2", "seg:3"];
        assert_eq!(children(tree, "^seq"), expected[..=index]);
        assert!(tree.region(Region::Seq).children().all(|node| node.class() == Class::Turn));
    }
}

// covers: STR-011, SEA-006, SNP-001
#[test]
fn content_of_the_cycle_is_below_the_head_until_the_commit_and_below_a_turn_after_it() {
    let mut context = turns(1);
    context.add(Place::head(), block("new")).unwrap();
    let region = |context: &contextree::Context| context.working().get("new").unwrap().region();
    assert_eq!(region(&context), Some(Region::Head));
    let report = commit(&mut context);
    assert_eq!(region(&context), Some(Region::Seq));
    let above: Vec<_> = ids(context.working().get("new").unwrap().ancestors());
    assert_eq!(above, ["cont:2", report.sealed.as_str(), "seq", "root"]);
    assert_eq!(children(head(&context).view(), "^ah"), [""; 0]);
    assert_eq!(children(context.working(), "^ah"), [""; 0]);
}

// covers: STR-012, LIF-017, SEA-010
#[test]
fn node_can_be_edited_only_in_its_cycle_in_any_region() {
    let mut context = turns(1);
    context.add(Place::system(), block("rule")).unwrap();
    context.add(Place::at("seg:1", 1), block("note")).unwrap();
    context.add(Place::head(), block("ask")).unwrap();
    let edit = |text: &str| Edit { content: Some(Value::from(text).into()), ..Edit::default() };
    for node in ["rule", "note", "ask"] {
        context.edit(node, edit("changed")).unwrap();
    }
    commit(&mut context);
    for node in ["rule", "note", "ask"] {
        assert_eq!(context.working().get(node).unwrap().content().as_text(), Some("changed"));
        let op = Op::Edit { node: node.into(), edit: edit("again") };
        refuse(&mut context, op, "E_SEALED", "", node);
    }
    // The head has the headers of every container and no others.
    let export = parse(&context.export_working()).unwrap();
    let regions = export.get("root").and_then(|root| root.get("children")).unwrap();
    let keys = |index: usize| -> Vec<&str> {
        regions.as_array().unwrap()[index].as_object().unwrap().keys().collect()
    };
    assert_eq!(keys(2), keys(0));
    assert_eq!(keys(2).len(), 10, "nine headers and the children");
}

// covers: STR-015, PLO-002
#[test]
fn every_sealed_turn_has_one_core_and_context_around_it() {
    for seed in 0..60 {
        for snapshot in random_context(seed).history().iter() {
            for turn in snapshot.view().region(Region::Seq).children() {
                let cores = turn.children().filter(|child| child.is_core()).count();
                assert_eq!(cores, 1, "seed {seed}, {turn:?}");
                let at_zero = turn.children().filter(|child| child.offset().signum() == 0);
                assert_eq!(at_zero.count(), 1, "seed {seed}: beside the core only other offsets");
            }
        }
    }
}

// covers: STR-016
#[test]
fn block_is_a_leaf_with_any_json_content() {
    let mut context = turns(0);
    refuse_add(&mut context, Place::into("s"), block("x"), "children_under_block", "s");
    let value = parse(br#"{"a":[1,2.5,null,{"b":12345678901234567890}],"c":"\u00e9"}"#).unwrap();
    context.add(Place::head(), NewNode::json(value.clone()).id("json")).unwrap();
    commit(&mut context);
    let again = strict(&head(&context).export()).unwrap();
    assert_eq!(again.working().get("json").unwrap().content().to_value(), Some(value));
}

// covers: STR-017, STR-018, THR-007, THR-008, THR-010
#[test]
fn roles_kinds_and_types_are_free_strings() {
    let mut context = turns(0);
    let odd = "vendor:röle \"1\"";
    let node = block("q").node_type("cb:sql_query").role(odd).kind("image/svg");
    context.add(Place::head(), node).unwrap();
    commit(&mut context);
    let again = strict(&head(&context).export()).unwrap();
    let node = again.working().get("q").unwrap();
    assert_eq!(
        (node.role(), node.kind(), node.node_type()),
        (Some(odd), Some("image/svg"), "cb:sql_query")
    );
    let thread = parse(&head(&context).thread()).unwrap();
    let object = thread.as_array().unwrap().last().unwrap();
    assert_eq!(object.get("role").and_then(Value::as_str), Some(odd), "verbatim in the thread");
    assert_eq!(object.get("kind").and_then(Value::as_str), Some("image/svg"));
}

// covers: STR-019
#[test]
fn custom_type_needs_a_namespace() {
    let mut context = turns(0);
    for plain in ["summary", "cbx", "Block", ":x", "cb:", ""] {
        let node = NewNode::text("x").node_type(plain);
        refuse_add(&mut context, Place::head(), node, "type_not_namespaced", plain);
    }
    for fine in ["cb:summary", "custom:note", "cont:sources"] {
        context.add(Place::at("^ah", 1), NewNode::default().node_type(fine)).unwrap();
    }
}

// covers: STR-021, ADO-008, ERC-007
#[test]
fn unknown_type_is_a_block_that_is_rendered_and_kept() {
    let context = lenient(
        r#"{"root":{"id":"r","children":[{"id":"h","nodeType":"^ah","children":[
        {"id":"w","nodeType":"weird","content":"hello","blorp":{"a":1}}]}]}}"#,
    );
    let tree = context.working();
    assert_eq!(tree.get("w").unwrap().class(), Class::Block);
    assert_eq!(thread_ids(tree), ["w"]);
    let export = String::from_utf8(context.export_working()).unwrap();
    assert!(export.contains(r#""nodeType":"weird""#) && export.contains(r#""blorp":{"a":1}"#));
}

// covers: STR-022, LIF-020, LIF-021, LIF-022, SEA-009, PLO-019
#[test]
fn summary_is_an_ordinary_block_and_hides_nothing() {
    let mut context = turns(2);
    let before = head(&context).clone();
    let summary = NewNode::text("redacted").id("sum").node_type("cb:summary").kind("summary");
    context.add(Place::zone("seg:1", contextree::Zone::Post), summary).unwrap();
    context.add(Place::system(), block("correction")).unwrap();
    context.add(Place::head(), block("remark")).unwrap();
    commit(&mut context);
    let tree = head(&context).view();
    assert!(tree.get("sum").unwrap().offset().signum() > 0);
    assert_eq!(
        thread_ids(tree),
        ["s", "correction", "u1", "a1", "p1", "sum", "u2", "a2", "p2", "remark"],
        "the original is there, and the summary too"
    );
    let diff = contextree::diff::diff(before.view(), tree);
    assert!(diff.changed.is_empty() && diff.removed.is_empty(), "nothing else changed: {diff:?}");
    assert_eq!(thread_ids(before.view()), ["s", "u1", "a1", "p1", "u2", "a2", "p2"]);
    // It can be removed again.
    context.remove("sum").unwrap();
    commit(&mut context);
    assert!(head(&context).view().get("sum").is_none());
    assert_eq!(
        contextree::canon::node_digest(head(&context).view().get("cont:1").unwrap()),
        contextree::canon::node_digest(before.view().get("cont:1").unwrap()),
        "the core is untouched by it all"
    );
}

// covers: STR-023, ER-139
#[test]
fn second_core_is_refused() {
    let mut context = turns(1);
    context.add(Place::head(), block("u")).unwrap();
    refuse_add(&mut context, Place::head(), group("c"), "second_core", "c");
    refuse_add(&mut context, Place::at("seg:1", 0), group("c"), "second_core", "c");
    let named = NewNode::container("cont:x").id("c");
    refuse_add(&mut context, Place::head(), named, "group_at_core", "c");
    context.add(Place::at("^ah", 2), group("g")).unwrap();
    let op = move_to("g", Place::at("^ah", 0));
    refuse(&mut context, op, "E_INVALID_PLACEMENT", "second_core", "g");
}

// covers: STR-025, ERC-008
#[test]
fn node_cannot_become_its_own_ancestor() {
    let mut context = turns(0);
    context.add(Place::system(), group("a")).unwrap();
    context.add(Place::into("a"), group("b")).unwrap();
    context.add(Place::into("b"), group("c")).unwrap();
    for (node, under) in [("a", "a"), ("a", "b"), ("a", "c"), ("b", "c")] {
        let op = move_to(node, Place::into(under));
        refuse(&mut context, op, "E_INVALID_PLACEMENT", "cycle", node);
    }
    apply(&mut context, move_to("c", Place::into("a")));
    assert_eq!(children(context.working(), "a"), ["b", "c"]);
}

// covers: STR-028, ADO-002
#[test]
fn core_has_no_provider_dependency_and_layers_are_independent() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    // `thiserror` is a derive macro: it writes error types at build time and runs no code of its
    // own. `serde` and `serde_json` are optional conversions, off unless a door asks for them.
    for (name, allowed) in [
        ("json", &["itoa", "memchr", "serde", "serde_json", "thiserror", "zmij"][..]),
        ("tree", &["contextree-json"][..]),
        ("canon", &["contextree-json", "contextree-tree", "crc32fast", "sha2", "thiserror"][..]),
        (
            "engine",
            &[
                "contextree-json",
                "contextree-tree",
                "contextree-canon",
                "contextree-selector",
                "contextree-query",
                "thiserror",
            ][..],
        ),
        ("provider", &["contextree-json", "contextree-tree", "contextree-canon"][..]),
    ] {
        let manifest = std::fs::read_to_string(crates.join(name).join("Cargo.toml")).unwrap();
        let dependencies = manifest
            .lines()
            .skip_while(|line| *line != "[dependencies]")
            .skip(1)
            .take_while(|line| !line.starts_with('['))
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            .filter(|dependency| !dependency.is_empty() && !dependency.starts_with('#'));
        for dependency in dependencies {
            assert!(allowed.contains(&dependency), "`{name}` depends on `{dependency}`");
        }
    }
}
