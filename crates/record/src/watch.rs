//! A body that passes on what arrives, and tells the writer about it.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use contextree::{Clock as _, SystemClock};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::writer::{Answered, Ending, Event, Queue, What};

/// How long bytes are collected before the writer gets them, and how many at most.
const PATIENCE: Duration = Duration::from_millis(500);
const MOST: usize = 256 << 10;

/// Returns the time, in nanoseconds since 1970.
pub(crate) fn now() -> i64 {
    SystemClock.now_ns()
}

/// Tells the writer about one call. If it is dropped before the call ended, the client disconnected.
pub(crate) struct Told {
    call: u64,
    events: Queue,
    is_over: bool,
}

impl Told {
    pub(crate) fn new(call: u64, events: Queue) -> Told {
        Told { call, events, is_over: false }
    }

    /// Tells of something that is not a call.
    pub(crate) fn note(mut self, text: &'static str) {
        self.is_over = true;
        self.events.send(Event { call: self.call, what: What::Note(text), done: None });
    }

    /// Tells what happened. If too much is waiting for the store, it tells that instead, and nothing more of this call.
    pub(crate) fn tell(&mut self, what: What) {
        if self.is_over {
            return;
        }
        self.is_over = !self.events.send(Event { call: self.call, what, done: None });
    }

    /// Tells, and returns what says whether it was recorded, and what is to be sent instead of a request.
    pub(crate) fn ask(&mut self, what: What) -> oneshot::Receiver<Answered> {
        let (done, asked) = oneshot::channel();
        if !self.is_over {
            self.is_over = !self.events.send(Event { call: self.call, what, done: Some(done) });
        }
        asked
    }

    pub(crate) fn end(&mut self, ending: Ending) {
        self.tell(What::Ended(ending, now()));
        self.is_over = true;
    }

    pub(crate) fn ask_end(&mut self) -> oneshot::Receiver<Answered> {
        let asked = self.ask(What::Ended(Ending::Complete, now()));
        self.is_over = true;
        asked
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        self.end(Ending::Canceled);
    }
}

/// A response that is watched.
pub(crate) struct Watched {
    inner: Incoming,
    told: Option<Told>,
    /// Bytes that the writer does not have yet, and since when.
    waiting: Vec<u8>,
    since: Instant,
    /// Hands over what is waiting when the upstream pauses.
    pause: Option<Pin<Box<Sleep>>>,
    /// Whether the end is passed on only when the call is recorded.
    strict: bool,
    asked: Option<oneshot::Receiver<Answered>>,
    /// The last piece of a body of known length, until the call is recorded: the connection asks for nothing after it.
    held: Option<Frame<Bytes>>,
    /// Why the upstream broke off, until the connection was told.
    broken: Option<Broken>,
}

/// Why a body broke off.
pub(crate) type Broken = Box<dyn std::error::Error + Send + Sync>;

impl Watched {
    pub(crate) fn new(inner: Incoming, told: Option<Told>, strict: bool) -> Watched {
        Watched {
            inner,
            told,
            waiting: Vec::new(),
            since: Instant::now(),
            pause: None,
            strict,
            asked: None,
            held: None,
            broken: None,
        }
    }

    fn hand_over(&mut self) {
        if let Some(told) = &mut self.told
            && !self.waiting.is_empty()
        {
            told.tell(What::Data(std::mem::take(&mut self.waiting)));
        }
        self.since = Instant::now();
        self.pause = None;
    }

    /// Hands over what has been waiting for long while the upstream pauses.
    fn pause(&mut self, context: &mut Context<'_>) {
        if self.waiting.is_empty() {
            return;
        }
        let until = self.since + PATIENCE;
        let pause = self.pause.get_or_insert_with(|| Box::pin(sleep_until(until)));
        if pause.as_mut().poll(context).is_ready() {
            self.hand_over();
        }
    }

    fn note(&mut self, data: &Bytes) {
        if self.told.is_none() {
            return;
        }
        if self.waiting.is_empty() {
            self.since = Instant::now();
        }
        // A copy: the piece itself would keep the whole buffer of the connection.
        self.waiting.extend_from_slice(data);
        if self.waiting.len() >= MOST || self.since.elapsed() >= PATIENCE {
            self.hand_over();
        }
    }

    fn finish(&mut self, ending: Ending) {
        self.hand_over();
        if let Some(mut told) = self.told.take() {
            if self.strict && ending == Ending::Complete {
                self.asked = Some(told.ask_end());
            } else {
                told.end(ending);
            }
        }
    }
}

impl Body for Watched {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let this = &mut *self;
        if let Some(asked) = &mut this.asked {
            let recorded = ready!(Pin::new(asked).poll(context));
            this.asked = None;
            let held = this.held.take();
            return Poll::Ready(match recorded {
                Ok(Ok(_)) => held.map(Ok),
                Ok(Err(why)) => Some(Err(format!("not recorded: {why}").into())),
                Err(_) => Some(Err("not recorded".into())),
            });
        }
        if let Some(error) = this.broken.take() {
            return Poll::Ready(Some(Err(error)));
        }
        let Poll::Ready(next) = Pin::new(&mut this.inner).poll_frame(context) else {
            this.pause(context);
            return Poll::Pending;
        };
        match next {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    this.note(data);
                }
                // The connection asks for nothing after the last byte of a body of known length, or after trailers.
                let is_last = frame.is_trailers() || (this.strict && this.inner.is_end_stream());
                if is_last && this.told.is_some() {
                    this.finish(Ending::Complete);
                }
                if this.asked.is_some() {
                    this.held = Some(frame);
                    return self.poll_frame(context);
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Some(Err(error)) => {
                this.finish(Ending::Failed(format!("the upstream broke off: {error}")));
                // The connection is closed at an error, with whatever was not sent yet. It sends while it waits, so the agent gets
                // the head and all pieces first, as without the proxy.
                this.broken = Some(error.into());
                context.waker().wake_by_ref();
                Poll::Pending
            }
            None => {
                this.finish(Ending::Complete);
                if this.asked.is_some() { self.poll_frame(context) } else { Poll::Ready(None) }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        // The end has to be seen by `poll_frame`, which tells of it.
        self.told.is_none()
            && self.asked.is_none()
            && self.broken.is_none()
            && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // A body of known length may be dropped after its last byte, before its end is polled.
        let is_whole = self.inner.is_end_stream();
        self.finish(if is_whole { Ending::Complete } else { Ending::Canceled });
    }
}
