//! Collects findings, and checks the rules that several providers share.

use contextree_json::Value;

use super::finding::{Finding, Severity};
use crate::id_set::IdSet;
use crate::render::wire::fits_name;
use crate::{List, Provider, Slot};

/// The findings of a pass over a request, and ids that it has seen.
pub(super) struct Report {
    pub(super) provider: Provider,
    /// What was found, each with its place in the result. It is twice the number of findings before
    /// it, plus one unless it was confirmed later: that precedes what was found in between.
    found: Vec<(usize, Finding)>,
    /// Ids of calls or items.
    pub(super) ids: IdSet,
    /// Ids of approval requests.
    pub(super) approvals: IdSet,
}

/// Where a finding belongs that is confirmed later, see [`Report::place`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Place(usize);

/// How far a [`Report`] has grown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    found: usize,
    ids: usize,
    approvals: usize,
}

/// Returns a slot in the list of tools.
pub(super) fn tool_at(index: usize) -> Slot {
    Slot { list: List::Tools, index: index as u32, inner: None }
}

/// Returns a slot in the list of messages.
pub(super) fn at(index: usize) -> Slot {
    Slot { list: List::Messages, index: index as u32, inner: None }
}

/// Returns a slot in a list inside a message.
pub(super) fn within(index: usize, list: &'static str, inner: usize) -> Slot {
    Slot { inner: Some((list, inner as u32)), ..at(index) }
}

impl Report {
    pub(super) fn new(provider: Provider) -> Self {
        let (ids, approvals) = (IdSet::default(), IdSet::default());
        Report { provider, found: Vec::new(), ids, approvals }
    }

    pub(super) fn length(&self) -> Length {
        let (ids, approvals) = (self.ids.len(), self.approvals.len());
        Length { found: self.found.len(), ids, approvals }
    }

    /// Drops everything beyond a length.
    pub(super) fn truncate(&mut self, length: Length) {
        self.found.truncate(length.found);
        self.ids.truncate(length.ids);
        self.approvals.truncate(length.approvals);
    }

    /// Returns a report with the same findings, to which what only the end of a request shows can be
    /// added.
    pub(super) fn to_ending(&self) -> Self {
        Report { found: self.found.clone(), ..Report::new(self.provider) }
    }

    /// Returns the findings so far, in no particular order.
    pub(super) fn findings_mut(&mut self) -> impl Iterator<Item = &mut Finding> {
        self.found.iter_mut().map(|(_, finding)| finding)
    }

    pub(super) fn into_findings(mut self) -> Vec<Finding> {
        self.found.sort_by_key(|(place, _)| *place);
        self.found.into_iter().map(|(_, finding)| finding).collect()
    }

    /// Returns the place of what is suspected now, for [`Report::confirm`].
    pub(super) fn place(&self) -> Place {
        Place(self.found.len())
    }

    fn add(&mut self, code: &'static str, severity: Severity, slot: Option<Slot>, message: String) {
        self.add_at(self.found.len() * 2 + 1, code, severity, slot, message);
    }

    fn add_at(
        &mut self,
        place: usize,
        code: &'static str,
        severity: Severity,
        slot: Option<Slot>,
        message: String,
    ) {
        let path = slot.map_or_else(String::new, |slot| slot.path(self.provider));
        self.found.push((place, Finding { code, severity, message, node: None, path, slot }));
    }

    pub(super) fn error(&mut self, code: &'static str, slot: Slot, message: impl Into<String>) {
        self.add(code, Severity::Error, Some(slot), message.into());
    }

    pub(super) fn warning(&mut self, code: &'static str, slot: Slot, message: impl Into<String>) {
        self.add(code, Severity::Warning, Some(slot), message.into());
    }

    /// Reports what was suspected before: the result has it at that place.
    pub(super) fn confirm(
        &mut self,
        Place(place): Place,
        code: &'static str,
        severity: Severity,
        slot: Slot,
        message: &str,
    ) {
        self.add_at(place * 2, code, severity, Some(slot), message.to_owned());
    }

    /// Reports an error of the whole request.
    pub(super) fn whole(&mut self, code: &'static str, message: &str) {
        self.add(code, Severity::Error, None, message.to_owned());
    }

    /// Reports a problem of the whole request that only some models refuse.
    pub(super) fn whole_warning(&mut self, code: &'static str, message: &str) {
        self.add(code, Severity::Warning, None, message.to_owned());
    }

    /// Lints everything but the conversation.
    pub(super) fn settings(&mut self, request: &Value) {
        let needed: &[&str] = match self.provider {
            Provider::Anthropic => &["model", "max_tokens"],
            // Gemini has the model in the URL.
            Provider::Gemini => &[],
            // A stored prompt has its own model.
            Provider::OpenAiResponses if request.get("prompt").is_some() => &[],
            _ => &["model"],
        };
        for name in needed {
            if request.get(name).is_none() {
                let message = format!("the required setting `{name}` is missing");
                self.add("required_field", Severity::Warning, None, message);
            }
        }
        let tools = request.get("tools").and_then(Value::as_array).unwrap_or_default();
        let mut names: Vec<&str> = Vec::new();
        for (index, tool) in tools.iter().enumerate() {
            let slot = tool_at(index);
            let declared = tool.get("functionDeclarations").and_then(Value::as_array);
            let own = match self.provider {
                Provider::OpenAiChat => {
                    let tool = tool.get("function").or_else(|| tool.get("custom"));
                    tool.and_then(|it| it.get("name"))
                }
                _ => tool.get("name"),
            };
            let named = declared.unwrap_or_default().iter().map(|it| it.get("name"));
            for (inner, name) in named.chain([own]).enumerate() {
                let Some(name) = name.and_then(Value::as_str) else { continue };
                let inner = declared.map(|_| ("functionDeclarations", inner as u32));
                let slot = Slot { inner, ..slot };
                if !fits_name(name, self.provider) {
                    self.error("tool_name", slot, format!("`{name}` is not a valid tool name"));
                }
                if names.contains(&name) {
                    self.error("duplicate_tool", slot, format!("duplicate tool name `{name}`"));
                }
                names.push(name);
            }
        }
    }
}

/// Returns a string field of an object.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

/// Returns a list field of an object; an empty list if it is missing.
pub(super) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).unwrap_or_default()
}
