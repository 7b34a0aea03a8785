//! The thread that records.
//!
//! The proxy sends events in the order of their arrival and never waits for them to be stored, unless it is strict. All calls share one
//! thread, so that the order of events is the order of steps.

mod answer;
mod line;
mod queue;

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::JoinHandle;
use std::time::Duration;

use contextree::AttemptStatus;
use contextree::json::{Value, parse};
use contextree_app::Error;
use contextree_app::record::{BegunCall, CallId, Conversation, NewCall, Recorder};
use hyper::body::Bytes;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::decode::decoded;
use crate::route::Wire;
use answer::Answer;

pub use line::{CallLine, Outcome, Report};
pub(crate) use queue::Queue;

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
    /// Too much waits for the store: nothing more of the call is told.
    Lost {
        /// Whether its request was told.
        was_begun: bool,
    },
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
    events: Queue,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(
        recorder: Recorder,
        report: impl FnMut(Report) + Send + 'static,
    ) -> Result<Writer, Error> {
        let (events, received) = queue::queue(queue::MOST);
        let report = Box::new(report);
        let (calls, looked) = (BTreeMap::new(), Instant::now());
        let state = State { recorder, report, calls, looked, current: None };
        let thread = std::thread::Builder::new()
            .name("record".to_owned())
            .spawn(move || state.run(&received))
            .map_err(|error| Error::io("a thread", error))?;
        Ok(Writer { events, thread: Some(thread) })
    }

    pub(crate) fn queue(&self) -> Queue {
        self.events.clone()
    }

    /// Waits until everything is recorded that was sent.
    pub(crate) fn finish(mut self) {
        self.events.send(Event { call: 0, what: What::Stop, done: None });
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

impl Call {
    /// Returns whether more of the answer has arrived than is stored.
    fn has_more(&self) -> bool {
        self.answer.text().len() > self.stored.1
    }

    fn is_due(&self) -> bool {
        self.has_more() && self.stored.0.elapsed() >= PARTIAL
    }
}

struct State {
    recorder: Recorder,
    report: Box<dyn FnMut(Report) + Send>,
    calls: BTreeMap<u64, Call>,
    /// When it was looked for answers that pause.
    looked: Instant,
    /// The call that is being begun or ended, and is not in `calls`: a panic must not leave it running.
    current: Option<CallId>,
}

impl State {
    fn run(mut self, received: &queue::Waiting) {
        while let Ok(event) = received.next(self.next_partial()) {
            let Some(Event { call, what, done }) = event else {
                self.store_partials();
                continue;
            };
            if matches!(what, What::Stop) {
                break;
            }
            let result = self.guarded(|state| state.take(call, what)).and_then(|result| result);
            if let Err(why) = &result {
                self.give_up(call, why);
            }
            if let Some(done) = done {
                // The client may be gone.
                let _ = done.send(result);
            }
            // Events of other calls may leave no pause.
            if self.looked.elapsed() >= PARTIAL {
                self.store_partials();
            }
        }
    }

    /// Does something that may panic. The other calls are recorded all the same.
    fn guarded<T>(&mut self, act: impl FnOnce(&mut State) -> T) -> Result<T, String> {
        catch_unwind(AssertUnwindSafe(|| act(self))).map_err(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            format!("the recorder panicked: {}", text.unwrap_or("no message"))
        })
    }

    /// Ends a call that cannot be recorded.
    fn give_up(&mut self, number: u64, why: &str) {
        let status = AttemptStatus::Error(format!("not recorded: {why}"));
        if let Some(id) = self.current.take() {
            // It is known no more if it has ended in an orderly way.
            self.recorder.abandon(id, &status);
        }
        if let Some(call) = self.calls.remove(&number) {
            let id = call.begun.id;
            // If the store fails, the next call of the context ends it.
            let ended = self.guarded(|state| {
                let _ = state.recorder.end(id, &status, None, call.started_at);
            });
            if ended.is_err() {
                self.recorder.abandon(id, &status);
            }
        }
        // A program that prints the report may have no terminal any more.
        let _ = self.guarded(|state| (state.report)(Report::NotRecorded(why.to_owned())));
    }

    /// Returns how long it is until what has arrived of an answer is to be stored; `None` if nothing new has arrived.
    fn next_partial(&self) -> Option<Duration> {
        let due = self.calls.values().filter(|call| call.has_more());
        due.map(|call| PARTIAL.saturating_sub(call.stored.0.elapsed())).min()
    }

    /// Stores what has arrived of answers that pause.
    fn store_partials(&mut self) {
        let due = self.calls.iter().filter(|(_, call)| call.is_due()).map(|(number, _)| *number);
        let due: Vec<u64> = due.collect();
        self.looked = Instant::now();
        for number in due {
            if let Err(why) = self.guarded(|state| state.store_partial(number)) {
                self.give_up(number, &why);
            }
        }
    }

    fn store_partial(&mut self, number: u64) {
        let Some(call) = self.calls.get_mut(&number) else { return };
        let text = call.answer.text();
        call.stored.0 = Instant::now();
        match self.recorder.attach_partial(call.begun.id, text) {
            Ok(()) => call.stored.1 = text.len(),
            // It is tried again, and the whole answer follows, or what has arrived until the call ends.
            Err(error) => tracing::debug!(error = error.message(), "a partial answer"),
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
                if call.is_due() {
                    self.store_partial(number);
                }
                Ok(())
            }
            What::Ended(ending, at) => self.end(number, &ending, at),
            What::Lost { was_begun } => match !was_begun || self.calls.contains_key(&number) {
                true => Err("too much waits for the store".to_owned()),
                // It was told already why it is not recorded.
                false => Ok(()),
            },
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
        self.current = Some(begun.id);
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
        self.current = None;
        Ok(send)
    }

    fn end(&mut self, number: u64, ending: &Ending, at: i64) -> Result<(), String> {
        let Some(call) = self.calls.remove(&number) else { return Ok(()) };
        let Call { begun, model, wire, started_at, first_at, status, request_id, answer, .. } =
            call;
        self.current = Some(begun.id);
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
        self.current = None;
        (self.report)(Report::Call(Box::new(line)));
        Ok(())
    }
}

fn not_read(error: &io::Error) -> String {
    format!("the body of the request: {error}")
}
