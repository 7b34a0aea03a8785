//! The connections to the server: a bounded pool, and attempts that are repeated where that is safe.

use std::time::Duration;

use contextree_store::{Result, StoreError};
use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime,
    TimeoutType,
};
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::Error;

use crate::error::{Class, Fault, classify, text, told};
use crate::options::Options;
use crate::tls::Tls;

/// The pauses between attempts: none at first, then doubled from the shortest to the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(200));

/// The connections to the server.
pub(crate) struct Link {
    pool: Pool,
    /// The one connection of a view, in the middle of a transaction.
    view: Option<tokio::sync::Mutex<Object>>,
    answer: Duration,
    patience: Duration,
}

/// What is known from earlier attempts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Before {
    /// An earlier attempt lost its connection: what it asked for may have been done.
    pub(crate) lost: bool,
}

/// Whether a repetition must expect that an earlier attempt was stored without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
}

impl Link {
    /// Prepares the pool. No connection is made yet.
    pub(crate) fn new(options: &Options, tls: Tls) -> Result<Link> {
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(options.config.clone(), tls, manager);
        let setup = setup(options);
        let connect = options.config.get_connect_timeout().copied();
        let pool = Pool::builder(manager)
            .max_size(options.pool_max)
            .wait_timeout(Some(options.pool_wait))
            .create_timeout(connect.map(|limit| limit * 2))
            .recycle_timeout(connect)
            .runtime(Runtime::Tokio1)
            .post_create(Hook::async_fn(move |client, _| {
                let setup = setup.clone();
                Box::pin(
                    async move { client.batch_execute(&setup).await.map_err(HookError::Backend) },
                )
            }))
            .build()
            .map_err(|error| StoreError::Backend { message: error.to_string() })?;
        Ok(Link { pool, view: None, answer: options.answer_timeout(), patience: options.patience })
    }

    /// Returns a link with one connection that shows everything as it is now, and cannot write.
    pub(crate) async fn view(&self) -> Result<Link> {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SELECT 1";
        loop {
            let object = self.pool.get().await.map_err(|error| StoreError::Unavailable {
                message: error.to_string(),
                unknown: false,
            })?;
            match object.batch_execute(begin).await {
                Ok(()) => {
                    let view = Some(tokio::sync::Mutex::new(object));
                    let (answer, patience) = (self.answer, self.patience);
                    return Ok(Link { pool: self.pool.clone(), view, answer, patience });
                }
                // A connection that broke while it was idle; the pool opens another one.
                Err(error) if matches!(classify(&error), Class::Lost) => drop(Object::take(object)),
                Err(error) => return Err(told(&error)),
            }
        }
    }

    /// Ends a view: its connection can be used for something else.
    pub(crate) async fn end_view(&mut self) {
        if let Some(view) = self.view.take() {
            let object = view.into_inner();
            if object.batch_execute("ROLLBACK").await.is_err() {
                drop(Object::take(object));
            }
        }
    }

    /// Makes attempts until one succeeds, one fails for good, or patience ends. The work must be such that doing it again is right: it is
    /// told whether an earlier attempt may have been stored.
    pub(crate) async fn run<T>(
        &self,
        kind: Kind,
        work: impl AsyncFn(&mut Object, Before) -> Result<T, Fault>,
    ) -> Result<T> {
        self.attempt(kind, Before::default(), Some(self.answer), work).await
    }

    /// The same for something that was attempted before.
    pub(crate) async fn run_after<T>(
        &self,
        kind: Kind,
        before: Before,
        work: impl AsyncFn(&mut Object, Before) -> Result<T, Fault>,
    ) -> Result<T> {
        self.attempt(kind, before, Some(self.answer), work).await
    }

    /// The same without a limit for the answer, for work that takes long.
    pub(crate) async fn run_long<T>(
        &self,
        kind: Kind,
        work: impl AsyncFn(&mut Object, Before) -> Result<T, Fault>,
    ) -> Result<T> {
        self.attempt(kind, Before::default(), None, work).await
    }

    async fn attempt<T>(
        &self,
        kind: Kind,
        before: Before,
        limit: Option<Duration>,
        work: impl AsyncFn(&mut Object, Before) -> Result<T, Fault>,
    ) -> Result<T> {
        if let Some(view) = &self.view {
            return match work(&mut *view.lock().await, before).await {
                Ok(value) => Ok(value),
                Err(Fault::Store(error)) => Err(error),
                Err(Fault::Client(error)) => Err(told(&error)),
                Err(Fault::Again) => Err(StoreError::Busy { message: "a view".to_owned() }),
            };
        }
        let mut attempts = Attempts::new(self.patience, before);
        loop {
            let mut object = match self.pool.get().await {
                Ok(object) => object,
                Err(error) => {
                    tracing::debug!(%error, "no connection to the server");
                    attempts.no_connection(&error)?;
                    attempts.pause().await;
                    continue;
                }
            };
            let before = Before { lost: attempts.lost };
            let work = work(&mut object, before);
            let outcome = match limit {
                Some(limit) => timeout(limit, work).await,
                None => Ok(work.await),
            };
            match outcome {
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(Fault::Store(error))) => return Err(error),
                Ok(Err(Fault::Again)) => {
                    tracing::debug!("other writers were faster, trying again");
                    attempts.again()?;
                }
                Ok(Err(Fault::Client(error))) => {
                    if !matches!(classify(&error), Class::Again | Class::Final) {
                        // The pool opens another one in its place.
                        tracing::warn!(%error, "dropping a broken connection");
                        drop(Object::take(object));
                    }
                    attempts.failed(kind, &error)?;
                }
                Err(_) => {
                    // The connection is dropped with whatever it is doing.
                    tracing::warn!("the server did not answer in time, dropping the connection");
                    drop(Object::take(object));
                    attempts.silence(kind)?;
                }
            }
            attempts.pause().await;
        }
    }
}

/// What is known after some attempts.
struct Attempts {
    deadline: Instant,
    pause: Duration,
    lost: bool,
}

impl Attempts {
    fn new(patience: Duration, before: Before) -> Attempts {
        let Before { lost } = before;
        Attempts { deadline: Instant::now() + patience, pause: Duration::ZERO, lost }
    }

    /// Returns the error that the caller gets: that it is not known what happened outweighs everything else.
    fn give_up(&self, error: StoreError) -> Result<()> {
        Err(match error {
            error if !self.lost => error,
            error => StoreError::Unavailable { message: error.to_string(), unknown: true },
        })
    }

    fn no_connection(&self, error: &PoolError) -> Result<()> {
        let (retry, error) = match error {
            PoolError::Timeout(TimeoutType::Wait) => {
                let message = "all connections of the pool are in use".to_owned();
                (false, StoreError::Busy { message })
            }
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                (!matches!(classify(error), Class::Final), told(error))
            }
            PoolError::Timeout(_) => {
                let message = "the server does not answer in time".to_owned();
                (true, StoreError::Unavailable { message, unknown: false })
            }
            error => (false, StoreError::Backend { message: error.to_string() }),
        };
        if retry && Instant::now() < self.deadline { Ok(()) } else { self.give_up(error) }
    }

    fn failed(&mut self, kind: Kind, error: &Error) -> Result<()> {
        let class = classify(error);
        if matches!(class, Class::Lost) && kind == Kind::Write {
            self.lost = true;
        }
        let late = Instant::now() >= self.deadline;
        if late || matches!(class, Class::Final) { self.give_up(told(error)) } else { Ok(()) }
    }

    fn again(&self) -> Result<()> {
        let message = "other processes write to the same rows all the time".to_owned();
        let late = Instant::now() >= self.deadline;
        if late { self.give_up(StoreError::Busy { message }) } else { Ok(()) }
    }

    fn silence(&mut self, kind: Kind) -> Result<()> {
        self.lost |= kind == Kind::Write;
        let message = "the server does not answer in time".to_owned();
        let error = StoreError::Unavailable { message, unknown: false };
        if Instant::now() >= self.deadline { self.give_up(error) } else { Ok(()) }
    }

    async fn pause(&mut self) {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if !self.pause.is_zero() {
            sleep(self.pause.min(left)).await;
        }
        self.pause = (self.pause * 2).clamp(PAUSES.0, PAUSES.1);
    }
}

/// The first statement on every connection.
fn setup(options: &Options) -> String {
    let limit = options.statement_timeout.as_millis();
    let durability = if options.relaxed {
        "SET synchronous_commit = off"
    } else {
        // A stricter setting of the server (`remote_apply`) stays; a laxer one would break our word.
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
    };
    format!(
        "SET statement_timeout = {limit}; SET lock_timeout = {limit}; SET idle_in_transaction_session_timeout = {limit}; {durability}"
    )
}

/// Returns the error of work that is done outside of the pool.
pub(crate) fn away(error: &Error) -> StoreError {
    match told(error) {
        StoreError::Backend { .. } if error.as_db_error().is_none() => {
            StoreError::Unavailable { message: text(error), unknown: false }
        }
        error => error,
    }
}
