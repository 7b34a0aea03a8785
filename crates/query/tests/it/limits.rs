//! Limits on the work of a query: the same query reaches them everywhere or nowhere, and the error names the limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use contextree_query::{Interrupt, QueryError, QueryLimits, SelectOptions, explain, select};
use contextree_selector::Edition;
use contextree_tree::{Builder, Cycle, NodeData, Region};

use crate::support::History;

/// The number of turns; each is a turn, its core and two blocks.
const TURNS: usize = 25_000;

/// Returns snapshots of about 100,000 nodes.
fn large(turns: usize, snapshots: u32) -> History {
    let node = |id: &str, node_type: &str| NodeData::new(id, node_type);
    let tree = || {
        let regions = [node("sys", "^sys"), node("seq", "^seq"), node("ah", "^ah")];
        let mut builder = Builder::new(node("root", "^root"), regions).unwrap();
        let seq = builder.region(Region::Seq);
        for turn in 0..turns {
            let seg = builder.push(seq, node(&format!("s{turn}"), "seg")).unwrap();
            let core = builder.push(seg, node(&format!("c{turn}"), "cont")).unwrap();
            for block in 0..2 {
                builder.push(core, node(&format!("b{turn}.{block}"), "block")).unwrap();
            }
        }
        builder.finish(Cycle(turns as u32 + 1))
    };
    History {
        snapshots: (1..=snapshots).map(|cycle| (Cycle(cycle), tree())).collect(),
        working: None,
    }
}

/// Returns a part as often as fits into 16 KB.
fn long(part: impl Fn(usize) -> String, separator: &str) -> String {
    let mut text = String::from("@t0 ");
    for number in 0.. {
        let next = part(number);
        if text.len() + separator.len() + next.len() > 16 * 1024 {
            break;
        }
        if number > 0 {
            text.push_str(separator);
        }
        text.push_str(&next);
    }
    text
}

fn ask(text: &str, history: &History, limits: Option<QueryLimits>) -> Result<usize, QueryError> {
    let options = SelectOptions { limits, ..SelectOptions::default() };
    let answer = select(text, Edition::V0_3, history, &options)?;
    Ok(answer.nodes().map_or(0, |nodes| nodes.nodes.len()))
}

#[test]
fn the_longest_selectors_over_a_large_tree_are_answered_or_refused_by_a_named_limit() {
    let (history, small) = (large(TURNS, 1), large(500, 1));
    let selectors = [
        long(|_| "*".to_owned(), ", "),
        long(|_| "*".to_owned(), " "),
        long(|number| format!("[data_{number}=1]"), ", "),
        long(|number| format!(".block[content_hash='{number}']"), ", "),
        long(|number| format!("* > *[offset>{number}]"), ", "),
        long(|number| format!(".seg:nth({}) .block:first", number + 1), ", "),
        long(|number| format!(":pre > *, :core .block[data_{number}=1]:last"), ", "),
        long(|number| format!(".seg:depth({})", number + 1), ", "),
        long(|number| format!("[id='b{number}.0']"), ", "),
    ];
    let mut refused = 0;
    for text in &selectors {
        match ask(text, &history, None) {
            Ok(_) => {}
            Err(error @ QueryError::Limit { limit: "steps_per_snapshot", .. }) => {
                assert_eq!(error.code(), "E_LIMIT");
                assert!(error.to_string().contains("`steps_per_snapshot`"), "{error}");
                refused += 1;
            }
            Err(QueryError::Selector(_)) => panic!("`{}…` is not a selector", &text[..40]),
            Err(error) => panic!("{error}"),
        }
        explain(text, Edition::V0_3, &small).unwrap();
    }
    assert!(refused >= 2, "only {refused} reach the limit");
}

#[test]
fn repeated_alternatives_cost_as_much_as_one() {
    let history = large(1_000, 1);
    let text = long(|_| ".block".to_owned(), ", ");
    let limits = QueryLimits { steps_per_snapshot: 20_000, ..QueryLimits::default() };
    assert_eq!(ask(&text, &history, Some(limits)), Ok(2_000));
}

#[test]
fn many_alternatives_find_what_each_of_them_finds_in_document_order() {
    let history = large(100, 1);
    let all: Vec<String> =
        (10..100).rev().map(|number| format!("* > [id='b{number}.1']")).collect();
    let text = format!("@t0 {}, .nothing", all.join(", "));
    let answer = select(&text, Edition::V0_3, &history, &SelectOptions::default()).unwrap();
    let expected: Vec<String> = (10..100).map(|number| format!("b{number}.1")).collect();
    assert_eq!(answer.nodes().unwrap().ids(), expected);
}

#[test]
fn the_limit_for_all_snapshots_and_an_interrupt_are_named_too() {
    let history = large(1_000, 20);
    let limits = QueryLimits { steps: 50_000, ..QueryLimits::default() };
    for text in ["@* .seg .block", "@t-19..@t0 .block:first"] {
        let error = ask(text, &history, Some(limits.clone())).unwrap_err();
        assert_eq!(error, QueryError::Limit { limit: "steps", most: 50_000 }, "{text}");
    }
    let calls = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&calls);
    let check = move || (count.fetch_add(1, Ordering::Relaxed) >= 3).then_some("deadline");
    let limits = QueryLimits { interrupt: Some(Interrupt::new(check)), ..QueryLimits::default() };
    let error = ask("@* .seg .block", &history, Some(limits)).unwrap_err();
    assert_eq!(error, QueryError::Limit { limit: "deadline", most: 0 });
    assert_eq!(calls.load(Ordering::Relaxed), 4, "it is not asked again");
}
