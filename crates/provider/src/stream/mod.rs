//! Collects the events of a streamed answer into the document that the provider would have returned without streaming.
//!
//! ```text
//! bytes of the body ─feed─┐
//!                         ├→ StreamCollector ─finish→ the response document
//! events of an SDK ─feed_event─┘        └─text→ what has arrived so far
//! ```
//!
//! Every provider streams differently, but each stream has a last event. A stream that ends before it is an error of its own
//! ([`StreamError::Incomplete`]): half an answer is never taken for a whole one.

mod anthropic;
mod error;
mod frames;
mod gemini;
mod grow;
mod openai_chat;
mod openai_responses;

use contextree_json::{Value, parse};

pub use error::StreamError;
use frames::{Frame, Frames};

use crate::Provider;

/// The longest stream that is collected.
pub const MAX_STREAM_BYTES: usize = 256 << 20;

/// Collects the events of one streamed answer.
///
/// ```
/// use contextree_provider::{Provider, StreamCollector};
///
/// let mut collector = StreamCollector::new(Provider::OpenAiChat);
/// collector.feed(b"data: {\"id\":\"r1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"It \"}}]}\n\n")?;
/// collector.feed(b"data: {\"id\":\"r1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"will.\"},\"finish_reason\":\"stop\"}]}\n\n")?;
/// assert_eq!(collector.text(), "It will.");
/// let response = collector.finish()?;
/// assert_eq!(response.get("object").and_then(|it| it.as_str()), Some("chat.completion"));
/// # Ok::<(), contextree_provider::StreamError>(())
/// ```
#[derive(Clone, Debug)]
pub struct StreamCollector {
    frames: Frames,
    state: State,
    /// The number of events so far, for error messages.
    events: usize,
    bytes: usize,
    /// Set by the first error; nothing is collected after it.
    failed: Option<StreamError>,
}

#[derive(Clone, Debug)]
enum State {
    Anthropic(anthropic::Message),
    Gemini(gemini::Answer),
    OpenAiChat(openai_chat::Completion),
    OpenAiResponses(openai_responses::Response),
}

impl StreamCollector {
    /// Returns a collector for one answer of a provider.
    #[must_use]
    pub fn new(provider: Provider) -> Self {
        let state = match provider {
            Provider::Anthropic => State::Anthropic(anthropic::Message::default()),
            Provider::Gemini => State::Gemini(gemini::Answer::default()),
            Provider::OpenAiChat => State::OpenAiChat(openai_chat::Completion::default()),
            Provider::OpenAiResponses => {
                State::OpenAiResponses(openai_responses::Response::default())
            }
        };
        StreamCollector { frames: Frames::default(), state, events: 0, bytes: 0, failed: None }
    }

    /// Adds bytes of the body as they arrive, in pieces of any size: server-sent events, JSON Lines, or one JSON list of events.
    ///
    /// # Errors
    ///
    /// If an event is not JSON or not one of this provider, if the provider reports an error, or if the stream is longer than
    /// [`MAX_STREAM_BYTES`]. The same error is returned for everything that follows.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), StreamError> {
        self.check()?;
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > MAX_STREAM_BYTES {
            return self.fail(StreamError::TooLong);
        }
        let mut frames = Vec::new();
        let framed = self.frames.push(bytes, &mut frames);
        self.feed_frames(frames)?;
        framed.or_else(|expected| {
            self.fail(StreamError::shape(self.events + 1, String::new(), expected))
        })
    }

    /// Adds one event as the provider's SDK returns it.
    ///
    /// # Errors
    ///
    /// In the same cases as [`StreamCollector::feed`].
    pub fn feed_event(&mut self, event: Value) -> Result<(), StreamError> {
        self.check()?;
        self.events += 1;
        let added = match &mut self.state {
            State::Anthropic(message) => message.add(event),
            State::Gemini(answer) => answer.add(event),
            State::OpenAiChat(completion) => completion.add(event),
            State::OpenAiResponses(response) => response.add(event),
        };
        added.or_else(|error| self.fail(error.at_event(self.events)))
    }

    /// Returns the text of the answer that has arrived so far, without reasoning and tool calls.
    #[must_use]
    pub fn text(&self) -> &str {
        match &self.state {
            State::Anthropic(message) => message.text(),
            State::Gemini(answer) => answer.text(),
            State::OpenAiChat(completion) => completion.text(),
            State::OpenAiResponses(response) => response.text(),
        }
    }

    /// Returns true if the stream has reached its end, so that [`StreamCollector::finish`] returns the whole answer.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.failed.is_none()
            && match &self.state {
                State::Anthropic(message) => message.is_complete(),
                State::Gemini(answer) => answer.is_complete(),
                State::OpenAiChat(completion) => completion.is_complete(),
                State::OpenAiResponses(response) => response.is_complete(),
            }
    }

    /// Returns the names of parts of the stream that are unknown and therefore missing in the document.
    #[must_use]
    pub fn skipped(&self) -> &[String] {
        match &self.state {
            State::Anthropic(message) => message.skipped(),
            State::Gemini(answer) => answer.skipped(),
            State::OpenAiResponses(response) => response.skipped(),
            // Unknown fields are part of the document.
            State::OpenAiChat(_) => &[],
        }
    }

    /// Returns the response document.
    ///
    /// # Errors
    ///
    /// The error that the stream had, or [`StreamError::Incomplete`] if it ended early.
    pub fn finish(mut self) -> Result<Value, StreamError> {
        self.check()?;
        // The last event of a saved body may have no empty line after it.
        if let Some(frame) = self.frames.rest() {
            self.feed_frames(vec![frame])?;
        }
        if !self.is_complete() {
            return Err(StreamError::Incomplete { events: self.events });
        }
        Ok(match self.state {
            State::Anthropic(message) => message.into_document(),
            State::Gemini(answer) => answer.into_document(),
            State::OpenAiChat(completion) => completion.into_document(),
            State::OpenAiResponses(response) => response.into_document(),
        })
    }

    fn feed_frames(&mut self, frames: Vec<Frame>) -> Result<(), StreamError> {
        for frame in frames {
            match frame {
                Frame::Event(text) => match parse(&text) {
                    Ok(event) => self.feed_event(event)?,
                    Err(error) => {
                        let (event, message) = (self.events + 1, error.to_string());
                        return self.fail(StreamError::NotJson { event, message });
                    }
                },
                Frame::Done => {
                    if let State::OpenAiChat(completion) = &mut self.state {
                        completion.end();
                    }
                }
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), StreamError> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    fn fail(&mut self, error: StreamError) -> Result<(), StreamError> {
        self.failed = Some(error.clone());
        Err(error)
    }
}

/// Returns true if a body is a stream of server-sent events, not one document.
#[must_use]
pub fn is_event_stream(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
    [&b"data:"[..], b"event:", b"id:", b"retry:", b":"].iter().any(|field| body.starts_with(field))
}
