//! Renders requests in the simplest possible form.

use contextree_cache::Rendered;
use contextree_canon::thread::{blocks, write_block};
use contextree_engine::{Context, NewNode, Place};
use contextree_tree::TreeRef;

/// A request with its spans, to borrow from.
pub(crate) struct Request {
    bytes: Vec<u8>,
    spans: Vec<(usize, usize, String)>,
}

impl Request {
    pub(crate) fn rendered(&self) -> Rendered<'_> {
        let spans = self.spans.iter().map(|(start, end, node)| (*start, *end, node.as_str()));
        Rendered::new(&self.bytes, spans).unwrap()
    }
}

/// Returns a request with parameters, followed by one object for every block.
pub(crate) fn request(tree: TreeRef<'_>, parameters: &str) -> Request {
    let mut request = Request { bytes: Vec::new(), spans: Vec::new() };
    request.bytes.extend_from_slice(format!("{{{parameters},\"messages\":[").as_bytes());
    for (region, block) in blocks(tree) {
        if !request.spans.is_empty() {
            request.bytes.push(b',');
        }
        let start = request.bytes.len();
        write_block(&mut request.bytes, block, Some(region));
        request.spans.push((start, request.bytes.len(), block.id().to_owned()));
    }
    request.bytes.extend_from_slice(b"]}");
    request
}

pub(crate) fn block(id: &str) -> NewNode {
    NewNode::text(format!("the text of {id}, which has some words")).id(id).role("user")
}

/// Returns a context with a system text and a number of turns of two blocks.
pub(crate) fn session(turns: usize) -> Context {
    let mut context = Context::new();
    context.add(Place::system(), block("s").role("system")).unwrap();
    for turn in 1..=turns {
        add_turn(&mut context, turn);
    }
    context
}

pub(crate) fn add_turn(context: &mut Context, turn: usize) {
    context.add(Place::head(), block(&format!("u{turn}"))).unwrap();
    context.add(Place::head(), block(&format!("a{turn}")).role("assistant")).unwrap();
    context.commit().unwrap();
}
