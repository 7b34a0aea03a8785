//! Tests breakdowns and tallies.

use std::sync::Arc;

use contextree_engine::{Context, NewNode, Op, Place};
use contextree_tokens::{
    Breakdown, By, Count, Tally, TokenCounter, Tokenizer, breakdown, over_time,
};

fn counter() -> Arc<TokenCounter> {
    Arc::new(TokenCounter::new(Tokenizer::default()))
}

/// A system text, two turns and a head.
fn session() -> Context {
    let mut context = Context::new();
    let block = |text: &str| NewNode::text(text);
    context.add(Place::system(), block("You are helpful.").key("rules")).unwrap();
    context.add(Place::head(), block("Hi!").role("user").tag("keep").tag("x").tag("x")).unwrap();
    context.add(Place::head(), block("Hello! How can I help?").role("assistant")).unwrap();
    context.commit().unwrap();
    context.add(Place::head(), block("Weather?").role("user")).unwrap();
    context.add(Place::at("^ah", 1), block("{rain}").role("tool").kind("result").ttl(1)).unwrap();
    context.commit().unwrap();
    context.add(Place::head(), block("And tomorrow?").role("user").tag("keep")).unwrap();
    context
}

fn groups(breakdown: &Breakdown, by: By) -> Vec<(Option<&str>, u64, u64)> {
    let groups = breakdown.by(by).iter();
    groups.map(|group| (group.name.as_deref(), group.count.tokens, group.count.blocks)).collect()
}

#[test]
fn breakdown_has_every_grouping() {
    let context = session();
    let all = breakdown(context.working(), &counter());
    assert_eq!(all.total, Count { tokens: 21, media: 0, blocks: 6 });
    let named = |name| Some(name);
    assert_eq!(
        groups(&all, By::Region),
        [(named("^sys"), 4, 1), (named("^seq"), 14, 4), (named("^ah"), 3, 1)]
    );
    assert_eq!(
        groups(&all, By::Turn),
        [(None, 4, 1), (named("seg:1"), 9, 2), (named("seg:2"), 5, 2), (named("^ah"), 3, 1)]
    );
    assert_eq!(
        groups(&all, By::Role),
        [
            (named("assistant"), 7, 1),
            (named("user"), 7, 3),
            (named("system"), 4, 1),
            (named("tool"), 3, 1)
        ]
    );
    assert_eq!(groups(&all, By::Kind), [(None, 18, 5), (named("result"), 3, 1)]);
    assert_eq!(groups(&all, By::Key), [(None, 17, 5), (named("rules"), 4, 1)]);
    assert_eq!(
        groups(&all, By::Tag),
        [(None, 16, 4), (named("keep"), 5, 2), (named("x"), 2, 1)],
        "a tag that is there twice counts once"
    );
    for by in By::ALL {
        assert_eq!(By::from_word(by.word()), Some(by));
    }
}

#[test]
fn tally_equals_the_breakdown_of_each_snapshot() {
    let mut context = session();
    for number in 0..20 {
        let turn = format!("seg:{}", 1 + number % context.newest().unwrap().view().turn_count());
        let group = NewNode { node_type: Some("cont:note".into()), ..NewNode::default() };
        let group = context.add(Place::at(turn.as_str(), 2), group).unwrap();
        context.add(Place::into(group.as_str()), NewNode::text("a note").ttl(2)).unwrap();
        context.add(Place::head(), NewNode::text(format!("turn {number}")).role("user")).unwrap();
        context.commit().unwrap();
        if number % 3 == 0 {
            // Descendants move with their container without being edited. Inside its own turn a sealed node stays where it is.
            let place = Place::at(if turn == "seg:1" { "seg:2" } else { "seg:1" }, 3);
            context.apply(Op::Move { node: group, place }).unwrap();
        }
    }
    let counter = counter();
    let history: Vec<_> = context.history().iter().collect();
    for by in By::ALL {
        let trees = history.iter().map(|snapshot| snapshot.tree());
        let moments: Vec<_> = over_time(trees, &counter, by).collect();
        assert_eq!(moments.len(), history.len());
        for (moment, snapshot) in moments.iter().zip(&history) {
            assert_eq!(moment.cycle, snapshot.cycle());
            let expected = breakdown(snapshot.view(), &counter);
            assert_eq!(moment.total, expected.total);
            assert_eq!(moment.groups, expected.by(by), "@c{}", moment.cycle);
        }
    }
}

#[test]
fn tally_follows_any_path_through_histories() {
    let (mut one, other) = (session(), session());
    one.commit().unwrap();
    let fork = one.fork("@c1".parse().unwrap()).unwrap();
    let counter = counter();
    let mut tally = Tally::new(Arc::clone(&counter));
    assert_eq!(tally.breakdown(), None);
    let trees = [&one, &other, &fork].map(|context| context.newest().unwrap().tree().clone());
    let first = one.snapshot("@c1".parse().unwrap()).unwrap().tree().clone();
    for tree in [&trees[0], &trees[1], &first, &trees[2], &trees[0], &trees[0]] {
        let expected = breakdown(tree.view(), &counter);
        assert_eq!(tally.update(tree), expected.total);
        assert_eq!(tally.breakdown(), Some(expected), "backwards, across forks and contexts");
    }
}
