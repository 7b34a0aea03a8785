//! What did not reach the request as it stands in the tree.

use std::fmt;

/// Something that the provider cannot express, and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// What kind of thing.
    pub kind: LossKind,
    /// The node.
    pub node: String,
    /// More about it: the names of fields, a media type.
    pub detail: String,
}

/// The kinds of losses. Each has a stable code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LossKind {
    /// Settings of another provider's request were left out.
    Settings,
    /// Fields of another provider's were left out.
    Field,
    /// A signature of another provider's was left out.
    Signature,
    /// Reasoning was left out: another provider's, without its signature, or without what it led to.
    Reasoning,
    /// Something of another provider's that has no counterpart was left out.
    Opaque,
    /// An image, a document or a sound was left out.
    Media,
    /// A result without a call was rendered as text.
    OrphanResult,
    /// A call without a result was given one that says so.
    MissingResult,
    /// A block with the role of a tool and without a call was rendered as text of the user.
    StrayTool,
    /// A role that the provider does not know was rendered as the user's.
    Role,
    /// System text in the middle of a conversation was rendered as text of the user.
    SystemInline,
    /// An empty text was left out.
    Empty,
    /// That a result is an error could not be said.
    IsError,
    /// Arguments that are no JSON object were wrapped into one.
    Arguments,
    /// The id of a call was changed to what the provider accepts.
    CallId,
    /// The name of a tool was changed to what the provider accepts.
    Name,
    /// A refusal was rendered as text.
    Refusal,
    /// A text was moved before the calls of its message, or a result forward to its call.
    Order,
    /// A message of the user was put at the beginning, because the conversation must begin with one.
    FirstUser,
    /// The definition of a tool outside of `^sys` was left out.
    ToolPlace,
    /// A call of a custom tool was rendered as a call of a function.
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

    /// Returns what was done, for people.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            LossKind::Settings => "settings of another provider were left out",
            LossKind::Field => "fields of another provider were left out",
            LossKind::Signature => "a signature of another provider was left out",
            LossKind::Reasoning => "reasoning was left out",
            LossKind::Opaque => "a part that only another provider knows was left out",
            LossKind::Media => "media was left out",
            LossKind::OrphanResult => "a result without a call was rendered as text",
            LossKind::MissingResult => "a call without a result was given one that says so",
            LossKind::StrayTool => "a tool's text without a call was rendered as the user's",
            LossKind::Role => "an unknown role was rendered as the user's",
            LossKind::SystemInline => "system text among messages was rendered as the user's",
            LossKind::Empty => "an empty text was left out",
            LossKind::IsError => "that the result is an error could not be said",
            LossKind::Arguments => "arguments that are no JSON object were wrapped",
            LossKind::CallId => "the id of a call was changed",
            LossKind::Name => "the name of a tool was changed",
            LossKind::Refusal => "a refusal was rendered as text",
            LossKind::Order => "a text was moved before the calls, or a result behind them",
            LossKind::FirstUser => "a message of the user was put at the beginning",
            LossKind::ToolPlace => "a tool defined outside of `^sys` was left out",
            LossKind::CustomCall => "a call of a custom tool was rendered as one of a function",
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
