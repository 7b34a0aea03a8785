//! What a rendering may be told, and why there may be none.

use std::collections::BTreeMap;
use std::fmt;

use contextree_json::{Object, Value};

/// How a request is rendered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RenderOptions {
    /// Fields of the request that are no content: `model`, `max_tokens`. They stand above those in the tree.
    pub settings: Object,
    /// Fields that are written on a block besides its own, by the id of the node: `{"cache_control":{"type":"ephemeral"}}`. A text with
    /// a mark is written as a list, which has a place for it. Without any, the marks are those of the newest imported request.
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

/// Why there is no request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RenderError {
    /// Not one message would be in it; no provider accepts that, unless it keeps a prompt or the conversation itself.
    Empty,
    /// A setting has the name of something that the tree decides: `messages`.
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

    /// Returns a way out.
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
            RenderError::Empty => formatter.write_str("the request would have no message"),
            RenderError::ReservedField { name } => {
                write!(formatter, "the setting `{name}` is decided by the tree")
            }
        }
    }
}

impl std::error::Error for RenderError {}
