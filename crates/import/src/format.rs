//! The formats that can be imported.

use std::fmt;
use std::str::FromStr;

use contextree_provider::Provider;

/// A format of requests or logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// Whatever the first document or line looks like.
    Auto,
    /// Requests, fine-tuning lines or single messages of Chat Completions.
    OpenAiChat,
    /// Requests or single items of OpenAI Responses.
    OpenAiResponses,
    /// Requests or single messages of Anthropic Messages.
    Anthropic,
    /// Requests or single contents of Gemini.
    Gemini,
    /// Messages of LangChain, as `messages_to_dict` or `dumpd` write them.
    LangChain,
    /// Conversations of ShareGPT.
    ShareGpt,
    /// Session logs of Claude Code.
    ClaudeCode,
    /// Rollouts of Codex.
    Codex,
    /// Spans and events of the OpenTelemetry conventions for generative models.
    OTel,
    /// `{"role":…,"content":…}` and whatever else.
    Flat,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 11] = [
        Format::Auto,
        Format::OpenAiChat,
        Format::OpenAiResponses,
        Format::Anthropic,
        Format::Gemini,
        Format::LangChain,
        Format::ShareGpt,
        Format::ClaudeCode,
        Format::Codex,
        Format::OTel,
        Format::Flat,
    ];

    /// Returns the name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Auto => "auto",
            Format::OpenAiChat => "openai-chat",
            Format::OpenAiResponses => "openai-responses",
            Format::Anthropic => "anthropic",
            Format::Gemini => "gemini",
            Format::LangChain => "langchain",
            Format::ShareGpt => "sharegpt",
            Format::ClaudeCode => "claude-code",
            Format::Codex => "codex",
            Format::OTel => "otel",
            Format::Flat => "flat",
        }
    }

    /// Returns the provider whose requests the format is nearest to.
    #[must_use]
    pub fn provider(self) -> Provider {
        match self {
            Format::Anthropic | Format::ClaudeCode => Provider::Anthropic,
            Format::OpenAiResponses | Format::Codex => Provider::OpenAiResponses,
            Format::Gemini => Provider::Gemini,
            _ => Provider::OpenAiChat,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A name that is no format's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFormat(
    /// The name.
    pub String,
);

impl fmt::Display for UnknownFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Format::ALL.map(Format::name).join("`, `");
        write!(formatter, "unknown format `{}`; there are `{names}`", self.0)
    }
}

impl std::error::Error for UnknownFormat {}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let found = Format::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}
