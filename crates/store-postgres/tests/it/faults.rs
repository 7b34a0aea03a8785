//! The server dies and comes back, connections are cut, under load: nothing acknowledged is lost, nothing lands twice, errors are clear.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use contextree_store::{Backend, StoreError};
use contextree_store_postgres::Postgres;
use contextree_testkit::postgres::{Server, Settings};

use crate::support::{create, history, insist, open_on, same_entries, until};

/// Writers: this many with a context each, and as many again on one context together.
const WRITERS: usize = 3;

struct Load {
    acknowledged: Vec<AtomicUsize>,
    errors: AtomicUsize,
    unknown: AtomicUsize,
    stop: AtomicBool,
}

impl Load {
    fn new() -> Load {
        Load {
            acknowledged: (0..2 * WRITERS).map(|_| AtomicUsize::new(0)).collect(),
            errors: AtomicUsize::new(0),
            unknown: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
        }
    }

    fn context(writer: usize) -> String {
        if writer < WRITERS { format!("own-{writer}") } else { "shared".to_owned() }
    }

    fn write(&self, store: &dyn Backend, writer: usize) {
        let count = &self.acknowledged[writer];
        while !self.stop.load(Ordering::SeqCst) {
            let number = count.load(Ordering::SeqCst);
            insist(store, &Load::context(writer), &format!("{writer}/{number}"), &|error| {
                self.errors.fetch_add(1, Ordering::SeqCst);
                if matches!(error, StoreError::Unavailable { unknown: true, .. }) {
                    self.unknown.fetch_add(1, Ordering::SeqCst);
                }
            });
            count.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Waits until every writer has had some more steps acknowledged.
    fn go_on(&self, steps: usize) {
        let before: Vec<usize> =
            self.acknowledged.iter().map(|count| count.load(Ordering::SeqCst)).collect();
        until("every writer goes on", || {
            self.acknowledged
                .iter()
                .zip(&before)
                .all(|(count, before)| count.load(Ordering::SeqCst) >= before + steps)
        });
    }

    fn check(&self, store: &dyn Backend) {
        let count = |writer: usize| self.acknowledged[writer].load(Ordering::SeqCst);
        let all =
            |writer: usize| (0..count(writer)).map(move |number| format!("{writer}/{number}"));
        for writer in 0..WRITERS {
            let row = store.find(&Load::context(writer)).unwrap().unwrap();
            assert_eq!(history(store, &row), all(writer).collect::<Vec<_>>());
            assert_eq!(row.revision.get() as usize, count(writer) + 1);
        }
        let row = store.find("shared").unwrap().unwrap();
        let texts = history(store, &row);
        same_entries(&texts, (WRITERS..2 * WRITERS).flat_map(all));
        assert_eq!(row.revision.get() as usize, texts.len() + 1);
        assert_eq!(row.snapshots as usize, texts.len());
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
    }

    /// Runs the writers while something happens to the server; checks everything afterwards.
    fn run(&self, store: &Postgres, trouble: impl FnOnce()) {
        for writer in 0..=WRITERS {
            create(store, &Load::context(writer));
        }
        thread::scope(|scope| {
            for writer in 0..2 * WRITERS {
                scope.spawn(move || self.write(store, writer));
            }
            self.go_on(5);
            trouble();
            self.go_on(5);
            self.stop.store(true, Ordering::SeqCst);
        });
        self.check(store);
    }
}

#[test]
fn the_server_is_killed_and_started_again_under_load() {
    let server = Server::start(&Settings::default()).unwrap();
    let (store, _) = open_on(&server, "patience_ms=100&pool_max=4");
    let load = Load::new();
    load.run(&store, || {
        for _ in 0..4 {
            let before = load.errors.load(Ordering::SeqCst);
            server.kill().unwrap();
            until("writers see that the server is away", || {
                load.errors.load(Ordering::SeqCst) >= before + 2 * WRITERS
            });
            server.restart().unwrap();
            load.go_on(10);
        }
    });
}

#[test]
fn with_patience_writers_do_not_even_notice_a_restart() {
    let server = Server::start(&Settings::default()).unwrap();
    let (store, _) = open_on(&server, "patience_ms=50000");
    let load = Load::new();
    load.run(&store, || {
        server.kill().unwrap();
        server.restart().unwrap();
        load.go_on(5);
    });
    assert_eq!(load.errors.load(Ordering::SeqCst), 0);
}

#[test]
fn connections_are_cut_under_load() {
    let (store, url) =
        open_on(contextree_testkit::postgres::shared(), "application_name=to_be_cut&pool_max=4");
    let other = Postgres::open(&url.replace("to_be_cut", "cutter")).unwrap();
    let load = Load::new();
    let cut = AtomicUsize::new(0);
    load.run(&store, || {
        for _ in 0..20 {
            let number = other
                .with_connection(async |client| {
                    let text = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'to_be_cut' AND state = 'active'";
                    Ok(client.query(text, &[]).await?.len())
                })
                .unwrap();
            cut.fetch_add(number, Ordering::SeqCst);
            load.go_on(1);
        }
        until("some connections were cut in the middle of their work", || {
            let text = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'to_be_cut' AND state = 'active'";
            let number = other
                .with_connection(async |client| Ok(client.query(text, &[]).await?.len()))
                .unwrap();
            cut.fetch_add(number, Ordering::SeqCst) + number >= 20
        });
    });
    assert_eq!(load.errors.load(Ordering::SeqCst), 0, "the store is more patient than that");
}
