//! What arrives of an answer: a document, or a stream of events.

use contextree::AttemptStatus;
use contextree::json::{Value, parse};
use contextree::provider::{Provider, StreamCollector, StreamError, is_event_stream};

use super::Ending;
use crate::decode::Decoder;

/// The longest message of an error that is kept.
const LONGEST_REASON: usize = 2_000;

/// What has arrived of an answer.
pub(super) struct Answer {
    provider: Provider,
    decoder: Result<Decoder, String>,
    body: Body,
}

enum Body {
    /// Too little to say.
    Unknown(Vec<u8>),
    Document(Vec<u8>),
    /// The error, if there was one, is kept by the collector.
    Stream(Box<StreamCollector>),
}

/// An answer that is not complete.
pub(super) struct Unanswered {
    pub(super) status: AttemptStatus,
    /// What has arrived of its text.
    pub(super) partial: Option<String>,
}

impl Answer {
    pub(super) fn new(provider: Provider) -> Answer {
        Answer { provider, decoder: Ok(Decoder::Plain), body: Body::Unknown(Vec::new()) }
    }

    pub(super) fn set_encoding(&mut self, encoding: Option<&str>) {
        self.decoder = Decoder::new(encoding).map_err(|error| error.to_string());
    }

    /// Takes bytes as they arrive.
    pub(super) fn feed(&mut self, bytes: Vec<u8>) {
        let Ok(decoder) = &mut self.decoder else { return };
        let plain = match decoder.decode(bytes) {
            Ok(plain) => plain,
            Err(error) => {
                self.decoder = Err(error.to_string());
                return;
            }
        };
        self.take(&plain);
    }

    fn take(&mut self, plain: &[u8]) {
        match &mut self.body {
            Body::Unknown(begin) => {
                begin.extend_from_slice(plain);
                if begin.trim_ascii_start().len() < 8 {
                    return;
                }
                let all = std::mem::take(begin);
                // Gemini streams a list of documents, unless it is asked for events.
                let is_list = self.provider == Provider::Gemini
                    && all.trim_ascii_start().first() == Some(&b'[');
                if is_event_stream(&all) || is_list {
                    self.body = Body::Stream(Box::new(StreamCollector::new(self.provider)));
                    self.take(&all);
                } else {
                    self.body = Body::Document(all);
                }
            }
            Body::Document(document) => document.extend_from_slice(plain),
            Body::Stream(collector) => {
                // It keeps its error.
                let _ = collector.feed(plain);
            }
        }
    }

    /// Returns the text that has arrived of a stream.
    pub(super) fn text(&self) -> &str {
        match &self.body {
            Body::Stream(collector) => collector.text(),
            Body::Unknown(_) | Body::Document(_) => "",
        }
    }

    /// Returns the document of a complete answer, or why there is none.
    pub(super) fn finish(self, status: u16, ending: &Ending) -> Result<Value, Unanswered> {
        let partial = Some(self.text().to_owned()).filter(|text| !text.is_empty());
        let failed = |why: String| Unanswered {
            status: AttemptStatus::Error(shortened(why)),
            partial: partial.clone(),
        };
        let document = match (self.decoder, self.body) {
            (Err(why), _) => Err(format!("the body of the response: {why}")),
            (Ok(_), Body::Stream(collector)) => match collector.finish() {
                // Clients close the connection after the last event, sometimes before the response ends.
                Ok(document) => return Ok(document),
                Err(StreamError::Incomplete { events }) => {
                    Err(format!("the stream ended after {events} events, before its last"))
                }
                Err(error) => Err(error.to_string()),
            },
            (Ok(_), Body::Document(bytes) | Body::Unknown(bytes)) => {
                parse(&bytes).map_err(|error| format!("the response is not JSON: {error}"))
            }
        };
        match ending {
            Ending::Failed(why) => return Err(failed(why.clone())),
            Ending::Canceled => {
                return Err(Unanswered { status: AttemptStatus::Canceled, partial });
            }
            Ending::Complete => {}
        }
        match document {
            Ok(document) => match error_of(&document) {
                Some(why) => Err(failed(format!("{status} {why}"))),
                None if status >= 400 => Err(failed(format!("status {status}"))),
                None => Ok(document),
            },
            Err(_) if status >= 400 => Err(failed(format!("status {status}"))),
            Err(why) => Err(failed(why)),
        }
    }
}

/// Returns the error that a document reports.
fn error_of(document: &Value) -> Option<String> {
    let document = match document {
        Value::Array(list) => list.first()?,
        document => document,
    };
    let error = document.get("error").filter(|error| !error.is_null())?;
    let text = |name: &str| error.get(name).and_then(Value::as_str);
    let kind = text("type").or_else(|| text("status")).or_else(|| text("code"));
    Some(match (kind, text("message").or_else(|| error.as_str())) {
        (Some(kind), Some(message)) => format!("{kind}: {message}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => String::from_utf8_lossy(&error.to_canonical()).into_owned(),
    })
}

fn shortened(mut why: String) -> String {
    if why.len() > LONGEST_REASON {
        let end = (0..=LONGEST_REASON).rev().find(|at| why.is_char_boundary(*at));
        why.truncate(end.unwrap_or(0));
        why.push('…');
    }
    why
}
