//! Where a request is written to.

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
    /// How many entries the list of messages has.
    pub(crate) messages: u32,
    /// What is written on some blocks besides their own.
    pub(crate) marks: Marks,
    /// Texts are written as lists: what joins them later then leaves the bytes before it as they are.
    pub(crate) lists: bool,
    /// The names of the tools.
    pub(crate) names: Names,
    /// Where the text of the last message is, if it came as nothing but a text.
    pub(crate) bare: Option<(usize, usize)>,
    /// The request is written in a way that cannot be gone on with.
    pub(crate) closed: bool,
    /// Whose the last message is, for providers to which that matters.
    pub(crate) speaker: Option<Role>,
    /// Where the list of messages was opened, for a provider that writes a single one in other ways.
    pub(crate) opened: usize,
}

/// How far a request had come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    bytes: usize,
    spans: usize,
    losses: usize,
    messages: u32,
    bare: Option<(usize, usize)>,
    speaker: Option<Role>,
}

impl Out {
    pub(crate) fn new(provider: Provider) -> Self {
        let rendered =
            Rendered { provider, bytes: Vec::new(), spans: Vec::new(), losses: Vec::new() };
        Out {
            rendered,
            messages: 0,
            marks: Marks::default(),
            lists: false,
            names: Names::default(),
            bare: None,
            closed: false,
            speaker: None,
            opened: 0,
        }
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            bytes: self.rendered.bytes.len(),
            spans: self.rendered.spans.len(),
            losses: self.rendered.losses.len(),
            messages: self.messages,
            bare: self.bare,
            speaker: self.speaker,
        }
    }

    /// Takes back everything since a mark.
    pub(crate) fn rewind(&mut self, mark: Mark) {
        self.rendered.bytes.truncate(mark.bytes);
        self.rendered.spans.truncate(mark.spans);
        self.rendered.losses.truncate(mark.losses);
        self.messages = mark.messages;
        self.bare = mark.bare;
        self.closed = false;
        self.speaker = mark.speaker;
    }

    pub(crate) fn raw(&mut self, text: &str) {
        self.rendered.bytes.extend_from_slice(text.as_bytes());
    }

    /// Appends a comma, unless something was just opened.
    pub(crate) fn comma(&mut self) {
        if !matches!(self.rendered.bytes.last(), None | Some(b'[' | b'{' | b':')) {
            self.rendered.bytes.push(b',');
        }
    }

    /// Appends `,"name":`.
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

    /// Appends `,"name":"text"`.
    pub(crate) fn text_field(&mut self, name: &str, text: &str) {
        self.key(name);
        self.string(text);
    }

    /// Appends fields, but those that are named.
    pub(crate) fn fields(&mut self, fields: &Object, but: &[&str]) {
        for (name, value) in fields {
            if !but.contains(&name) {
                self.key(name);
                self.value(value);
            }
        }
    }

    /// Appends an object with a type and one text.
    pub(crate) fn typed_text(&mut self, kind: &str, field: &str, text: &str) {
        self.raw("{");
        self.text_field("type", kind);
        self.text_field(field, text);
    }

    pub(crate) fn place(&self) -> usize {
        self.rendered.bytes.len()
    }

    /// Returns true if a text is written as a list with one element: because it came as one, or to have a place for a mark.
    pub(crate) fn is_list(&self, view: &View<'_>, node: &str) -> bool {
        let came_as_list = || [view.shape(), view.form()].contains(&Some(form::LIST));
        let newest = self.marks.forms.get(node).map(|form| **form == *form::LIST);
        self.lists || self.marks.fields.contains_key(node) || newest.unwrap_or_else(came_as_list)
    }

    /// Notes that everything since a place is a node's, and writes the node's marks into it.
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
            self.rendered.spans.push(Span { start, end, node: node.into(), slot });
        }
    }

    /// Returns the place of the message that is written.
    pub(crate) fn message_slot(&self) -> Slot {
        Slot { list: List::Messages, index: self.messages, inner: None }
    }

    pub(crate) fn loss(&mut self, kind: LossKind, node: &str, detail: impl Into<String>) {
        let detail = detail.into();
        self.rendered.losses.push(Loss { kind, node: node.to_owned(), detail });
    }
}
