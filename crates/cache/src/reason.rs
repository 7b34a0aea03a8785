//! Names the reasons of cache misses, as providers do.

/// The part of a request that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// The model.
    Model,
    /// The tool definitions.
    Tools,
    /// The system text.
    System,
    /// The conversation.
    Messages,
    /// OpenAI: the schema of the answer.
    TextFormat,
    /// OpenAI: the reasoning effort.
    ReasoningEffort,
    /// OpenAI: the verbosity.
    Verbosity,
    /// OpenAI: the key that routes requests to the same machine.
    PromptCacheKey,
    /// OpenAI: the service tier.
    ServiceTier,
    /// Anthropic: the thinking settings. Tools and system text can still be read.
    Thinking,
    /// Anthropic: the tool choice. Tools and system text can still be read.
    ToolChoice,
}

impl Reason {
    /// Returns the name: `system_changed`.
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
