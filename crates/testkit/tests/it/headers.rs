//! IDH: ids, the nine headers, attributes.

use std::sync::Arc;

use std::collections::{BTreeMap, BTreeSet};

use contextree::engine::{IdRequest, PreparedNode};
use contextree::json::{Object, Value, parse};
use contextree::tree::Header;
use contextree::{
    Class, CommitOptions, Content, Context, ContextOptions, Cycle, Edit, IdSource, NewNode, Op,
    Place, SnapshotAddress,
};

use crate::support::{
    apply, block, commit, group, head, lenient, move_to, refuse, refuse_add, strict, turns, utf8,
};

fn set(node: &str, name: &str, value: impl Into<Value>) -> Op {
    let edit = Edit { set: vec![(name.into(), value.into())], ..Edit::default() };
    Op::Edit { node: node.into(), edit }
}

/// Returns all nodes of an export, as flat objects without children.
fn exported(bytes: &[u8]) -> Vec<Object> {
    let mut open = vec![parse(bytes).unwrap().get("root").cloned().unwrap()];
    let mut nodes = Vec::new();
    while let Some(Value::Object(mut node)) = open.pop() {
        if let Some(Value::Array(children)) = node.remove("children") {
            open.extend(children);
        }
        nodes.push(node);
    }
    nodes
}

// covers: IDH-001
#[test]
fn every_node_has_an_id_that_it_keeps_in_all_snapshots() {
    let context = turns(3);
    let mut ids: BTreeMap<(Cycle, u32), String> = BTreeMap::new();
    for snapshot in context.history().iter() {
        let mut seen = BTreeSet::new();
        for (_, node) in snapshot.view().nodes() {
            assert!(!node.id().is_empty());
            assert!(seen.insert(node.id().to_owned()), "`{}` is there twice", node.id());
            // The root and the regions are not created by an operation: they share a stamp.
            if matches!(node.class(), Class::Root | Class::Region) {
                continue;
            }
            let created = (node.cycle(), node.creation_index());
            let known = ids.entry(created).or_insert_with(|| node.id().to_owned());
            assert_eq!(known, node.id(), "the node that was created as {created:?}");
        }
    }
    assert!(ids.len() > 6, "there are nodes of several turns");
}

// covers: SNP-003
#[test]
fn two_exports_of_one_snapshot_are_the_same_bytes() {
    let context = turns(3);
    assert_eq!(head(&context).export(), head(&context).export());
    assert_eq!(head(&context).export(), head(&context).clone().export());
}

// covers: IDH-002, IDH-011, IDH-012, IDH-014, IDH-019, IDH-020, LIF-011
#[test]
fn headers_are_fixed_when_a_node_is_created() {
    let mut context = turns(0);
    context.add(Place::at("^ah", 1), group("g").removable(true)).unwrap();
    for header in [
        "id",
        "nodeType",
        "offset",
        "ttl",
        "priority",
        "cycle",
        "created_at_ns",
        "created_at_iso",
        "creation_index",
        "role",
        "kind",
        "removable",
        "pinned",
        "parent",
        "children",
        "content_hash",
    ] {
        for node in ["s", "g"] {
            refuse(&mut context, set(node, header, 1), "E_IMMUTABLE", "", node);
            let edit = Edit { unset: vec![header.into()], ..Edit::default() };
            let op = Op::Edit { node: node.into(), edit };
            refuse(&mut context, op, "E_IMMUTABLE", "", node);
        }
    }
}

// covers: IDH-003
#[test]
fn ids_are_unique_over_a_hundred_thousand_nodes() {
    let mut context = Context::new();
    let mut seen = BTreeSet::new();
    for _ in 0..10 {
        let add = || Op::Add { place: Place::head(), node: NewNode::text("x") };
        let outcomes = context.batch((0..10_000).map(|_| add()).collect()).unwrap();
        for outcome in outcomes {
            let contextree::Outcome::Added { id, .. } = outcome else { panic!("{outcome:?}") };
            assert!(seen.insert(id), "an id was made twice");
        }
        commit(&mut context);
    }
    assert_eq!(seen.len(), 100_000);
}

// covers: IDH-003
#[test]
fn repeated_generated_ids_are_made_unique() {
    struct Always;
    impl IdSource for Always {
        fn id(&self, _: IdRequest) -> String {
            "x".into()
        }
    }
    let ids: Option<Arc<dyn IdSource>> = Some(Arc::new(Always));
    let mut context = Context::with_options(ContextOptions { ids, ..ContextOptions::default() });
    let made: Vec<String> =
        (0..3).map(|_| context.add(Place::system(), NewNode::text("t")).unwrap()).collect();
    assert_eq!(made, ["x", "x~2", "x~3"]);
    assert_eq!(commit(&mut context).sealed, "x~5", "the core was the fourth");
}

// covers: IDH-003, ER-139
#[test]
fn taken_id_is_refused_even_after_its_node_was_removed_in_this_cycle() {
    let mut context = turns(1);
    for taken in ["s", "u1", "seg:1", "root", "ah"] {
        refuse_add(&mut context, Place::head(), block(taken), "duplicate_id", taken);
    }
    context.remove("p1").unwrap();
    refuse_add(&mut context, Place::head(), block("p1"), "duplicate_id", "p1");
    commit(&mut context);
    context.add(Place::head(), block("p1")).unwrap();
}

// covers: IDH-004, PLO-016, PLO-017
#[test]
fn move_to_another_region_gives_a_new_deterministic_id() {
    let run = || {
        let mut context = turns(2);
        let op = move_to("p1", Place::system());
        let outcome = context.apply(op).unwrap();
        commit(&mut context);
        (outcome, context)
    };
    let ((outcome, context), (again, second)) = (run(), run());
    assert_eq!(outcome, again);
    assert_eq!(context.history_digest(), second.history_digest());
    let contextree::Outcome::Moved { renamed, .. } = outcome else { panic!("{outcome:?}") };
    let [(old, new)] = &renamed[..] else { panic!("{renamed:?}") };
    assert_eq!(old, "p1");
    let diff = context.diff(SnapshotAddress::Back(1), SnapshotAddress::Back(0)).unwrap();
    assert_eq!(diff.removed, ["p1"]);
    assert!(diff.added.contains(new));
    let content = |id: &str, back| {
        let snapshot = context.snapshot(SnapshotAddress::Back(back)).unwrap();
        snapshot.view().get(id).unwrap().content().clone()
    };
    assert_eq!(content(new, 0), content("p1", 1), "the content stays");
}

// covers: IDH-005
#[test]
fn ids_are_opaque_and_case_matters() {
    let odd = ["ABC", "abc", "ünïcödé 😀", "a\"b\\c\n", " ", "^sysx", "#1 > .cb", "~2", "\u{0}"];
    let mut context = turns(0);
    for id in odd {
        context.add(Place::head(), block(id)).unwrap();
    }
    commit(&mut context);
    let again = strict(&head(&context).export()).unwrap();
    for id in odd {
        assert_eq!(again.working().get(id).unwrap().id(), id);
    }
    assert!(again.working().get("Abc").is_none());
    assert_eq!(again.export_working(), context.export_working());
}

// covers: IDH-006, IDH-033, SNP-010, DBG-004
#[test]
fn every_node_shows_all_nine_headers() {
    let context = turns(3);
    let nodes = exported(&head(&context).export());
    assert_eq!(nodes.len(), head(&context).view().node_count());
    for node in nodes {
        for header in Header::REQUIRED {
            assert!(node.contains_key(header.name()), "{node:?} has no {header:?}");
        }
    }
    for (_, node) in head(&context).view().nodes() {
        for header in Header::REQUIRED {
            assert!(node.header(header.name()).is_some(), "{node:?} hides {header:?}");
        }
    }
}

// covers: IDH-007
#[test]
fn the_strict_profile_names_every_missing_header_and_its_node() {
    let context = turns(1);
    let mut document = parse(&head(&context).export()).unwrap();
    // Remove two headers from the system block.
    let Value::Object(envelope) = &mut document else { panic!() };
    let Some(Value::Object(root)) = envelope.get_mut("root") else { panic!() };
    let Some(Value::Array(regions)) = root.get_mut("children") else { panic!() };
    let Value::Object(region) = &mut regions[0] else { panic!() };
    let Some(Value::Array(blocks)) = region.get_mut("children") else { panic!() };
    let Value::Object(node) = &mut blocks[0] else { panic!() };
    node.remove("ttl");
    node.remove("creation_index");
    region.remove("offset");
    let text = document.to_canonical();
    let contextree::DocumentError::Invalid(issues) = strict(&text).unwrap_err() else { panic!() };
    let mut found: Vec<(&str, &str, &str, bool)> = issues
        .iter()
        .map(|issue| {
            let header = issue.message.split('`').nth(1).unwrap();
            (issue.node.as_str(), header, issue.reason, text.get(issue.offset) == Some(&b'{'))
        })
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("s", "creation_index", "missing_header", true),
            ("s", "ttl", "missing_header", true),
            ("sys", "offset", "missing_header", true),
        ]
    );
    assert!(
        Context::import_snapshot(&text, contextree::Profile::Lenient, ContextOptions::default())
            .is_ok()
    );
}

// covers: IDH-008
#[test]
fn null_is_valid_only_as_a_ttl() {
    let context = turns(1);
    let export = String::from_utf8(head(&context).export()).unwrap();
    assert!(export.contains(r#""ttl":null"#) && strict(export.as_bytes()).is_ok());
    for header in Header::REQUIRED.into_iter().filter(|header| *header != Header::Ttl) {
        let name = header.name();
        let nulled = format!(r#""{name}":null"#);
        // The last one is that of the root, whose children come first.
        let start = export.rfind(&format!(r#""{name}":"#)).unwrap();
        let end = start + export[start..].find([',', '}']).unwrap();
        let text = format!("{}{nulled}{}", &export[..start], &export[end..]);
        let error = strict(text.as_bytes()).unwrap_err();
        assert_eq!((error.code(), error.reason()), ("E_DOCUMENT_INVALID", "invalid_header"));
        assert!(error.to_string().contains(name), "{error}");
    }
}

// covers: IDH-009, ERC-007
#[test]
fn missing_headers_are_read_as_their_defaults_and_not_written_back() {
    let context = lenient(
        r#"{"root":{"id":"r","children":[{"id":"h","nodeType":"^ah","children":[{"id":"x"}]}]}}"#,
    );
    let node = context.working().get("x").unwrap();
    assert_eq!(node.ttl(), None);
    assert_eq!(node.priority().as_int(), Some(0));
    assert_eq!(node.offset().as_int(), Some(0));
    assert_eq!((node.created_at_ns(), node.creation_index(), node.cycle()), (0, 0, Cycle::ZERO));
    let export = head(&context).export();
    let x = exported(&export).into_iter().find(|node| node.get("id") == Some(&"x".into()));
    assert_eq!(x.unwrap().keys().collect::<Vec<_>>(), ["id"], "an export has the node unchanged");
}

// covers: IDH-010
#[test]
fn headers_of_the_wrong_type_are_refused_in_both_profiles() {
    let bad = |header: &str, value: &str| {
        let text = format!(
            r#"{{"root":{{"id":"r","children":[{{"id":"h","nodeType":"^ah",
            "children":[{{"id":"x","{header}":{value}}}]}}]}}}}"#
        );
        let options = ContextOptions::default();
        Context::import_snapshot(text.as_bytes(), contextree::Profile::Lenient, options)
            .map(|_| ())
            .map_err(|error| (error.code(), error.reason()))
    };
    for header in ["offset", "ttl", "priority", "cycle", "created_at_ns", "creation_index"] {
        for value in [r#""1""#, "[]", "{}", "true"] {
            let refused = Err(("E_DOCUMENT_INVALID", "invalid_header"));
            assert_eq!(bad(header, value), refused, "{header}: {value}");
        }
        assert_eq!(bad(header, "1"), Ok(()));
    }
    for header in ["nodeType", "created_at_iso", "role", "kind"] {
        for value in ["1", "[]", "{}", "true"] {
            let refused = Err(("E_DOCUMENT_INVALID", "invalid_header"));
            assert_eq!(bad(header, value), refused, "{header}: {value}");
        }
    }
}

// covers: IDH-011
#[test]
fn sealing_retypes_nothing() {
    let mut context = turns(0);
    context.add(Place::head(), block("u").node_type("cb:ask")).unwrap();
    let head_before = context.working().region(contextree::Region::Head).id().to_owned();
    commit(&mut context);
    let tree = context.working();
    assert_eq!(tree.get(&head_before).unwrap().node_type(), "^ah");
    assert_eq!(tree.get("u").unwrap().node_type(), "cb:ask");
}

/// All headers of a node but the ttl.
fn header_dump(context: &Context, back: u64, id: &str) -> Vec<(String, Option<Value>)> {
    let snapshot = context.snapshot(SnapshotAddress::Back(back)).unwrap();
    let node = snapshot.view().get(id).unwrap();
    let names = Header::REQUIRED.iter().map(|header| header.name());
    let names = names.chain(["role", "kind", "key", "tags", "provenance", "pinned", "data_x"]);
    names.filter(|name| *name != "ttl").map(|name| (name.to_owned(), node.header(name))).collect()
}

// covers: IDH-013, IDH-028, LIF-007
#[test]
fn over_ten_commits_a_node_changes_only_its_ttl() {
    let mut context = turns(0);
    let node = block("x").ttl(20).role("user").kind("text").key("k").tag("t");
    let node = node.provenance("model:m").attribute("data_x", 1).priority(3);
    context.add(Place::head(), node).unwrap();
    for _ in 0..10 {
        commit(&mut context);
    }
    let first = header_dump(&context, 9, "x");
    for back in 0..10 {
        assert_eq!(header_dump(&context, back, "x"), first);
        let snapshot = context.snapshot(SnapshotAddress::Back(back)).unwrap();
        let ttl = snapshot.view().get("x").unwrap().ttl();
        assert_eq!(ttl, Some(10 + u32::try_from(back).unwrap()), "the remaining ttl");
    }
    let diff = context.diff(SnapshotAddress::Back(1), SnapshotAddress::Back(0)).unwrap();
    let changed: Vec<_> = diff.changed.iter().map(|node| (&*node.id, &node.fields[..])).collect();
    assert_eq!(changed, [("x", &["ttl".to_owned()][..])]);
}

// covers: IDH-014
#[test]
fn policy_may_change_a_priority_beside_the_header_and_it_is_reported() {
    let mut context = turns(1);
    let op =
        |policy: &str| Op::SetPriority { node: "u1".into(), priority: 7, policy: policy.into() };
    refuse(&mut context, op(""), "E_IMMUTABLE", "", "u1");
    apply(&mut context, op("recency"));
    let report = commit(&mut context);
    let operation = report.operations.iter().find(|done| done.operation == "set_priority");
    assert_eq!(operation.map(|done| done.on_behalf_of.as_str()), Some("recency"));
    // A sealed node is never changed in place (ER-181): the priority is an entry beside its header.
    let diff = context.diff(SnapshotAddress::Back(1), SnapshotAddress::Back(0)).unwrap();
    assert!(diff.changed.is_empty(), "{diff:?}");
    let scalar = contextree::tree::Scalar::Int;
    let priorities = |back| {
        let snapshot = context.snapshot(SnapshotAddress::Back(back)).unwrap();
        let node = snapshot.view().get("u1").unwrap();
        (node.priority(), node.pruning_priority())
    };
    assert_eq!(priorities(0), (scalar(0), scalar(7)));
    assert_eq!(priorities(1), (scalar(0), scalar(0)), "the past is as it was");
    // The header of an active node changes.
    context.add(Place::head(), block("new")).unwrap();
    apply(&mut context, Op::SetPriority { node: "new".into(), priority: 7, policy: "p".into() });
    assert_eq!(context.working().get("new").unwrap().priority(), scalar(7));
}

// covers: IDH-015
#[test]
fn node_has_the_cycle_of_its_commit_in_all_snapshots() {
    let mut context = turns(6);
    context.add(Place::head(), block("x")).unwrap();
    assert_eq!(context.working().get("x").unwrap().cycle(), 7, "the next cycle");
    for _ in 0..4 {
        commit(&mut context);
        assert_eq!(head(&context).view().get("x").unwrap().cycle(), 7);
    }
}

// covers: IDH-016, IDH-017
#[test]
fn stamps_are_exact_beyond_two_to_the_53_and_mirrored_as_text() {
    struct Fixed(i64);
    impl contextree::Clock for Fixed {
        fn now_ns(&self) -> i64 {
            self.0
        }
    }
    let clock: Option<Arc<dyn contextree::Clock>> =
        Some(Arc::new(Fixed(1_724_670_000_000_000_001)));
    let options = ContextOptions { clock, ..ContextOptions::default() };
    let mut context = Context::with_options(options);
    for id in ["a", "b", "c"] {
        context.add(Place::system(), block(id)).unwrap();
    }
    let stamps: Vec<(i64, String)> = ["a", "b", "c"]
        .map(|id| context.working().get(id).unwrap())
        .map(|node| (node.created_at_ns(), node.created_at_iso()))
        .to_vec();
    assert_eq!(
        stamps,
        [
            (1_724_670_000_000_000_001, "2024-08-26T11:00:00.000000001Z".to_owned()),
            (1_724_670_000_000_000_002, "2024-08-26T11:00:00.000000002Z".to_owned()),
            (1_724_670_000_000_000_003, "2024-08-26T11:00:00.000000003Z".to_owned()),
        ]
    );
    commit(&mut context);
    let export = head(&context).export();
    assert!(utf8(&export).contains(r#""created_at_ns":1724670000000000003"#));
    let again = strict(&export).unwrap();
    assert_eq!(again.working().get("c").unwrap().created_at_ns(), 1_724_670_000_000_000_003);
}

// covers: IDH-018, PLO-008
#[test]
fn creation_index_counts_from_0_in_each_cycle() {
    let mut context = Context::new();
    for cycle in 1..=3 {
        let mut indices = Vec::new();
        for number in 0..4 {
            let id = format!("b{cycle}.{number}");
            context.add(Place::system(), block(&id)).unwrap();
            let node = context.working().get(&id).unwrap();
            indices.push((node.cycle().get(), node.creation_index()));
        }
        assert_eq!(indices, [(cycle, 0), (cycle, 1), (cycle, 2), (cycle, 3)]);
        commit(&mut context);
    }
}

// covers: IDH-019, IDH-020, THR-009
#[test]
fn missing_role_is_defaulted_only_in_the_thread() {
    let mut context = Context::new();
    context.add(Place::system(), block("a")).unwrap();
    context.add(Place::head(), block("b")).unwrap();
    commit(&mut context);
    for id in ["a", "b"] {
        let node = head(&context).view().get(id).unwrap();
        assert_eq!((node.role(), node.kind(), node.header("role")), (None, None, None));
    }
    assert_eq!(
        utf8(&head(&context).thread()),
        r#"[{"id":"a","role":"system","content":"a"},{"id":"b","role":"user","content":"b"}]"#
    );
}

// covers: IDH-021, IDH-031
#[test]
fn neither_a_content_hash_nor_any_other_attribute_orders_siblings() {
    let sibling = |id: &str, hash: &str, extra: i64| {
        format!(r#"{{"id":"{id}","content_hash":"{hash}","data_z":{extra},"priority":{extra}}}"#)
    };
    let (b, a) = (sibling("b", "0", -9), sibling("a", "f", 9));
    let context = lenient(&format!(
        r#"{{"root":{{"id":"r","children":[{{"id":"h","nodeType":"^ah","children":[{b},{a}]}}]}}}}"#
    ));
    assert_eq!(crate::support::children(context.working(), "^ah"), ["a", "b"]);
}

// covers: IDH-022, IDH-024, IDH-025, ADO-009
#[test]
fn custom_attributes_are_stored_exported_diffed_and_hashed_as_ruled() {
    let mut context = turns(0);
    let json = parse(br#"{"deep":[1,true,null]}"#).unwrap();
    // Names that look like headers are not headers.
    let node = block("x").attribute("data_any", json.clone()).attribute("content_lang", "de");
    let node = node.attribute("acme:offset", 5).attribute("data_ttl", 0).provenance("model:m");
    context.add(Place::head(), node).unwrap();
    context.add(Place::head(), block("plain")).unwrap();
    let hash = |context: &Context, id| contextree::content_hash(context.working().get(id).unwrap());
    let before = hash(&context, "x");
    apply(&mut context, set("x", "provenance", "model:n"));
    apply(&mut context, set("x", "acme:offset", 6));
    assert_eq!(hash(&context, "x"), before, "neither is hashed");
    apply(&mut context, set("x", "content_lang", "en"));
    assert_ne!(hash(&context, "x"), before);
    commit(&mut context);
    let tree = strict(&head(&context).export()).unwrap();
    let node = tree.working().get("x").unwrap();
    assert_eq!(node.attribute("data_any"), Some(&json));
    assert_eq!(node.attribute("provenance"), Some(&"model:n".into()));
    assert_eq!((node.ttl(), node.offset().as_int()), (None, Some(0)), "the canonical ones");
    commit(&mut context);
    assert!(head(&context).view().get("x").is_some(), "`data_ttl` lets nothing expire");
}

// covers: IDH-022, IDH-024
#[test]
fn content_hashed_ahead_has_the_same_hash() {
    let json = parse(br#"{"deep":[1,true,null],"a":"\"\\n"}"#).unwrap();
    let long = "Zürich \"and\"\n\\ more\u{7}, ".repeat(1000);
    let contents = [Content::Absent, Content::from(""), Content::from(&*long), Content::from(json)];
    let mut plain = turns(1);
    let mut ahead = turns(1);
    for (number, content) in contents.into_iter().enumerate() {
        for (variant, role, kind) in [("a", None, None), ("b", Some("tool"), Some("result"))] {
            let mut node = block(&format!("{number}{variant}")).attribute("acme:z", 1);
            node = node.key("k").tag("t").attribute("data_a", "é").attribute("content_b", 2);
            node.content = content.clone();
            (node.role, node.kind) = (role.map(str::to_owned), kind.map(str::to_owned));
            let mut prepared = PreparedNode::from(node.clone());
            prepared.hash_content();
            // Attributes added later are hashed too.
            for node in [prepared.attributes_mut(), &mut node.attributes] {
                node.push(("data_late".to_owned(), Value::from(true)));
            }
            prepared.set_role("user");
            node.role = Some("user".to_owned());
            ahead.add(Place::head(), prepared).unwrap();
            plain.add(Place::head(), node).unwrap();
        }
    }
    let set = |context: &mut Context| apply(context, set("2a", "data_a", "changed"));
    for context in [&mut plain, &mut ahead] {
        set(context);
        commit(context);
    }
    for (_, node) in head(&plain).view().nodes() {
        let other = head(&ahead).view().get(node.id()).unwrap();
        assert_eq!(
            contextree::content_hash(other),
            contextree::content_hash(node),
            "{}",
            node.id()
        );
    }
    assert_eq!(ahead.history_digest(), plain.history_digest());
    assert_eq!(head(&ahead).export(), head(&plain).export());
}

// covers: IDH-025, DIF-003
#[test]
fn change_of_provenance_is_a_change() {
    let mut context = turns(0);
    context.add(Place::head(), block("x").provenance("a")).unwrap();
    let older = context.export_working();
    apply(&mut context, set("x", "provenance", "b"));
    let older = strict(&older).unwrap();
    let diff = contextree::diff::diff(older.working(), context.working());
    assert_eq!(
        diff.to_json(),
        r#"{"added":[],"changed":[{"fields":["provenance"],"id":"x"}],"removed":[]}"#
    );
}

// covers: IDH-026
#[test]
fn custom_attribute_needs_a_namespace() {
    let mut context = turns(0);
    for name in ["foo", "data", "data_", "datax", "content_", ":x", "x:", ""] {
        let node = NewNode::text("x").attribute(name, 1);
        refuse_add(&mut context, Place::head(), node, "attribute_not_namespaced", name);
        refuse(
            &mut context,
            set("s", name, 1),
            "E_INVALID_PLACEMENT",
            "attribute_not_namespaced",
            name,
        );
    }
    for name in ["data_foo", "content_foo", "cb:foo", "acme:a:b"] {
        context.add(Place::head(), NewNode::text("x").attribute(name, 1)).unwrap();
    }
}

// covers: IDH-027, ER-139
#[test]
fn reserved_names_are_refused_as_attributes() {
    let mut context = turns(0);
    for name in [
        "id",
        "nodeType",
        "offset",
        "ttl",
        "priority",
        "cycle",
        "created_at_ns",
        "created_at_iso",
        "creation_index",
        "content_hash",
        "role",
        "kind",
        "key",
        "tags",
        "content",
        "children",
        "parent",
        "removable",
        "pinned",
        "provenance",
    ] {
        let node = NewNode::text("x").attribute(name, 1);
        refuse_add(&mut context, Place::head(), node, "reserved_name", name);
    }
}

// covers: IDH-030, SNP-002
#[test]
fn the_order_in_which_attributes_and_nodes_are_written_does_not_matter() {
    let build = |names: [&str; 3]| {
        let mut context = Context::new();
        let node = names.iter().fold(block("x"), |node, name| node.attribute(*name, 1));
        context.add(Place::head(), node).unwrap();
        commit(&mut context);
        head(&context).export()
    };
    assert_eq!(build(["data_a", "data_b", "z:z"]), build(["z:z", "data_b", "data_a"]));
    // The same nodes, as a document with another order of keys and children.
    let one = r#"{"cycle":1,"root":{"id":"r","children":[{"id":"h","nodeType":"^ah","children":[
        {"id":"a","offset":1,"data_x":1,"data_y":2},{"id":"b","offset":-1}]}]}}"#;
    let two = r#"{"root":{"children":[{"children":[{"offset":-1,"id":"b"},
        {"data_y":2,"data_x":1,"offset":1,"id":"a"}],"nodeType":"^ah","id":"h"}],"id":"r"},"cycle":1}"#;
    let (one, two) = (lenient(one), lenient(two));
    assert_eq!(utf8(&head(&one).export()), utf8(&head(&two).export()));
    assert_eq!(head(&one).thread(), head(&two).thread());
    assert_eq!(head(&one).reference_bytes(), head(&two).reference_bytes());
    assert_eq!(head(&one).digest(), head(&two).digest());
}

// covers: IDH-034, IDH-035
#[test]
fn nodes_share_keys_and_have_several_tags() {
    let mut context = turns(0);
    for id in ["v1", "v2"] {
        context.add(Place::head(), block(id).key("plan").tag("a").tag("b")).unwrap();
    }
    commit(&mut context);
    let again = strict(&head(&context).export()).unwrap();
    for id in ["v1", "v2"] {
        let node = again.working().get(id).unwrap();
        assert_eq!(node.key(), Some("plan"));
        let tags = Value::from(vec![Value::from("a"), Value::from("b")]);
        assert_eq!(node.attribute("tags"), Some(&tags));
    }
}

// covers: IDH-036, LIF-009
#[test]
fn removable_is_a_header_of_containers_that_is_set_at_creation() {
    let mut context = turns(0);
    let node = block("x").removable(true);
    refuse_add(&mut context, Place::head(), node, "removable_block", "x");
    let core = group("c").removable(true);
    refuse_add(&mut context, Place::head(), core, "core_lifecycle", "c");
    let core = group("c").ttl(3);
    refuse_add(&mut context, Place::head(), core, "core_lifecycle", "c");
    context.add(Place::at("^ah", 1), group("g").removable(true)).unwrap();
    context.add(Place::into("g"), block("b")).unwrap();
    assert_eq!(context.working().get("g").unwrap().header("removable"), Some(true.into()));
    commit(&mut context);
    let again = strict(&head(&context).export()).unwrap();
    assert!(again.working().get("g").unwrap().is_removable(), "it is exported");
}

#[test]
fn content_of_every_shape_survives_a_round_trip() {
    let mut context = turns(0);
    for (index, text) in
        ["null", "0", "-0.0", "1e22", "[]", "{}", "\"\"", "true"].iter().enumerate()
    {
        let content = Content::from(parse(text.as_bytes()).unwrap());
        let node = NewNode { content, ..NewNode::default() }.id(format!("n{index}"));
        context.add(Place::head(), node).unwrap();
    }
    context.add(Place::head(), NewNode::default().id("absent")).unwrap();
    context.commit_with(&CommitOptions::default()).unwrap();
    let again = strict(&head(&context).export()).unwrap();
    assert_eq!(head(&again).export(), head(&context).export());
    assert_eq!(again.working().get("absent").unwrap().content(), &Content::Absent);
    assert_eq!(again.working().get("n0").unwrap().content(), &Content::from(Value::Null));
    assert_eq!(head(&again).digest(), head(&context).digest());
}
