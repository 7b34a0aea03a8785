//! The store that callers have.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use contextree_store::{
    AttemptRow, Backend, BranchId, Checkpoint, Commit, ContextId, ContextRow, Cycle, NewContext,
    Pin, Result, Revision, Rewrite, SidePage, SideRecord, Step, StoreError, Stretch, Tenant,
};
use deadpool_postgres::Object;
use tokio::runtime::{Builder, Handle, Runtime};

use crate::error::Fault;
use crate::link::{Kind, Link};
use crate::notify::{Hearer, Teller, Wire};
use crate::options::Options;
use crate::read::Reader;
use crate::remove::Remover;
use crate::schema::{self, Engine, IfMissing};
use crate::tls::Tls;
use crate::wait::wait;
use crate::{lines, tenants, tend, write};

/// How many threads drive the connections. They only carry bytes.
const THREADS: usize = 2;

/// A store on a PostgreSQL server, or on an engine that speaks its protocol.
///
/// Its methods may be called from any thread, also from one that a runtime drives (which they hold up until the server has answered).
pub struct Postgres {
    link: Link,
    schema: String,
    engine: Engine,
    /// The tenant that the account belongs to.
    tenant: Option<Tenant>,
    wire: Wire,
    teller: Option<Teller>,
    hearer: Hearer,
    doubts: Doubts,
    handle: Handle,
    /// Only taken when the store is dropped.
    runtime: Option<Runtime>,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Postgres").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl Postgres {
    /// Opens a store by its URL: `postgres://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETERS`. Creates its tables if there are none.
    ///
    /// Parameters: `schema` (`contextree`), `sslmode` (`disable`, `prefer`, `require`, `verify-ca`, `verify-full`), `sslrootcert`, `pool_max` (8),
    /// `pool_wait_ms` (10000), `statement_timeout_ms` (30000), `patience_ms` (5000), `durability` (`full`, `relaxed`), `notify` (`on`, `off`), and
    /// those of the client, such as `connect_timeout` (5 s).
    ///
    /// # Errors
    ///
    /// `E_STORE_URL`, `E_STORE_UNAVAILABLE`, `E_STORE_VERSION` for tables of a newer version, `E_STORE_FOREIGN` for a schema of another program.
    pub fn open(url: &str) -> Result<Postgres> {
        Postgres::open_or(url, IfMissing::Create)
    }

    /// Like [`Postgres::open`], but creates nothing: a schema or tables that do not exist are an error.
    ///
    /// # Errors
    ///
    /// `E_STORE_NOT_FOUND` if there is no store, and those of [`Postgres::open`].
    pub fn open_existing(url: &str) -> Result<Postgres> {
        Postgres::open_or(url, IfMissing::Fail)
    }

    fn open_or(url: &str, if_missing: IfMissing) -> Result<Postgres> {
        let options = Options::parse(url)?;
        let tls = Tls::new(&options)?;
        let link = Link::new(&options, tls.clone())?;
        let sender = format!("{:016x}", draw(u64::from_le_bytes)?);
        let schema = options.schema.clone();
        let wire = Wire { config: options.config, tls, schema: schema.clone(), sender };
        // Nothing fails between here and the finished store: a bare runtime may not be dropped on every thread.
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("contextree-postgres")
            .enable_all()
            .build()
            .map_err(|error| StoreError::Io { message: error.to_string() })?;
        let handle = runtime.handle().clone();
        let teller = options.notify.then(|| Teller::start(&handle, wire.clone()));
        let mut store = Postgres {
            link,
            schema,
            engine: Engine::Compatible,
            tenant: None,
            wire,
            teller,
            hearer: Hearer::new(),
            doubts: Doubts::default(),
            handle,
            runtime: Some(runtime),
        };
        let prepared = store.wait(schema::prepare(&store.link, &store.schema, if_missing))?;
        (store.engine, store.tenant) = prepared;
        Ok(store)
    }

    /// Makes an account of the server the account of a tenant: from then on the server shows it only the rows of contexts whose names begin with the
    /// prefix, whatever statements it sends (row-level security). The owner of the tables sees all, as before; an account
    /// without a prefix sees nothing. The caller must own the tables. Who opens the store with such an account has the store of its tenant.
    ///
    /// # Errors
    ///
    /// If there is no such account, if row-level security would not hold it, or if the caller does not own the tables.
    pub fn add_tenant(&self, tenant: &Tenant, account: &str) -> Result<()> {
        self.wait(tenants::add(&self.link, &self.schema, self.engine, tenant, account))
    }

    /// Does something over one of the store's connections, once: for tools and for measuring.
    ///
    /// # Errors
    ///
    /// As any other work.
    #[expect(clippy::needless_pass_by_value, reason = "a closure is given, not lent")]
    pub fn with_connection<T>(
        &self,
        work: impl AsyncFn(&tokio_postgres::Client) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T> {
        let work = async |client: &mut Object, _| Ok::<T, Fault>(work(client).await?);
        self.wait(self.link.run(Kind::Read, work))
    }

    fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        wait(&self.handle, future)
    }

    fn reader(&self) -> Reader<'_> {
        Reader { link: &self.link, schema: &self.schema, whole: self.tenant.is_none() }
    }

    fn remover(&self) -> Remover<'_> {
        Remover { link: &self.link, schema: &self.schema }
    }

    fn tell(&self, context: ContextId, revision: Revision) {
        if let Some(teller) = &self.teller {
            teller.tell(context, revision);
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // To wait for the tasks is not allowed on every thread, and there is nothing to wait for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// How many doubtful steps are remembered.
const DOUBTS: usize = 4096;

/// Steps of which it is unknown whether they were stored. If one of them is repeated, it is searched for further back.
#[derive(Debug, Default)]
struct Doubts {
    keys: Mutex<VecDeque<[u8; 16]>>,
}

impl Doubts {
    fn keys(&self) -> MutexGuard<'_, VecDeque<[u8; 16]>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has(&self, key: &[u8; 16]) -> bool {
        self.keys().contains(key)
    }

    fn note<T>(&self, key: &[u8; 16], outcome: &Result<T>) {
        let doubtful = matches!(outcome, Err(StoreError::Unavailable { unknown: true, .. }));
        let mut keys = self.keys();
        if doubtful && !keys.contains(key) {
            keys.truncate(DOUBTS - 1);
            keys.push_front(*key);
        } else if !doubtful && !keys.is_empty() {
            keys.retain(|other| other != key);
        }
    }
}

/// Draws a number.
fn draw<T>(from: impl Fn([u8; 8]) -> T) -> Result<T> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| StoreError::Io { message: error.to_string() })?;
    Ok(from(bytes))
}

impl Backend for Postgres {
    fn create(&self, new: &NewContext) -> Result<ContextRow> {
        // Drawn, not counted: no sequence becomes a hot spot, contexts spread over all nodes, and a lost answer can be told from a taken name.
        let id = ContextId(draw(i64::from_le_bytes)? & i64::MAX);
        self.wait(write::create(&self.link, &self.schema, id, new))
    }

    fn find(&self, name: &str) -> Result<Option<ContextRow>> {
        self.wait(self.reader().find(name))
    }

    fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<ContextRow>> {
        self.wait(self.reader().list(after, limit))
    }

    fn list_within(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ContextRow>> {
        self.wait(self.reader().list_within(prefix, after, limit))
    }

    fn list_intact(&self, after: Option<&str>, limit: usize) -> Result<Vec<ContextRow>> {
        self.wait(self.reader().list_intact(after, limit))
    }

    fn append(&self, context: ContextId, expected: Revision, step: &Step) -> Result<ContextRow> {
        let doubtful = self.doubts.has(&step.key);
        let at = (context, expected);
        let line = step.line.as_ref().map(|_| draw(i64::from_le_bytes)).transpose()?;
        let line = line.map(|number| ContextId(number & i64::MAX));
        let outcome = self.wait(write::append(&self.link, &self.schema, at, step, line, doubtful));
        self.doubts.note(&step.key, &outcome);
        let row = outcome?;
        self.tell(row.id, row.revision);
        Ok(row)
    }

    fn lineage(&self, branch: BranchId) -> Result<Vec<Stretch>> {
        self.wait(self.reader().lineage(branch))
    }

    fn checkpoint(&self, branch: BranchId, cycle: Cycle) -> Result<Option<Checkpoint>> {
        self.wait(self.reader().checkpoint(branch, cycle))
    }

    fn add_checkpoint(&self, branch: BranchId, checkpoint: &Checkpoint) -> Result<()> {
        self.wait(self.remover().add_checkpoint(branch, checkpoint))
    }

    fn commits(
        &self,
        branch: BranchId,
        first: Cycle,
        last: Cycle,
        visit: &mut dyn FnMut(Commit) -> Result<()>,
    ) -> Result<()> {
        let mut next = Some(first);
        while let Some(from) = next.filter(|from| *from <= last) {
            let page = self.wait(self.reader().commits(branch, from, last))?;
            next = page.last().and_then(|commit| commit.cycle.checked_next());
            page.into_iter().try_for_each(&mut *visit)?;
        }
        Ok(())
    }

    fn bodies(
        &self,
        branch: BranchId,
        cycles: &[Cycle],
        visit: &mut dyn FnMut(Cycle, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let mut left = cycles;
        while !left.is_empty() {
            let (done, page) = self.wait(self.reader().bodies(branch, left))?;
            left = left.get(done..).unwrap_or_default();
            page.into_iter().try_for_each(|(cycle, bodies)| visit(cycle, bodies))?;
        }
        Ok(())
    }

    fn checkpoint_bodies(&self, branch: BranchId, cycle: Cycle) -> Result<Option<Vec<u8>>> {
        self.wait(self.reader().checkpoint_bodies(branch, cycle))
    }

    fn count_commits(&self, branch: BranchId, cycle: Cycle) -> Result<u64> {
        self.wait(self.reader().count_commits(branch, cycle))
    }

    fn journal(&self, context: ContextId) -> Result<(Revision, Vec<Vec<u8>>)> {
        self.wait(self.reader().journal(context))
    }

    fn contents(&self, hashes: &[[u8; 32]]) -> Result<Vec<Option<Vec<u8>>>> {
        self.wait(self.reader().contents(hashes))
    }

    fn users(&self, hash: &[u8; 32]) -> Result<Vec<BranchId>> {
        self.wait(self.reader().users(hash))
    }

    fn attempts(&self, context: ContextId) -> Result<Vec<AttemptRow>> {
        self.wait(self.reader().attempts(context))
    }

    fn side_record(&self, context: ContextId, kind: &str, key: &str) -> Result<Option<Vec<u8>>> {
        self.wait(self.reader().side_record(context, kind, key))
    }

    fn side_records(&self, context: ContextId, kind: Option<&str>) -> Result<Vec<SideRecord>> {
        self.wait(self.reader().side_records(context, kind))
    }

    fn side_page(&self, context: ContextId, page: &SidePage<'_>) -> Result<Vec<SideRecord>> {
        self.wait(self.reader().side_page(context, page))
    }

    fn pin(&self, context: ContextId, pin: &Pin) -> Result<()> {
        self.wait(self.remover().pin(context, pin))
    }

    fn unpin(&self, context: ContextId, cycle: Cycle) -> Result<bool> {
        self.wait(self.remover().unpin(context, cycle))
    }

    fn pins(&self, context: ContextId) -> Result<Vec<Pin>> {
        self.wait(self.reader().pins(context))
    }

    fn children(&self, branch: BranchId) -> Result<Vec<Stretch>> {
        self.wait(self.reader().children(branch))
    }

    fn rewrite(
        &self,
        context: ContextId,
        expected: Revision,
        rewrite: &Rewrite,
    ) -> Result<ContextRow> {
        // No other process knows this key: it only tells whether our own attempt was stored.
        let mut key = [0; 16];
        key[..8].copy_from_slice(&draw(|bytes| bytes)?);
        key[8..].copy_from_slice(&draw(|bytes| bytes)?);
        let row = self.wait(self.remover().rewrite(context, expected, rewrite, key))?;
        self.tell(row.id, row.revision);
        Ok(row)
    }

    fn rename(&self, context: ContextId, name: &str) -> Result<ContextRow> {
        let row = self.wait(lines::rename(&self.link, &self.schema, context, name))?;
        self.tell(row.id, row.revision);
        Ok(row)
    }

    fn delete(&self, context: ContextId, expected: Revision) -> Result<()> {
        self.wait(self.remover().delete(context, expected))?;
        self.tell(context, Revision::ZERO);
        Ok(())
    }

    fn with_view(&self, work: &mut dyn FnMut(&dyn Backend) -> Result<()>) -> Result<()> {
        let mut view = Postgres {
            link: self.wait(self.link.view())?,
            schema: self.schema.clone(),
            engine: self.engine,
            tenant: self.tenant.clone(),
            wire: self.wire.clone(),
            teller: None,
            hearer: Hearer::new(),
            doubts: Doubts::default(),
            handle: self.handle.clone(),
            runtime: None,
        };
        let done = work(&view);
        wait(&self.handle, view.link.end_view());
        done
    }

    fn tenant(&self) -> Option<&Tenant> {
        self.tenant.as_ref()
    }

    fn reclaim(&self) -> Result<Option<u64>> {
        self.wait(tend::reclaim(&self.link, &self.schema, self.engine))
    }

    fn check(&self) -> Result<Vec<String>> {
        let of = (self.engine, self.tenant.is_none());
        self.wait(tend::check(&self.link, &self.schema, of))
    }

    /// Besides the steps of other processes the listener hears `(-1, 0)` after a line was lost and found again, or when too many contexts
    /// changed to name them: anything may have changed; and a context's number with revision 0 when it was deleted.
    fn subscribe(&self, listener: Box<dyn Fn(ContextId, Revision) + Send + Sync>) -> Result<bool> {
        self.wait(self.hearer.add(&self.handle, &self.wire, listener))
    }
}
