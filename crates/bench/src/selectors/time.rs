//! Measures long histories: the newest turns, rare nodes, ranges.

use std::hint::black_box;

use contextree::query::{Plan, find_everywhere, find_matches, select_parsed};
use contextree::{Context, Edition, SelectOptions};
use contextree_testkit::Rng;

use super::{context, plain, planned};
use crate::measure::{Row, compare, faster, time};
use crate::rows::Scale;

pub(super) fn rows(scale: Scale, take: &mut impl FnMut(Row)) {
    let turns = scale.large;
    let mut random = Rng::new(13);
    let context = context(turns, |turn, place| {
        let node = plain(turn, place);
        // One turn in a thousand has a block with a rare role that expires soon.
        if place == 2 && turn % 1_000 == 500 {
            node.role("tool").ttl(i64::try_from(turns - turn).unwrap_or(0))
        } else {
            node.role(["user", "assistant"][random.index(2)])
        }
    });
    take(depth(&context, scale));
    take(rare(
        "`[ttl<=1]` when 0.1 % of 100,000 turns have one: against the scan that skips nothing",
        &context,
        &planned("[ttl<=1]", Edition::V0_3),
        scale,
    ));
    take(rare(
        "`role='tool'` when 0.1 % of 100,000 turns have one: against the scan that skips nothing",
        &context,
        &planned("[role='tool']", Edition::V0_3),
        scale,
    ));
    take(range(&context, scale));
}

fn depth(large: &Context, scale: Scale) -> Row {
    let mut random = Rng::new(13);
    let small =
        context(100, |turn, place| plain(turn, place).role(["user", "assistant"][random.index(2)]));
    let plan = planned("^seq .mt:depth(1-3) .cb[role='user']", Edition::V0_3);
    let evaluations = |context: &Context| {
        let head = context.newest().expect("there are commits");
        time(5_000, || {
            for _ in 0..5_000 {
                black_box(find_matches(black_box(&plan), head.view(), Some(head.cycle())));
            }
        })
    };
    compare(
        "`^seq .mt:depth(1-3) .cb[role='user']`: at 100,000 turns against 100",
        2.0,
        scale.rounds,
        || evaluations(large),
        || evaluations(&small),
    )
}

fn rare(name: &str, context: &Context, plan: &Plan, scale: Scale) -> Row {
    let head = context.newest().expect("there are commits");
    let (view, cycle) = (head.view(), Some(head.cycle()));
    let found = find_matches(plan, view, cycle);
    assert_eq!(found.len(), scale.large / 1_000, "one turn in a thousand has one");
    let all = find_everywhere(plan, view, cycle);
    assert_eq!(found.versions(), all.versions(), "nothing is skipped that matches");
    faster(
        name,
        10.0,
        scale.rounds,
        || {
            time(10, || {
                for _ in 0..10 {
                    black_box(find_matches(black_box(plan), view, cycle));
                }
            })
        },
        || {
            time(1, || {
                black_box(find_everywhere(black_box(plan), view, cycle));
            })
        },
    )
}

fn range(context: &Context, scale: Scale) -> Row {
    let parsed = |text: String| {
        let selector = contextree_selector::parse(&text, Edition::V0_3);
        (selector.expect("the text is a selector"), text)
    };
    let whole = parsed("@t-99..@t0 .cb[role='user']".to_owned());
    let each: Vec<_> = (0..100).map(|back| parsed(format!("@t-{back} .cb[role='user']"))).collect();
    let options = SelectOptions::default();
    faster(
        "`@t-99..@t0 .cb[role='user']` at 100,000 turns, one more per snapshot: against 100 separate evaluations",
        20.0,
        scale.rounds,
        || {
            time(1, || {
                let answer = select_parsed(&whole.0, &whole.1, context, &options);
                let range = answer.ok().and_then(contextree::Answer::range);
                assert_eq!(range.map(|range| range.diffs.len()), Some(99), "100 snapshots");
            })
        },
        || {
            time(1, || {
                for (selector, text) in &each {
                    let answer = select_parsed(selector, text, context, &options);
                    assert!(black_box(answer).is_ok(), "the snapshot is there");
                }
            })
        },
    )
}
