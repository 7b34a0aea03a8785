//! Counts the tokens of a request.

use std::borrow::Cow;

use contextree_tokens::Tokenizer;

use crate::memo::Memo;
use crate::rendered::{Rendered, common_prefix};

/// The tokens of a request, up to the end of each span.
///
/// Counts the spans: their texts without escapes, images as images, and for each span what the
/// provider adds around such a part. Providers do not publish how they translate the JSON, so the
/// count is never exact. Ids, signatures, and what is outside of spans are not counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt<'a> {
    rendered: Rendered<'a>,
    /// Up to the first span, which is 0, then up to the end of each span.
    until: Cow<'a, [u64]>,
}

impl<'a> Prompt<'a> {
    /// Counts a request.
    #[must_use]
    pub fn measure(rendered: Rendered<'a>, tokenizer: Tokenizer) -> Self {
        Self::measure_from(rendered, Vec::new(), &mut Memo::new(tokenizer))
    }

    /// Counts a request that shares its beginning with another one, counting only the difference.
    #[must_use]
    pub fn measure_after(rendered: Rendered<'a>, tokenizer: Tokenizer, last: &Prompt<'_>) -> Self {
        let common = common_prefix(rendered.bytes(), last.rendered.bytes());
        let same = same_spans(&rendered, &last.rendered, common, 0);
        let known = last.until[..=same].to_vec();
        Self::measure_from(rendered, known, &mut Memo::new(tokenizer))
    }

    /// Counts a request whose first counts are known.
    fn measure_from(rendered: Rendered<'a>, known: Vec<u64>, memo: &mut Memo) -> Self {
        let mut until = known;
        if until.is_empty() {
            until.push(0);
        }
        for span in &rendered.spans()[until.len() - 1..] {
            let before = until.last().copied().unwrap_or_default();
            until.push(before + memo.count(rendered.bytes_of(span), span.slot.list));
        }
        Prompt { rendered, until: Cow::Owned(until) }
    }

    /// Combines a request with its known counts.
    pub(crate) fn counted(rendered: Rendered<'a>, until: &'a [u64]) -> Self {
        Prompt { rendered, until: Cow::Borrowed(until) }
    }

    /// Returns the request.
    #[must_use]
    pub fn rendered(&self) -> &Rendered<'a> {
        &self.rendered
    }

    /// Returns the tokens of the whole request.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.until.last().copied().unwrap_or_default()
    }

    /// Returns the tokens up to the end of this number of spans.
    #[must_use]
    pub fn tokens_until(&self, spans: usize) -> u64 {
        self.until.get(spans).copied().unwrap_or_else(|| self.tokens())
    }

    /// Returns the tokens of the spans that end before an offset, including what precedes the first
    /// span if that ends before the offset too.
    pub(crate) fn tokens_before(&self, offset: usize) -> u64 {
        if offset < self.rendered.head_end() {
            return 0;
        }
        self.tokens_until(self.rendered.span_from(offset))
    }

    /// Returns the tokens of a span up to an offset inside it, in proportion to its bytes.
    pub(crate) fn tokens_within(&self, offset: usize) -> u64 {
        let index = self.rendered.span_from(offset);
        let Some(span) = self.rendered.spans().get(index) else { return 0 };
        let (inside, all) = (offset.saturating_sub(span.start), span.end - span.start);
        let tokens = self.tokens_until(index + 1) - self.tokens_until(index);
        (tokens * inside as u64).checked_div(all as u64).unwrap_or(0)
    }
}

/// Returns the number of leading spans that two requests share, given the number of bytes they
/// share, and the number of bytes whose spans are known to be the same.
pub(crate) fn same_spans(
    left: &Rendered<'_>,
    right: &Rendered<'_>,
    common: usize,
    known: usize,
) -> usize {
    let first = left.span_from(known).min(right.span_from(known));
    let both = left.spans()[first..].iter().zip(&right.spans()[first..]);
    first + both.take_while(|(left, right)| left.end <= common && left == right).count()
}
