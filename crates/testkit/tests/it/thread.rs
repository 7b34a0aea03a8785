//! THR: the provider-neutral thread.

use contextree::json::{Value, parse};
use contextree::{Content, NewNode, Place};

use crate::support::{block, commit, group, head, random_context, thread_ids, turns, utf8};

// covers: THR-001, THR-005, THR-006, THR-008, THR-015
#[test]
fn every_block_becomes_one_object_with_its_own_fields() {
    for seed in 0..40 {
        let context = random_context(seed);
        for snapshot in context.history().iter() {
            let bytes = snapshot.thread();
            assert!(bytes.is_ascii() && !bytes.ends_with(b"\n"));
            let thread = parse(&bytes).unwrap();
            let objects = thread.as_array().unwrap();
            let blocks: Vec<_> = contextree::canon::thread::blocks(snapshot.view()).collect();
            assert_eq!(objects.len(), blocks.len());
            for (object, (region, node)) in objects.iter().zip(blocks) {
                let object = object.as_object().unwrap();
                assert_eq!(object.get("id"), Some(&node.id().into()));
                let role =
                    node.role().unwrap_or(contextree::canon::thread::default_role(Some(region)));
                assert_eq!(object.get("role"), Some(&role.into()));
                assert_eq!(object.get("kind"), node.kind().map(Value::from).as_ref());
                let content = node.content().to_value().unwrap_or_else(|| "".into());
                assert_eq!(object.get("content"), Some(&content));
                assert_eq!(object.len(), 3 + usize::from(node.kind().is_some()), "nothing else");
            }
        }
    }
}

// covers: THR-002, THR-003, THR-004, THR-011, STR-026
#[test]
fn regions_turns_and_zones_are_in_order() {
    let mut context = turns(2);
    // Added in the worst order.
    context.add(Place::at("^ah", 1), block("post")).unwrap();
    context.add(Place::head(), block("core")).unwrap();
    context.add(Place::at("^ah", -1), group("g")).unwrap();
    context.add(Place::into("g"), block("in-group")).unwrap();
    context.add(Place::at("^ah", -1), block("pre")).unwrap();
    context.add(Place::at("seg:1", -1), block("late")).unwrap();
    context.add(Place::system(), block("rule")).unwrap();
    let expected = [
        "s", "rule", "late", "u1", "a1", "p1", "u2", "a2", "p2", "in-group", "pre", "core", "post",
    ];
    assert_eq!(thread_ids(context.working()), expected);
    commit(&mut context);
    assert_eq!(thread_ids(head(&context).view()), expected, "sealing keeps the order");
}

// covers: THR-005
#[test]
fn keys_are_in_the_specified_order() {
    let mut context = turns(0);
    context.remove("s").unwrap();
    let value = parse(br#"{"b":1,"a":[2.0]}"#).unwrap();
    context.add(Place::head(), NewNode::json(value).id("x").role("tool").kind("result")).unwrap();
    let absent = NewNode { content: Content::Absent, ..NewNode::default() }.id("é");
    context.add(Place::head(), absent).unwrap();
    commit(&mut context);
    assert_eq!(
        utf8(&head(&context).thread()),
        concat!(
            r#"[{"id":"x","role":"tool","kind":"result","content":{"a":[2.0],"b":1}},"#,
            r#"{"id":"\u00e9","role":"user","content":""}]"#
        )
    );
}

// covers: THR-012
#[test]
fn thread_of_a_turn_is_part_of_the_whole_thread() {
    let context = turns(3);
    let whole = head(&context).thread();
    for turn in head(&context).view().region(contextree::Region::Seq).children() {
        let part = contextree::canon::thread::thread_of_turn(turn);
        let inner = &utf8(&part)[1..part.len() - 1];
        assert!(utf8(&whole).contains(inner), "{inner}");
    }
    assert_eq!(head(&context).thread(), whole);
}
