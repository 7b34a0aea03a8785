//! Tests which requests extend the previous one.

use contextree_cache::{Rendered, assert_stable_prefix, check_stable_prefix};
use contextree_engine::{NewNode, Place};

use crate::support::{add_turn, block, request, session};

#[test]
fn growing_history_has_a_stable_prefix() {
    let mut context = session(2);
    let before = request(context.newest().unwrap().view(), "\"model\":\"m\"");
    add_turn(&mut context, 3);
    let after = request(context.newest().unwrap().view(), "\"model\":\"m\"");
    assert_stable_prefix(&before.rendered(), &after.rendered());
    let broken = check_stable_prefix(&after.rendered(), &before.rendered()).unwrap_err();
    assert_eq!(broken.code(), "E_PREFIX_BROKEN");
}

#[test]
fn message_has_the_offset_the_node_and_a_hint() {
    let mut context = session(1);
    let before = request(context.newest().unwrap().view(), "\"model\":\"m\"");
    context.add(Place::system(), block("now").priority(1)).unwrap();
    context.commit().unwrap();
    let after = request(context.newest().unwrap().view(), "\"model\":\"m\"");
    let broken = check_stable_prefix(&before.rendered(), &after.rendered()).unwrap_err();
    let expected = format!(
        "the request does not extend the previous one\n  \
         first difference at byte {}; {} bytes after it cannot be reused\n  \
         before, in `u1`: …{}\n  after, in `now`: …{}\n  \
         hint: another node is here now: add nodes at the end, and place nodes that expire or get pruned after those that stay",
        broken.offset, broken.bytes_lost, broken.before.1, broken.after.1
    );
    assert_eq!(broken.to_string(), expected);
    assert!(broken.before.1.contains("u1") && broken.after.1.contains("now"), "{broken}");

    let model = request(context.newest().unwrap().view(), "\"model\":\"n\"");
    let broken = check_stable_prefix(&after.rendered(), &model.rendered()).unwrap_err();
    assert_eq!((broken.before.0.as_deref(), broken.setting.as_deref()), (None, Some("model")));
    assert!(broken.to_string().contains("the setting `model` changed"), "{broken}");
    let other = request(context.newest().unwrap().view(), "\"model\":\"m\",\"x\":1");
    let broken = check_stable_prefix(&after.rendered(), &other.rendered()).unwrap_err();
    assert!(broken.to_string().contains("keep tools and parameters the same"));
}

#[test]
#[should_panic(expected = "hint: the node changed")]
fn assertion_panics_with_that_message() {
    let mut context = session(0);
    context.add(Place::head(), NewNode::text("it is 10:04").id("clock")).unwrap();
    let before = request(context.working(), "\"model\":\"m\"");
    let content = Some("it is 10:05".into());
    let edit = contextree_engine::Edit { content, ..contextree_engine::Edit::default() };
    context.edit("clock", edit).unwrap();
    let after = request(context.working(), "\"model\":\"m\"");
    assert_stable_prefix(&before.rendered(), &after.rendered());
}

#[test]
fn spans_must_be_in_order_and_within_the_bytes() {
    let bytes = b"0123456789";
    assert!(Rendered::new(bytes, [(0, 3, "a"), (3, 3, "b"), (4, 10, "c")]).is_ok());
    for spans in
        [[(0, 3, "a"), (2, 4, "b")], [(0, 3, "a"), (5, 4, "b")], [(0, 3, "a"), (4, 11, "b")]]
    {
        let error = Rendered::new(bytes, spans).unwrap_err();
        assert_eq!((error.code(), error.node.as_str()), ("E_SPAN_INVALID", "b"));
    }
}
