//! Explanations, warnings and errors that teach.

use contextree_query::{SelectOptions, WarningKind, explain, select};
use contextree_selector::Edition;

use crate::support::{History, cases};

fn rich() -> History {
    let case =
        cases("selectors-examples.json").into_iter().find(|case| case.id == "EX-60-E3").unwrap();
    History::load(&case.fixture.unwrap())
}

#[test]
fn an_explanation_shows_syntax_plan_and_counts() {
    let history = rich();
    let text = "@t0   .seg:depth(1-2) .cont > .block(role=user) @limit=1";
    let explanation = explain(text, Edition::V0_3, &history).unwrap();
    assert_eq!(
        explanation.to_text(),
        "\
canonical  @t0 .seg:depth(1-2) .cont > .block[role='user'] @limit=1
edition    0.3
reads      the snapshot of cycle 4
syntax     selector
             time @t0
             chain .seg:depth(1-2) .cont > .block[role='user']
               step .seg:depth(1-2)
                 type .seg
                 pseudo :depth(1-2)
               descendant .cont
               child .block[role='user']
                 type .block
                 attribute [role='user']
             control @limit=1
plan       look up the first step (1), one pass below for the others
           `.seg:depth(1-2)`  → 2
           `.cont`  → 2
           `.block[role='user']`  → 2
           skip 0, take 1  → 1
           stop after 1 in document order
           result  → 1
"
    );
    let json = String::from_utf8(explanation.to_value().to_canonical()).unwrap();
    assert!(json.contains(r#"{"action":"result","matched":1}"#), "{json}");
}

#[test]
fn every_selector_of_the_corpus_can_be_explained() {
    let mut explained = 0;
    for file in ["selectors-examples.json", "selectors-editions.json", "ranges.json"] {
        for case in cases(file) {
            let history = History::load(case.fixture.as_ref().unwrap());
            for edition in case.editions.clone() {
                if let Ok(explanation) = explain(case.text("query"), edition, &history) {
                    let last = explanation.steps.last().unwrap();
                    let expected = case
                        .field("expect")
                        .get("ids")
                        .and_then(|ids| ids.as_array().map(<[_]>::len));
                    if expected.is_some() && !case.text("query").contains("@*") {
                        assert_eq!(last.matched, expected, "{}", case.id);
                    }
                    explained += 1;
                }
            }
        }
    }
    assert!(explained > 200, "{explained}");
}

#[test]
fn ranges_say_how_they_are_compared() {
    let history = rich();
    let comparison =
        |text: &str| explain(text, Edition::V0_3, &history).unwrap().comparison.unwrap();
    assert_eq!(comparison("@history .block"), "what was written between neighbours");
    assert_eq!(
        comparison("@history d1"),
        "an evaluation per snapshot, because a depth names turns by their age"
    );
    assert!(comparison("@history .block:first").contains("siblings"));
    assert!(comparison("@history .block @first").contains("control"));
    assert!(comparison("@history .block[age<2]").contains("facet"));
    assert_eq!(comparison("@history (d0, *:block)"), "what was written between neighbours");
}

#[test]
fn a_type_that_no_node_has_draws_a_warning() {
    let history = rich();
    let text = "@t0 ^seq .bloc";
    let answer = select(text, Edition::V0_3, &history, &SelectOptions::default()).unwrap();
    let selection = answer.nodes().unwrap();
    assert!(selection.nodes.is_empty());
    let [warning] = selection.warnings.as_slice() else { panic!("{:?}", selection.warnings) };
    assert_eq!(warning.to_string(), "`.bloc` matches no type in this tree: did you mean `.block`?");
    assert_eq!(warning.span.of(text), ".bloc");
    assert_eq!(WarningKind::as_str(&warning.kind), "unknown_type");
}

#[test]
fn a_time_in_where_is_an_error() {
    let history = rich();
    let filter = contextree_selector::parse("@t0 .seg", Edition::V0_3).unwrap();
    let options = SelectOptions { filter: Some(filter), ..SelectOptions::default() };
    let error = select("#K", Edition::V0_3, &history, &options).unwrap_err();
    assert_eq!(error.code(), "E_SELECTOR_INVALID");
}
