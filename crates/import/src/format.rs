//! Names the formats that can be imported.

use std::fmt;
use std::str::FromStr;

use contextree_provider::Provider;

/// A format of requests or logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// Detect the format from the first documents or lines.
    Auto,
    /// Requests, fine-tuning lines or single messages of Chat Completions.
    OpenAiChat,
    /// Requests or single items of OpenAI Responses.
    OpenAiResponses,
    /// Requests or single messages of Anthropic Messages.
    Anthropic,
    /// Requests or single contents of Gemini.
    Gemini,
    /// LangChain messages, as written by `messages_to_dict` or `dumpd`.
    LangChain,
    /// ShareGPT conversations.
    ShareGpt,
    /// Claude Code session logs.
    ClaudeCode,
    /// Codex rollouts.
    Codex,
    /// Gemini CLI sessions.
    GeminiCli,
    /// pi sessions.
    Pi,
    /// Spans and events of the OpenTelemetry conventions for generative AI.
    OTel,
    /// Trajectories of SWE-agent.
    SweAgent,
    /// Messages of agents whose calls are `{"id":…,"name":…,"arguments":…}`.
    PlainChat,
    /// `{"role":…,"content":…}` with any other fields.
    Flat,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 15] = [
        Format::Auto,
        Format::OpenAiChat,
        Format::OpenAiResponses,
        Format::Anthropic,
        Format::Gemini,
        Format::LangChain,
        Format::ShareGpt,
        Format::ClaudeCode,
        Format::Codex,
        Format::GeminiCli,
        Format::Pi,
        Format::OTel,
        Format::SweAgent,
        Format::PlainChat,
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
            Format::GeminiCli => "gemini-cli",
            Format::Pi => "pi",
            Format::OTel => "otel",
            Format::SweAgent => "swe-agent",
            Format::PlainChat => "plain-chat",
            Format::Flat => "flat",
        }
    }

    /// Returns the provider whose requests are closest to the format.
    #[must_use]
    pub fn provider(self) -> Provider {
        match self {
            Format::Anthropic | Format::ClaudeCode | Format::Pi => Provider::Anthropic,
            Format::OpenAiResponses | Format::Codex => Provider::OpenAiResponses,
            Format::Gemini | Format::GeminiCli => Provider::Gemini,
            _ => Provider::OpenAiChat,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Not the name of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFormat(
    /// The name.
    pub String,
);

impl fmt::Display for UnknownFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Format::ALL.map(Format::name).join("`, `");
        write!(formatter, "unknown format `{}`; expected one of `{names}`", self.0)
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
