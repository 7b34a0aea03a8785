//! Planned = naive, on random trees and selectors, in all editions.

use contextree_query::resolved::lower;
use contextree_query::{evaluate, naive, plan};
use contextree_selector::{Edition, parse};
use contextree_tree::{NodeRef, TreeRef};

use crate::generate;
use crate::support::Random;

/// Triples of tree, selector and edition; many in release builds, enough for every run otherwise.
const TRIPLES: usize = if cfg!(debug_assertions) { 12_000 } else { 150_000 };
const SELECTORS_PER_TREE: usize = 30;

fn check(text: &str, edition: Edition, tree: TreeRef<'_>, cycle: u32, seed: u64) -> usize {
    let Ok(selector) = parse(text, edition) else { return usize::MAX };
    let ids = |nodes: Vec<NodeRef<'_>>| -> Vec<String> {
        nodes.into_iter().map(|node| node.id().to_owned()).collect()
    };
    let planned = ids(evaluate(&plan(lower(&selector)), tree, Some(cycle)));
    let expected = ids(naive::select(&selector, tree, Some(cycle)));
    assert_eq!(planned, expected, "`{text}` in {edition}, seed {seed}\n{}", draw(tree));
    expected.len()
}

/// The tree as indented lines, for failures.
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
        let mut random = Random(seed);
        let cycle = random.below(4) as u32;
        let tree = generate::tree(&mut random, cycle);
        for _ in 0..SELECTORS_PER_TREE {
            let edition = Edition::ALL[random.below(3)];
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
