//! A block as a part of a message: its role and its kind.

use contextree_json::Value;
use contextree_tree::{Content, NodeRef, Region};

use super::View;
use super::names;
use crate::Provider;

/// The roles that every provider has in some form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The developer: system text.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool: its result.
    Tool,
}

/// The kind of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A tool call.
    Call,
    /// A tool result.
    Result,
    /// An image.
    Image,
    /// A document.
    Document,
    /// Audio.
    Audio,
    /// Reasoning of the model before its answer.
    Reasoning,
    /// A refusal in place of an answer.
    Refusal,
    /// A tool definition.
    Tool,
    /// Something that only one provider understands, kept unchanged.
    Opaque,
}

/// One block, ready to be rendered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    pub(crate) node: NodeRef<'a>,
    pub(crate) role: Role,
    pub(crate) kind: Kind,
    /// Whether this is a result without a call, which can only be rendered as text.
    pub(crate) orphan: bool,
    /// Whether this is a call without a later result.
    pub(crate) open: bool,
    /// Whether this result was moved forward.
    pub(crate) moved: bool,
    /// Which use of its id this is, if the provider requires unique ids; 0 for the first use.
    pub(crate) repeat: u32,
    /// The call that this result answers, for providers that accept results anywhere after their
    /// calls.
    pub(crate) call: Option<NodeRef<'a>>,
}

impl<'a> Part<'a> {
    /// Returns a block of a region as a part.
    pub(crate) fn of(node: NodeRef<'a>, region: Region) -> Self {
        let provided = node.attribute(names::PROVIDER).is_some();
        let mut kind = kind_of(node.kind(), node.content(), provided);
        let role = match node.role() {
            Some(role) => role_of(role),
            None if region == Region::Sys => Role::System,
            None => Role::User,
        };
        if role == Role::Tool && kind == Kind::Text && node.attribute(names::CALL_ID).is_some() {
            kind = Kind::Result;
        }
        let role = match kind {
            Kind::Call | Kind::Reasoning | Kind::Refusal => Role::Assistant,
            Kind::Result => Role::Tool,
            // A result needs a call, so a tool's text without one is rendered as the user's.
            _ if role == Role::Tool => Role::User,
            _ => role,
        };
        let (orphan, open, moved) = (false, false, false);
        Part { node, role, kind, orphan, open, moved, repeat: 0, call: None }
    }

    /// Returns the part without its place in a tree.
    pub(crate) fn view(&self) -> View<'a> {
        View::of_node(self.node, self.kind)
    }

    /// Returns the id that links a call to its result.
    pub(crate) fn call_id(&self) -> Option<&'a Value> {
        let own = self.node.attribute(names::TOOL_CALL_ID);
        own.or_else(|| self.node.attribute(names::CALL_ID))
    }

    /// Returns the number of the imported message, if recorded.
    pub(crate) fn message(&self) -> Option<u64> {
        self.node.attribute(names::MESSAGE)?.as_u64()
    }

    /// Returns whether the block was imported in another message than the block before it, although
    /// both are of the same side.
    pub(crate) fn is_apart_from(&self, before: &Part<'_>) -> bool {
        let number = self.node.attribute(names::APART);
        number.is_some() && number != before.node.attribute(names::APART)
    }

    /// Returns whether a hand-written tree gave the block the role of a tool without a call.
    pub(crate) fn is_stray_tool(&self) -> bool {
        self.role == Role::User && self.node.role().is_some_and(|role| role_of(role) == Role::Tool)
    }

    /// Returns the provider's own name of the role, if this is the provider.
    pub(crate) fn own_role(&self, provider: Provider) -> Option<&'a str> {
        let word = self.node.attribute(names::ROLE)?.as_str()?;
        self.view().is_from(provider).then_some(word)
    }
}

/// Returns the kind that a name means. An unknown name is text, unless it belongs to a provider.
pub(crate) fn kind_of(kind: Option<&str>, content: &Content, provided: bool) -> Kind {
    let own = provided && matches!(content, Content::Json(_));
    match kind {
        Some("call" | "tool_call" | "tool_use" | "function_call") => Kind::Call,
        Some("result" | "tool_result") => Kind::Result,
        Some("reasoning" | "thinking") => Kind::Reasoning,
        Some("tool") => Kind::Tool,
        // Non-text content of a text or media kind has a form that only its provider knows.
        Some(_) if own => Kind::Opaque,
        Some("refusal") => Kind::Refusal,
        Some("image") => Kind::Image,
        Some("document" | "file") => Kind::Document,
        Some("audio") => Kind::Audio,
        _ => Kind::Text,
    }
}

/// Returns the role that a name means. An unknown name addresses the model, like a user.
#[must_use]
pub fn role_of(word: &str) -> Role {
    match word {
        "system" | "developer" => Role::System,
        "assistant" | "model" | "ai" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        _ => Role::User,
    }
}
