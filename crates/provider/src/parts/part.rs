//! A block as a part of a message: who says it, and what it is.

use contextree_json::Value;
use contextree_tree::{Content, NodeRef, Region};

use super::View;
use super::names;
use crate::Provider;

/// Who speaks, in the words that all providers can be brought to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The developer, in system text.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool, with its result.
    Tool,
}

/// What a part is.
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
    /// Sound.
    Audio,
    /// What the model thinks before it answers.
    Reasoning,
    /// What the model says instead of an answer.
    Refusal,
    /// The definition of a tool.
    Tool,
    /// Something of one provider's, kept as it came.
    Opaque,
}

/// One block, ready to be rendered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    pub(crate) node: NodeRef<'a>,
    pub(crate) role: Role,
    pub(crate) kind: Kind,
    /// A result without a call: it can only be rendered as text.
    pub(crate) orphan: bool,
    /// A call without a result anywhere behind it.
    pub(crate) open: bool,
    /// A result that stood further behind.
    pub(crate) moved: bool,
    /// Which use of its id this is, if the provider wants each to be used once and it is not the first.
    pub(crate) repeat: u32,
    /// The call that a result answers, where that may stand anywhere.
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
            // Nobody can answer a call that was not made.
            _ if role == Role::Tool => Role::User,
            _ => role,
        };
        let (orphan, open, moved) = (false, false, false);
        Part { node, role, kind, orphan, open, moved, repeat: 0, call: None }
    }

    /// Returns what the part says.
    pub(crate) fn view(&self) -> View<'a> {
        View::of_node(self.node, self.kind)
    }

    /// Returns the id by which a call and its results know each other.
    pub(crate) fn call_id(&self) -> Option<&'a Value> {
        let own = self.node.attribute(names::TOOL_CALL_ID);
        own.or_else(|| self.node.attribute(names::CALL_ID))
    }

    /// Returns the number of the message that the part came in, if it matters.
    pub(crate) fn message(&self) -> Option<u64> {
        self.node.attribute(names::MESSAGE)?.as_u64()
    }

    /// Returns true if a tree that was written by hand gave the block the role of a tool, and no call.
    pub(crate) fn is_stray_tool(&self) -> bool {
        self.role == Role::User && self.node.role().is_some_and(|role| role_of(role) == Role::Tool)
    }

    /// Returns a provider's own word for the role, if this is the provider.
    pub(crate) fn own_role(&self, provider: Provider) -> Option<&'a str> {
        let word = self.node.attribute(names::ROLE)?.as_str()?;
        self.view().is_from(provider).then_some(word)
    }
}

/// Returns what a kind means; a kind that is not known is text, unless it is a provider's own.
pub(crate) fn kind_of(kind: Option<&str>, content: &Content, provided: bool) -> Kind {
    let own = provided && matches!(content, Content::Json(_));
    match kind {
        Some("call" | "tool_call" | "tool_use" | "function_call") => Kind::Call,
        Some("result" | "tool_result") => Kind::Result,
        Some("reasoning" | "thinking") => Kind::Reasoning,
        Some("tool") => Kind::Tool,
        // Media and text that are no text are said in a way that only their provider has.
        Some(_) if own => Kind::Opaque,
        Some("refusal") => Kind::Refusal,
        Some("image") => Kind::Image,
        Some("document" | "file") => Kind::Document,
        Some("audio") => Kind::Audio,
        _ => Kind::Text,
    }
}

/// Returns the role that a word means; a word that is not known speaks to the model, like a user.
#[must_use]
pub fn role_of(word: &str) -> Role {
    match word {
        "system" | "developer" => Role::System,
        "assistant" | "model" | "ai" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        _ => Role::User,
    }
}
