//! The content of `^sys`: settings, tools, system text, and other blocks.

use contextree_json::Object;
use contextree_tree::{Class, NodeRef, Region, TreeRef};

use crate::parts::names;
use crate::parts::{Kind, Part, Role};

/// The parsed content of `^sys`.
#[derive(Debug, Default)]
pub(crate) struct Preamble<'a> {
    /// Settings, each with its node and the name of its provider.
    pub(crate) settings: Vec<(&'a str, Option<&'a str>, &'a Object)>,
    /// Groups that hold marks.
    pub(crate) marks: Vec<NodeRef<'a>>,
    pub(crate) tools: Vec<Part<'a>>,
    pub(crate) system: Vec<Part<'a>>,
    /// Blocks of other roles; they start the conversation.
    pub(crate) rest: Vec<Part<'a>>,
}

impl<'a> Preamble<'a> {
    pub(crate) fn of(tree: TreeRef<'a>) -> Self {
        let mut preamble = Preamble::default();
        for (_, node) in tree.region(Region::Sys).subtree() {
            if let Some(settings) = node.attribute(names::SETTINGS).and_then(|it| it.as_object()) {
                let provider = node.attribute(names::PROVIDER).and_then(|it| it.as_str());
                preamble.settings.push((node.id(), provider, settings));
            }
            if node.class() != Class::Block {
                if is_marks(node) {
                    preamble.marks.push(node);
                }
                continue;
            }
            let part = Part::of(node, Region::Sys);
            match (part.kind, part.role) {
                (Kind::Tool, _) => preamble.tools.push(part),
                (_, Role::System) => preamble.system.push(part),
                _ => preamble.rest.push(part),
            }
        }
        preamble
    }
}

/// Returns whether a group holds the marks of the newest request.
pub(crate) fn is_marks(node: NodeRef<'_>) -> bool {
    [names::MARKS, names::FORMS].iter().any(|name| node.attribute(name).is_some())
}
