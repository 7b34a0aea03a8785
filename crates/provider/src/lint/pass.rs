//! Passes over the messages of a request that can be resumed in the middle.
//!
//! A conversation grows at its end, and a rule looks at few messages at a time. So a pass keeps a
//! small state from message to message, and what it has found so far. Going back to an earlier
//! message restores the state that was saved there and drops what was found since; the messages
//! before it are not looked at again.

use contextree_json::Value;

use super::finding::Finding;
use super::report::{Length, Report};

/// Some rules of a provider, checked message by message. The value is the state between two
/// messages; it is cloned where it is saved, so whatever grows with the conversation is in the
/// [`Report`].
pub(super) trait Pass: Clone + Send + Sync {
    /// Checks the next message.
    fn message(&mut self, report: &mut Report, message: &Value, index: usize);

    /// Checks what only the end of the conversation shows. `request` is the request, with or
    /// without its messages.
    fn end(self, report: &mut Report, request: &Value);

    /// Notes what rules about the rest of the request need to know of the conversation.
    fn note(&self, _facts: &mut Facts) {}
}

/// What rules about the rest of a request need to know of its conversation.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Whether there is a tool call.
    pub(super) has_calls: bool,
    /// Names of tools that are defined in the conversation.
    pub(super) tools: Vec<String>,
}

/// A pass with its report, and the states from which it can resume.
pub(super) struct Resumable<P> {
    pass: P,
    report: Report,
    saved: Vec<(P, Length)>,
}

impl<P: Pass> Resumable<P> {
    pub(super) fn new(pass: P, report: Report) -> Self {
        Resumable { pass, report, saved: Vec::new() }
    }
}

/// [`Resumable`] without the type of its pass.
pub(super) trait AnyPass: Send + Sync {
    fn message(&mut self, message: &Value, index: usize);

    /// Saves the state before the next message.
    fn save(&mut self);

    /// Drops saved states; `keep` gets their numbers.
    fn thin(&mut self, keep: &dyn Fn(usize) -> bool);

    /// Returns to the saved state with this number, and drops those after it.
    fn rewind(&mut self, number: usize);

    /// Visits what was found in the messages so far.
    fn each(&mut self, visit: &mut dyn FnMut(&mut Finding));

    /// Returns everything that was found, if the conversation ends here.
    fn findings(&self, request: &Value) -> Vec<Finding>;

    fn note(&self, facts: &mut Facts);
}

impl<P: Pass> AnyPass for Resumable<P> {
    fn message(&mut self, message: &Value, index: usize) {
        self.pass.message(&mut self.report, message, index);
    }

    fn save(&mut self) {
        self.saved.push((self.pass.clone(), self.report.length()));
    }

    fn thin(&mut self, keep: &dyn Fn(usize) -> bool) {
        let mut number = 0;
        self.saved.retain(|_| {
            number += 1;
            keep(number - 1)
        });
    }

    fn rewind(&mut self, number: usize) {
        self.saved.truncate(number + 1);
        if let Some((pass, length)) = self.saved.last() {
            self.pass = pass.clone();
            self.report.truncate(*length);
        }
    }

    fn each(&mut self, visit: &mut dyn FnMut(&mut Finding)) {
        self.report.findings_mut().for_each(visit);
    }

    fn findings(&self, request: &Value) -> Vec<Finding> {
        let mut report = self.report.to_ending();
        self.pass.clone().end(&mut report, request);
        report.into_findings()
    }

    fn note(&self, facts: &mut Facts) {
        self.pass.note(facts);
    }
}
