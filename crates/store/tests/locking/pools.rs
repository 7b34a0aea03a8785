//! The pool: threads open and close the same context at once.

use std::sync::{Arc, Mutex};

use crate::pool::Pool;
use crate::slot::Lease;
use crate::store::Shared;

/// More contexts than stay unpacked.
const OTHERS: usize = 64;

/// The leases on one context that are held now.
#[derive(Default)]
struct Held(Mutex<Vec<usize>>);

impl Held {
    fn add(&self, lease: &Arc<Lease>) {
        let mut held = self.0.lock().unwrap();
        held.push(Arc::as_ptr(lease) as usize);
        assert!(held.windows(2).all(|pair| pair[0] == pair[1]), "all who use it share one lease");
    }

    fn remove(&self, lease: &Arc<Lease>) {
        let mut held = self.0.lock().unwrap();
        let at = held.iter().position(|one| *one == Arc::as_ptr(lease) as usize);
        held.swap_remove(at.unwrap());
    }
}

fn touch(shared: &Arc<Shared>, name: &str) {
    let lease = Lease::new(shared, name).unwrap();
    lease.slot.open(name);
}

/// Runs threads that open and close contexts. One of them is packed at first, if there are `others`.
fn run(threads: usize, others: usize, bound: u64) {
    let shared = Arc::new(Shared { backend: Arc::new(()), pool: Pool::new(bound) });
    touch(&shared, "main");
    (0..others).for_each(|number| touch(&shared, &format!("other {number}")));
    let held = Arc::new(Held::default());
    let work = |number: usize| {
        let (shared, held) = (Arc::clone(&shared), Arc::clone(&held));
        shuttle::thread::spawn(move || {
            for _ in 0..2 {
                let lease = Lease::new(&shared, "main").unwrap();
                held.add(&lease);
                lease.slot.open("main");
                shuttle::thread::yield_now();
                held.remove(&lease);
                drop(lease);
                touch(&shared, &format!("other {number}"));
            }
        })
    };
    let threads: Vec<_> = (0..threads).map(work).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    shared.pool.check();
    touch(&shared, "main");
    shared.pool.check();
}

#[test]
fn all_who_use_a_context_share_it_while_it_is_packed_and_unpacked() {
    shuttle::check_random(|| run(3, OTHERS, u64::MAX), 300);
    shuttle::check_pct(|| run(3, OTHERS, u64::MAX), 300, 3);
}

#[test]
fn all_who_use_a_context_share_it_while_contexts_are_evicted() {
    shuttle::check_random(|| run(3, 0, 5_000), 2_000);
    shuttle::check_pct(|| run(3, 0, 5_000), 2_000, 3);
}
