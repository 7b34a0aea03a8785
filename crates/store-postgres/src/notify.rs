//! Notifying other processes of steps, and listening for theirs.
//!
//! A step does not send its notification in its own transaction: the server commits only one transaction with a notification
//! at a time, across all of its databases, and holds the others up until the first is on disk. So notifications follow the
//! steps, in batches, over a connection of their own that waits for no disk. They are hints: if a process is killed between a
//! step and its notification, the step is stored and no one is notified.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use contextree_store::{ContextId, Result, Revision, StoreError};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_postgres::{AsyncMessage, Client, Config, Error};

use crate::error::is_unsupported;
use crate::link::away;
use crate::tls::Tls;

/// The number that means every context: anything may have changed.
pub(crate) const ANY: ContextId = ContextId(-1);

/// The shortest time between two messages of a process.
const GATHER: Duration = Duration::from_millis(5);

/// How many contexts are named one by one; if more have changed, any may have.
const MOST: usize = 10_000;

/// How many bytes a message may have; the server takes a little more.
const MESSAGE: usize = 7_500;

/// The pause before another attempt to connect.
const PAUSE: Duration = Duration::from_millis(200);

type Listener = Box<dyn Fn(ContextId, Revision) + Send + Sync>;

/// What is needed to connect and to tell our own notices from others'.
#[derive(Clone)]
pub(crate) struct Wire {
    pub(crate) config: Config,
    pub(crate) tls: Tls,
    pub(crate) schema: String,
    /// Identifies this process, so that it ignores its own notifications.
    pub(crate) sender: String,
}

impl Wire {
    fn channel(&self) -> String {
        format!("contextree_{}", self.schema)
    }
}

/// Sends notifications. Nothing waits for it.
pub(crate) struct Teller {
    queue: UnboundedSender<(ContextId, Revision)>,
}

impl Teller {
    /// Starts the task that sends.
    pub(crate) fn start(runtime: &Handle, wire: Wire) -> Teller {
        let (queue, notices) = mpsc::unbounded_channel();
        runtime.spawn(tell(wire, notices));
        Teller { queue }
    }

    /// Announces a step, soon. Revision 0: the context may have been deleted.
    pub(crate) fn tell(&self, context: ContextId, revision: Revision) {
        // The task has ended if the engine below has no notices.
        let _ = self.queue.send((context, revision));
    }
}

async fn tell(wire: Wire, mut notices: UnboundedReceiver<(ContextId, Revision)>) {
    let mut waiting: BTreeMap<ContextId, Revision> = BTreeMap::new();
    let mut client = None;
    while let Some((context, revision)) = notices.recv().await {
        waiting.insert(context, revision);
        while !waiting.is_empty() {
            while let Ok((context, revision)) = notices.try_recv() {
                waiting.insert(context, revision);
            }
            if waiting.len() > MOST {
                waiting = BTreeMap::from([(ANY, Revision::ZERO)]);
            }
            let next = Instant::now() + GATHER;
            match send(&wire, &mut client, &waiting).await {
                Ok(()) => waiting.clear(),
                Err(error) if is_unsupported(&error) => {
                    tracing::info!("the server has no notifications");
                    return;
                }
                Err(error) => {
                    tracing::warn!(%error, "notifications are not sent, connecting again");
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
    waiting: &BTreeMap<ContextId, Revision>,
) -> Result<(), Error> {
    let connected = match client {
        Some(connected) => connected,
        None => {
            let (connected, connection) = wire.config.connect(wire.tls.clone()).await?;
            tokio::spawn(connection);
            // A lost notification is not a lost step.
            connected.batch_execute("SET synchronous_commit = off").await?;
            client.insert(connected)
        }
    };
    for message in messages(&wire.sender, waiting) {
        connected.execute("SELECT pg_notify($1, $2)", &[&wire.channel(), &message]).await?;
    }
    Ok(())
}

/// Formats notifications: `SENDER 12:7 13:2`.
fn messages(sender: &str, waiting: &BTreeMap<ContextId, Revision>) -> Vec<String> {
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

/// Parses a message of another process; empty if it is our own.
fn read(sender: &str, message: &str) -> Vec<(ContextId, Revision)> {
    let mut words = message.split(' ');
    if words.next() == Some(sender) {
        return Vec::new();
    }
    words
        .filter_map(|word| {
            let (context, revision) = word.split_once(':')?;
            Some((ContextId(context.parse().ok()?), Revision(revision.parse().ok()?)))
        })
        .collect()
}

type Listeners = Arc<Mutex<Vec<Listener>>>;
type Notices = Vec<(ContextId, Revision)>;

/// Listens for the steps of other processes.
pub(crate) struct Hearer {
    listeners: Listeners,
    /// Some as soon as it is known whether the engine below has notices.
    works: tokio::sync::Mutex<Option<bool>>,
}

impl Hearer {
    pub(crate) fn new() -> Hearer {
        Hearer { listeners: Listeners::default(), works: tokio::sync::Mutex::new(None) }
    }

    /// Adds a listener; connects if it is the first. When this returns true, no later step is missed. If the connection is lost,
    /// the listener is notified that anything may have changed.
    pub(crate) async fn add(
        &self,
        runtime: &Handle,
        wire: &Wire,
        listener: Listener,
    ) -> Result<bool> {
        let mut works = self.works.lock().await;
        let known = match *works {
            Some(known) => known,
            None => {
                let (heard, notices) = std::sync::mpsc::channel();
                match connect(wire.clone(), heard.clone()).await {
                    Ok(line) => {
                        announce(Arc::clone(&self.listeners), notices)?;
                        runtime.spawn(stay(wire.clone(), line, heard));
                        true
                    }
                    Err(error) if is_unsupported(&error) => false,
                    Err(error) => return Err(away(&error)),
                }
            }
        };
        *works = Some(known);
        if known {
            lock(&self.listeners).push(listener);
        }
        Ok(known)
    }
}

fn lock(listeners: &Mutex<Vec<Listener>>) -> MutexGuard<'_, Vec<Listener>> {
    listeners.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the thread that calls listeners: they may block there, and even read from the store. It ends with the tasks that listen.
fn announce(listeners: Listeners, notices: std::sync::mpsc::Receiver<Notices>) -> Result<()> {
    let work = move || {
        for (context, revision) in notices.into_iter().flatten() {
            for listener in lock(&listeners).iter() {
                listener(context, revision);
            }
        }
    };
    std::thread::Builder::new()
        .name("contextree-notices".to_owned())
        .spawn(work)
        .map(drop)
        .map_err(|error| StoreError::Io { message: error.to_string() })
}

/// A connection that listens: the task that drives it ends with it.
struct Line {
    /// Kept, because the connection ends with its client.
    _client: Client,
    end: tokio::task::JoinHandle<()>,
}

async fn connect(wire: Wire, heard: std::sync::mpsc::Sender<Notices>) -> Result<Line, Error> {
    let (client, mut connection) = wire.config.connect(wire.tls.clone()).await?;
    let command = format!("LISTEN {}", wire.channel());
    let channel = wire.channel();
    let end = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notice) = message
                && notice.channel() == channel
            {
                let _ = heard.send(read(&wire.sender, notice.payload()));
            }
        }
    });
    client.batch_execute(&command).await?;
    Ok(Line { _client: client, end })
}

/// Connects again whenever the connection is lost.
async fn stay(wire: Wire, mut line: Line, heard: std::sync::mpsc::Sender<Notices>) {
    loop {
        let _ = line.end.await;
        tracing::warn!("the connection that listens was lost");
        line = loop {
            match connect(wire.clone(), heard.clone()).await {
                Ok(line) => break line,
                Err(error) => {
                    tracing::debug!(%error, "cannot listen yet");
                    sleep(PAUSE).await;
                }
            }
        };
        tracing::info!("listening again");
        // Steps may have been taken while no one listened.
        let _ = heard.send(vec![(ANY, Revision::ZERO)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_come_through_in_messages_that_the_server_takes() {
        let waiting: BTreeMap<ContextId, Revision> =
            (0..3_000).map(|number| (ContextId(i64::MAX - number), Revision(u64::MAX))).collect();
        let messages = messages("abc", &waiting);
        assert!(messages.iter().all(|message| message.len() < 8_000));
        let heard: BTreeMap<ContextId, Revision> =
            messages.iter().flat_map(|message| read("other", message)).collect();
        assert_eq!(heard, waiting);
        assert!(messages.iter().all(|message| read("abc", message).is_empty()), "not our own");
    }
}
