//! The group commit: every thread gets the reply to its own step, which says truly whether that is stored.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use shuttle::rand::Rng as _;

use crate::queue::{Ledger, Queue};

/// A step: the thread, its number there, and what becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    thread: usize,
    number: usize,
    fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Fine,
    /// It is refused, and the others of its group are not.
    Refused,
    /// The thread that runs it panics.
    Panics,
    /// The commit of its group fails.
    FailsCommit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    Refused,
    Commit,
    Panicked,
}

/// What is stored: whole groups.
#[derive(Default)]
struct Book(RefCell<Vec<Vec<Step>>>);

struct Group<'l> {
    book: &'l Book,
    steps: Vec<Step>,
    fails: bool,
}

impl Ledger for Book {
    type Step<'s> = Step;
    type Done = Step;
    type Error = Failure;
    type Deadline = ();
    type Group<'l> = Group<'l>;

    fn own(step: Step) -> Step {
        step
    }

    fn begin(&self, (): ()) -> Group<'_> {
        Group { book: self, steps: Vec::new(), fails: false }
    }

    fn take(group: &mut Group<'_>, step: &Step) -> Result<Step, Failure> {
        // Work takes a while: others come meanwhile.
        shuttle::thread::yield_now();
        match step.fate {
            Fate::Refused => return Err(Failure::Refused),
            Fate::Panics => panic!("a step panics"),
            Fate::FailsCommit => group.fails = true,
            Fate::Fine => {}
        }
        group.steps.push(*step);
        Ok(*step)
    }

    fn finish(group: Group<'_>) -> Result<(), Failure> {
        shuttle::thread::yield_now();
        if group.fails {
            return Err(Failure::Commit);
        }
        group.book.0.borrow_mut().push(group.steps);
        Ok(())
    }

    fn panicked() -> Failure {
        Failure::Panicked
    }
}

/// Runs threads that take steps, and compares the replies with what is stored. Returns how large the largest group was.
fn run(threads: usize, steps: usize, fates: &'static [Fate]) -> usize {
    let queue = Arc::new(Queue::new(Book::default()));
    let work = |thread: usize| {
        let queue = Arc::clone(&queue);
        shuttle::thread::spawn(move || {
            let mut replies = Vec::new();
            for number in 0..steps {
                // A search through all orders has no random numbers.
                let fate = match fates {
                    [only] => *only,
                    _ => fates[shuttle::rand::thread_rng().gen_range(0..fates.len())],
                };
                let step = Step { thread, number, fate };
                let reply = catch_unwind(AssertUnwindSafe(|| queue.take(step, ())));
                replies.push((step, reply.unwrap_or(Err(Failure::Panicked))));
            }
            replies
        })
    };
    let threads: Vec<_> = (0..threads).map(work).collect();
    let replies: Vec<(Step, Result<Step, Failure>)> =
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    let groups = queue.alone().0.borrow().clone();
    let stored: Vec<Step> = groups.iter().flatten().copied().collect();
    for (step, reply) in &replies {
        let times = stored.iter().filter(|one| *one == step).count();
        match reply {
            Ok(done) => assert_eq!((done, times), (step, 1), "the reply to its own step"),
            Err(failure) => {
                assert_eq!(times, 0, "{step:?} failed with {failure:?} and is stored");
                let is_refused = *failure == Failure::Refused;
                assert!(!is_refused || step.fate == Fate::Refused, "{step:?}: {failure:?}");
            }
        }
    }
    for thread in 0..threads_of(&replies) {
        let own: Vec<usize> =
            stored.iter().filter(|step| step.thread == thread).map(|step| step.number).collect();
        assert!(own.is_sorted(), "steps of a thread are stored in their order");
    }
    groups.iter().map(Vec::len).max().unwrap_or(0)
}

fn threads_of(replies: &[(Step, Result<Step, Failure>)]) -> usize {
    replies.iter().map(|(step, _)| step.thread + 1).max().unwrap_or(0)
}

#[test]
fn every_thread_gets_the_reply_to_its_own_step() {
    static LARGEST: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let once = || {
        let largest = run(3, 2, &[Fate::Fine, Fate::Fine, Fate::Refused, Fate::FailsCommit]);
        LARGEST.fetch_max(largest, std::sync::atomic::Ordering::Relaxed);
    };
    shuttle::check_random(once, 5_000);
    shuttle::check_pct(once, 5_000, 4);
    let largest = LARGEST.load(std::sync::atomic::Ordering::Relaxed);
    assert!(largest >= 3, "threads share transactions: {largest}");
}

#[test]
fn every_order_of_two_threads_is_right() {
    let once = || {
        run(2, 1, &[Fate::Fine]);
    };
    shuttle::check_dfs(once, Some(20_000));
}

#[test]
fn a_leader_that_panics_leaves_no_thread_waiting() {
    let once = || {
        run(3, 2, &[Fate::Fine, Fate::Fine, Fate::Panics]);
    };
    shuttle::check_random(once, 3_000);
}
