//! Pairs tool calls with their results: every call has exactly one.

use super::report::Report;
use crate::Slot;

/// Tool calls without results so far.
#[derive(Clone, Default)]
pub(super) struct Pairing {
    open: Vec<Call>,
    /// Whether an id may be used again once its call has a result.
    reuse: bool,
    /// Whether the provider has calls that are not in the request.
    pub(super) elsewhere: bool,
}

/// A tool call without a result so far.
#[derive(Clone)]
struct Call {
    id: Box<str>,
    slot: Slot,
    /// The required type of the result; `None` if any type will do.
    answer: Option<&'static str>,
    /// Whether the call may remain without a result.
    optional: bool,
}

impl Pairing {
    /// Creates a pairing for a provider that accepts an id again once its call has a result.
    pub(super) fn with_reuse(elsewhere: bool) -> Self {
        Pairing { reuse: true, elsewhere, ..Pairing::default() }
    }

    pub(super) fn call(&mut self, report: &mut Report, id: &str, slot: Slot) {
        self.call_for(report, id, slot, None, false);
    }

    /// Adds a call that needs a certain type of result, or may remain without one.
    pub(super) fn call_for(
        &mut self,
        report: &mut Report,
        id: &str,
        slot: Slot,
        answer: Option<&'static str>,
        optional: bool,
    ) {
        let is_new = self.reuse || report.ids.insert(id);
        let waits = self.open.iter().any(|call| *call.id == *id);
        if waits || !is_new {
            report.error("duplicate_call_id", slot, format!("duplicate tool call id `{id}`"));
        }
        self.open.push(Call { id: id.into(), slot, answer, optional });
    }

    pub(super) fn result(&mut self, report: &mut Report, id: &str, slot: Slot) {
        self.result_as(report, id, slot, None);
    }

    /// Adds a result of a type.
    pub(super) fn result_as(
        &mut self,
        report: &mut Report,
        id: &str,
        slot: Slot,
        kind: Option<&str>,
    ) {
        let Some(index) = self.open.iter().position(|call| *call.id == *id) else {
            if !self.elsewhere {
                let message = format!("no open tool call `{id}` for this result");
                report.error("orphan_result", slot, message);
            }
            return;
        };
        let call = self.open.remove(index);
        if let (Some(wanted), Some(kind)) = (call.answer, kind)
            && wanted != kind
        {
            let message = format!("the tool call `{id}` needs a `{wanted}`, not a `{kind}`");
            report.error("output_type", slot, message);
        }
    }

    /// Ends the span in which results are accepted.
    pub(super) fn close(&mut self, report: &mut Report) {
        for call in std::mem::take(&mut self.open) {
            if !call.optional {
                let message = format!("the tool call `{}` has no result after it", call.id);
                report.error("missing_result", call.slot, message);
            }
        }
    }
}
