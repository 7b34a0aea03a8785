//! Describes why a stream is not an answer.

use std::fmt;

use contextree_json::Value;

use crate::read::Shape;

/// Why the events of a stream are not an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamError {
    /// An event is not JSON.
    NotJson {
        /// The number of the event, from 1.
        event: usize,
        /// The message of the parser.
        message: String,
    },
    /// An event is not one of this provider, or not where it belongs.
    Shape {
        /// The number of the event, from 1.
        event: usize,
        /// The location in the event, and what was expected there.
        shape: Shape,
    },
    /// The provider reported an error in the stream.
    Provider {
        /// Its message.
        message: String,
        /// Its name for the error: `overloaded_error`.
        kind: Option<String>,
    },
    /// The stream ended before the answer did.
    Incomplete {
        /// The number of events that arrived.
        events: usize,
    },
    /// The stream is longer than [`MAX_STREAM_BYTES`](super::MAX_STREAM_BYTES).
    TooLong,
}

impl StreamError {
    pub(super) fn shape(event: usize, at: String, expected: &'static str) -> Self {
        StreamError::Shape { event, shape: Shape { at, expected } }
    }

    /// Returns the error that a provider's `error` object describes.
    pub(super) fn reported(error: &Value) -> Self {
        let text = |name: &str| error.get(name).and_then(Value::as_str).map(str::to_owned);
        let message = text("message").or_else(|| error.as_str().map(str::to_owned));
        StreamError::Provider {
            message: message.unwrap_or_else(|| "no message".to_owned()),
            kind: text("code").or_else(|| text("type")).or_else(|| text("status")),
        }
    }

    /// Sets the number of the event.
    pub(super) fn at_event(mut self, number: usize) -> Self {
        if let StreamError::Shape { event, .. } = &mut self {
            *event = number;
        }
        self
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            StreamError::NotJson { .. } | StreamError::Shape { .. } => "E_ANSWER_INVALID",
            StreamError::Provider { .. } => "E_ANSWER_ERROR",
            StreamError::Incomplete { .. } => "E_ANSWER_INCOMPLETE",
            StreamError::TooLong => "E_LIMIT",
        }
    }
}

impl From<Shape> for StreamError {
    fn from(shape: Shape) -> Self {
        StreamError::Shape { event: 0, shape }
    }
}

impl fmt::Display for StreamError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamError::NotJson { event, message } => {
                write!(formatter, "event {event} of the stream is not JSON: {message}")
            }
            StreamError::Shape { event, shape } => {
                write!(formatter, "event {event} of the stream: {shape}")
            }
            StreamError::Provider { message, .. } => {
                write!(formatter, "the provider returned an error: {message}")
            }
            StreamError::Incomplete { events } => write!(
                formatter,
                "the stream ended after {events} events, before the answer was complete"
            ),
            StreamError::TooLong => write!(
                formatter,
                "the stream would exceed the limit of {} bytes",
                super::MAX_STREAM_BYTES
            ),
        }
    }
}

impl std::error::Error for StreamError {}
