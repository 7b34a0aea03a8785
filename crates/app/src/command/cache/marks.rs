//! The breakpoints that the request of a call has.

use contextree::cache::Mark;
use contextree::provider::parts::names;
use contextree::provider::{Provider, RenderOptions, Rendered};
use contextree::{Attempt, NodeRef, Region, TreeRef};
use contextree_json::{Object, Value, parse};

/// The breakpoints in the blocks themselves. System text and tools keep the one that they were received with, and so do blocks that
/// are kept as they are, such as the content of a tool result. Those of messages are next to the tree instead, because they move.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Each with the end of its block.
    found: Vec<(usize, Mark)>,
}

impl Written {
    /// Reads the next request; its first `kept` bytes are those of the last one.
    pub(super) fn follow(&mut self, rendered: &Rendered, kept: usize) {
        let Some(field) = rendered.provider.breakpoint_field() else { return self.found.clear() };
        // Quotes within a text are escaped, so only a key is written like this.
        let key = format!("\"{field}\":");
        self.found.retain(|(end, _)| *end <= kept);
        let first = rendered.spans.partition_point(|span| span.end <= kept);
        for span in &rendered.spans[first..] {
            let block = rendered.bytes.get(span.start..span.end).unwrap_or_default();
            if !str::from_utf8(block).is_ok_and(|block| block.contains(&key)) {
                continue;
            }
            let Ok(block) = parse(block) else { continue };
            if let Some(is_long) = within(&block, field) {
                self.found.push((span.end, Mark { node: Some(span.node.to_string()), is_long }));
            }
        }
    }
}

/// Returns whether the breakpoint of a block, or of one that it contains, has the longer lifetime; `None` without one.
fn within(block: &Value, field: &str) -> Option<bool> {
    let own = |block: &Value| block.get(field).map(is_long);
    let last = |block: &Value| block.get("content")?.as_array()?.iter().rev().find_map(own);
    own(block).or_else(|| last(block)).or_else(|| last(block.get("source")?))
}

/// Returns the breakpoints of a request whose exact bytes are known.
pub(super) fn marks(attempt: &Attempt, tree: TreeRef<'_>, written: &Written) -> Vec<Mark> {
    let stored = attempt.request.as_ref();
    let options = stored.and_then(|request| RenderOptions::from_text(&request.options));
    let Some((provider, options)) = options else { return Vec::new() };
    let Some(field) = provider.breakpoint_field() else { return Vec::new() };
    let control = |fields: &Object| fields.get(field).map(is_long);
    let mark = |node: &str, fields: &Object| {
        Some(Mark { node: Some(node.to_owned()), is_long: control(fields)? })
    };
    let mut found: Vec<Mark> = match &options.marks {
        Some(marks) => marks.iter().filter_map(|(node, fields)| mark(node, fields)).collect(),
        None => {
            let marks = of_groups(tree, provider, names::MARKS).flat_map(Object::iter);
            marks.filter_map(|(node, fields)| mark(node, fields.as_object()?)).collect()
        }
    };
    found.extend(written.found.iter().map(|(_, mark)| mark.clone()));
    let set = control(&options.settings);
    let automatic = set.or_else(|| of_groups(tree, provider, names::SETTINGS).find_map(control));
    found.extend(automatic.map(|is_long| Mark { node: None, is_long }));
    found
}

/// Returns the objects that the groups in `^sys` have for a provider in an attribute.
fn of_groups<'a>(
    tree: TreeRef<'a>,
    provider: Provider,
    attribute: &'a str,
) -> impl Iterator<Item = &'a Object> {
    let is_own = move |group: &NodeRef<'_>| {
        let owner = group.attribute(names::PROVIDER).and_then(Value::as_str);
        owner.is_none_or(|owner| owner == provider.name())
    };
    let groups = tree.region(Region::Sys).children().filter(is_own);
    groups.filter_map(move |group| group.attribute(attribute)?.as_object())
}

fn is_long(control: &Value) -> bool {
    control.get("ttl").and_then(Value::as_str) == Some("1h")
}
