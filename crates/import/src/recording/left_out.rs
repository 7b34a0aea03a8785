//! What the agent's own request has that the tree has not, because it was pruned before it was sent.
//!
//! The next request of the agent has it again. So that it is recognized, the group of the marks in `^sys` lists every message that was
//! not sent as the agent wrote it: its position, its fingerprint, its role and its nodes.

use std::collections::{BTreeMap, BTreeSet};

use contextree_engine::CLEARED;
use contextree_json::Value;
use contextree_provider::parts::names;
use contextree_provider::read::{Role, role_of};
use contextree_provider::{List, Rendered};
use contextree_tree::{NodeRef, Region, TreeRef};

use crate::fingerprint::Fingerprint;
use crate::session::Placed;

/// A message of the agent's request that was not sent, or not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// Its position among the messages of the request.
    pub(super) at: usize,
    pub(super) fingerprint: Fingerprint,
    pub(super) role: Role,
    /// Its nodes, whether the tree has them or not. A cleared result is named, not its placeholder.
    pub(super) nodes: Vec<String>,
}

/// A message of the agent's request.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    /// One that the tree renders to, at this position after the system text that comes first.
    Rendered(usize),
    LeftOut(LeftOut),
}

impl LeftOut {
    /// Describes a message of the window.
    pub(super) fn of(at: usize, placed: &Placed, tree: TreeRef<'_>) -> LeftOut {
        let named = |id: &String| match tree.resolve(id).and_then(cleared_by) {
            Some(result) => result.to_owned(),
            None => id.clone(),
        };
        LeftOut {
            at,
            fingerprint: placed.seen.map(|seen| seen.fingerprint).unwrap_or_default(),
            role: placed.role,
            nodes: placed.nodes.iter().map(named).collect(),
        }
    }

    fn to_value(&self) -> Value {
        let (first, second) = self.fingerprint;
        let role = match self.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        };
        let head = [
            Value::from(self.at as u64),
            Value::from(format!("{first:016x}{second:016x}")),
            Value::from(role),
        ];
        let nodes = self.nodes.iter().map(|id| Value::from(id.as_str()));
        Value::Array(head.into_iter().chain(nodes).collect())
    }

    fn from_value(value: &Value) -> Option<LeftOut> {
        let [at, fingerprint, role, nodes @ ..] = value.as_array()? else { return None };
        let text = fingerprint.as_str().filter(|text| text.len() == 32 && text.is_ascii())?;
        let half = |text: &str| u64::from_str_radix(text, 16).ok();
        Some(LeftOut {
            at: usize::try_from(at.as_u64()?).ok()?,
            fingerprint: (half(&text[..16])?, half(&text[16..])?),
            role: role_of(role.as_str()?),
            nodes: nodes.iter().map(|id| id.as_str().map(str::to_owned)).collect::<Option<_>>()?,
        })
    }
}

/// Returns the attribute of what was left out; `None` if nothing was.
pub(super) fn to_attribute(left_out: &[LeftOut]) -> Option<Value> {
    let list = || Value::Array(left_out.iter().map(LeftOut::to_value).collect());
    (!left_out.is_empty()).then(list)
}

/// Returns what a tree says was left out. An attribute that another program wrote is ignored.
pub(super) fn left_out_of(tree: TreeRef<'_>) -> Vec<LeftOut> {
    let mut groups = tree.region(Region::Sys).children();
    let list = groups.find_map(|group| group.attribute(names::LEFT_OUT)?.as_array());
    let read: Option<Vec<LeftOut>> =
        list.unwrap_or_default().iter().map(LeftOut::from_value).collect();
    read.unwrap_or_default()
}

/// Returns the result that a node is the placeholder of.
pub(super) fn cleared_by<'t>(node: NodeRef<'t>) -> Option<&'t str> {
    node.attribute(CLEARED)?.as_str()
}

/// Returns the placeholders of a tree, by the results that they took the place of.
pub(super) fn placeholders(tree: TreeRef<'_>) -> BTreeMap<String, String> {
    let tops = Region::ALL.into_iter().flat_map(|region| tree.region(region).children());
    let nodes = tops.flat_map(NodeRef::subtree).map(|(_, node)| node);
    nodes.filter_map(|node| Some((cleared_by(node)?.to_owned(), node.id().to_owned()))).collect()
}

/// Returns the nodes of each message of a rendering, by its position.
pub(super) fn nodes_of(rendered: &Rendered) -> BTreeMap<usize, Vec<String>> {
    let mut nodes: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for span in rendered.spans.iter().filter(|span| span.slot.list == List::Messages) {
        let of_message = nodes.entry(span.slot.index as usize).or_default();
        if of_message.last().map(String::as_str) != Some(&*span.node) {
            of_message.push(span.node.clone().into());
        }
    }
    nodes
}

/// Returns the messages of the agent's request in their order, given the nodes of those `count` that the tree renders to.
pub(super) fn entries(
    count: usize,
    nodes: impl Fn(usize) -> Vec<String>,
    left_out: Vec<LeftOut>,
    placeholders: &BTreeMap<String, String>,
) -> Vec<Entry> {
    let named = left_out.iter().flat_map(|it| &it.nodes);
    let known: BTreeSet<String> =
        named.flat_map(|id| placeholders.get(id).into_iter().chain([id])).cloned().collect();
    let mut left_out = left_out.into_iter().peekable();
    let mut entries = Vec::new();
    for index in 0..count {
        while let Some(next) = left_out.next_if(|it| it.at == entries.len()) {
            entries.push(Entry::LeftOut(next));
        }
        if !nodes(index).iter().any(|id| known.contains(id)) {
            entries.push(Entry::Rendered(index));
        }
    }
    entries.extend(left_out.map(Entry::LeftOut));
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(at: usize, nodes: &[&str]) -> LeftOut {
        let nodes = nodes.iter().map(|id| (*id).to_owned()).collect();
        LeftOut { at, fingerprint: (at as u64, u64::MAX), role: Role::Assistant, nodes }
    }

    #[test]
    fn attribute_is_read_back() {
        let all = [left_out(0, &["a"]), left_out(7, &[])];
        let Some(Value::Array(list)) = to_attribute(&all) else { panic!("it is a list") };
        let read: Option<Vec<LeftOut>> = list.iter().map(LeftOut::from_value).collect();
        assert_eq!(read.as_deref(), Some(&all[..]));
        assert_eq!(to_attribute(&[]), None);
        for strange in ["[]", r#"[1,"x","user"]"#, r#"{"at":1}"#, r#"[-1,"","user"]"#] {
            let value = contextree_json::parse(strange.as_bytes()).expect("it is JSON");
            assert_eq!(LeftOut::from_value(&value), None, "{strange}");
        }
    }

    #[test]
    fn messages_that_were_left_out_are_in_their_place() {
        let nodes = |index: usize| vec![["a", "b~2", "d"][index].to_owned()];
        let placeholders = BTreeMap::from([("b".to_owned(), "b~2".to_owned())]);
        let given = vec![left_out(1, &["b"]), left_out(2, &["c"]), left_out(4, &["e"])];
        let found = entries(3, nodes, given, &placeholders);
        let words: Vec<String> = found
            .iter()
            .map(|entry| match entry {
                Entry::Rendered(index) => format!("rendered {index}"),
                Entry::LeftOut(it) => it.nodes.concat(),
            })
            .collect();
        assert_eq!(words, ["rendered 0", "b", "c", "rendered 2", "e"]);
    }
}
