//! The conformance suite: what every store must do, with any backend.
//!
//! Each case is a function that takes a store without contexts, and panics if the store misbehaves.
//! [`conformance!`](crate::conformance) makes a test of each.

pub mod contents;
pub mod contexts;
pub mod faulty;
pub mod history;
pub mod random;
pub mod retention;
pub mod side;
pub mod threads;

use contextree_store::{
    Backend, BranchId, Checkpoint, Commit, ContentRow, ContextRow, Cycle, Head, NewContext, Result,
    Step, StoreError, Stretch,
};

/// Makes a test of each case of the suite. The expression is evaluated for each of them, and must
/// return a store without contexts, as a box or any other value that dereferences to a [`Backend`].
#[macro_export]
macro_rules! conformance {
    ($store:expr) => {
        $crate::conformance! { $store;
            contexts: a_new_context_is_found_and_listed,
            contexts: names_are_unique_and_listed_in_the_order_of_their_bytes,
            contexts: a_step_counts_a_revision,
            contexts: a_step_upon_an_old_revision_is_refused_and_leaves_nothing,
            contexts: a_step_given_twice_lands_once,
            contexts: a_context_made_twice_with_one_key_is_made_once,
            contexts: a_step_that_fails_leaves_nothing,
            contexts: the_journal_is_emptied_by_a_commit,
            contexts: attempts_keep_their_place,
            contexts: blobs_of_any_size_come_back,
            history: commits_are_handed_out_in_order,
            history: a_visitor_may_stop_and_may_ask_the_store,
            history: bodies_are_handed_out_by_cycle,
            history: the_newest_checkpoint_is_found,
            history: forks_of_forks_share_history,
            history: a_fork_begins_with_a_snapshot_that_is_there,
            history: a_context_of_its_own_may_begin_with_a_tree,
            contents: equal_contents_are_stored_once,
            contents: contents_go_with_the_last_context_that_uses_them,
            contents: a_deleted_context_leaves_what_forks_need,
            contents: deleting_forks_frees_the_branches_behind_them,
            contents: a_deleted_number_is_never_used_again,
            retention: pins_hold_snapshots_that_are_there,
            retention: a_rewrite_changes_what_is_kept,
            retention: a_rewrite_is_refused_if_a_fork_or_pin_slipped_in,
            retention: a_sound_store_has_no_faults,
            side: side_records_change_with_a_step,
            side: side_records_follow_the_step_they_belong_to,
            side: side_records_are_read_by_prefix,
            side: side_records_come_and_go_with_a_context,
            side: a_step_may_reset_the_journal,
            threads: eight_threads_on_one_context_leave_a_line_without_gaps,
            threads: eight_threads_on_contexts_of_their_own_do_not_meet,
            threads: one_of_many_makes_the_context,
        }
    };
    ($store:expr; $($file:ident: $case:ident,)*) => {
        $(
            #[test]
            fn $case() {
                let store = $store;
                $crate::suite::$file::$case(&*store);
            }
        )*
    };
}

/// Unwraps a result, and panics with the error.
#[track_caller]
pub(crate) fn ok<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{}: {error} ({error:?})", error.code()),
    }
}

/// Panics unless the error has this code.
#[track_caller]
pub(crate) fn refused<T>(result: Result<T>, code: &str) -> StoreError {
    match result {
        Ok(_) => panic!("this must fail with {code}"),
        Err(error) => {
            assert_eq!(error.code(), code, "{error}");
            error
        }
    }
}

/// Returns a context to create.
#[must_use]
pub fn new(name: &str) -> NewContext {
    NewContext {
        name: name.to_owned(),
        created_ns: 1_000,
        settings: "{}".to_owned(),
        from: None,
        base: None,
        first: Step::default(),
    }
}

/// Creates a context.
#[track_caller]
pub(crate) fn create(store: &dyn Backend, name: &str) -> ContextRow {
    ok(store.create(&new(name)))
}

/// Creates a context that begins with the snapshot of another.
#[track_caller]
pub(crate) fn fork(store: &dyn Backend, name: &str, branch: BranchId, upto: u32) -> ContextRow {
    let from = Some(Stretch { branch, upto: Cycle(upto) });
    ok(store.create(&NewContext { from, ..new(name) }))
}

/// Returns a commit whose blobs contain its number.
#[must_use]
pub fn commit(cycle: u32) -> Commit {
    Commit {
        cycle: Cycle(cycle),
        effects: Some(format!("effects {cycle}").into_bytes()),
        bodies: format!("bodies {cycle}").into_bytes(),
    }
}

/// Returns a step with these commits.
#[must_use]
pub fn commits(cycles: impl IntoIterator<Item = u32>) -> Step {
    let commits: Vec<Commit> = cycles.into_iter().map(commit).collect();
    let head = commits.last().map(|commit| head(commit.cycle.get()));
    Step { now_ns: 2_000, commits, head, ..Step::default() }
}

pub(crate) fn head(cycle: u32) -> Head {
    let mut digest = [7; 32];
    digest[..4].copy_from_slice(&cycle.to_be_bytes());
    Head { cycle: Cycle(cycle), digest }
}

pub(crate) fn key(number: u64) -> [u8; 16] {
    let mut key = [9; 16];
    key[..8].copy_from_slice(&number.to_be_bytes());
    key
}

pub(crate) fn content(number: u8) -> ContentRow {
    ContentRow { hash: hash(number), data: vec![number; 600] }
}

pub(crate) fn hash(number: u8) -> [u8; 32] {
    let mut hash = [number; 32];
    hash[31] = 1;
    hash
}

pub(crate) fn checkpoint(cycle: u32) -> Checkpoint {
    Checkpoint {
        cycle: Cycle(cycle),
        tree: format!("tree {cycle}").into_bytes(),
        bodies: format!("own bodies {cycle}").into_bytes(),
    }
}

/// Returns the commits that a branch itself has between two cycles.
#[track_caller]
pub(crate) fn read(store: &dyn Backend, branch: BranchId, first: u32, last: u32) -> Vec<Commit> {
    let mut found = Vec::new();
    ok(store.commits(branch, Cycle(first), Cycle(last), &mut |commit| {
        found.push(commit);
        Ok(())
    }));
    found
}

pub(crate) fn cycles(commits: &[Commit]) -> Vec<u32> {
    commits.iter().map(|commit| commit.cycle.get()).collect()
}

/// Returns which of these contents are stored.
#[track_caller]
pub(crate) fn stored(store: &dyn Backend, numbers: &[u8]) -> Vec<u8> {
    let hashes: Vec<[u8; 32]> = numbers.iter().map(|number| hash(*number)).collect();
    let found = ok(store.contents(&hashes));
    let there = numbers.iter().zip(found).filter(|(_, data)| data.is_some());
    there.map(|(number, _)| *number).collect()
}
