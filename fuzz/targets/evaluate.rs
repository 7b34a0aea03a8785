//! Evaluates a selector on a random history: the planned evaluator agrees with the naive one, a
//! range with an evaluation per snapshot, a window with the whole; and every query can be
//! explained.
//!
//! The input is the selector, a line break, and the choices from which the history is generated.
//! Without a selector, the choices generate one.
#![no_main]

#[path = "../../crates/query/tests/it/generate.rs"]
mod generate;
#[path = "../../crates/query/tests/it/histories.rs"]
mod histories;

use contextree_query::resolved::{At, lower};
use contextree_query::{
    Answer, ContentMode, Materialize, RangeOptions, SelectOptions, evaluate, explain, plan,
    resolve, select, select_parsed,
};
use contextree_selector::{Edition, Selector, SnapshotRange, Span, Time, TimeKind, parse};
use contextree_testkit::naive;
use contextree_tree::{Cycle, NodeRef, TreeRef};
use libfuzzer_sys::fuzz_target;

use histories::{blocks, expected};
use support::{History, Random};

/// The naive evaluator is slow; the target `parse` covers longer selectors.
const LONGEST: usize = 400;

fuzz_target!(|data: &[u8]| {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (Ok(text), choices) = (std::str::from_utf8(&data[..end]), &data[end..]) else { return };
    if text.len() > LONGEST {
        return;
    }
    let mut random = Random::new(choices);
    let history = histories::history(&mut random);
    for edition in Edition::ALL {
        let generated;
        let text = if text.is_empty() {
            generated = generate::selector(&mut random, edition);
            &generated
        } else {
            text
        };
        if let Ok(selector) = parse(text, edition) {
            check_trees(&selector, &history);
            check_range(&selector, text, &history);
            check_answer(text, &selector, &history);
        }
    }
});

fn ids(nodes: &[NodeRef<'_>]) -> Vec<String> {
    nodes.iter().map(|node| node.id().to_owned()).collect()
}

/// Checks that the planned evaluator agrees with the naive one on every tree.
fn check_trees(selector: &Selector, history: &History) {
    let check = |tree: TreeRef<'_>, cycle: Option<Cycle>| {
        let planned = ids(&evaluate(&plan(lower(selector)), tree, cycle));
        assert_eq!(planned, ids(&naive::select(selector, tree, cycle)), "{selector}");
    };
    history.snapshots.iter().for_each(|(cycle, tree)| check(tree.view(), Some(*cycle)));
    if selector.reads_working_state() {
        check(history.working.as_ref().expect("there is one").view(), None);
    }
}

/// Checks that a range over the whole history agrees with the matches in each snapshot.
fn check_range(selector: &Selector, text: &str, history: &History) {
    let mut selector = selector.clone();
    selector.controls.mode = None;
    selector.time =
        Some(Time { kind: TimeKind::Range(SnapshotRange::HISTORY), span: Span::default() });
    let answer = select_parsed(&selector, text, history, &SelectOptions::default());
    let range = answer.expect("there are snapshots").range().expect("it is a range");
    assert_eq!(blocks(range), expected(&selector, history), "{selector}");
}

fn check_answer(text: &str, selector: &Selector, history: &History) {
    let edition = selector.edition;
    let explanation = explain(text, edition, history);
    let Ok(answer) = select(text, edition, history, &SelectOptions::default()) else {
        assert!(explanation.is_err());
        return;
    };
    let explanation = explanation.expect("what can be answered can be explained");
    drop((explanation.to_text(), explanation.to_value()));
    match answer {
        Answer::Nodes(whole) => {
            let whole = ids(&whole.nodes);
            let at = resolve(selector, history).expect("it was answered").at;
            if matches!(at, At::Working | At::Snapshot(_)) {
                let counted = explanation.steps.last().and_then(|step| step.matched);
                assert_eq!(counted, Some(whole.len()), "the explanation of {selector}");
            }
            let options = SelectOptions { skip: 1, limit: Some(2), ..SelectOptions::default() };
            let some = select(text, edition, history, &options).expect("it was answered");
            let some = ids(&some.nodes().expect("no range").nodes);
            assert_eq!(some, whole.into_iter().skip(1).take(2).collect::<Vec<_>>(), "{selector}");
        }
        Answer::Range(_) => {
            for content_mode in [ContentMode::Unified, ContentMode::JsonPatch, ContentMode::Tokens]
            {
                let range = RangeOptions {
                    include_content: true,
                    content_mode,
                    materialize: Materialize::ALL.to_vec(),
                    max_snapshots: Some(3),
                    max_changes_per_snapshot: Some(2),
                    ..RangeOptions::default()
                };
                let options = SelectOptions { range, ..SelectOptions::default() };
                let run = || {
                    let answer = select(text, edition, history, &options).expect("as before");
                    answer.range().expect("a range").to_value().to_canonical()
                };
                assert_eq!(run(), run(), "{selector}");
            }
        }
    }
}

/// Replaces the file of this name in the tests of queries; the fuzzer makes the choices.
mod support {
    use contextree_query::{Moment, QueryError, Timeline};
    use contextree_testkit::Rng;
    use contextree_tree::{Cycle, Draft, Tree, TreeRef};

    #[derive(Debug, Default)]
    pub(crate) struct History {
        pub(crate) snapshots: Vec<(Cycle, Tree)>,
        pub(crate) working: Option<Draft>,
    }

    impl Timeline for History {
        type Error = QueryError;

        fn snapshot_count(&self) -> usize {
            self.snapshots.len()
        }

        fn snapshot(&self, position: usize) -> Result<Option<Moment<'_>>, QueryError> {
            let found = self.snapshots.get(position);
            Ok(found.map(|(cycle, tree)| Moment { cycle: *cycle, tree: tree.view() }))
        }

        fn working(&self) -> Result<Option<TreeRef<'_>>, QueryError> {
            Ok(self.working.as_ref().map(Draft::view))
        }
    }

    /// Choices: one byte each, and after the last byte numbers derived from all of them.
    #[derive(Debug)]
    pub(crate) struct Random<'d> {
        bytes: std::slice::Iter<'d, u8>,
        rest: Rng,
    }

    impl<'d> Random<'d> {
        pub(crate) fn new(choices: &'d [u8]) -> Self {
            let fold = |state: u64, byte: &u8| {
                (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
            };
            let state = choices.iter().fold(0xcbf2_9ce4_8422_2325, fold);
            Random { bytes: choices.iter(), rest: Rng::new(state) }
        }

        pub(crate) fn index(&mut self, length: usize) -> usize {
            match self.bytes.next() {
                Some(byte) => usize::from(*byte) % length,
                None => self.rest.index(length),
            }
        }

        pub(crate) fn one_in(&mut self, times: usize) -> bool {
            self.index(times) == 0
        }

        pub(crate) fn word<'a>(&mut self, words: &[&'a str]) -> &'a str {
            words[self.index(words.len())]
        }
    }
}
