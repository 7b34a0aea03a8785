//! Readers of logs: each takes one entry after the other.

mod flat;

use std::collections::BTreeMap;

use contextree_json::Value;

use crate::Provider;
use crate::import::{Format, ImportErrorKind, Session};
use crate::requests::Requests;

/// Reads the entries of a log.
pub(crate) trait Log {
    /// Takes an entry. On an error, nothing of it was added.
    fn entry(
        &mut self,
        value: Value,
        session: &mut Session,
        skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind>;

    /// Ends the log.
    fn end(
        &mut self,
        _session: &mut Session,
        _skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        Ok(())
    }
}

/// Returns the reader of a format.
pub(crate) fn log(format: Format) -> Box<dyn Log> {
    match format {
        Format::OpenAiResponses => Box::new(Requests::new(Provider::OpenAiResponses)),
        Format::Anthropic => Box::new(Requests::new(Provider::Anthropic)),
        Format::Gemini => Box::new(Requests::new(Provider::Gemini)),
        Format::Flat => Box::new(flat::Flat),
        _ => Box::new(Requests::new(Provider::OpenAiChat)),
    }
}
