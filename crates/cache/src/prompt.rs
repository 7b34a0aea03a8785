//! A request, counted.

use contextree_tokens::Tokenizer;

use crate::rendered::{Rendered, common_prefix};

/// The tokens of a request, up to the end of each span.
///
/// Spans are counted one by one, as the text that is sent; so is what stands before the first, where a request has its tools and parameters.
/// Brackets and commas between spans are not counted: no model sees them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt<'a> {
    rendered: Rendered<'a>,
    /// Up to the beginning of the first span, then up to the end of each.
    until: Vec<u64>,
}

impl<'a> Prompt<'a> {
    /// Counts a request.
    #[must_use]
    pub fn measure(rendered: Rendered<'a>, tokenizer: Tokenizer) -> Self {
        Self::measure_from(rendered, tokenizer, Vec::new())
    }

    /// Counts a request that begins like another one, counting only what is different.
    #[must_use]
    pub fn measure_after(rendered: Rendered<'a>, tokenizer: Tokenizer, last: &Prompt<'_>) -> Self {
        let common = common_prefix(rendered.bytes(), last.rendered.bytes());
        let mut known = Vec::new();
        let first = |rendered: &Rendered<'_>| rendered.spans().first().map(|span| span.start);
        if first(&rendered).is_some_and(|start| start <= common)
            && first(&rendered) == first(&last.rendered)
        {
            known.push(last.until[0]);
            let both = rendered.spans().iter().zip(last.rendered.spans());
            let same = both.take_while(|(new, old)| {
                (new.start, new.end) == (old.start, old.end) && new.end <= common
            });
            known.extend(same.zip(&last.until[1..]).map(|(_, tokens)| *tokens));
        }
        Self::measure_from(rendered, tokenizer, known)
    }

    fn measure_from(rendered: Rendered<'a>, tokenizer: Tokenizer, known: Vec<u64>) -> Self {
        let bytes = rendered.bytes();
        let count = |start: usize, end: usize| {
            tokenizer.count(&String::from_utf8_lossy(&bytes[start..end]))
        };
        let mut until = known;
        if until.is_empty() {
            let head = rendered.spans().first().map_or(bytes.len(), |span| span.start);
            until.push(count(0, head));
        }
        for span in &rendered.spans()[until.len() - 1..] {
            let before = until.last().copied().unwrap_or_default();
            until.push(before + count(span.start, span.end));
        }
        Prompt { rendered, until }
    }

    /// Puts a request together with the counts that it had before.
    pub(crate) fn counted(rendered: Rendered<'a>, until: Vec<u64>) -> Self {
        Prompt { rendered, until }
    }

    pub(crate) fn counts(&self) -> &[u64] {
        &self.until
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

    /// Returns the tokens up to the end of a number of spans.
    #[must_use]
    pub fn tokens_until(&self, spans: usize) -> u64 {
        self.until.get(spans).copied().unwrap_or_else(|| self.tokens())
    }

    /// Returns the tokens of the spans that end before an offset, with what stands before the first of them if it does, too.
    pub(crate) fn tokens_before(&self, offset: usize) -> u64 {
        let head =
            self.rendered.spans().first().map_or(self.rendered.bytes().len(), |span| span.start);
        if offset < head { 0 } else { self.tokens_until(self.rendered.span_from(offset)) }
    }
}
