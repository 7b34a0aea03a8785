//! The root and the regions cannot be changed.

use contextree_tree::{Body, Builder, Content, Cycle, Header, NodeData, Region, Scalar};

#[test]
fn setters_ignore_the_root_and_the_regions() {
    let node = |id: &str, node_type: &str| NodeData::new(id, node_type);
    let regions = [node("sys", "^sys"), node("seq", "^seq"), node("ah", "^ah")];
    let mut draft =
        Builder::new(node("root", "^root"), regions).expect("four ids").finish_draft(Cycle::FIRST);
    let block = {
        let head = draft.view().region(Region::Head).key_of();
        draft.insert(head, node("b", "block"))
    };
    for id in ["root", "sys", "seq", "ah"] {
        let key = draft.view().get(id).expect("it is always there").key_of();
        assert!(!draft.set_priority(key, Scalar::Int(1)), "{id}");
        assert!(!draft.set_expires(key, Some(Cycle(3))), "{id}");
        assert!(!draft.set_pinned(key, true), "{id}");
        assert!(!draft.set_body(key, Body::new(Content::from("x"), Default::default())), "{id}");
        let node = draft.view().get(id).expect("it is always there");
        assert_eq!((node.priority(), node.ttl(), node.is_pinned()), (Scalar::ZERO, None, false));
        assert!(node.has_header(Header::Priority) && node.body().is_none());
    }
    assert!(draft.set_priority(block, Scalar::Int(1)) && draft.set_expires(block, Some(Cycle(3))));
    assert_eq!(draft.view().get("b").and_then(|node| node.ttl()), Some(2));
}
