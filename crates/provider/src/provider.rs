//! The providers whose requests can be rendered.

use std::fmt;
use std::str::FromStr;

/// A request format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI, Chat Completions: `messages`.
    OpenAiChat,
    /// OpenAI, Responses: `instructions` and `input` items.
    OpenAiResponses,
    /// Anthropic, Messages: `system` and `messages` of blocks.
    Anthropic,
    /// Gemini, `generateContent`: `systemInstruction` and `contents` of parts.
    Gemini,
}

impl Provider {
    /// Every provider.
    pub const ALL: [Provider; 4] =
        [Provider::OpenAiChat, Provider::OpenAiResponses, Provider::Anthropic, Provider::Gemini];

    /// Returns the name, as on the command line and in the attribute `data_provider`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Provider::OpenAiChat => "openai-chat",
            Provider::OpenAiResponses => "openai-responses",
            Provider::Anthropic => "anthropic",
            Provider::Gemini => "gemini",
        }
    }

    /// Returns the name of the field that holds the conversation.
    #[must_use]
    pub fn messages_field(self) -> &'static str {
        match self {
            Provider::OpenAiChat | Provider::Anthropic => "messages",
            Provider::OpenAiResponses => "input",
            Provider::Gemini => "contents",
        }
    }

    /// Returns the name of the field that sets a cache breakpoint on a part of a message; `None` if
    /// the provider has none.
    #[must_use]
    pub fn breakpoint_field(self) -> Option<&'static str> {
        match self {
            Provider::OpenAiChat | Provider::OpenAiResponses => Some("prompt_cache_breakpoint"),
            Provider::Anthropic => Some("cache_control"),
            Provider::Gemini => None,
        }
    }

    /// Returns the request fields that the tree determines; settings cannot have these names.
    pub(crate) fn reserved_fields(self) -> &'static [&'static str] {
        match self {
            Provider::OpenAiChat => &["messages", "tools"],
            Provider::OpenAiResponses => &["input", "instructions", "tools"],
            Provider::Anthropic => &["messages", "system", "tools"],
            Provider::Gemini => &["contents", "systemInstruction", "tools"],
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Not the name of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownProvider(
    /// The name.
    pub String,
);

impl fmt::Display for UnknownProvider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Provider::ALL.map(Provider::name).join("`, `");
        write!(formatter, "unknown provider `{}`; expected one of `{names}`", self.0)
    }
}

impl std::error::Error for UnknownProvider {}

impl FromStr for Provider {
    type Err = UnknownProvider;

    fn from_str(name: &str) -> Result<Self, UnknownProvider> {
        let found = Provider::ALL.into_iter().find(|provider| provider.name() == name);
        found.ok_or_else(|| UnknownProvider(name.to_owned()))
    }
}
