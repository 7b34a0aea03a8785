//! A context in memory or in a store, as an application would use it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use contextree::{Context, NewNode, Place as At, Snapshot, SnapshotAddress};
use contextree_store::{
    ContextSettings, Cycle, Durability, Session, Sqlite, SqliteOptions, Store, StoreOptions,
};
use contextree_store_postgres::Postgres;

use super::conversation::Line;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Where a context is kept.
#[derive(Clone, Debug)]
pub enum Place {
    /// In memory only.
    Memory,
    /// In a file of the embedded store.
    File(PathBuf, Durability),
    /// In a schema of a PostgreSQL server: its URL, and the schema.
    Server(String, String),
}

impl Place {
    /// Returns the place with this name: `memory`, `sqlite`, `sqlite-relaxed`, `postgres`.
    #[must_use]
    pub fn named(name: &str, folder: &Path) -> Option<Place> {
        let file = folder.join("store.db");
        match name {
            "memory" => Some(Place::Memory),
            "sqlite" => Some(Place::File(file, Durability::Full)),
            "sqlite-relaxed" => Some(Place::File(file, Durability::Relaxed)),
            "postgres" => {
                let url = std::env::var_os("PEERS_POSTGRES")?.into_string().ok()?;
                Some(Place::Server(url, format!("peer_{}", std::process::id())))
            }
            _ => None,
        }
    }

    fn store(&self) -> Outcome<Option<Store>> {
        let options = StoreOptions::deterministic();
        Ok(match self {
            Place::Memory => None,
            Place::File(path, durability) => {
                let sqlite = SqliteOptions { durability: *durability, ..SqliteOptions::default() };
                let file = Sqlite::open(path, &sqlite)?;
                Some(Store::over(Arc::new(file), options))
            }
            Place::Server(..) => Some(Store::over(Arc::new(self.server()?), options)),
        })
    }

    fn server(&self) -> Outcome<Postgres> {
        let Place::Server(url, schema) = self else { return Err("not a server".into()) };
        let mark = if url.contains('?') { '&' } else { '?' };
        Ok(Postgres::open(&format!("{url}{mark}schema={schema}"))?)
    }

    /// Returns the size on disk in bytes, while no process has the store open.
    ///
    /// # Errors
    ///
    /// If the query to the server fails.
    pub fn bytes(&self) -> Outcome<Option<u64>> {
        match self {
            Place::Memory => Ok(None),
            Place::File(path, _) => {
                let sizes = ["db", "db-wal"].map(|extension| {
                    std::fs::metadata(path.with_extension(extension)).map_or(0, |file| file.len())
                });
                Ok(Some(sizes.iter().sum()))
            }
            Place::Server(_, schema) => {
                let query = format!(
                    "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c \
                     JOIN pg_namespace n ON n.oid = c.relnamespace \
                     WHERE n.nspname = '{schema}' AND c.relkind = 'r'"
                );
                let size: i64 = self.server()?.with_connection(async |client| {
                    client.query_one(&query, &[]).await?.try_get(0)
                })?;
                Ok(u64::try_from(size).ok())
            }
        }
    }

    /// Deletes what was stored.
    ///
    /// # Errors
    ///
    /// If it cannot be deleted.
    pub fn remove(&self) -> Outcome<()> {
        match self {
            Place::Memory => {}
            Place::File(path, _) => {
                for extension in ["db", "db-wal", "db-shm"] {
                    let _ = std::fs::remove_file(path.with_extension(extension));
                }
            }
            Place::Server(_, schema) => {
                let drop = format!("DROP SCHEMA {schema} CASCADE");
                self.server()?.with_connection(async |client| client.batch_execute(&drop).await)?;
            }
        }
        Ok(())
    }
}

/// An open context.
#[derive(Debug)]
pub enum System {
    /// In memory.
    Memory(Box<Context>),
    /// In a store.
    Stored(Store, Box<Session>),
}

impl System {
    /// Creates a context.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn create(place: &Place) -> Outcome<System> {
        Ok(match place.store()? {
            None => System::Memory(Box::default()),
            Some(store) => {
                let session = store.create("main", &ContextSettings::default())?;
                System::Stored(store, Box::new(session))
            }
        })
    }

    /// Opens the context again.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn open(place: &Place) -> Outcome<System> {
        let store = place.store()?.ok_or("a context in memory cannot be opened again")?;
        let session = store.session("main")?;
        Ok(System::Stored(store, Box::new(session)))
    }

    /// Adds a step to the context and commits it; it is stored when this returns.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn step(&mut self, line: &Line) -> Outcome<()> {
        match self {
            System::Memory(context) => add(context, line),
            System::Stored(_, session) => session.write(|context| add(context, line)),
        }
    }

    /// Returns the snapshot at an address.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn snapshot(&mut self, address: SnapshotAddress) -> Outcome<Snapshot> {
        Ok(match self {
            System::Memory(context) => context.snapshot(address)?.clone(),
            System::Stored(_, session) => session.snapshot(address)?,
        })
    }

    /// Returns the number of matches of a selector.
    ///
    /// # Errors
    ///
    /// If the selector is invalid.
    pub fn select(&mut self, selector: &str) -> Outcome<usize> {
        let answer = match self {
            System::Memory(context) => context.select(selector)?,
            System::Stored(_, session) => session.select(selector)?,
        };
        Ok(answer.nodes().map_or(0, |nodes| nodes.ids().len()))
    }

    /// Returns the number of nodes added between the last two snapshots.
    ///
    /// # Errors
    ///
    /// If there are fewer than two snapshots.
    pub fn diff(&mut self) -> Outcome<usize> {
        let (older, newer) = (SnapshotAddress::Back(1), SnapshotAddress::Back(0));
        Ok(match self {
            System::Memory(context) => context.diff(older, newer)?.added.len(),
            System::Stored(_, session) => session.diff(older, newer)?.added.len(),
        })
    }

    /// Lists the commits from a cycle on, each with its number and time. Returns their number.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub fn history(&mut self, first: u32) -> Outcome<usize> {
        match self {
            System::Memory(context) => {
                let snapshots = context.history();
                let skip = first.saturating_sub(1) as usize;
                let stamps = (skip..snapshots.len()).filter_map(|index| snapshots.get(index));
                Ok(stamps.map(|snapshot| (snapshot.cycle(), snapshot.last_stamp())).fold(
                    0,
                    |count, stamp| {
                        std::hint::black_box(stamp);
                        count + 1
                    },
                ))
            }
            System::Stored(_, session) => {
                let mut count = 0;
                session.reports(Cycle(first), Cycle::MAX, &mut |cycle, stamp, _| {
                    std::hint::black_box((cycle, stamp));
                    count += 1;
                    Ok(())
                })?;
                Ok(count)
            }
        }
    }
}

/// Reads every message of a snapshot; returns their number and their size in bytes.
#[must_use]
pub(crate) fn read(snapshot: &Snapshot) -> (u64, u64) {
    let texts = snapshot.view().nodes().filter_map(|(_, node)| match node.kind() {
        Some("call") => None,
        _ => node.content().as_text(),
    });
    texts.fold((0, 0), |(count, bytes), text| {
        // Touch every byte: a reference to text is not yet a read.
        let sum: u64 = text.bytes().map(u64::from).sum();
        std::hint::black_box(sum);
        (count + 1, bytes + text.len() as u64)
    })
}

impl System {
    /// Reads every message of the snapshot at an address; returns their number and their size in
    /// bytes.
    ///
    /// # Errors
    ///
    /// If there is no such snapshot.
    pub fn read(&mut self, address: SnapshotAddress) -> Outcome<(u64, u64)> {
        Ok(read(&self.snapshot(address)?))
    }

    /// Opens the store, and reads every message of the snapshot at an address.
    ///
    /// # Errors
    ///
    /// If there is no such snapshot.
    pub fn read_cold(place: &Place, address: SnapshotAddress) -> Outcome<(u64, u64)> {
        let store = place.store()?.ok_or("a context in memory cannot be opened again")?;
        Ok(read(&store.snapshot("main", address)?))
    }
}

fn add(context: &mut Context, line: &Line) -> Outcome<()> {
    let say = |text: &str, role: &str| NewNode::text(text).role(role).kind("text");
    match line {
        Line::Turn { user, assistant } => {
            context.add(At::head(), say(user, "user"))?;
            context.add(At::head(), say(assistant, "assistant"))?;
        }
        Line::Task { user } => {
            context.add(At::head(), say(user, "user"))?;
        }
        Line::Call { say: sentence, id, name, arguments, result } => {
            context.add(At::head(), say(sentence, "assistant"))?;
            let call = NewNode::text(arguments).role("assistant").kind("call");
            let call = call.attribute("data_call_id", id.as_str());
            context.add(At::head(), call.attribute("data_name", name.as_str()))?;
            let result = NewNode::text(result).role("tool").kind("result");
            context.add(At::head(), result.attribute("data_call_id", id.as_str()))?;
        }
    }
    context.commit()?;
    Ok(())
}
