//! Shared helpers: the corpus, and trees without spans.

use std::path::Path;

use contextree_selector::{Edition, Insertion, Selector, SelectorErrors, parse, parse_position};
use serde_json::Value as Json;

/// One selector of the corpus in one edition.
#[derive(Debug)]
#[expect(dead_code, reason = "the id is for the message of a failed assertion")]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) edition: Edition,
    pub(crate) query: String,
    pub(crate) expect: Json,
    /// True for the filter of a query that reads snapshots, where facets exist.
    pub(crate) filters_snapshots: bool,
}

/// Returns the cases of one corpus file; cases without a query have an empty one.
pub(crate) fn file(name: &str) -> Json {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/corpus").join(name);
    let text = std::fs::read_to_string(&path).expect("the corpus file is readable");
    serde_json::from_str(&text).expect("the corpus file is JSON")
}

/// Returns every query of the corpus in every edition it is meant for.
pub(crate) fn queries() -> Vec<Case> {
    let names = [
        "content-diff.json",
        "contextree-selectors.json",
        "ranges.json",
        "selectors-attributes.json",
        "selectors-depth-key-facets.json",
        "selectors-editions.json",
        "selectors-errors.json",
        "selectors-examples.json",
        "selectors-golden-e1.json",
        "selectors-golden-e2.json",
        "selectors-golden-e3.json",
        "selectors-parse.json",
    ];
    let mut cases = Vec::new();
    for name in names {
        let json = file(name);
        for case in json["cases"].as_array().unwrap() {
            // Cases of whole sessions have their queries in their steps.
            let Some(query) = case["query"].as_str() else { continue };
            let mut queries = vec![query.to_owned()];
            let reads_snapshots = queries[0].starts_with('@');
            // The filter of the `where` option is a separate selector.
            queries.extend(case["options"]["where"].as_str().map(str::to_owned));
            for (index, query) in queries.into_iter().enumerate() {
                for edition in case["editions"].as_array().unwrap() {
                    let id = format!("{}#{index}", case["id"].as_str().unwrap());
                    let kind = case["kind"].as_str().unwrap().to_owned();
                    let edition = edition.as_str().unwrap().parse().unwrap();
                    let expect = if index == 0 { case["expect"].clone() } else { Json::Null };
                    let filters_snapshots = index > 0 && reads_snapshots;
                    let query = query.clone();
                    cases.push(Case { id, kind, edition, query, expect, filters_snapshots });
                }
            }
        }
    }
    cases
}

/// Returns every insertion position of the corpus with its case.
pub(crate) fn insertions() -> Vec<(Edition, Json)> {
    let json = file("insertion.json");
    let mut cases = Vec::new();
    for case in json["cases"].as_array().unwrap() {
        for edition in case["editions"].as_array().unwrap() {
            cases.push((edition.as_str().unwrap().parse().unwrap(), case.clone()));
        }
    }
    cases
}

/// Formats the tree without its spans, for comparing trees except for spans.
pub(crate) fn without_spans(tree: &impl std::fmt::Debug) -> String {
    let text = format!("{tree:?}");
    let mut result = String::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find('⟨') {
        result.push_str(&rest[..start]);
        rest = &rest[start + rest[start..].find('⟩').unwrap() + '⟩'.len_utf8()..];
    }
    result + rest
}

/// Asserts that a selector's text parses to the selector, and prints the same again.
pub(crate) fn check_round_trip(selector: &Selector) {
    let printed = selector.to_string();
    let again = parse(&printed, selector.edition)
        .unwrap_or_else(|errors| panic!("canonical text must parse\n{}", errors.draw(&printed)));
    assert_eq!(without_spans(&again), without_spans(selector), "tree of `{printed}`");
    assert_eq!(again.to_string(), printed, "printing must be idempotent");
}

/// Asserts the same of an insertion.
pub(crate) fn check_insertion_round_trip(insertion: &Insertion, edition: Edition) {
    let printed = insertion.to_string();
    let again = parse_position(&printed, edition)
        .unwrap_or_else(|errors| panic!("canonical text must parse\n{}", errors.draw(&printed)));
    assert_eq!(without_spans(&again), without_spans(insertion), "tree of `{printed}`");
    assert_eq!(again.to_string(), printed, "printing must be idempotent");
}

/// Asserts the guarantees for every list of errors: at least one, sorted, spans on character
/// boundaries, messages in house style, a drawing that does not fail.
pub(crate) fn check_errors(text: &str, errors: &SelectorErrors) {
    assert!(!errors.errors().is_empty(), "a failure has an error: `{text}`");
    assert_eq!(errors.code(), errors.errors()[0].code);
    let mut last = None;
    for error in errors {
        assert!(text.get(error.span.range()).is_some(), "{error:?} must fit `{text}`");
        assert!(last <= Some(error.span), "errors must be sorted: {errors:?}");
        last = Some(error.span);
        assert_eq!(error.code, error.kind.code());
        let message = error.to_string();
        let first = message.chars().next().unwrap();
        assert!(!first.is_uppercase() && !message.ends_with('.'), "house style: `{message}`");
        assert!(!error.found.is_empty() && !error.expected.is_empty(), "{error:?}");
        assert!(error.draw(text).contains('^'), "a drawing has a caret: {error:?}");
    }
}
