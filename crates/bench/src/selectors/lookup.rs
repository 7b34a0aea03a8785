//! Measures lookups of ids and keys among a million nodes, against a standard hash map.

use std::collections::HashMap;
use std::hint::black_box;

use contextree::query::{Plan, find_matches};
use contextree::{Edition, NodeRef, Snapshot};
use contextree_testkit::Rng;

use super::{context, plain, planned};
use crate::measure::{Row, compare, time};
use crate::rows::Scale;

/// The number of lookups in a round. Each round has its own, so that neither side has them in the
/// CPU cache.
const PROBES: usize = 2_000;

pub(super) fn rows(scale: Scale, take: &mut impl FnMut(Row)) {
    // Five nodes per turn; one block of each turn has a key.
    let context = context(scale.large * 2, |turn, place| match place {
        0 => plain(turn, place).key(format!("key-{turn}")),
        _ => plain(turn, place),
    });
    let head = context.newest().expect("there are commits");
    let ids = |node: NodeRef<'_>| Some(node.id().to_owned());
    let keys = |node: NodeRef<'_>| node.key().map(str::to_owned);
    take(row(
        "`#id` among 1,000,000 nodes, parsing excluded: against a lookup in a standard hash map of the same ids",
        scale,
        head,
        ids,
        |id| planned(&format!("#'{id}'"), Edition::V0_1),
    ));
    take(row("the same as `{ id='…' }`", scale, head, ids, |id| {
        planned(&format!("{{ id='{id}' }}"), Edition::V0_3)
    }));
    take(row(
        "`#key` among 1,000,000 nodes, one of five with a key: against a standard hash map of the same keys",
        scale,
        head,
        keys,
        |key| planned(&format!("#'{key}'"), Edition::V0_3),
    ));
}

fn row(
    name: &str,
    scale: Scale,
    head: &Snapshot,
    word: impl Fn(NodeRef<'_>) -> Option<String>,
    plan: impl Fn(&str) -> Plan,
) -> Row {
    let words: Vec<String> = head.view().nodes().filter_map(|(_, node)| word(node)).collect();
    let map: HashMap<String, u32> = words.iter().cloned().zip(0..).collect();
    let mut random = Rng::new(11);
    // One more round, as a warm-up.
    let probes: Vec<String> = (0..PROBES * (scale.rounds + 1))
        .map(|_| words[random.index(words.len())].clone())
        .collect();
    let plans: Vec<Plan> = probes.iter().map(|probe| plan(probe)).collect();
    drop(words);
    let (mut plans, mut probes) = (plans.chunks(PROBES), probes.chunks(PROBES));
    compare(
        name,
        3.0,
        scale.rounds,
        || {
            let plans = plans.next().expect("a chunk for every round");
            time(PROBES, || {
                for plan in plans {
                    let found = find_matches(plan, head.view(), Some(head.cycle()));
                    assert_eq!(black_box(found).len(), 1, "every word names one node");
                }
            })
        },
        || {
            let probes = probes.next().expect("a chunk for every round");
            time(PROBES, || {
                for probe in probes {
                    assert!(black_box(map.get(probe)).is_some(), "every word is in the map");
                }
            })
        },
    )
}
