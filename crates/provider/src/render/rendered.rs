//! A rendered request: its bytes, the node that wrote each span of them, and the losses.

use contextree_json::Value;

use super::Loss;
use crate::Provider;

/// A rendered request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The provider.
    pub provider: Provider,
    /// The JSON text.
    pub bytes: Vec<u8>,
    /// The spans of nodes, in byte order. Spans do not overlap; brackets and role names between
    /// them belong to no node.
    pub spans: Vec<Span>,
    /// What the provider cannot express, in the order of the tree.
    pub losses: Vec<Loss>,
}

/// The bytes of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The offset of the first byte.
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
    /// The node's id.
    pub node: Box<str>,
    /// Its location in the JSON.
    pub slot: Slot,
}

/// A location in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot {
    /// The list.
    pub list: List,
    /// The position in it.
    pub index: u32,
    /// The name of a list inside that entry, and the position there.
    pub inner: Option<(&'static str, u32)>,
}

/// A list of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum List {
    /// Tool definitions.
    Tools,
    /// System text, where it is separate from the conversation.
    System,
    /// The conversation.
    Messages,
}

impl Slot {
    /// Returns the location as a path into a provider's request: `messages[9].content[0]`.
    #[must_use]
    pub fn path(&self, provider: Provider) -> String {
        let index = self.index;
        let mut path = match self.list {
            List::Tools => format!("tools[{index}]"),
            List::Messages => format!("{}[{index}]", provider.messages_field()),
            List::System => match provider {
                Provider::Anthropic => format!("system[{index}]"),
                Provider::Gemini => format!("systemInstruction.parts[{index}]"),
                _ => "instructions".to_owned(),
            },
        };
        if let Some((list, index)) = self.inner {
            path.push_str(&format!(".{list}[{index}]"));
        }
        path
    }
}

impl Rendered {
    /// Returns the request as text.
    #[must_use]
    pub fn text(&self) -> &str {
        str::from_utf8(&self.bytes).expect("canonical JSON is ASCII")
    }

    /// Returns the request as a value.
    #[must_use]
    pub fn value(&self) -> Value {
        contextree_json::parse(&self.bytes).expect("a rendered request is valid JSON")
    }

    /// Returns the span that contains a byte; between spans, the next one.
    #[must_use]
    pub fn span_at(&self, byte: usize) -> Option<&Span> {
        self.spans.get(self.spans.partition_point(|span| span.end <= byte))
    }

    /// Returns the path of a span.
    #[must_use]
    pub fn path(&self, span: &Span) -> String {
        span.slot.path(self.provider)
    }

    /// Returns the first span at a location, or inside it.
    #[must_use]
    pub fn span_of(&self, slot: Slot) -> Option<&Span> {
        // Tools precede system text, and that the messages: the order of bytes is that of slots.
        let place = |span: &Span| (span.slot.list, span.slot.index);
        let first = self.spans.partition_point(|span| place(span) < (slot.list, slot.index));
        let within = |span: &&Span| place(span) == (slot.list, slot.index);
        let mut found = self.spans[first..].iter().take_while(within);
        let exact = found.clone().find(|span| span.slot == slot);
        exact.or_else(|| found.next())
    }
}
