//! What waits for the writer. The agent never waits for the store, so a store that is too slow would fill the memory: beyond a bound, calls
//! are not recorded any more, which is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::{Event, What};

/// How many bytes of bodies may wait.
pub(crate) const MOST: usize = 512 << 20;

/// The proxy's end.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    events: Sender<Event>,
    waiting: Arc<AtomicUsize>,
    most: usize,
}

/// The writer's end.
#[derive(Debug)]
pub(super) struct Waiting {
    events: Receiver<Event>,
    waiting: Arc<AtomicUsize>,
}

/// Returns a queue for bodies of `most` bytes.
pub(super) fn queue(most: usize) -> (Queue, Waiting) {
    let (sender, receiver) = channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    let queue = Queue { events: sender, waiting: Arc::clone(&waiting), most };
    (queue, Waiting { events: receiver, waiting })
}

impl Queue {
    /// Sends an event. Returns false if too much is waiting: then the writer is told that the call is lost, and nothing more of it is to be
    /// sent. The end of a call always fits.
    pub(crate) fn send(&self, event: Event) -> bool {
        let size = size_of(&event.what);
        let waits = self.waiting.fetch_add(size, Ordering::Relaxed);
        let fits = size == 0 || waits.saturating_add(size) <= self.most;
        let event = match fits {
            true => event,
            false => {
                self.waiting.fetch_sub(size, Ordering::Relaxed);
                let Event { call, what, done } = event;
                let was_begun = !matches!(what, What::Sent(_));
                Event { call, what: What::Lost { was_begun }, done }
            }
        };
        // It fails if the writer has ended, which it said.
        let _ = self.events.send(event);
        fits
    }
}

impl Waiting {
    /// Returns the next event, or `None` when the time is over.
    ///
    /// # Errors
    ///
    /// If nothing can follow.
    pub(super) fn next(&self, time: Option<Duration>) -> Result<Option<Event>, ()> {
        let event = match time {
            None => self.events.recv().map_err(drop)?,
            Some(time) => match self.events.recv_timeout(time) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Err(()),
            },
        };
        self.waiting.fetch_sub(size_of(&event.what), Ordering::Relaxed);
        Ok(Some(event))
    }
}

/// Returns how many bytes of a body an event holds.
fn size_of(what: &What) -> usize {
    match what {
        What::Sent(sent) => sent.body.len(),
        What::Data(bytes) => bytes.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Ending;
    use super::*;

    fn data(bytes: usize) -> Event {
        Event { call: 1, what: What::Data(vec![0; bytes]), done: None }
    }

    #[test]
    fn what_is_too_much_is_told_as_lost_until_the_writer_has_caught_up() {
        let (queue, waiting) = queue(100);
        assert!(queue.send(data(60)));
        assert!(!queue.send(data(60)));
        let end = What::Ended(Ending::Complete, 0);
        assert!(queue.send(Event { call: 2, what: end, done: None }), "an end always fits");
        let next = || waiting.next(None).expect("it is not over").expect("there is no time").what;
        assert!(matches!(next(), What::Data(bytes) if bytes.len() == 60));
        assert!(matches!(next(), What::Lost { was_begun: true }));
        assert!(matches!(next(), What::Ended(..)));
        assert!(queue.send(data(100)));
        drop(queue);
        assert!(waiting.next(None).is_ok());
        assert!(waiting.next(None).is_err());
    }
}
