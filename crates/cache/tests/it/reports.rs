//! Tests reports: the reusable prefix, what broke it, and recommended breakpoints.

use contextree_cache::{
    CacheRules, Cause, Evidence, Follower, Outlook, Prompt, Purpose, Reason, Report, breakpoints,
    compare,
};
use contextree_engine::{CommitOptions, CommitReport, Context, Limit, NewNode, Op, Place, Policy};
use contextree_tokens::Tokenizer;

use crate::support::{add_turn, block, request, session};

/// Compares the last two snapshots of a context.
fn last_two(context: &Context, report: Option<&CommitReport>) -> Report {
    let newer = context.snapshot("@t0".parse().unwrap()).unwrap().view();
    let older = context.snapshot("@t-1".parse().unwrap()).unwrap().view();
    let (before, after) = (request(older, "\"model\":\"m\""), request(newer, "\"model\":\"m\""));
    let measure = |rendered| Prompt::measure(rendered, Tokenizer::default());
    let (before, after) = (measure(before.rendered()), measure(after.rendered()));
    let reports: Vec<&CommitReport> = report.into_iter().collect();
    let evidence = Evidence::new(older, newer).with_reports(&reports);
    let rules = CacheRules::anthropic("claude-sonnet-5");
    let result = compare(&before, &after, &evidence, &rules);
    let again = Prompt::measure_after(after.rendered().clone(), Tokenizer::default(), &before);
    assert_eq!(again, after, "counting only the difference gives the same result");
    result
}

fn check(report: &Report, node: Option<&str>, cause: &Cause, reason: Reason) {
    let broken = report.broken.as_ref().expect("the prefix is broken");
    assert_eq!((broken.node.as_deref(), &broken.cause), (node, cause));
    assert_eq!(broken.reason, reason);
    assert_eq!(broken.offset, report.bytes.prefix);
    assert!(report.bytes.prefix < report.bytes.total && report.tokens.prefix < report.tokens.total);
    assert!(!broken.cause.advice().is_empty());
}

#[test]
fn growing_history_breaks_nothing() {
    let mut context = session(4);
    add_turn(&mut context, 5);
    let report = last_two(&context, None);
    assert_eq!(report.broken, None);
    assert!(report.tokens.per_mille() > 700, "{:?}", report.tokens);
    assert!(report.bytes.per_mille() > 700);
}

#[test]
fn every_change_between_two_commits_is_named_as_the_cause() {
    // A document expires.
    let mut context = session(2);
    context.add(Place::at("^ah", 1), block("document").ttl(1)).unwrap();
    add_turn(&mut context, 3);
    context.add(Place::head(), block("u4")).unwrap();
    let report = context.commit().unwrap();
    let expired = last_two(&context, Some(&report));
    check(&expired, Some("document"), &Cause::Expired, Reason::Messages);
    assert_eq!(last_two(&context, None), expired, "a ttl of 0 shows it without a report");

    // A policy prunes the oldest turn.
    let mut context = session(5);
    let policy = Policy { limits: vec![Limit::Remove(0), Limit::Depth(4)], ..Policy::default() };
    let options = CommitOptions { policy: Some(&policy), ..CommitOptions::default() };
    let report = context.commit_with(&options).unwrap();
    let pruned = last_two(&context, Some(&report));
    check(&pruned, Some("u1"), &Cause::Pruned { limit: 1, rule: None }, Reason::Messages);
    let unknown = last_two(&context, None);
    check(&unknown, Some("u1"), &Cause::Gone, Reason::Messages);

    // The system text is extended, reduced, reordered and edited.
    let mut context = session(2);
    context.add(Place::at("^sys", -1), NewNode::container("cont").id("first")).unwrap();
    context.add(Place::system(), block("date")).unwrap();
    let report = context.commit().unwrap();
    check(&last_two(&context, Some(&report)), Some("date"), &Cause::Inserted, Reason::System);
    context.apply(Op::Move { node: "date".into(), place: Place::into("first") }).unwrap();
    let report = context.commit().unwrap();
    check(&last_two(&context, Some(&report)), Some("date"), &Cause::Moved, Reason::System);
    context.remove("date").unwrap();
    let report = context.commit().unwrap();
    check(&last_two(&context, Some(&report)), Some("date"), &Cause::Removed, Reason::System);
}

#[test]
fn pruned_cause_has_the_name_of_its_rule() {
    let cause = |rule: Option<&str>| Cause::Pruned { limit: 0, rule: rule.map(str::to_owned) };
    assert_eq!(cause(Some("max_tokens")).to_string(), "was pruned (max_tokens)");
    assert_eq!(cause(None).to_string(), "was pruned (limit 1 of the policy)");
    assert!(cause(None).advice().contains("raise the limit"), "a higher one is reached less often");
}

#[test]
fn changed_parameters_break_the_whole_prefix() {
    let context = session(1);
    let tree = context.newest().unwrap().view();
    let rules = CacheRules::openai("gpt-5");
    let tokenizer = Tokenizer::default();
    let changes = [
        ("\"tools\":[1]", "\"tools\":[2]", "tools", "tools_changed"),
        ("\"model\":\"m\"", "\"model\":\"n\"", "model", "model_changed"),
        ("\"verbosity\":\"low\"", "\"x\":1", "verbosity", "verbosity_changed"),
    ];
    for (older, newer, name, reason) in changes {
        let (before, after) = (request(tree, older), request(tree, newer));
        let (before, after) = (
            Prompt::measure(before.rendered(), tokenizer),
            Prompt::measure(after.rendered(), tokenizer),
        );
        let evidence = Evidence::new(tree, tree);
        let report = compare(&before, &after, &evidence, &rules);
        let broken = report.broken.expect("the prefix is broken");
        assert_eq!((broken.node, broken.reason.word()), (None, reason));
        assert_eq!(broken.cause, Cause::Setting { name: name.to_owned() });
        assert_eq!((report.tokens.prefix, broken.tokens_lost), (0, before.tokens()));
        let same = compare(&before, &before, &evidence, &rules);
        assert_eq!((same.broken, same.tokens.per_mille()), (None, 1000));
    }
}

#[test]
fn breakpoints_stay_within_the_rules() {
    let context = session(60);
    let tree = context.newest().unwrap().view();
    let before = session(40);
    let now = request(tree, "\"model\":\"m\"");
    let last = request(before.newest().unwrap().view(), "\"model\":\"m\"");
    let measure = |rendered| Prompt::measure(rendered, Tokenizer::default());
    let (now, last) = (measure(now.rendered()), measure(last.rendered()));
    let set = |rules: &CacheRules, last| -> Vec<(String, Purpose, usize)> {
        breakpoints(&now, &Outlook::of(&now, tree, last), rules)
            .into_iter()
            .map(|point| (point.node, point.purpose, point.blocks))
            .collect()
    };
    let anthropic = CacheRules::anthropic("claude-sonnet-5");
    let point = |node: &str, purpose, blocks| (node.to_owned(), purpose, blocks);
    assert_eq!(
        set(&anthropic, Some(&last)),
        [
            point("a40", Purpose::LastTail, 81),
            point("a50", Purpose::Bridge, 20),
            point("a60", Purpose::Tail, 20)
        ],
        "the system text alone is too short; 40 blocks are more than a provider looks back"
    );
    let without = set(&anthropic, None);
    assert_eq!(without.len(), 4);
    assert_eq!(without.last(), Some(&point("a60", Purpose::Tail, without[3].2)));
    assert_eq!(set(&CacheRules::openai("gpt-5"), Some(&last)), [], "found without breakpoints");
    assert_eq!(set(&CacheRules::openai("gpt-5.6"), Some(&last)).len(), 1);
    let context = session(1);
    let tree = context.newest().unwrap().view();
    let short = request(tree, "\"model\":\"m\"");
    let short = measure(short.rendered());
    assert_eq!(breakpoints(&short, &Outlook::of(&short, tree, None), &anthropic), []);
}

#[test]
fn history_reports_the_share_read_from_the_cache() {
    let mut context = session(0);
    for turn in 1..=120 {
        if turn == 30 {
            context.add(Place::system(), block("inserted")).unwrap();
        }
        add_turn(&mut context, turn);
    }
    let rules = CacheRules::openai("gpt-5");
    let mut follower = Follower::new(Tokenizer::default(), rules);
    let mut before = None;
    for snapshot in context.history().iter() {
        let tree = snapshot.view();
        let request = request(tree, "\"model\":\"m\"");
        follower.follow(&request.rendered(), &Evidence::new(before.unwrap_or(tree), tree));
        before = Some(tree);
    }
    let history = follower.finish();
    assert_eq!(history.steps.len(), 120);
    assert_eq!(history.steps[0].cached, 0);
    assert!(history.steps[5].cached == 0, "too short to be cached");
    let broken: Vec<usize> = (0..120)
        .filter(|step| {
            let report = history.steps[*step].report.as_ref();
            report.is_some_and(|report| report.broken.is_some())
        })
        .collect();
    assert_eq!(broken, [29], "one step breaks the prefix");
    assert_eq!(history.steps[29].cached, 0);
    let (cached, tokens) = (history.cached, history.tokens);
    assert_eq!(cached, history.steps.iter().map(|step| step.cached).sum::<u64>());
    assert!(history.per_mille() > 800 && history.per_mille() < 1000, "{cached} of {tokens}");
}
