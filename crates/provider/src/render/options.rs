//! Options and errors of rendering.

use std::collections::BTreeMap;
use std::fmt;

use contextree_json::{Object, Value};

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
