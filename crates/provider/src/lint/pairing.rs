//! Calls and their results: every call is answered, once.

use std::collections::BTreeSet;

use super::report::Report;
use crate::Slot;

/// Calls that wait for their results.
#[derive(Default)]
pub(super) struct Pairing<'a> {
    open: Vec<Call<'a>>,
    seen: BTreeSet<&'a str>,
    /// An id may be used again when its call is answered.
    reuse: bool,
    /// The provider has calls that are not in the request.
    pub(super) elsewhere: bool,
}

/// A call that waits.
#[derive(Clone, Copy)]
struct Call<'a> {
    id: &'a str,
    slot: Slot,
    /// What may answer it: the type of the result, if that matters.
    answer: Option<&'static str>,
    /// It may stay without a result.
    optional: bool,
}

impl<'a> Pairing<'a> {
    /// For a provider that lets an id be used again when its call is answered.
    pub(super) fn with_reuse(elsewhere: bool) -> Self {
        Pairing { reuse: true, elsewhere, ..Pairing::default() }
    }

    pub(super) fn call(&mut self, report: &mut Report, id: &'a str, slot: Slot) {
        self.call_for(report, id, slot, None, false);
    }

    /// A call that wants a certain type of result, or may do without one.
    pub(super) fn call_for(
        &mut self,
        report: &mut Report,
        id: &'a str,
        slot: Slot,
        answer: Option<&'static str>,
        optional: bool,
    ) {
        let first = self.seen.insert(id);
        let waits = self.open.iter().any(|call| call.id == id);
        if waits || (!first && !self.reuse) {
            report.error("duplicate_call_id", slot, format!("the id `{id}` was used before"));
        }
        self.open.push(Call { id, slot, answer, optional });
    }

    pub(super) fn result(&mut self, report: &mut Report, id: &str, slot: Slot) {
        self.result_as(report, id, slot, None);
    }

    /// A result of a type.
    pub(super) fn result_as(
        &mut self,
        report: &mut Report,
        id: &str,
        slot: Slot,
        kind: Option<&str>,
    ) {
        let Some(index) = self.open.iter().position(|call| call.id == id) else {
            if !self.elsewhere {
                let message = format!("no call `{id}` waits for this result");
                report.error("orphan_result", slot, message);
            }
            return;
        };
        let call = self.open.remove(index);
        if let (Some(wanted), Some(kind)) = (call.answer, kind)
            && wanted != kind
        {
            let message = format!("the call `{id}` is answered by `{wanted}`, not by `{kind}`");
            report.error("output_type", slot, message);
        }
    }

    /// Says that results can come no more.
    pub(super) fn close(&mut self, report: &mut Report) {
        for call in std::mem::take(&mut self.open) {
            if !call.optional {
                let message = format!("the call `{}` has no result behind it", call.id);
                report.error("missing_result", call.slot, message);
            }
        }
    }
}
