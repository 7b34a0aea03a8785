//! A request as it is sent, and which of its bytes belong to which node.

use std::fmt;

/// The bytes of one node in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<'a> {
    /// Where they begin.
    pub start: usize,
    /// Where they end.
    pub end: usize,
    /// The node.
    pub node: &'a str,
}

/// A rendered request. What no span covers is its envelope: parameters, tools, brackets and commas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered<'a> {
    bytes: &'a [u8],
    spans: Vec<Span<'a>>,
}

impl<'a> Rendered<'a> {
    /// Returns a request with its spans, given as start, end and node in the order of the bytes.
    ///
    /// # Errors
    ///
    /// A span that begins before the one before it ends, that ends before it begins, or that lies outside of the bytes.
    pub fn new(
        bytes: &'a [u8],
        spans: impl IntoIterator<Item = (usize, usize, &'a str)>,
    ) -> Result<Self, SpanError> {
        let mut rendered = Rendered { bytes, spans: Vec::new() };
        let mut least = 0;
        for (start, end, node) in spans {
            if start < least || end < start || end > bytes.len() {
                return Err(SpanError {
                    start,
                    end,
                    node: node.to_owned(),
                    least,
                    most: bytes.len(),
                });
            }
            least = end;
            rendered.spans.push(Span { start, end, node });
        }
        Ok(rendered)
    }

    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the spans, in order.
    #[must_use]
    pub fn spans(&self) -> &[Span<'a>] {
        &self.spans
    }

    /// Returns the index of the first span that ends behind an offset: the one that the byte there belongs to, or the next one.
    #[must_use]
    pub fn span_from(&self, offset: usize) -> usize {
        self.spans.partition_point(|span| span.end <= offset)
    }
}

/// Returns how many bytes two requests have in common from their beginning.
pub(crate) fn common_prefix(left: &[u8], right: &[u8]) -> usize {
    // Whole pages first: comparing them is as fast as reading them.
    const PAGE: usize = 4096;
    let same = left.chunks(PAGE).zip(right.chunks(PAGE)).take_while(|(left, right)| left == right);
    let at = (same.count() * PAGE).min(left.len()).min(right.len());
    let rest = left[at..].iter().zip(&right[at..]).take_while(|(left, right)| left == right);
    at + rest.count()
}

/// A span that cannot be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanError {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The node.
    pub node: String,
    /// Where it may begin at the earliest.
    pub least: usize,
    /// Where it may end at the latest.
    pub most: usize,
}

impl SpanError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "E_SPAN_INVALID"
    }
}

impl fmt::Display for SpanError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SpanError { start, end, node, least, most } = self;
        write!(formatter, "the span {start}..{end} of `{node}` does not lie within {least}..{most}")
    }
}

impl std::error::Error for SpanError {}

#[cfg(test)]
mod tests {
    use super::common_prefix;

    #[test]
    fn a_common_prefix_ends_where_the_first_byte_differs() {
        let long = vec![7_u8; 10_000];
        for at in [0, 1, 4095, 4096, 4097, 8192, 9999] {
            let mut other = long.clone();
            other[at] = 8;
            assert_eq!(common_prefix(&long, &other), at);
            assert_eq!(common_prefix(&long[..at], &long), at);
            assert_eq!(common_prefix(&long, &long[..at]), at);
        }
        assert_eq!(common_prefix(&long, &long), long.len());
    }
}
