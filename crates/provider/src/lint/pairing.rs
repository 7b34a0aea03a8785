//! Calls and their results: every call is answered, once, directly behind it.

use super::report::Report;
use crate::Slot;

/// Calls that wait for their results.
#[derive(Default)]
pub(super) struct Pairing<'a> {
    open: Vec<(&'a str, Slot)>,
    seen: std::collections::BTreeSet<&'a str>,
}

impl<'a> Pairing<'a> {
    pub(super) fn call(&mut self, report: &mut Report, id: &'a str, slot: Slot) {
        if !self.seen.insert(id) {
            report.error("duplicate_call_id", slot, format!("the id `{id}` was used before"));
        }
        self.open.push((id, slot));
    }

    pub(super) fn result(&mut self, report: &mut Report, id: &str, slot: Slot) {
        match self.open.iter().position(|(open, _)| *open == id) {
            Some(index) => {
                self.open.remove(index);
            }
            None => {
                let message = format!("no call `{id}` waits for this result");
                report.error("orphan_result", slot, message);
            }
        }
    }

    /// Says that results can come no more.
    pub(super) fn close(&mut self, report: &mut Report) {
        for (id, slot) in std::mem::take(&mut self.open) {
            let message = format!("the call `{id}` has no result behind it");
            report.error("missing_result", slot, message);
        }
    }
}
