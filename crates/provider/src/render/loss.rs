//! Defines losses: what a request could not express of the tree.

use std::fmt;

/// Something that the provider cannot express, and how it was rendered instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The kind of loss.
    pub kind: LossKind,
    /// The node.
    pub node: String,
    /// Details: names of fields, a media type.
    pub detail: String,
}

/// The kinds of losses, each with a stable code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LossKind {
    /// Settings of another provider's request were dropped.
    Settings,
    /// Fields of another provider were dropped.
    Field,
    /// A signature of another provider was dropped.
    Signature,
    /// Reasoning was dropped: another provider's, without its signature, or with nothing after it.
    Reasoning,
    /// A part of another provider that has no equivalent was dropped.
    Opaque,
    /// An image, a document or audio was dropped.
    Media,
    /// A result without a call was rendered as text.
    OrphanResult,
    /// A tool call without a result got a placeholder result.
    MissingResult,
    /// A block with the role of a tool but without a call was rendered as user text.
    StrayTool,
    /// A role that the provider does not know was rendered as the user's.
    Role,
    /// Mid-conversation system text was rendered as user text.
    SystemInline,
    /// An empty text was dropped.
    Empty,
    /// The error flag of a tool result was dropped.
    IsError,
    /// Arguments that are not a JSON object were wrapped in one.
    Arguments,
    /// A tool call id was changed to one that the provider accepts.
    CallId,
    /// A tool name was changed to one that the provider accepts.
    Name,
    /// A refusal was rendered as text.
    Refusal,
    /// A text was moved before the tool calls of its message, or a result was moved to its call.
    Order,
    /// A user message was inserted at the beginning, because the provider requires one.
    FirstUser,
    /// A tool definition outside of `^sys` was dropped.
    ToolPlace,
    /// A call of a custom tool was rendered as a function call.
    CustomCall,
}

impl LossKind {
    /// Returns the stable code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            LossKind::Settings => "settings",
            LossKind::Field => "field",
            LossKind::Signature => "signature",
            LossKind::Reasoning => "reasoning",
            LossKind::Opaque => "opaque",
            LossKind::Media => "media",
            LossKind::OrphanResult => "orphan_result",
            LossKind::MissingResult => "missing_result",
            LossKind::StrayTool => "stray_tool",
            LossKind::Role => "role",
            LossKind::SystemInline => "system_inline",
            LossKind::Empty => "empty",
            LossKind::IsError => "is_error",
            LossKind::Arguments => "arguments",
            LossKind::CallId => "call_id",
            LossKind::Name => "name",
            LossKind::Refusal => "refusal",
            LossKind::Order => "order",
            LossKind::FirstUser => "first_user",
            LossKind::ToolPlace => "tool_place",
            LossKind::CustomCall => "custom_call",
        }
    }

    /// Returns a description for people.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            LossKind::Settings => "dropped: settings of another provider",
            LossKind::Field => "dropped: fields of another provider",
            LossKind::Signature => "dropped: a signature of another provider",
            LossKind::Reasoning => "dropped: reasoning",
            LossKind::Opaque => "dropped: a part that only another provider understands",
            LossKind::Media => "dropped: media",
            LossKind::OrphanResult => "rendered as text: a tool result without a call",
            LossKind::MissingResult => "added: a placeholder result for a tool call without one",
            LossKind::StrayTool => "rendered as user text: tool text without a call",
            LossKind::Role => "rendered as the user's: an unknown role",
            LossKind::SystemInline => "rendered as user text: mid-conversation system text",
            LossKind::Empty => "dropped: an empty text",
            LossKind::IsError => "dropped: the error flag of a tool result",
            LossKind::Arguments => "wrapped: arguments that are not a JSON object",
            LossKind::CallId => "changed: a tool call id",
            LossKind::Name => "changed: a tool name",
            LossKind::Refusal => "rendered as text: a refusal",
            LossKind::Order => "moved: a text before the tool calls, or a result to its call",
            LossKind::FirstUser => "added: a user message at the beginning",
            LossKind::ToolPlace => "dropped: a tool defined outside of `^sys`",
            LossKind::CustomCall => "rendered as a function call: a call of a custom tool",
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`: {}", self.node, self.kind.meaning())?;
        if !self.detail.is_empty() {
            write!(formatter, " ({})", self.detail)?;
        }
        Ok(())
    }
}
