//! Lints requests for Anthropic: the first message is the user's, tool results come first in the
//! message after the calls, thinking is unmodified, and there are at most four breakpoints.
//!
//! A rule is an error if the API is known to enforce it, by its documentation or its error
//! messages, and a warning if only some models or settings do.

mod blocks;
mod cache;
mod server;
mod settings;

use contextree_json::Value;

use super::finding::Severity;
use super::pairing::Pairing;
use super::pass::{AnyPass, Facts, Pass, Resumable};
use super::report::{Place, Report, at, list, text, within};
use crate::anthropic::continues_thread;

/// Lints everything but the conversation.
pub(super) fn lint(report: &mut Report, request: &Value, facts: &Facts) {
    settings::lint(report, request, facts);
    blocks::system(report, request);
    cache::lint(report, request);
}

pub(super) fn passes(report: impl Fn() -> Report, request: &Value) -> Vec<Box<dyn AnyPass>> {
    let mut conversation = Conversation::default();
    conversation.pairing.elsewhere = continues_thread(request.get("thread"));
    vec![
        Box::new(Resumable::new(conversation, report())),
        Box::new(Resumable::new(server::Calls::default(), report())),
        Box::new(Resumable::new(cache::Breakpoints::default(), report())),
    ]
}

/// Returns the blocks of a message.
fn content_of(message: &Value) -> &[Value] {
    list(message, "content")
}

/// Returns a field that is present and not null.
fn field<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name).filter(|it| !it.is_null())
}

fn is_thinking(block: &Value) -> bool {
    matches!(text(block, "type"), Some("thinking" | "redacted_thinking"))
}

/// The state of a pass over the messages.
#[derive(Clone, Default)]
struct Conversation {
    pairing: Pairing,
    /// Whether there is a tool call anywhere.
    has_calls: bool,
    /// Whether the last assistant message has tool calls.
    called: bool,
    /// Whether anything but a tool result followed those calls. To the API, consecutive user
    /// messages are one message.
    other: bool,
    /// A problem of the last message that depends on the next one.
    held: Option<Held>,
    last: Option<Last>,
    last_assistant: Option<LastAssistant>,
}

/// A problem of the last message that depends on the next one.
#[derive(Clone)]
struct Held {
    place: Place,
    index: usize,
    suspect: Suspect,
}

#[derive(Clone)]
enum Suspect {
    /// An empty text of the assistant is accepted only at the end.
    EmptyAnswer,
    /// System text after a user message must precede an assistant message or end the request.
    SystemAfterUser,
}

/// The last message.
#[derive(Clone)]
struct Last {
    index: usize,
    is_user: bool,
    /// If it is the assistant's: whether it has a text to be continued, and whether that ends with
    /// whitespace.
    prefill: Option<(bool, bool)>,
}

#[derive(Clone)]
struct LastAssistant {
    index: usize,
    begins_with_thinking: bool,
}

impl Pass for Conversation {
    fn message(&mut self, report: &mut Report, message: &Value, index: usize) {
        let role = text(message, "role").unwrap_or_default();
        self.follow(report, Some(role));
        self.content(report, message, index);
        match role {
            "user" => self.user(report, message, index),
            "assistant" => self.assistant(report, message, index),
            "system" => self.system(report, index),
            _ => report.error("unknown_role", at(index), format!("unknown role `{role}`")),
        }
        for (inner, block) in content_of(message).iter().enumerate() {
            blocks::block(report, role, block, within(index, "content", inner));
            self.has_calls |= text(block, "type") == Some("tool_use");
        }
        let prefill = (role == "assistant").then(|| prefill(message));
        self.last = Some(Last { index, is_user: role == "user", prefill });
    }

    fn end(mut self, report: &mut Report, request: &Value) {
        self.follow(report, None);
        self.pairing.close(report);
        let thinks = field(request, "thinking").and_then(|it| text(it, "type")) == Some("enabled");
        let assistant = self.last_assistant.take();
        // During tool use, the last assistant message must begin with thinking.
        if let Some(LastAssistant { index, begins_with_thinking: false }) = assistant
            && thinks
            && self.called
        {
            let message =
                "with thinking enabled, a message with tool calls must begin with thinking";
            report.warning("thinking_first", at(index), message);
        }
        let thought = assistant.is_some_and(|assistant| assistant.begins_with_thinking);
        if let Some(Last { index, prefill: Some((is_text, ends_blank)), .. }) = self.last {
            let message = "the request ends with an assistant message; newer models refuse that";
            report.warning("trailing_assistant", at(index), message);
            // "final assistant content cannot end with trailing whitespace"
            if ends_blank {
                let message = "the text to continue ends with whitespace";
                report.error("trailing_whitespace", at(index), message);
            }
            // "When `thinking` is enabled, a final `assistant` message must start with a thinking
            // block"
            if thinks && is_text && !thought {
                let message = "with thinking enabled, the answer cannot be prefilled";
                report.error("thinking_prefill", at(index), message);
            }
        }
    }

    fn note(&self, facts: &mut Facts) {
        facts.has_calls |= self.has_calls;
    }
}

/// Returns whether an assistant message ends with a text, which a model would continue, and whether
/// that text ends with whitespace.
fn prefill(message: &Value) -> (bool, bool) {
    let end = content_of(message).last().filter(|block| text(block, "type") == Some("text"));
    let said = text(message, "content").or_else(|| end.and_then(|block| text(block, "text")));
    (said.is_some(), said.is_some_and(|said| said.ends_with(char::is_whitespace)))
}

impl Conversation {
    fn hold(&mut self, report: &Report, index: usize, suspect: Suspect) {
        self.held = Some(Held { place: report.place(), index, suspect });
    }

    /// Decides what depends on the message after the last one.
    fn follow(&mut self, report: &mut Report, next: Option<&str>) {
        let Some(Held { place, index, suspect }) = self.held.take() else { return };
        let (code, severity, message) = match suspect {
            Suspect::EmptyAnswer if next.is_none() => return,
            Suspect::EmptyAnswer => ("empty_content", Severity::Error, EMPTY),
            Suspect::SystemAfterUser if matches!(next, None | Some("assistant")) => {
                let message = "only some models accept system text between messages";
                ("system_inline", Severity::Warning, message)
            }
            Suspect::SystemAfterUser => ("system_place", Severity::Error, BETWEEN),
        };
        report.confirm(place, code, severity, at(index), message);
    }

    /// Lints the content of a message: it must not be empty. A system message may merely change
    /// settings (beta).
    fn content(&mut self, report: &mut Report, message: &Value, index: usize) {
        let role = text(message, "role");
        let is_empty = match message.get("content") {
            Some(Value::String(text)) if text.trim().is_empty() => {
                if role == Some("assistant") {
                    self.hold(report, index, Suspect::EmptyAnswer);
                }
                role != Some("assistant")
            }
            Some(Value::String(_)) => false,
            Some(Value::Array(blocks)) => blocks.is_empty(),
            None | Some(Value::Null) if role == Some("system") => {
                let fields = message.as_object().into_iter().flatten();
                !fields.into_iter().any(|(name, it)| name != "role" && !it.is_null())
            }
            _ => true,
        };
        if is_empty {
            report.error("empty_content", at(index), EMPTY);
        }
    }

    fn user(&mut self, report: &mut Report, message: &Value, index: usize) {
        self.other = self.called && (self.other || text(message, "content").is_some());
        for (inner, block) in content_of(message).iter().enumerate() {
            let slot = within(index, "content", inner);
            if text(block, "type") != Some("tool_result") {
                self.other = true;
                continue;
            }
            if self.other {
                report.error("result_order", slot, "tool results must come first in the message");
            }
            let id = text(block, "tool_use_id").unwrap_or_default();
            self.pairing.result(report, id, slot);
        }
    }

    fn assistant(&mut self, report: &mut Report, message: &Value, index: usize) {
        self.pairing.close(report);
        self.other = false;
        self.called = false;
        if index == 0 {
            report.error("first_role", at(0), "the first message must be a user message");
        }
        let blocks = content_of(message);
        for (inner, block) in blocks.iter().enumerate() {
            if text(block, "type") == Some("tool_use") {
                let slot = within(index, "content", inner);
                self.pairing.call(report, text(block, "id").unwrap_or_default(), slot);
                self.called = true;
            }
        }
        if blocks.last().is_some_and(is_thinking) {
            let slot = within(index, "content", blocks.len() - 1);
            report.error("thinking_last", slot, "an assistant message cannot end with thinking");
        }
        let begins_with_thinking = blocks.first().is_some_and(is_thinking);
        self.last_assistant = Some(LastAssistant { index, begins_with_thinking });
    }

    /// Lints mid-conversation system text: it must follow a user message, and precede an assistant
    /// message or end the request.
    fn system(&mut self, report: &mut Report, index: usize) {
        if index == 0 {
            let message = "system text at the beginning belongs in `system`";
            report.error("system_place", at(index), message);
        } else if self.last.as_ref().is_some_and(|last| last.is_user) {
            self.hold(report, index, Suspect::SystemAfterUser);
        } else {
            report.error("system_place", at(index), BETWEEN);
        }
    }
}

const EMPTY: &str = "the message has no content";
const BETWEEN: &str = "system text must be between a user message and an assistant message";
