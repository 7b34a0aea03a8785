//! The output buffer of a rendering.

use contextree_json::{Object, Value, write};

use super::rendered::{List, Rendered, Slot, Span};
use super::{Loss, LossKind, Marks, Names};
use crate::Provider;
use crate::parts::names::form;
use crate::parts::{Role, View};

/// A request in progress.
#[derive(Debug)]
pub(crate) struct Out {
    pub(crate) rendered: Rendered,
    /// The number of entries in the list of messages.
    pub(crate) messages: u32,
    /// Additional fields of some blocks.
    pub(crate) marks: Marks,
    /// Whether texts without a recorded form are written as lists. A later part can then be
    /// appended to the message without changing the bytes before it, which keeps a cached prefix
    /// valid.
    pub(crate) texts_as_lists: bool,
    /// The names of the tools.
    pub(crate) names: Names,
    /// The byte range of the text of the last message, if it was imported as a bare string.
    /// Responses writes a request with only this message as `"input":"…"`. The writer learns only
    /// at the end whether it is the only one.
    pub(crate) bare_text: Option<(usize, usize)>,
    /// Whether [`Wire::end`](super::Wire::end) rewrote bytes before the end of the list (see
    /// `bare_text`), so that the next snapshot cannot resume from any recorded [`Mark`].
    pub(crate) is_final: bool,
    /// The role of the last message. Anthropic accepts mid-conversation system text only after a
    /// user message, and Gemini accepts calls only after one.
    pub(crate) last_role: Option<Role>,
    /// The offset of the bracket that opens the list of messages. Gemini overwrites it with a space
    /// for a single content that was imported without a list.
    pub(crate) list_start: usize,
}

/// Where the messages are in a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The offsets after the bracket that opens the list of messages and at the one that closes it;
    /// `None` if the request has no such list.
    pub(crate) list: Option<(usize, usize)>,
    /// The number of messages.
    pub(crate) messages: usize,
}

/// A position in a request to which [`Out::rewind`] can return. Holds every field of [`Out`] that
/// writing a message changes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    pub(crate) bytes: usize,
    spans: usize,
    losses: usize,
    pub(crate) messages: u32,
    bare_text: Option<(usize, usize)>,
    last_role: Option<Role>,
}

impl Out {
    pub(crate) fn new(provider: Provider) -> Self {
        let rendered =
            Rendered { provider, bytes: Vec::new(), spans: Vec::new(), losses: Vec::new() };
        Out {
            rendered,
            messages: 0,
            marks: Marks::default(),
            texts_as_lists: false,
            names: Names::default(),
            bare_text: None,
            is_final: false,
            last_role: None,
            list_start: 0,
        }
    }

    /// Writes a bracket that opens the list of messages.
    pub(crate) fn begin_list(&mut self) {
        self.list_start = self.place();
        self.raw("[");
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            bytes: self.rendered.bytes.len(),
            spans: self.rendered.spans.len(),
            losses: self.rendered.losses.len(),
            messages: self.messages,
            bare_text: self.bare_text,
            last_role: self.last_role,
        }
    }

    /// Discards everything after a mark.
    pub(crate) fn rewind(&mut self, mark: Mark) {
        self.rendered.bytes.truncate(mark.bytes);
        self.rendered.spans.truncate(mark.spans);
        self.rendered.losses.truncate(mark.losses);
        self.messages = mark.messages;
        self.bare_text = mark.bare_text;
        self.is_final = false;
        self.last_role = mark.last_role;
    }

    pub(crate) fn raw(&mut self, text: &str) {
        self.rendered.bytes.extend_from_slice(text.as_bytes());
    }

    /// Writes a comma, unless a bracket or a colon precedes.
    pub(crate) fn comma(&mut self) {
        if !matches!(self.rendered.bytes.last(), None | Some(b'[' | b'{' | b':')) {
            self.rendered.bytes.push(b',');
        }
    }

    /// Writes `,"name":`.
    pub(crate) fn key(&mut self, name: &str) {
        self.comma();
        self.string(name);
        self.rendered.bytes.push(b':');
    }

    pub(crate) fn string(&mut self, text: &str) {
        write::string(&mut self.rendered.bytes, text);
    }

    pub(crate) fn value(&mut self, value: &Value) {
        write::value(&mut self.rendered.bytes, value);
    }

    /// Writes `,"name":"text"`.
    pub(crate) fn text_field(&mut self, name: &str, text: &str) {
        self.key(name);
        self.string(text);
    }

    /// Writes fields, except those named in `but`.
    pub(crate) fn fields(&mut self, fields: &Object, but: &[&str]) {
        for (name, value) in fields {
            if !but.contains(&name) {
                self.key(name);
                self.value(value);
            }
        }
    }

    /// Writes an object with a type and one text.
    pub(crate) fn typed_text(&mut self, kind: &str, field: &str, text: &str) {
        self.raw("{");
        self.text_field("type", kind);
        self.text_field(field, text);
    }

    pub(crate) fn place(&self) -> usize {
        self.rendered.bytes.len()
    }

    /// Returns whether a text is written as a list of one: because it was imported as one, or to
    /// make room for a mark.
    pub(crate) fn is_list(&self, view: &View<'_>, node: &str) -> bool {
        let came_as_list = || [view.shape(), view.form()].contains(&Some(form::LIST));
        let newest = self.marks.forms.get(node).map(|form| **form == *form::LIST);
        self.texts_as_lists
            || self.marks.fields.contains_key(node)
            || newest.unwrap_or_else(came_as_list)
    }

    /// Records that everything since `start` belongs to a node, and writes the node's marks into
    /// it.
    pub(crate) fn span(&mut self, start: usize, node: &str, slot: Slot) {
        if (slot.inner.is_some() || slot.list != List::Messages)
            && self.rendered.bytes.last() == Some(&b'}')
            && let Some(fields) = self.marks.fields.get(node)
        {
            self.rendered.bytes.pop();
            let fields = fields.clone();
            self.fields(&fields, &[]);
            self.raw("}");
        }
        let end = self.rendered.bytes.len();
        if end > start {
            let place = |slot: &Slot| (slot.list, slot.index);
            let before = self.rendered.spans.last();
            debug_assert!(
                before.is_none_or(|before| place(&before.slot) <= place(&slot)),
                "spans are in the order of their slots"
            );
            self.rendered.spans.push(Span { start, end, node: node.into(), slot });
        }
    }

    /// Returns the slot of the message that is being written.
    pub(crate) fn message_slot(&self) -> Slot {
        Slot { list: List::Messages, index: self.messages, inner: None }
    }

    pub(crate) fn loss(&mut self, kind: LossKind, node: &str, detail: impl Into<String>) {
        let detail = detail.into();
        self.rendered.losses.push(Loss { kind, node: node.to_owned(), detail });
    }
}
