//! `lint`: requests and lists of messages that another program wrote, checked before they are sent.

use contextree::import::{Format, detect, is_lines, without_byte_order_mark};
use contextree::provider::{Provider, lint_value};
use contextree_json::{Value, lines, parse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::{Document, Finding, Severity, Word};
use crate::{Advice, Control, Error};

/// Checks requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LintRequest {
    /// A request, a list of messages, or a log with one on each line.
    pub document: Document,
    /// The provider; detected if it is absent.
    #[serde(default)]
    pub format: Option<Word<Provider>>,
}

/// What is wrong with requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LintResponse {
    /// What their provider would refuse or misread.
    pub findings: Vec<Finding>,
    /// The number of requests.
    pub requests: usize,
    /// False if one of them would be refused.
    pub accepted: bool,
}

/// Checks requests: what their provider would refuse, and where.
///
/// # Errors
///
/// If the text is not JSON, or the provider is not known.
pub fn lint(request: &LintRequest, control: &Control<'_>) -> Result<LintResponse, Error> {
    let place = &request.document.name;
    let text = without_byte_order_mark(&request.document.text);
    let mut findings = Vec::new();
    let mut requests = 0;
    for (line, text) in parts(text) {
        control.check()?;
        let at = match line {
            Some(line) => format!("{place}: line {line}"),
            None => place.clone(),
        };
        let value = parse(text).map_err(|error| {
            let message = match line {
                Some(_) => format!("{at}: not JSON: {}", error.in_line()),
                None => format!("{at}: not JSON: {error}"),
            };
            Error::new(error.code(), message)
                .with_detail("place", place.as_str())
                .with_hint("a request is a JSON object")
        })?;
        let provider = match request.format {
            Some(format) => format.0,
            None => provider_of(&value, &at)?,
        };
        requests += 1;
        let found = lint_value(&value, provider);
        findings.extend(found.iter().map(|found| Finding { line, ..Finding::from(found) }));
    }
    let accepted = !findings.iter().any(|finding| finding.severity == Severity::Error);
    Ok(LintResponse { findings, requests, accepted })
}

/// Returns the requests of a text, with their lines where it has several.
fn parts(text: &[u8]) -> Vec<(Option<u64>, &[u8])> {
    if !is_lines(text) {
        return vec![(None, text)];
    }
    let numbered = lines(text).zip(1..).filter(|(line, _)| !line.trim_ascii().is_empty());
    numbered.map(|(line, number)| (Some(number), line)).collect()
}

/// Returns the provider of a request, or of a list of messages. A list of `{"role":…,"content":…}` is one of Chat Completions.
fn provider_of(request: &Value, at: &str) -> Result<Provider, Error> {
    let provider = match detect(request) {
        Some(Format::Flat) if request.as_array().is_some() => Some(Format::Flat.provider()),
        format => format.and_then(|format| format.name().parse().ok()),
    };
    provider.ok_or_else(|| {
        Error::new("E_IMPORT_FORMAT", format!("{at}: not a request of a known provider"))
            .with_advice(Advice::NameProvider)
    })
}
