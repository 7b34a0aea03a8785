//! What is stored with a context is applied by every commit, whoever makes it.

use std::sync::Arc;

use contextree_engine::{
    CommitOptions, CommitReport, Context, Limit, Measure, MeasureName, NewNode, Place, Policy,
};
use contextree_json::Value;
use contextree_store::{
    ContextSettings, Memory, OpenHook, Schemes, Session, Store, StoreError, StoreOptions,
};
use contextree_tree::NodeRef;

fn depth(max: u64) -> Policy {
    Policy { limits: vec![Limit::Depth(max)], ..Policy::default() }
}

fn turn(session: &mut Session, options: &CommitOptions<'_>) -> CommitReport {
    let commit = |context: &mut Context| -> anyhow::Result<CommitReport> {
        context.add(Place::head(), NewNode::text("Hello").role("user"))?;
        Ok(context.commit_with(options)?)
    };
    session.write(commit).unwrap()
}

fn turns_of(session: &Session) -> usize {
    session.newest().unwrap().unwrap().view().turn_count()
}

#[test]
fn the_policy_of_a_context_is_applied_by_every_commit() {
    let store = Store::open_with("memory:", StoreOptions::deterministic()).unwrap();
    let settings = ContextSettings { policy: Some(depth(2)), ..ContextSettings::default() };
    let mut session = store.create("main", &settings).unwrap();
    for _ in 0..4 {
        turn(&mut session, &CommitOptions::default());
    }
    assert_eq!(turns_of(&session), 2, "the context's own policy");
    drop(session);
    let mut session = store.session("main").unwrap();
    assert_eq!(session.settings().policy, Some(depth(2)), "it is stored");
    turn(&mut session, &CommitOptions { policy: Some(&depth(1)), ..CommitOptions::default() });
    assert_eq!(turns_of(&session), 1, "a policy in the options comes first");
    for _ in 0..3 {
        turn(&mut session, &CommitOptions { without_policy: true, ..CommitOptions::default() });
    }
    assert_eq!(turns_of(&session), 4, "no policy");
    session.set_settings(ContextSettings::default()).unwrap();
    turn(&mut session, &CommitOptions::default());
    assert_eq!(turns_of(&session), 5, "new settings hold from the next write on");
}

#[test]
fn a_stored_policy_keeps_its_form() {
    let settings = ContextSettings { policy: Some(depth(7)), ..ContextSettings::default() };
    let text = settings.to_json();
    assert!(text.contains(r#""policy":{"#), "{text}");
    assert!(text.contains(r#"{"limit":"depth","max":7}"#), "{text}");
    assert_eq!(ContextSettings::from_json(&text).unwrap(), settings);
}

/// Counts every block as ten.
struct Ten;

impl Measure for Ten {
    fn measure(&self, _: NodeRef<'_>) -> u64 {
        10
    }
}

#[test]
fn a_higher_layer_turns_what_it_stored_into_a_policy() {
    let hook: OpenHook = Arc::new(|settings, context| {
        if let Some(max) = settings.more.get("budget").and_then(Value::as_u64) {
            let measure = MeasureName::from("tens");
            context.measures.push(("tens".to_owned(), Arc::new(Ten)));
            context.policy =
                Some(Policy { limits: vec![Limit::Total { measure, max }], ..Policy::default() });
        }
        Ok(())
    });
    let options = StoreOptions { on_open: Some(hook), ..StoreOptions::deterministic() };
    let store = Store::open_with("memory:", options).unwrap();
    let mut settings = ContextSettings::default();
    settings.more.insert("budget", Value::from(20_u64));
    let mut session = store.create("main", &settings).unwrap();
    let pruned: usize =
        (0..5).map(|_| turn(&mut session, &CommitOptions::default()).pruned.len()).sum();
    assert_eq!(pruned, 3, "two blocks of ten each stay");
}

#[test]
fn one_registry_decides_which_backend_a_url_belongs_to() {
    let schemes = Schemes::default().with("mine", |url, _| {
        assert_eq!(url, "mine://here");
        Ok(Arc::new(Memory::new()))
    });
    assert_eq!(schemes.names().collect::<Vec<_>>(), ["memory", "mine", "sqlite"]);
    assert!(schemes.open("mine://here", StoreOptions::deterministic()).is_ok());
    for url in ["mine", "other:", "postgres://x", "memory:x", "sqlite:"] {
        let failed = Schemes::default().open(url, StoreOptions::deterministic());
        assert!(matches!(failed, Err(StoreError::Url { .. })), "{url}");
    }
}
