//! Changes of contexts, for everyone who listens.
//!
//! One task looks after all listeners: it wakes when this server wrote, when the store announces a change of another process, or, for
//! stores that cannot announce, every [`PAUSE`] to ask for the version of the store. Only then are the rows of the contexts read that
//! someone listens to, and only those whose revision changed are sent.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use contextree::Code;
use contextree_app::wire::ContextRow;
use contextree_app::{Error, Watch};
use tokio::sync::{Notify, broadcast, watch};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

/// The pause between two looks at a store that does not announce changes.
const PAUSE: Duration = Duration::from_millis(100);

/// The pause between two looks at all contexts.
const PAUSE_ALL: Duration = Duration::from_millis(500);

/// How long a listener to all contexts waits for the first look at them.
const LONGEST_LOOK: Duration = Duration::from_secs(5);

/// How many changes of any context may wait for a slow listener.
const BACKLOG: usize = 256;

/// What is known of a context: its row; `None` if it does not exist.
pub(crate) type Seen = Option<Arc<ContextRow>>;

/// What tells two states of a context apart: when it was created, and its revision.
type Stamp = (i64, u64);

/// All contexts, as they were at the last look at all of them.
type Known = Option<BTreeMap<Arc<str>, Stamp>>;

/// A change of any context.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// A context is new or changed.
    Changed(Arc<ContextRow>),
    /// A context was deleted.
    Deleted(Arc<str>),
}

/// Changes of contexts, for everyone who listens.
pub(crate) struct Hub {
    watch: Watch,
    wake: Arc<Notify>,
    listeners: Mutex<BTreeMap<String, watch::Sender<Seen>>>,
    all: broadcast::Sender<Change>,
    /// Whether all contexts are known as they were, so that every change from now on is noticed.
    has_known: watch::Sender<bool>,
}

impl Hub {
    /// Starts the task. It ends with the runtime.
    pub(crate) fn start(watch: Watch) -> Result<Arc<Hub>, Error> {
        let wake = Arc::new(Notify::new());
        let woken = Arc::clone(&wake);
        let announces = watch.on_change(move || woken.notify_one())?;
        let all = broadcast::Sender::new(BACKLOG);
        let has_known = watch::Sender::new(false);
        let hub = Arc::new(Hub { watch, wake, listeners: Mutex::default(), all, has_known });
        tokio::spawn(Arc::clone(&hub).follow(announces));
        Ok(hub)
    }

    fn listeners(&self) -> MutexGuard<'_, BTreeMap<String, watch::Sender<Seen>>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that this server wrote.
    pub(crate) fn wrote(&self) {
        self.wake.notify_one();
    }

    /// Listens for changes of a context. `row` is what the caller knows of it.
    pub(crate) fn listen(&self, name: &str, row: ContextRow) -> watch::Receiver<Seen> {
        let receiver = {
            let mut listeners = self.listeners();
            let known = || watch::Sender::new(Some(Arc::new(row)));
            listeners.entry(name.to_owned()).or_insert_with(known).subscribe()
        };
        // It may have changed since the row was read.
        self.wrote();
        receiver
    }

    /// Listens for changes of all contexts. When this returns, every later change will be told; the caller can read the list then.
    pub(crate) async fn listen_to_all(&self) -> broadcast::Receiver<Change> {
        let (receiver, mut has_known) = {
            // Under the lock, so that what is known is not forgotten in between; see `forget_all`.
            let _listeners = self.listeners();
            (self.all.subscribe(), self.has_known.subscribe())
        };
        self.wrote();
        // If the store cannot be read now, it may be readable again before the next change.
        let _ = timeout(LONGEST_LOOK, has_known.wait_for(|known| *known)).await;
        receiver
    }

    /// Forgets all contexts, unless someone listens again.
    fn forget_all(&self, known: &mut Known) {
        let _listeners = self.listeners();
        if self.all.receiver_count() == 0 {
            self.has_known.send_replace(false);
            *known = None;
        }
    }

    async fn follow(self: Arc<Self>, announces: bool) {
        let mut version = None;
        let mut known = None;
        loop {
            let names = self.watched();
            let has_listeners = !names.is_empty() || self.all.receiver_count() > 0;
            // Without a listener there is nothing to do until one comes.
            let woken = match has_listeners && !announces {
                true => tokio::select! {
                    () = self.wake.notified() => true,
                    () = sleep(PAUSE) => false,
                },
                false => {
                    self.wake.notified().await;
                    true
                }
            };
            let names = self.watched();
            let wants_all = self.all.receiver_count() > 0;
            let hub = Arc::clone(&self);
            let looked = spawn_blocking(move || {
                hub.look(&names, wants_all, version, woken, &mut known).map(|now| (now, known))
            });
            (version, known) = match looked.await {
                Ok(Ok(found)) => found,
                Ok(Err(error)) => {
                    tracing::warn!(%error, "changes could not be looked for");
                    sleep(PAUSE_ALL).await;
                    self.wake.notify_one();
                    self.has_known.send_replace(false);
                    (None, None)
                }
                Err(_) => return,
            };
            if wants_all {
                sleep(PAUSE_ALL - PAUSE).await;
            }
        }
    }

    /// Returns the contexts that someone listens to, and forgets the others.
    fn watched(&self) -> Vec<String> {
        let mut listeners = self.listeners();
        listeners.retain(|_, sender| sender.receiver_count() > 0);
        listeners.keys().cloned().collect()
    }

    /// Reads what may have changed, and tells the listeners. Returns the version of the store before that.
    fn look(
        &self,
        names: &[String],
        wants_all: bool,
        before: Option<u64>,
        woken: bool,
        known: &mut Known,
    ) -> Result<Option<u64>, Error> {
        // Asked first: what is written meanwhile is seen at the next look.
        let version = self.watch.version()?;
        if !woken && version.is_some() && version == before {
            return Ok(version);
        }
        for name in names {
            let Some(row) = undamaged(self.watch.row(name))? else { continue };
            let row = row.map(Arc::new);
            if let Some(sender) = self.listeners().get(name) {
                sender.send_if_modified(|seen| {
                    let is_new = stamp(seen.as_deref()) != stamp(row.as_deref());
                    if is_new {
                        *seen = row;
                    }
                    is_new
                });
            }
        }
        match wants_all {
            true => self.look_at_all(known)?,
            false => self.forget_all(known),
        }
        Ok(version)
    }

    fn look_at_all(&self, known: &mut Known) -> Result<(), Error> {
        // The first look only remembers: nothing has changed yet.
        let is_first = known.is_none();
        let mut before = known.take().unwrap_or_default();
        let mut now = BTreeMap::new();
        let mut after: Option<String> = None;
        loop {
            let rows = self.watch.rows(after.as_deref(), 1_000)?;
            let Some(last) = rows.last() else { break };
            after = Some(last.name.clone());
            for row in rows {
                let name: Arc<str> = row.name.as_str().into();
                let stamp = (row.created_ns, row.revision);
                let is_new = before.remove(&name) != Some(stamp);
                now.insert(name, stamp);
                if is_new && !is_first {
                    // It fails if no one listens any more.
                    let _ = self.all.send(Change::Changed(Arc::new(row)));
                }
            }
        }
        for (name, stamp) in before {
            match undamaged(self.watch.row(&name))? {
                Some(None) => {
                    let _ = self.all.send(Change::Deleted(name));
                }
                // It is there, as far as anyone can tell: damaged, or created again in between.
                Some(Some(_)) | None => {
                    now.insert(name, stamp);
                }
            }
        }
        *known = Some(now);
        self.has_known.send_replace(true);
        Ok(())
    }
}

fn stamp(row: Option<&ContextRow>) -> Option<Stamp> {
    row.map(|row| (row.created_ns, row.revision))
}

/// Returns `None` for a context that is damaged: those who open it are told so, and those who listen to others hear of theirs.
fn undamaged(row: Result<Option<ContextRow>, Error>) -> Result<Option<Option<ContextRow>>, Error> {
    match row {
        Err(error) if error.code() == Code::StoreCorrupt => {
            tracing::warn!("the row of a context that is listened to is damaged");
            Ok(None)
        }
        row => row.map(Some),
    }
}
