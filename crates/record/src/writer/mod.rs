//! The thread that records.
//!
//! The proxy sends events in the order of their arrival and never waits for them to be stored, unless it is strict. All calls share one
//! thread, so that the order of events is the order of steps.

mod answer;
mod line;

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use contextree::AttemptStatus;
use contextree::json::{Value, parse};
use contextree_app::Error;
use contextree_app::record::{BegunCall, Conversation, NewCall, Recorder};
use hyper::body::Bytes;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::decode::decoded;
use crate::route::Wire;
use answer::Answer;

pub use line::{CallLine, Outcome, Report};

/// How often what has arrived of an answer is stored.
const PARTIAL: Duration = Duration::from_secs(1);

/// What the proxy tells the writer.
pub(crate) struct Event {
    /// The number of the call.
    pub(crate) call: u64,
    pub(crate) what: What,
    /// Told what became of it, if the proxy waits for that.
    pub(crate) done: Option<oneshot::Sender<Answered>>,
}

/// What the writer answers: the request to send instead, if there is one, or why nothing was recorded.
pub(crate) type Answered = Result<Option<Bytes>, String>;

/// What happened to a call.
pub(crate) enum What {
    /// The request was sent.
    Sent(Box<Sent>),
    /// The response began.
    Head(Head),
    /// Bytes of its body arrived.
    Data(Vec<u8>),
    /// It ended.
    Ended(Ending, i64),
    /// Not a call, but something that the user is to know.
    Note(&'static str),
    /// Nothing follows.
    Stop,
}

/// A request that was sent.
pub(crate) struct Sent {
    pub(crate) wire: Wire,
    pub(crate) context: Option<String>,
    pub(crate) conversation: Option<Conversation>,
    pub(crate) encoding: Option<String>,
    pub(crate) body: Bytes,
    /// Whether it may be pruned before it is sent.
    pub(crate) prunes: bool,
    pub(crate) at: i64,
}

/// The beginning of a response.
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) encoding: Option<String>,
    pub(crate) request_id: Option<String>,
    pub(crate) at: i64,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The response is complete.
    Complete,
    /// The client disconnected before it was.
    Canceled,
    /// The upstream could not be reached, or broke off.
    Failed(String),
}

/// The thread that records.
#[derive(Debug)]
pub(crate) struct Writer {
    events: Sender<Event>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(
        recorder: Recorder,
        report: impl FnMut(Report) + Send + 'static,
    ) -> Result<Writer, Error> {
        let (events, received) = channel();
        let state = State { recorder, report: Box::new(report), calls: BTreeMap::new() };
        let thread = std::thread::Builder::new()
            .name("record".to_owned())
            .spawn(move || state.run(&received))
            .map_err(|error| Error::io("a thread", error))?;
        Ok(Writer { events, thread: Some(thread) })
    }

    pub(crate) fn sender(&self) -> Sender<Event> {
        self.events.clone()
    }

    /// Waits until everything is recorded that was sent.
    pub(crate) fn finish(mut self) {
        let _ = self.events.send(Event { call: 0, what: What::Stop, done: None });
        if let Some(thread) = self.thread.take() {
            // It has told what it could not record.
            let _ = thread.join();
        }
    }
}

/// A call that has not ended.
struct Call {
    begun: BegunCall,
    model: String,
    wire: Wire,
    started_at: i64,
    first_at: Option<i64>,
    status: u16,
    request_id: Option<String>,
    answer: Answer,
    /// When what has arrived was stored last, and how much text it was.
    stored: (Instant, usize),
}

struct State {
    recorder: Recorder,
    report: Box<dyn FnMut(Report) + Send>,
    calls: BTreeMap<u64, Call>,
}

impl State {
    fn run(mut self, received: &Receiver<Event>) {
        while let Ok(Event { call, what, done }) = received.recv() {
            if matches!(what, What::Stop) {
                break;
            }
            let result = self.take(call, what);
            if let Err(why) = &result {
                if let Some(call) = self.calls.remove(&call) {
                    let status = AttemptStatus::Error(format!("not recorded: {why}"));
                    // If the store fails, the call stays running until the context is opened again.
                    let _ = self.recorder.end(call.begun.id, &status, None, call.started_at);
                }
                (self.report)(Report::NotRecorded(why.clone()));
            }
            if let Some(done) = done {
                // The client may be gone.
                let _ = done.send(result);
            }
        }
    }

    fn take(&mut self, number: u64, what: What) -> Answered {
        if let What::Sent(sent) = what {
            return self.begin(number, *sent);
        }
        self.go_on(number, what).map(|()| None)
    }

    fn go_on(&mut self, number: u64, what: What) -> Result<(), String> {
        match what {
            What::Head(head) => {
                let Some(call) = self.calls.get_mut(&number) else { return Ok(()) };
                call.first_at = Some(head.at);
                call.status = head.status;
                call.request_id = head.request_id;
                call.answer.set_encoding(head.encoding.as_deref());
                Ok(())
            }
            What::Data(bytes) => {
                let Some(call) = self.calls.get_mut(&number) else { return Ok(()) };
                call.answer.feed(bytes);
                let text = call.answer.text();
                let (when, length) = call.stored;
                if text.len() > length && when.elapsed() >= PARTIAL {
                    call.stored = (Instant::now(), text.len());
                    // The whole answer follows, or what has arrived until the call ends.
                    let kept = self.recorder.attach_partial(call.begun.id, text);
                    return kept.map_err(|error| error.message().to_owned());
                }
                Ok(())
            }
            What::Ended(ending, at) => self.end(number, &ending, at),
            What::Note(text) => {
                (self.report)(Report::NotPruned(text.to_owned()));
                Ok(())
            }
            What::Sent(_) | What::Stop => Ok(()),
        }
    }

    /// Records a request, and returns the one that is sent instead.
    fn begin(&mut self, number: u64, sent: Sent) -> Answered {
        let Sent { wire, context, conversation, encoding, body, prunes, at } = sent;
        let text = decoded(encoding.as_deref(), &body).map_err(|error| not_read(&error))?;
        drop(body);
        let Value::Object(request) = parse(&text).map_err(|error| error.to_string())? else {
            return Err("the request is not a JSON object".to_owned());
        };
        let text = prunes.then_some(text);
        let named = request.get("model").and_then(Value::as_str).map(str::to_owned);
        let model = named.or_else(|| wire.model.clone()).unwrap_or_default();
        let call = NewCall {
            provider: wire.provider,
            request,
            model: wire.model.clone(),
            started_at: at,
            target: context,
            conversation,
            text,
        };
        let mut begun = self.recorder.begin(call).map_err(|error| error.message().to_owned())?;
        let send = begun.send.take().map(Bytes::from);
        if let Some(why) = &begun.not_pruned {
            let message = format!("a request of `{}` passes unchanged: {why}", begun.context);
            (self.report)(Report::NotPruned(message));
        }
        for (rule, scope, left) in begun.receipt.iter().flat_map(|receipt| &receipt.missed) {
            let scope = if scope.is_empty() { "the request" } else { scope };
            let left = line::grouped(*left);
            (self.report)(Report::OverBudget(format!(
                "`{}`: `{rule}` is not met: {left} left in {scope}, and everything there is protected",
                begun.context
            )));
        }
        if !begun.is_exact {
            let message = format!("`{}` does not render to what was sent", begun.context);
            (self.report)(Report::NotExact(message));
        }
        let call = Call {
            begun,
            model,
            answer: Answer::new(wire.provider),
            wire,
            started_at: at,
            first_at: None,
            status: 0,
            request_id: None,
            stored: (Instant::now(), 0),
        };
        self.calls.insert(number, call);
        Ok(send)
    }

    fn end(&mut self, number: u64, ending: &Ending, at: i64) -> Result<(), String> {
        let Some(call) = self.calls.remove(&number) else { return Ok(()) };
        let Call { begun, model, wire, started_at, first_at, status, request_id, answer, .. } =
            call;
        let read = answer.finish(status, ending);
        let mut line = CallLine {
            context: begun.context.clone(),
            cycle: begun.cycle,
            attempt: begun.attempt.clone(),
            relation: begun.relation.clone(),
            provider: wire.provider.name(),
            model,
            status,
            started_at,
            first_at,
            ended_at: at,
            outcome: Outcome::Canceled,
            receipt: begun.receipt.clone(),
        };
        let done = match read {
            Ok(document) => {
                let id = request_id.as_deref();
                self.recorder.complete(begun.id, &document, id, at).map(|outcome| {
                    line.outcome = Outcome::Completed(Box::new(outcome));
                })
            }
            Err(unanswered) => {
                let partial = unanswered.partial.as_deref();
                line.outcome = match &unanswered.status {
                    AttemptStatus::Error(why) => Outcome::Failed(why.clone()),
                    _ => Outcome::Canceled,
                };
                self.recorder.end(begun.id, &unanswered.status, partial, at)
            }
        };
        if let Err(error) = done {
            let why = error.message().to_owned();
            // The answer cannot be recorded, but that there was one can.
            let status = AttemptStatus::Error(format!("not recorded: {why}"));
            let _ = self.recorder.end(begun.id, &status, None, at);
            return Err(format!("{} of `{}`: {why}", begun.attempt, begun.context));
        }
        (self.report)(Report::Call(Box::new(line)));
        Ok(())
    }
}

fn not_read(error: &io::Error) -> String {
    format!("the body of the request: {error}")
}
