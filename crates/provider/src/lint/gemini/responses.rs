//! Lints function calls and their responses.
//!
//! "Please ensure that function response turn comes immediately after a function call turn", and
//! that it has as many parts.

use std::collections::BTreeSet;

use contextree_json::Value;

use super::super::report::Report;
use super::{field, text};
use crate::Slot;

/// A call without a response so far.
#[derive(Clone)]
struct Call {
    id: Option<Box<str>>,
    name: Box<str>,
    slot: Slot,
}

/// The calls without responses, and the state of the conversation.
#[derive(Clone, Default)]
pub(super) struct Responses {
    open: Vec<Call>,
    /// The content with the first response to the pending calls.
    answered_in: Option<usize>,
    /// Ids and names of responses that announced a continuation.
    going_on: Vec<(Option<Box<str>>, Box<str>)>,
    /// The last content with a call, and the ids of its calls.
    calls_in: Option<usize>,
    ids: BTreeSet<Box<str>>,
}

impl Responses {
    pub(super) fn part(&mut self, report: &mut Report, part: &Value, index: usize, slot: Slot) {
        if let Some(call) = field(part, "functionCall") {
            self.call(report, call, index, slot);
        }
        if let Some(response) = field(part, "functionResponse") {
            self.response(report, response, index, slot);
        }
    }

    fn call(&mut self, report: &mut Report, call: &Value, index: usize, slot: Slot) {
        if self.calls_in != Some(index) {
            self.calls_in = Some(index);
            self.ids.clear();
        }
        if let Some(id) = text(call, "id") {
            let message = format!("duplicate function call id `{id}`");
            // Within one content, responses could not be matched to their calls; in earlier
            // contents, it does not matter.
            if !self.ids.insert(id.into()) {
                report.error("duplicate_call_id", slot, message);
            } else if !report.ids.insert(id) {
                report.warning("duplicate_call_id", slot, message);
            }
        }
        let name = text(call, "name").unwrap_or_default();
        self.open.push(Call { id: text(call, "id").map(Into::into), name: name.into(), slot });
    }

    fn response(&mut self, report: &mut Report, response: &Value, index: usize, slot: Slot) {
        let (id, name) = (text(response, "id"), text(response, "name").unwrap_or_default());
        let same = |other: Option<&str>, called: &str| match (id, other) {
            (Some(id), Some(other)) => id == other,
            _ => name == called,
        };
        let found = self.open.iter().position(|call| same(call.id.as_deref(), &call.name));
        match found.map(|found| self.open.remove(found)) {
            Some(call) => {
                if *call.name != *name {
                    let message =
                        format!("the response is named `{name}`, but its call is `{}`", call.name);
                    report.warning("response_name", slot, message);
                }
                if self.answered_in.is_some_and(|first| first != index) {
                    let message = "the responses to the calls of one content are in two contents";
                    report.warning("result_split", slot, message);
                }
                self.answered_in.get_or_insert(index);
            }
            None if self.going_on.iter().any(|(id, name)| same(id.as_deref(), name)) => {}
            None => {
                let message = format!("no open function call `{name}` for this response");
                report.error("orphan_result", slot, message);
            }
        }
        if field(response, "willContinue").and_then(Value::as_bool) == Some(true) {
            self.going_on.push((id.map(Into::into), name.into()));
        }
    }

    /// Ends a user content. One without a response ends the turn of responses.
    pub(super) fn end_of_content(&mut self, report: &mut Report, index: usize) {
        if self.answered_in.is_none() && self.calls_in.is_some_and(|calls| calls < index) {
            self.close(report);
        }
    }

    /// Ends the span in which responses are accepted.
    pub(super) fn close(&mut self, report: &mut Report) {
        self.answered_in = None;
        for call in std::mem::take(&mut self.open) {
            let message = format!("the function call `{}` has no response after it", call.name);
            report.error("missing_result", call.slot, message);
        }
    }
}
