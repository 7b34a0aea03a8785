//! Counts the tokens of a request.

use std::borrow::Cow;

use contextree_tokens::{Tokenizer, count_json};

use crate::memo::Memo;
use crate::rendered::{Rendered, common_prefix};

/// The tokens of a request, up to the end of each span.
///
/// Counts the text of its strings without escapes, the brackets, quotes and names around them, and
/// images as images. Providers do not publish how they translate the JSON, so the count is never
/// exact. What follows the last span is not counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt<'a> {
    rendered: Rendered<'a>,
    /// Up to the beginning of the first span, then up to the end of each span.
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
        let same = same_spans(&rendered, &last.rendered, common);
        let known = last.known(&rendered, common, same);
        Self::measure_from(rendered, known, &mut Memo::new(tokenizer))
    }

    /// Returns the counts that another request shares, if it has `common` bytes and `same` spans in
    /// common with this one.
    pub(crate) fn known(&self, other: &Rendered<'_>, common: usize, same: usize) -> Vec<u64> {
        let head = other.head_end();
        let begins_alike = head == self.rendered.head_end() && head <= common;
        if begins_alike { self.until[..=same].to_vec() } else { Vec::new() }
    }

    /// Counts a request whose first counts are known.
    pub(crate) fn measure_from(rendered: Rendered<'a>, known: Vec<u64>, memo: &mut Memo) -> Self {
        let mut until = known;
        if until.is_empty() {
            until.push(memo.count(&rendered.bytes()[..rendered.head_end()]));
        }
        for index in until.len() - 1..rendered.spans().len() {
            let before = until.last().copied().unwrap_or_default();
            until.push(before + memo.count(rendered.piece(index)));
        }
        Prompt { rendered, until: Cow::Owned(until) }
    }

    /// Combines a request with its known counts.
    pub(crate) fn counted(rendered: Rendered<'a>, until: &'a [u64]) -> Self {
        Prompt { rendered, until: Cow::Borrowed(until) }
    }

    pub(crate) fn into_counts(self) -> Vec<u64> {
        self.until.into_owned()
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

    /// Returns the tokens of a span, or of what precedes the first span, up to an offset inside it.
    pub(crate) fn tokens_within(&self, offset: usize, tokenizer: Tokenizer) -> u64 {
        let index = self.rendered.span_from(offset);
        let start = match index.checked_sub(1).and_then(|before| self.rendered.spans().get(before))
        {
            Some(before) => before.end,
            None if offset < self.rendered.head_end() => 0,
            None => self.rendered.head_end(),
        };
        let end = offset.min(self.rendered.last_end());
        let piece = self.rendered.bytes().get(start..end).unwrap_or_default();
        count_json(piece, tokenizer).tokens
    }
}

/// Returns the number of leading spans that two requests share, given the number of bytes they
/// share.
pub(crate) fn same_spans(left: &Rendered<'_>, right: &Rendered<'_>, common: usize) -> usize {
    let both = left.spans().iter().zip(right.spans());
    both.take_while(|(left, right)| left.end <= common && left == right).count()
}
