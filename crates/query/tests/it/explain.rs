//! Explanations, warnings and error messages.

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
fn an_explained_range_names_its_comparison() {
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
fn an_unknown_type_gives_a_warning() {
    let history = rich();
    let text = "@t0 ^seq .bloc";
    let answer = select(text, Edition::V0_3, &history, &SelectOptions::default()).unwrap();
    let selection = answer.nodes().unwrap();
    assert!(selection.nodes.is_empty());
    let [warning] = selection.warnings.as_slice() else { panic!("{:?}", selection.warnings) };
    assert_eq!(
        warning.to_string(),
        "no node in this tree has the type `.bloc`: did you mean `.block`?"
    );
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

#[test]
fn an_explanation_counts_the_results_of_the_selector() {
    let history = rich();
    // Found by the fuzz target `evaluate`: with an order, `@first` was not counted.
    for text in [
        "@t0 .block @order=post @first",
        "@t0 .block @order=bfs @limit=2",
        "@t0 .block @unique",
        "@t0 .block @limit=2 @p=2 @first",
        "#K @first",
    ] {
        let explanation = explain(text, Edition::V0_3, &history).unwrap();
        let answer = select(text, Edition::V0_3, &history, &SelectOptions::default()).unwrap();
        let found = answer.nodes().unwrap().nodes.len();
        assert_eq!(explanation.steps.last().unwrap().matched, Some(found), "{text}");
    }
}

#[test]
fn every_hop_of_a_position_is_counted() {
    let history = rich();
    let explanation =
        explain("@t0 (d1, cont, *:block[role=user])", Edition::V0_3, &history).unwrap();
    let hops: Vec<(&str, Option<usize>)> =
        explanation.steps[1..4].iter().map(|step| (step.action.as_str(), step.matched)).collect();
    assert_eq!(hops[0], ("`d1`", Some(1)));
    assert_eq!((hops[1].0, hops[2].0), ("`cont`", "`*:block[role='user']`"));
    assert!(hops[2].1 <= Some(1) && hops[1].1 != Some(0), "{hops:?}");
}

#[test]
fn errors_and_warnings_convert_to_json() {
    let history = rich();
    let options = SelectOptions::default();
    let text = "^seq :frist .cb[role=";
    let error = select(text, Edition::V0_3, &history, &options).unwrap_err();
    let value = error.to_value();
    let errors = value.as_array().unwrap();
    assert_eq!(errors.len(), 2, "all errors at once: {value:?}");
    let json = String::from_utf8(errors[0].to_canonical()).unwrap();
    assert_eq!(
        json,
        r#"{"code":"E_SELECTOR_INVALID","end":11,"expected":"EXPECTED","found":"`:frist`","help":"did you mean `:first`?","kind":"unknown_pseudo","message":"unknown pseudo-class `:frist`","start":5}"#
            .replace("EXPECTED", errors[0].get("expected").unwrap().as_str().unwrap())
    );
    let error = select("@t-99 ^root", Edition::V0_3, &history, &options).unwrap_err();
    let value = error.to_value();
    let one = &value.as_array().unwrap()[0];
    assert_eq!(one.get("kind").unwrap().as_str(), Some("snapshot_not_found"));
    assert!(one.get("help").is_some());
    let text = "@t0 .bloc";
    let selection = select(text, Edition::V0_3, &history, &options).unwrap().nodes().unwrap();
    let warning = &selection.warnings[0];
    assert_eq!(
        warning.draw(text),
        "\
warning[unknown_type]: no node in this tree has the type `.bloc`
  |
1 | @t0 .bloc
  |     ^^^^^
  = help: did you mean `.block`?"
    );
    assert_eq!(
        String::from_utf8(warning.to_value().to_canonical()).unwrap(),
        r#"{"end":9,"help":"did you mean `.block`?","kind":"unknown_type","message":"no node in this tree has the type `.bloc`","start":4}"#
    );
    let hint = |edition, text: &str| {
        let answer = select(text, edition, &history, &options).unwrap().nodes().unwrap();
        answer.warnings.first().and_then(contextree_query::Warning::help)
    };
    for edition in Edition::ALL {
        assert_eq!(hint(edition, "@t0 .cb:frist").as_deref(), Some("did you mean `.cb:first`?"));
        assert_eq!(hint(edition, "@t0 .banana"), None);
    }
    assert_eq!(
        hint(Edition::V0_3, "@t0 ^sys .block:summary"),
        None,
        "there are summaries elsewhere"
    );
    // A range contains its own warnings.
    let range = select("@history .bloc", Edition::V0_3, &history, &options).unwrap().range();
    assert_eq!(range.unwrap().warnings, [warning.to_string()]);
}
