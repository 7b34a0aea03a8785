//! Why a cache is missed, in the words that providers use when they say it.

/// The part of a request that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// The model.
    Model,
    /// Definitions of tools.
    Tools,
    /// System text.
    System,
    /// The conversation.
    Messages,
    /// OpenAI: the schema of the answer.
    TextFormat,
    /// OpenAI: how long to think.
    ReasoningEffort,
    /// OpenAI: how much to say.
    Verbosity,
    /// OpenAI: the key that leads to the same machine.
    PromptCacheKey,
    /// OpenAI: the service tier.
    ServiceTier,
    /// Anthropic: whether and how long to think. Tools and system text can still be read.
    Thinking,
    /// Anthropic: which tool is to be called. Tools and system text can still be read.
    ToolChoice,
}

impl Reason {
    /// Returns the word: `system_changed`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Reason::Model => "model_changed",
            Reason::Tools => "tools_changed",
            Reason::System => "system_changed",
            Reason::Messages => "messages_changed",
            Reason::TextFormat => "text_format_changed",
            Reason::ReasoningEffort => "reasoning_effort_changed",
            Reason::Verbosity => "verbosity_changed",
            Reason::PromptCacheKey => "prompt_cache_key_changed",
            Reason::ServiceTier => "service_tier_changed",
            Reason::Thinking => "thinking_changed",
            Reason::ToolChoice => "tool_choice_changed",
        }
    }
}
