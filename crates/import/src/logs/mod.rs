//! Readers of logs, which take one entry after the other.

mod chat;
mod claude_code;
mod codex;
mod flat;
mod gemini_cli;
mod langchain;
mod messages;
pub(crate) mod otel;
mod pi;
mod plain_chat;
pub(crate) mod requests;
mod sharegpt;
mod swe_agent;

use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{Incoming, set};
use contextree_tree::NewNode;

use crate::error::ImportErrorKind;
use crate::format::Format;
use crate::session::Session;
use requests::Requests;

/// An entry of a log, read as far as possible without the entries before it.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// Not read yet.
    Value(Value),
    /// A message, and its time if it is known.
    Message { message: Incoming, time: Option<i64> },
    /// A line of a Claude Code session.
    Claude(claude_code::Line),
    /// Not a message, although it should be.
    Bad(ImportErrorKind),
}

/// Reads an entry ahead. A [`Log`] would return the same message or the same error.
pub(crate) fn read_ahead(format: Format, value: Value) -> Entry {
    match format {
        Format::OpenAiChat | Format::OpenAiResponses | Format::Anthropic | Format::Gemini => {
            requests::read_ahead(format.provider(), value)
        }
        Format::LangChain => messages::read_ahead(value),
        Format::ClaudeCode if value.as_object().is_some() => {
            claude_code::read(value).map_or_else(Entry::Bad, Entry::Claude)
        }
        _ => Entry::Value(value),
    }
}

/// Copies a reader, so that the end of a log can be tried.
pub(crate) trait Boxed {
    fn boxed(&self) -> Box<dyn Log + Send>;
}

impl<T: Log + Clone + Send + 'static> Boxed for T {
    fn boxed(&self) -> Box<dyn Log + Send> {
        Box::new(self.clone())
    }
}

/// Reads the entries of a log.
pub(crate) trait Log: Boxed {
    /// Reads an entry. On an error, nothing of it was added.
    fn entry(&mut self, value: Value, session: &mut Session<'_>) -> Result<(), ImportErrorKind>;

    /// Takes an entry that was read ahead.
    fn take(&mut self, entry: Entry, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        match entry {
            Entry::Value(value) => self.entry(value, session),
            Entry::Message { message, time } => {
                session.state.at(time);
                session.single(message)
            }
            Entry::Bad(kind) => Err(kind),
            Entry::Claude(_) => unreachable!("only the reader of its format reads it ahead"),
        }
    }

    /// Notes the orders of keys in the requests of the entry that follows.
    fn note_orders(&mut self, _orders: requests::Orders) {}

    /// Ends the log.
    fn end(&mut self, _session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        Ok(())
    }
}

/// Returns a block with content that no provider understands: it is kept and never rendered. Its
/// type stays inside the content, because as the kind of the block it could be mistaken for a call
/// or a result.
fn foreign(format: &str, value: Value) -> NewNode {
    NewNode::json(value).kind("foreign").attribute(names::PROVIDER, format)
}

/// Records what a log notes about a block. An earlier note about the block alone becomes part of
/// it.
fn note(node: &mut NewNode, mut entry: Object) {
    if entry.is_empty() {
        return;
    }
    if let Some(place) = node.attributes.iter().position(|(name, _)| name == names::ENTRY) {
        let (_, before) = node.attributes.remove(place);
        entry.insert("part", before);
    }
    set(node, names::ENTRY, Value::Object(entry));
}

/// Returns the reader of a format.
pub(crate) fn log(format: Format) -> Box<dyn Log + Send> {
    match format {
        Format::OpenAiResponses => Box::new(Requests::new(Provider::OpenAiResponses)),
        Format::Anthropic => Box::new(Requests::new(Provider::Anthropic)),
        Format::Gemini => Box::new(Requests::new(Provider::Gemini)),
        Format::LangChain => Box::new(messages::Messages),
        Format::ShareGpt => Box::new(sharegpt::ShareGpt),
        Format::ClaudeCode => Box::new(claude_code::ClaudeCode::default()),
        Format::Codex => Box::new(codex::Codex::default()),
        Format::OTel => Box::new(otel::OTel::default()),
        Format::GeminiCli => Box::new(gemini_cli::GeminiCli::default()),
        Format::Pi => Box::new(pi::Pi::default()),
        Format::PlainChat => Box::new(plain_chat::PlainChat),
        Format::SweAgent => Box::new(swe_agent::SweAgent),
        Format::Flat => Box::new(flat::Flat),
        Format::OpenAiChat | Format::Auto => Box::new(Requests::new(Provider::OpenAiChat)),
    }
}
