//! What bills tell about a conversation that its requests do not contain.

use crate::call::{Billed, Call};
use crate::history::Step;
use crate::miss::slack;

/// What is inferred from the bills of earlier calls, and from that of the first.
#[derive(Debug, Default)]
pub(crate) struct Inference {
    /// Tokens before the first span: what an incomplete request lacks.
    pub(crate) prefix: u64,
    /// Tokens that other conversations had in the cache when no entry of this history was found,
    /// because they begin in the same way.
    pub(crate) shared: u64,
    /// Of these, tokens that are expected to be there whenever all own entries have expired.
    pub(crate) surviving: u64,
    /// Tokens of logged content that were left out of the request: agents clear old results
    /// without a trace in the log.
    pub(crate) cleared: u64,
    /// Whether the request is incomplete and no bill has told the size of what it lacks.
    pub(crate) lacks_size: bool,
    /// Whether bills leave out what was written: a call read what its predecessor had not written.
    hides_writes: bool,
}

impl Inference {
    /// Returns the tokens of a request, or of its beginning, with `logged` tokens in spans.
    pub(crate) fn tokens(&self, logged: u64) -> u64 {
        (self.prefix + logged).saturating_sub(self.cleared)
    }

    /// Returns the tokens of tools and system text that the log lacks, as far as they are cached.
    pub(crate) fn fixed(&self) -> u64 {
        if self.shared > 0 { self.shared.min(self.prefix) } else { self.prefix }
    }

    /// Infers the size of what an incomplete request lacks, from the first bill of a conversation:
    /// `begins` is whether the request shares no message with the one before it. `logged` are the
    /// tokens of its spans.
    pub(crate) fn infer_prefix(&mut self, call: &Call<'_>, begins: bool, logged: u64) {
        if call.is_complete {
            self.prefix = 0;
            self.lacks_size = false;
            return;
        }
        match &call.billed {
            Some(billed) if begins || self.lacks_size => {
                self.prefix = billed.input.saturating_sub(logged);
                self.lacks_size = false;
            }
            None if begins && self.prefix == 0 => self.lacks_size = true,
            _ => {}
        }
    }

    /// Infers how much logged content was left out: a request that extends the previous one cannot
    /// be shorter. Returns whether more was left out than before. `logged` are the tokens of the
    /// spans.
    pub(crate) fn infer_cleared(
        &mut self,
        last: Option<&Step>,
        billed: Option<&Billed>,
        logged: u64,
        is_extended: bool,
    ) -> bool {
        if !is_extended {
            self.cleared = 0;
        }
        let Some((last, billed)) = last.zip(billed).filter(|_| is_extended) else { return false };
        let Some(before) = &last.billed else { return false };
        let tokens = self.tokens(logged);
        let expected = (before.input + tokens).saturating_sub(last.tokens);
        let is_shorter = billed.input + slack(before.input) < before.input.min(expected);
        if is_shorter {
            // An estimate that was too low stays so, but does not get lower than the bill by this.
            self.cleared += (expected - billed.input).min(tokens.saturating_sub(billed.input));
        }
        is_shorter
    }

    /// Infers what other conversations keep in the cache, from a call that found no entry of its
    /// own. `preamble` are the tokens of tools and system text in the request. `survives` says
    /// whether a pause leaves it in the cache, too.
    pub(crate) fn infer_shared(&mut self, billed: &Billed, preamble: u64, survives: bool) {
        let Some(cached) = billed.cached else { return };
        // More than tools and system text is an entry that lived longer than promised. The limit is
        // generous, because the sizes are estimates.
        if cached <= (self.prefix + preamble) * 5 / 4 {
            self.shared = cached;
            if survives {
                self.surviving = cached;
            }
        }
    }

    /// Notes whether the bills of a provider tell what was written to its cache. Some fill the field
    /// with zero.
    pub(crate) fn learn_writes(&mut self, last: Option<&Step>, billed: Option<&Billed>) {
        let before = last.and_then(|last| last.billed.as_ref());
        if let Some((before, billed)) = before.zip(billed).filter(|(it, _)| it.written == Some(0)) {
            let read = billed.cached.zip(before.cached);
            self.hides_writes |= read.is_some_and(|(now, then)| now > then + slack(before.input));
        }
    }

    /// Returns the tokens of the last request that the provider has, by what it billed as read and
    /// written; `None` if the bill does not tell.
    pub(crate) fn left_by(&self, last: Option<&Step>) -> Option<u64> {
        let last = last?;
        let billed = last.billed.as_ref().filter(|billed| billed.input > 0)?;
        if self.hides_writes && billed.written == Some(0) {
            return None;
        }
        let kept = (billed.cached? + billed.written?).min(billed.input);
        // Estimates are on another scale than bills.
        let scaled = u128::from(last.tokens) * u128::from(kept) / u128::from(billed.input);
        u64::try_from(scaled).ok()
    }
}
