//! Collects findings, and checks the rules that several providers share.

use contextree_json::Value;

use super::finding::{Finding, Severity};
use crate::render::wire::fits_name;
use crate::{List, Provider, Slot};

/// The findings of one request.
pub(super) struct Report {
    pub(super) provider: Provider,
    pub(super) findings: Vec<Finding>,
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
        Report { provider, findings: Vec::new() }
    }

    fn add(&mut self, code: &'static str, severity: Severity, slot: Option<Slot>, message: String) {
        let path = slot.map_or_else(String::new, |slot| slot.path(self.provider));
        self.findings.push(Finding { code, severity, message, node: None, path, slot });
    }

    pub(super) fn error(&mut self, code: &'static str, slot: Slot, message: impl Into<String>) {
        self.add(code, Severity::Error, Some(slot), message.into());
    }

    pub(super) fn warning(&mut self, code: &'static str, slot: Slot, message: impl Into<String>) {
        self.add(code, Severity::Warning, Some(slot), message.into());
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
