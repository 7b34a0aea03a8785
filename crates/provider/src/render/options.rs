//! Options and errors of rendering.

use std::collections::BTreeMap;
use std::fmt;

use contextree_json::{Object, Value, parse};

use crate::Provider;

/// Options of a rendering.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RenderOptions {
    /// Fields of the request that are not content: `model`, `max_tokens`. They override those in
    /// the tree.
    pub settings: Object,
    /// Additional fields of blocks, by node id: `{"cache_control":{"type":"ephemeral"}}`. A text
    /// with a mark is written as a list, which has a place for it. If `None`, the marks of the
    /// newest imported request are used.
    pub marks: Option<BTreeMap<String, Object>>,
}

impl RenderOptions {
    /// Returns options with the setting `model`.
    #[must_use]
    pub fn for_model(model: impl Into<String>) -> Self {
        RenderOptions::default().setting("model", model.into())
    }

    /// Sets a field of the request that is not content: `max_tokens`, `temperature`.
    #[must_use]
    pub fn setting(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.settings.insert(name, value.into());
        self
    }

    /// Returns everything that is needed to render a tree to the same bytes again, as canonical JSON: the provider and these options.
    #[must_use]
    pub fn to_text(&self, provider: Provider) -> String {
        let mut object = Object::from_iter([
            ("provider", Value::from(provider.name())),
            ("settings", Value::Object(self.settings.clone())),
        ]);
        if let Some(marks) = &self.marks {
            let marks = marks.iter().map(|(id, fields)| (id, Value::Object(fields.clone())));
            object.insert("marks", Value::Object(marks.collect()));
        }
        String::from_utf8_lossy(&Value::Object(object).to_canonical()).into_owned()
    }

    /// Reads what [`RenderOptions::to_text`] wrote; `None` if it is anything else.
    #[must_use]
    pub fn from_text(text: &str) -> Option<(Provider, RenderOptions)> {
        let value = parse(text.as_bytes()).ok()?;
        let provider = value.get("provider")?.as_str()?.parse().ok()?;
        let settings = value.get("settings")?.as_object()?.clone();
        let marks = match value.get("marks") {
            None => None,
            Some(marks) => {
                let entries = marks.as_object()?.iter();
                let entries =
                    entries.map(|(id, it)| Some((id.to_owned(), it.as_object()?.clone())));
                Some(entries.collect::<Option<BTreeMap<_, _>>>()?)
            }
        };
        Some((provider, RenderOptions { settings, marks }))
    }
}

/// Why a request cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RenderError {
    /// The request would have no messages. Providers accept that only if they store the prompt or
    /// the conversation.
    Empty,
    /// A setting has the name of a field that the tree determines: `messages`.
    ReservedField {
        /// The name.
        name: String,
    },
}

impl RenderError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            RenderError::Empty => "E_REQUEST_EMPTY",
            RenderError::ReservedField { .. } => "E_SETTING_RESERVED",
        }
    }

    /// Returns a hint.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            RenderError::Empty => "add a message, or protect the newest turn from pruning",
            RenderError::ReservedField { .. } => "put it into the tree, not into the settings",
        }
    }
}

impl fmt::Display for RenderError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RenderError::Empty => formatter.write_str("the request would have no messages"),
            RenderError::ReservedField { name } => {
                write!(formatter, "the setting `{name}` is reserved: the tree determines it")
            }
        }
    }
}

impl std::error::Error for RenderError {}
