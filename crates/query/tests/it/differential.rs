//! Planned = naive, on random trees and selectors, in all editions.

use contextree_query::resolved::lower;
use contextree_query::{evaluate, plan};
use contextree_selector::{Edition, parse};
use contextree_testkit::naive;
use contextree_tree::{Builder, Cycle, NodeData, NodeRef, Region, TreeRef};

use crate::generate;
use crate::support::{self, History, Random};

/// Number of triples of tree, selector and edition: many in release builds, fewer otherwise.
const TRIPLES: usize = if cfg!(debug_assertions) { 18_000 } else { 150_000 };
const SELECTORS_PER_TREE: usize = 30;

fn check(text: &str, edition: Edition, tree: TreeRef<'_>, cycle: Cycle, seed: u64) -> usize {
    let Ok(selector) = parse(text, edition) else { return usize::MAX };
    let ids = |nodes: Vec<NodeRef<'_>>| -> Vec<String> {
        nodes.into_iter().map(|node| node.id().to_owned()).collect()
    };
    let planned = ids(evaluate(&plan(lower(&selector)), tree, Some(cycle)));
    let expected = ids(naive::select(&selector, tree, Some(cycle)));
    assert_eq!(planned, expected, "`{text}` in {edition}, seed {seed}\n{}", draw(tree));
    expected.len()
}

/// Formats the tree as indented lines, for failures.
pub(crate) fn draw(tree: TreeRef<'_>) -> String {
    let line = |(level, node): (usize, NodeRef<'_>)| {
        let attributes = node.body().map(|body| {
            String::from_utf8(contextree_json::Value::from(body.attributes.clone()).to_canonical())
                .unwrap()
        });
        format!(
            "{}{} {} offset={:?} ns={} index={} cycle={} role={:?} kind={:?} ttl={:?} {}\n",
            "  ".repeat(level),
            node.id(),
            node.node_type(),
            node.offset(),
            node.created_at_ns(),
            node.creation_index(),
            node.cycle(),
            node.role(),
            node.kind(),
            node.ttl(),
            attributes.unwrap_or_default()
        )
    };
    tree.nodes().map(line).collect()
}

#[test]
fn the_planned_evaluator_agrees_with_the_naive_one() {
    let (mut done, mut refused, mut matched) = (0, 0, 0);
    let mut seed = 0_u64;
    while done < TRIPLES {
        seed += 1;
        let mut random = Random::new(seed);
        let cycle = Cycle(random.index(4) as u32);
        let tree = generate::tree(&mut random, cycle);
        for _ in 0..SELECTORS_PER_TREE {
            let edition = Edition::ALL[random.index(3)];
            let text = generate::selector(&mut random, edition);
            match check(&text, edition, tree.view(), cycle, seed) {
                usize::MAX => refused += 1,
                found => {
                    done += 1;
                    matched += usize::from(found > 0);
                }
            }
        }
    }
    println!("{done} triples, {matched} with matches, {refused} texts refused by the parser");
    assert!(matched * 5 > done, "most selectors should match something: {matched} of {done}");
    assert!(refused * 4 < done, "most texts should be selectors: {refused} refused");
}

/// Every query of the corpus, in every edition, on every fixture of its file.
#[test]
fn both_evaluators_agree_on_the_corpus_in_all_editions() {
    let mut done = 0;
    for file in [
        "selectors-golden-e3.json",
        "selectors-examples.json",
        "selectors-attributes.json",
        "selectors-editions.json",
    ] {
        let cases = support::cases(file);
        let mut histories: Vec<History> = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        for case in &cases {
            let name = case.text("fixture").to_owned();
            if !seen.contains(&name) {
                histories.push(History::load(case.fixture.as_ref().unwrap()));
                seen.push(name);
            }
        }
        for text in cases.iter().map(|case| case.text("query")) {
            for edition in Edition::ALL {
                for (cycle, tree) in histories.iter().flat_map(|history| &history.snapshots) {
                    done += usize::from(check(text, edition, tree.view(), *cycle, 0) != usize::MAX);
                }
            }
        }
    }
    assert!(done > 1000, "{done}");
}

/// More turns than a scan would visit, some with equal stamps: depths are looked up.
#[test]
fn depth_lookup_keeps_document_order_despite_equal_stamps() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let node = |id: &str, word: &str| NodeData::new(id, word);
        let regions = [node("sys", "^sys"), node("seq", "^seq"), node("ah", "^ah")];
        let mut builder = Builder::new(node("root", "^root"), regions).unwrap();
        let sequence = builder.region(Region::Seq);
        for number in 0..60 {
            let mut turn = node(&format!("t{}", (number * 37) % 60), "mt");
            turn.created_at_ns = (number / (1 + random.index(4))) as i64;
            builder.push(sequence, turn).unwrap();
        }
        let tree = builder.finish(Cycle::FIRST);
        for edition in Edition::ALL {
            for text in [
                "@t0 .mt:depth(1-3)",
                "@t0 .mt:depth(4,9)",
                "@t0 .mt:depth(7-12)",
                "@t0 .mt:depth(60)",
                "@t0 .mt:depth(40-70)",
            ] {
                check(text, edition, tree.view(), Cycle::ZERO, seed);
            }
            check("@t0 (d5)", edition, tree.view(), Cycle::ZERO, seed);
            check("@t0 .mt:depth(2-6):depth(3-9)", edition, tree.view(), Cycle::ZERO, seed);
        }
    }
}

/// Long selectors terminate, with the same result.
#[test]
fn long_selectors_are_evaluated() {
    let mut random = Random::new(3);
    let tree = generate::tree(&mut random, Cycle(2));
    let many = |piece: &str, glue: &str, count: usize| vec![piece; count].join(glue);
    for text in [
        format!("@t0 {}", many("*", " ", 65)),
        format!("@t0 {}", many("*", " ", 3000)),
        format!("@t0 {} .cb", many(".mt", " > ", 500)),
        format!("@t0 {}", many(".cb[role=user]", ", ", 2000)),
        format!("@t0 *{}", many("[role!=x]", "", 3000)),
        format!("@t0 .cb{}", many(":first", "", 500)),
        format!("@t0 ^seq .mt:depth({})", many("1-3", ",", 4000)),
        format!("@t0 .mt:depth(1-{}) .cb", i64::MAX),
    ] {
        for edition in [Edition::V0_1, Edition::V0_3] {
            assert!(
                check(&text, edition, tree.view(), Cycle(2), 0) != usize::MAX,
                "{}",
                &text[..40]
            );
        }
    }
}
