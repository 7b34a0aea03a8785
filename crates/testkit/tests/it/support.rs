//! Helpers: small sessions, refusals that change nothing, random sessions.

use contextree::{
    CommitReport, Context, ContextOptions, Cycle, Hash, NewNode, NodeRef, Op, OpError, Place,
    Policy, Profile, Snapshot, TreeRef,
};
use contextree_testkit::drive::{Did, Driver};
use contextree_testkit::generate::Session;
use contextree_testkit::model::Model;
use contextree_testkit::script::Step;

/// Returns a block whose content is its id.
pub(crate) fn block(id: &str) -> NewNode {
    NewNode::text(id).id(id)
}

/// Returns a group with this id.
pub(crate) fn group(id: &str) -> NewNode {
    NewNode::container("cont").id(id)
}

pub(crate) fn commit(context: &mut Context) -> CommitReport {
    context.commit().expect("a plain commit never fails")
}

pub(crate) fn apply(context: &mut Context, op: Op) {
    context.apply(op).expect("the operation is allowed");
}

pub(crate) fn move_to(node: &str, place: Place) -> Op {
    Op::Move { node: node.to_owned(), place }
}

/// Returns a context with a system block `s`, and turns with a user block `u1`, an answer `a1` and
/// post-context `p1`, and so on.
pub(crate) fn turns(count: usize) -> Context {
    let mut context = Context::new();
    context.add(Place::system(), block("s").role("system")).unwrap();
    for turn in 1..=count {
        context.add(Place::head(), block(&format!("u{turn}")).role("user")).unwrap();
        context.add(Place::head(), block(&format!("a{turn}")).role("assistant")).unwrap();
        context.add(Place::at("^ah", 1), block(&format!("p{turn}")).role("tool")).unwrap();
        commit(&mut context);
    }
    context
}

pub(crate) fn ids<'a>(nodes: impl IntoIterator<Item = NodeRef<'a>>) -> Vec<&'a str> {
    nodes.into_iter().map(NodeRef::id).collect()
}

pub(crate) fn children<'a>(tree: TreeRef<'a>, parent: &str) -> Vec<&'a str> {
    ids(tree.resolve(parent).expect("the parent is in the tree").children())
}

/// Returns the ids of the blocks in thread order.
pub(crate) fn thread_ids(tree: TreeRef<'_>) -> Vec<&str> {
    ids(contextree::canon::thread::blocks(tree).map(|(_, node)| node))
}

pub(crate) fn head(context: &Context) -> &Snapshot {
    context.newest().expect("there was a commit")
}

pub(crate) fn utf8(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("canonical bytes are ASCII")
}

pub(crate) fn strict(document: &[u8]) -> Result<Context, contextree::DocumentError> {
    Context::import_snapshot(document, Profile::Strict, ContextOptions::default())
}

pub(crate) fn lenient(document: &str) -> Context {
    Context::import_snapshot(document.as_bytes(), Profile::Lenient, ContextOptions::default())
        .expect("the document is fit for the lenient profile")
}

/// Returns a lenient working state; the next commit is number 5.
pub(crate) fn lenient_working(document: &str) -> Context {
    let (text, options) = (document.as_bytes(), ContextOptions::default());
    Context::import_working(text, Profile::Lenient, Cycle(5), options)
        .expect("the document is fit for the lenient profile")
}

/// Returns everything that a refused operation must not change: the working bytes, the history, and
/// the next commit.
fn state_of(context: &Context) -> (Vec<u8>, Hash, CommitReport, Hash) {
    let mut next = context.fork_working();
    let report = commit(&mut next);
    let digest = next.history_digest();
    (context.export_working(), context.history_digest(), report, digest)
}

/// Checks that an operation is refused with this code, reason and place, and changes nothing.
#[track_caller]
pub(crate) fn refuse(context: &mut Context, op: Op, code: &str, reason: &str, place: &str) {
    let before = state_of(context);
    let described = format!("{op:?}");
    let error: OpError = match context.apply(op.clone()) {
        Err(error) => error,
        Ok(outcome) => panic!("{described} was carried out: {outcome:?}"),
    };
    assert_eq!((error.code(), error.reason(), error.place()), (code, reason, place), "{described}");
    assert!(!error.to_string().is_empty() && !error.hint().is_empty(), "an error helps: {error}");
    assert_eq!(state_of(context), before, "{described} was refused and changed something");
    // As the second part of a batch, it makes the first part fail too.
    let first = Op::Add { place: Place::system(), node: NewNode::text("first") };
    let batch = context.batch(vec![first, op]).expect_err("a part of the batch is refused");
    // If the tree is full already, the first part exceeds the limit.
    assert!(batch.index == 1 || code == "E_LIMIT", "{batch}");
    assert_eq!(state_of(context), before, "a batch with {described} changed something");
}

#[track_caller]
pub(crate) fn refuse_add(
    context: &mut Context,
    place: Place,
    node: NewNode,
    reason: &str,
    at: &str,
) {
    refuse(context, Op::Add { place, node }, "E_INVALID_PLACEMENT", reason, at);
}

/// Returns the steps of a random session.
pub(crate) fn steps_of(seed: u64) -> Vec<Step> {
    let (mut session, mut model) = (Session::new(seed), Model::new());
    let mut steps = Vec::new();
    while let Some(step) = session.next_step(&model) {
        let _ = model.apply(&step);
        steps.push(step);
    }
    steps
}

/// Runs a random session and calls `look` after every step, with its effect unless it was refused.
pub(crate) fn run_session(seed: u64, mut look: impl FnMut(&mut Driver, Option<&Did>)) -> Driver {
    let mut driver = Driver::new();
    for step in steps_of(seed) {
        let did = driver.step(&step).ok();
        look(&mut driver, did.as_ref());
    }
    driver
}

/// Returns the context at the end of a random session.
pub(crate) fn random_context(seed: u64) -> Context {
    run_session(seed, |_, _| {}).context
}

/// Returns the policy of a commit step; `None` for other steps.
pub(crate) fn policy_of(step: &Step) -> Option<Option<Policy>> {
    let Step::Commit { policy } = step else { return None };
    Some(policy.as_ref().map(contextree_testkit::drive::policy))
}
