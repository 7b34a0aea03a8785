//! Answers that are logged after their requests.

use contextree_engine::{CallOutcome, CallResponse};
use contextree_json::{Object, Value, parse};
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{Fields, Incoming, Shape, Usage, read_messages, read_usage, set};

use super::{Requests, keep_blank};
use crate::error::ImportErrorKind;
use crate::fingerprint::{Fingerprint, Unmarked, essence_of};
use crate::session::{About, Placed, Seen, Session};

/// A response that was read, to be added to a context.
pub(crate) struct Answer {
    /// What the provider reported.
    pub(crate) outcome: CallOutcome,
    /// Its messages, each with the position of its first entry.
    read: Vec<(usize, Incoming)>,
    unmarked: Vec<Unmarked>,
    essences: Vec<Fingerprint>,
    /// What the document says besides.
    about: Object,
    document: Value,
}

impl Requests {
    /// Adds the answer of the call that was begun: the document that the provider returned, or only
    /// its message.
    pub(super) fn answer(
        &mut self,
        document: Value,
        ended_at: Option<i64>,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        let mut answer = self.read_answer(document)?;
        session.state.at(ended_at);
        if !session.state.has_call() {
            session.begin_call(crate::session::CallInfo::default())?;
        }
        session.end_call(std::mem::take(&mut answer.outcome), ended_at)?;
        self.add_answer(answer, session)
    }

    /// Reads an answer. Adds nothing.
    pub(crate) fn read_answer(&self, document: Value) -> Result<Answer, ImportErrorKind> {
        let usage = read_usage(self.provider, &document);
        let Spoken { messages, about, is_silent } = take_messages(self.provider, document.clone())?;
        let essences = messages.iter().map(essence_of).collect();
        let mut values = messages.clone();
        let look = |message: &mut Value| Unmarked::take(self.provider, message);
        let unmarked = values.iter_mut().map(look).collect();
        let mut read = read_messages(self.provider, messages, usize::MAX)?;
        if !is_silent {
            read.iter_mut().for_each(|(_, message)| keep_blank(self.provider, &mut message.parts));
        }
        Ok(Answer { outcome: outcome_of(usage), read, unmarked, essences, about, document })
    }

    /// Adds the messages of an answer to the head.
    pub(crate) fn add_answer(
        &mut self,
        answer: Answer,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        let Answer { read, unmarked, essences, about, document, .. } = answer;
        let mut entry = Some(about).filter(|about| !about.is_empty());
        let mut read = read.into_iter().peekable();
        while let Some((first, mut message)) = read.next() {
            if let (Some(entry), Some(part)) = (entry.take(), message.parts.first_mut()) {
                set(part, names::ENTRY, Value::Object(entry));
            }
            session.add(message, &About::default())?;
            let next = read.peek().map_or(unmarked.len(), |(next, _)| *next);
            let seen = |index: usize| {
                let Unmarked { fingerprint, listed, .. } = unmarked[index];
                Some(Seen { fingerprint, listed, essence: Some(essences[index]) })
            };
            let Some(last) = session.state.window.last_mut() else { continue };
            last.seen = seen(first);
            let (role, cycle) = (last.role, last.cycle);
            for index in first + 1..next {
                let placed = Placed::continued(role, cycle, seen(index));
                session.state.window.push(placed);
            }
        }
        self.answered = Some(document);
        Ok(())
    }
}

/// The messages of an answer, as the next request repeats them.
struct Spoken {
    messages: Vec<Value>,
    /// What the document says besides.
    about: Object,
    /// Whether it has no message, so that an empty one takes its place.
    is_silent: bool,
}

/// Returns the messages of a response; none if it is not one.
pub(crate) fn answer_messages(provider: Provider, document: Value) -> Vec<Value> {
    take_messages(provider, document).map(|spoken| spoken.messages).unwrap_or_default()
}

/// Takes the messages out of a response. Reads the first of several choices or candidates.
fn take_messages(provider: Provider, document: Value) -> Result<Spoken, Shape> {
    let mut fields = Fields::of(document)?;
    let first = |fields: &mut Fields, list: &'static str, name: &'static str| {
        let choices = fields.take_list(list)?;
        let choice = choices.into_iter().next().and_then(|it| Fields::of(it).ok());
        Some(choice.and_then(|mut choice| choice.take(name)))
    };
    let message = match provider {
        Provider::OpenAiChat => first(&mut fields, "choices", "message"),
        Provider::Gemini => first(&mut fields, "candidates", "content"),
        Provider::OpenAiResponses if fields.text("type").is_none() => {
            if let Some(messages) = fields.take_list("output") {
                return Ok(Spoken { messages, about: fields.0, is_silent: false });
            }
            None
        }
        Provider::Anthropic if fields.text("type") == Some("message") => {
            let said = ["role", "content"].into_iter();
            let message: Object =
                said.filter_map(|name| Some((name, fields.take(name)?))).collect();
            Some(Some(Value::Object(message)))
        }
        _ => None,
    };
    match message {
        Some(Some(message)) => {
            Ok(Spoken { messages: vec![message], about: fields.0, is_silent: false })
        }
        // The model said nothing, for the reason that the document gives.
        Some(None) => {
            let nothing = match provider {
                Provider::Gemini => r#"{"role":"model","parts":[{"text":""}]}"#,
                _ => r#"{"role":"assistant","content":""}"#,
            };
            let message = parse(nothing.as_bytes()).expect("it is JSON");
            Ok(Spoken { messages: vec![message], about: fields.0, is_silent: true })
        }
        // Only the message.
        None => {
            let messages = vec![Value::Object(fields.0)];
            Ok(Spoken { messages, about: Object::new(), is_silent: false })
        }
    }
}

/// Returns what the provider reported, as an attempt has it.
pub(crate) fn outcome_of(usage: Usage) -> CallOutcome {
    CallOutcome {
        token_in: usage.input,
        token_out: usage.output,
        response: CallResponse {
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            cache_write_5m: usage.cache_write_5m,
            cache_write_1h: usage.cache_write_1h,
            reasoning: usage.reasoning,
            model: usage.model,
            stop_reason: usage.stop_reason,
            response_id: usage.id,
            request_id: None,
            diagnostics: usage.diagnostics,
        },
    }
}
