//! A request as it is sent, with the spans of its nodes.

use std::borrow::Cow;
use std::fmt;

use contextree_provider::{List, Provider, Slot, Span};

use crate::settings::fields_of;

/// A rendered request. Bytes outside of spans are its envelope: parameters, brackets and commas.
///
/// Borrowed from what [`contextree_provider::render`] returns, or made of any bytes with their
/// spans:
///
/// ```
/// use contextree_cache::Rendered;
/// # use contextree_engine::{Context, NewNode, Place};
/// # use contextree_provider::{Provider, RenderOptions, render};
/// # let mut context = Context::new();
/// # context.add(Place::head(), NewNode::text("hello").role("user"))?;
/// let request = render(context.working(), Provider::OpenAiChat, &RenderOptions::default())?;
/// let ours = Rendered::from(&request);
/// let theirs = Rendered::new(br#"{"messages":["hello"]}"#, [(13, 20, "greeting")])?;
/// # assert_eq!((ours.spans().len(), theirs.spans().len()), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered<'a> {
    bytes: &'a [u8],
    spans: Cow<'a, [Span]>,
    provider: Option<Provider>,
}

impl<'a> From<&'a contextree_provider::Rendered> for Rendered<'a> {
    fn from(rendered: &'a contextree_provider::Rendered) -> Self {
        Rendered {
            bytes: &rendered.bytes,
            spans: Cow::Borrowed(&rendered.spans),
            provider: Some(rendered.provider),
        }
    }
}

impl<'a> Rendered<'a> {
    /// Creates a request with its spans, given as start, end and node in byte order. All of them
    /// count as messages.
    ///
    /// # Errors
    ///
    /// If a span begins before the previous one ends, ends before it begins, or exceeds the bytes.
    pub fn new<'n>(
        bytes: &'a [u8],
        spans: impl IntoIterator<Item = (usize, usize, &'n str)>,
    ) -> Result<Self, SpanError> {
        let mut checked = Vec::new();
        let mut least = 0;
        for (index, (start, end, node)) in (0..).zip(spans) {
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
            let slot = Slot { list: List::Messages, index, inner: None };
            checked.push(Span { start, end, node: node.into(), slot });
        }
        Ok(Rendered { bytes, spans: Cow::Owned(checked), provider: None })
    }

    /// Creates a request whose spans are known to be in order.
    pub(crate) fn borrowed(bytes: &'a [u8], spans: &'a [Span], provider: Option<Provider>) -> Self {
        Rendered { bytes, spans: Cow::Borrowed(spans), provider }
    }

    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the spans, in order.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Returns the provider, if known.
    #[must_use]
    pub fn provider(&self) -> Option<Provider> {
        self.provider
    }

    /// Returns the model of the request.
    #[must_use]
    pub fn model(&self) -> Option<String> {
        let model = fields_of(self).into_iter().find(|field| field.name == "model")?;
        Some(contextree_json::parse(model.value).ok()?.as_str()?.to_owned())
    }

    /// Returns the path of a span in the JSON: `messages[9].content[0]`; `None` if the provider is
    /// unknown.
    #[must_use]
    pub fn path(&self, span: &Span) -> Option<String> {
        Some(span.slot.path(self.provider?))
    }

    /// Returns the bytes of a span.
    pub(crate) fn bytes_of(&self, span: &Span) -> &'a [u8] {
        self.bytes.get(span.start..span.end).unwrap_or_default()
    }

    /// Returns the start of the first span, or the end of the request.
    pub(crate) fn head_end(&self) -> usize {
        self.spans.first().map_or(self.bytes.len(), |span| span.start)
    }

    /// Returns the end of the last span, or the end of the request.
    pub(crate) fn last_end(&self) -> usize {
        self.spans.last().map_or(self.bytes.len(), |span| span.end)
    }

    /// Returns a span together with what separates it from the previous one: commas, brackets, the
    /// role.
    pub(crate) fn piece(&self, index: usize) -> &'a [u8] {
        let Some(span) = self.spans.get(index) else { return &[] };
        let start = match index.checked_sub(1).and_then(|before| self.spans.get(before)) {
            Some(before) => before.end,
            None => span.start,
        };
        self.bytes.get(start..span.end).unwrap_or_default()
    }

    /// Returns the index of the first span that ends after an offset: the one that contains the
    /// byte, or the next one.
    #[must_use]
    pub fn span_from(&self, offset: usize) -> usize {
        self.spans.partition_point(|span| span.end <= offset)
    }
}

/// Returns the number of leading bytes that two requests share.
pub(crate) fn common_prefix(left: &[u8], right: &[u8]) -> usize {
    common_prefix_from(left, right, 0)
}

/// Returns the number of leading bytes that two requests share, if it is known that they share
/// `known` bytes.
pub(crate) fn common_prefix_from(left: &[u8], right: &[u8], known: usize) -> usize {
    // Compares whole pages first, which is as fast as reading them.
    const PAGE: usize = 4096;
    let known = known.min(left.len()).min(right.len());
    let (left, right) = (&left[known..], &right[known..]);
    let same = left.chunks(PAGE).zip(right.chunks(PAGE)).take_while(|(left, right)| left == right);
    let at = (same.count() * PAGE).min(left.len()).min(right.len());
    let rest = left[at..].iter().zip(&right[at..]).take_while(|(left, right)| left == right);
    known + at + rest.count()
}

/// An invalid span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanError {
    /// Its start.
    pub start: usize,
    /// Its end.
    pub end: usize,
    /// The node.
    pub node: String,
    /// The lowest valid start.
    pub least: usize,
    /// The highest valid end.
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
        write!(formatter, "the span {start}..{end} of `{node}` is not within {least}..{most}")
    }
}

impl std::error::Error for SpanError {}

#[cfg(test)]
mod tests {
    use super::{common_prefix, common_prefix_from};

    #[test]
    fn a_common_prefix_ends_where_the_first_byte_differs() {
        let long = vec![7_u8; 10_000];
        for at in [0, 1, 4095, 4096, 4097, 8192, 9999] {
            let mut other = long.clone();
            other[at] = 8;
            assert_eq!(common_prefix(&long, &other), at);
            assert_eq!(common_prefix(&long[..at], &long), at);
            assert_eq!(common_prefix(&long, &long[..at]), at);
            assert_eq!(common_prefix_from(&long, &other, at.min(4097)), at);
        }
        assert_eq!(common_prefix(&long, &long), long.len());
    }
}
