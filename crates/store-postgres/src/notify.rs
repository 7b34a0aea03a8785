//! Telling other processes of steps, and hearing of theirs.
//!
//! A step is not told within its own transaction: the server lets only one transaction with a notice commit at a time, in all of its
//! databases, and holds the others up until the first is on disk. So the notices follow the steps, gathered, over a connection of their own
//! that waits for no disk. They are hints: a process that is killed between a step and its notice has taken the step and told nobody.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contextree_store::{Result, StoreError};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_postgres::{AsyncMessage, Client, Config, Error};

use crate::error::is_unsupported;
use crate::link::away;
use crate::tls::Tls;

/// The number that stands for every context: anything may have changed.
pub(crate) const ANY: i64 = -1;

/// The shortest time between two messages of a process.
const GATHER: Duration = Duration::from_millis(5);

/// How many contexts are named one by one; if more have changed, any may have.
const MOST: usize = 10_000;

/// How many bytes a message may have; the server takes a little more.
const MESSAGE: usize = 7_500;

/// The pause before another attempt to connect.
const PAUSE: Duration = Duration::from_millis(200);

type Listener = Box<dyn Fn(i64, u64) + Send + Sync>;

/// What is needed to connect and to tell our own notices from others'.
#[derive(Clone)]
pub(crate) struct Wire {
    pub(crate) config: Config,
    pub(crate) tls: Tls,
    pub(crate) schema: String,
    /// Names this process: it does not hear itself.
    pub(crate) sender: String,
}

impl Wire {
    fn channel(&self) -> String {
        format!("contextree_{}", self.schema)
    }
}

/// Sends notices. Nothing waits for it.
pub(crate) struct Teller {
    queue: UnboundedSender<(i64, u64)>,
}

impl Teller {
    /// Starts the task that sends.
    pub(crate) fn start(runtime: &Handle, wire: Wire) -> Teller {
        let (queue, notices) = mpsc::unbounded_channel();
        runtime.spawn(tell(wire, notices));
        Teller { queue }
    }

    /// Tells of a step, soon. Revision 0: the context may be gone.
    pub(crate) fn tell(&self, context: i64, revision: u64) {
        // The task has ended if the engine below has no notices.
        let _ = self.queue.send((context, revision));
    }
}

async fn tell(wire: Wire, mut notices: UnboundedReceiver<(i64, u64)>) {
    let mut waiting: BTreeMap<i64, u64> = BTreeMap::new();
    let mut client = None;
    while let Some((context, revision)) = notices.recv().await {
        waiting.insert(context, revision);
        while !waiting.is_empty() {
            while let Ok((context, revision)) = notices.try_recv() {
                waiting.insert(context, revision);
            }
            if waiting.len() > MOST {
                waiting = BTreeMap::from([(ANY, 0)]);
            }
            let next = Instant::now() + GATHER;
            match send(&wire, &mut client, &waiting).await {
                Ok(()) => waiting.clear(),
                Err(error) if is_unsupported(&error) => return,
                Err(_) => {
                    client = None;
                    sleep(PAUSE).await;
                }
            }
            sleep_until(next).await;
        }
    }
}

async fn send(
    wire: &Wire,
    client: &mut Option<Client>,
    waiting: &BTreeMap<i64, u64>,
) -> Result<(), Error> {
    let connected = match client {
        Some(connected) => connected,
        None => {
            let (connected, connection) = wire.config.connect(wire.tls.clone()).await?;
            tokio::spawn(connection);
            // A lost notice is no lost step.
            connected.batch_execute("SET synchronous_commit = off").await?;
            client.insert(connected)
        }
    };
    for message in messages(&wire.sender, waiting) {
        connected.execute("SELECT pg_notify($1, $2)", &[&wire.channel(), &message]).await?;
    }
    Ok(())
}

/// Writes notices down: `SENDER 12:7 13:2`.
fn messages(sender: &str, waiting: &BTreeMap<i64, u64>) -> Vec<String> {
    let mut messages = Vec::new();
    let mut message = sender.to_owned();
    for (context, revision) in waiting {
        message.push_str(&format!(" {context}:{revision}"));
        if message.len() > MESSAGE {
            messages.push(std::mem::replace(&mut message, sender.to_owned()));
        }
    }
    if message.len() > sender.len() {
        messages.push(message);
    }
    messages
}

/// Reads what others wrote down; nothing if it is our own.
fn read(sender: &str, message: &str) -> Vec<(i64, u64)> {
    let mut words = message.split(' ');
    if words.next() == Some(sender) {
        return Vec::new();
    }
    words
        .filter_map(|word| {
            let (context, revision) = word.split_once(':')?;
            Some((context.parse().ok()?, revision.parse().ok()?))
        })
        .collect()
}

/// Hears of other processes' steps.
pub(crate) struct Hearer {
    listeners: Arc<Mutex<Vec<Listener>>>,
    /// Some as soon as it is known whether the engine below has notices.
    works: tokio::sync::Mutex<Option<bool>>,
}

impl Hearer {
    pub(crate) fn new() -> Hearer {
        Hearer { listeners: Arc::default(), works: tokio::sync::Mutex::new(None) }
    }

    /// Adds a listener; connects if it is the first. When this returns true, no later step is missed, short of a lost line: then the
    /// listener is told that anything may have changed.
    pub(crate) async fn add(
        &self,
        runtime: &Handle,
        wire: &Wire,
        listener: Listener,
    ) -> Result<bool> {
        let mut works = self.works.lock().await;
        if *works != Some(false) {
            lock(&self.listeners).push(listener);
        }
        if let Some(works) = *works {
            return Ok(works);
        }
        let listeners = Arc::clone(&self.listeners);
        match connect(wire.clone(), Arc::clone(&listeners)).await {
            Ok(line) => {
                runtime.spawn(stay(wire.clone(), line, listeners));
                *works = Some(true);
                Ok(true)
            }
            Err(error) if is_unsupported(&error) => {
                lock(&self.listeners).clear();
                *works = Some(false);
                Ok(false)
            }
            Err(error) => {
                lock(&self.listeners).clear();
                Err(match away(&error) {
                    StoreError::Busy { message } => {
                        StoreError::Unavailable { message, unknown: false }
                    }
                    error => error,
                })
            }
        }
    }
}

fn lock(listeners: &Mutex<Vec<Listener>>) -> std::sync::MutexGuard<'_, Vec<Listener>> {
    listeners.lock().unwrap_or_else(PoisonError::into_inner)
}

fn announce(listeners: &Mutex<Vec<Listener>>, notices: &[(i64, u64)]) {
    for listener in lock(listeners).iter() {
        for (context, revision) in notices {
            listener(*context, *revision);
        }
    }
}

/// A connection that listens: the task that drives it ends with it.
struct Line {
    /// Kept, because the connection ends with its client.
    _client: Client,
    end: tokio::task::JoinHandle<()>,
}

async fn connect(wire: Wire, listeners: Arc<Mutex<Vec<Listener>>>) -> Result<Line, Error> {
    let (client, mut connection) = wire.config.connect(wire.tls.clone()).await?;
    let command = format!("LISTEN {}", wire.channel());
    let channel = wire.channel();
    let end = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notice) = message
                && notice.channel() == channel
            {
                announce(&listeners, &read(&wire.sender, notice.payload()));
            }
        }
    });
    client.batch_execute(&command).await?;
    Ok(Line { _client: client, end })
}

/// Connects again whenever the line is lost.
async fn stay(wire: Wire, mut line: Line, listeners: Arc<Mutex<Vec<Listener>>>) {
    loop {
        let _ = line.end.await;
        line = loop {
            match connect(wire.clone(), Arc::clone(&listeners)).await {
                Ok(line) => break line,
                Err(_) => sleep(PAUSE).await,
            }
        };
        // Steps may have been taken while nobody listened.
        announce(&listeners, &[(ANY, 0)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_come_through_in_messages_that_the_server_takes() {
        let waiting: BTreeMap<i64, u64> =
            (0..3_000).map(|number| (i64::MAX - number, u64::MAX)).collect();
        let messages = messages("abc", &waiting);
        assert!(messages.iter().all(|message| message.len() < 8_000));
        let heard: BTreeMap<i64, u64> =
            messages.iter().flat_map(|message| read("other", message)).collect();
        assert_eq!(heard, waiting);
        assert!(messages.iter().all(|message| read("abc", message).is_empty()), "not our own");
    }
}
