//! The conformance vectors: every select, parse, range, content diff and diff of the corpus, in all
//! its editions, with the planned and with the naive evaluator. (areas SYN, SEM, RNG, ERC, DIF)

use contextree_json::Value;
use contextree_query::resolved::At;
use contextree_query::{
    Answer, ContentMode, QueryError, QueryLimits, RangeOptions, SelectOptions, diff_selected, plan,
    resolve, resolve_on_tree, select,
};
use contextree_selector::{Edition, Selector, parse};
use contextree_testkit::naive;

use crate::support::{Case, History, cases, is_subset};

const FILES: [&str; 12] = [
    "selectors-golden-e1.json",
    "selectors-golden-e2.json",
    "selectors-golden-e3.json",
    "selectors-examples.json",
    "selectors-parse.json",
    "selectors-attributes.json",
    "selectors-errors.json",
    "selectors-editions.json",
    "selectors-depth-key-facets.json",
    "ranges.json",
    "content-diff.json",
    "diff.json",
];

fn options(case: &Case, edition: Edition) -> SelectOptions {
    let given = case.field("options");
    let number = |name: &str| given.get(name).and_then(Value::as_u64).map(|number| number as usize);
    let is_set = |name: &str| given.get(name).and_then(Value::as_bool).unwrap_or(false);
    let filter = given.get("where").and_then(Value::as_str);
    SelectOptions {
        skip: number("skip").unwrap_or(0),
        limit: number("limit"),
        filter: filter.map(|text| parse(text, edition).unwrap()),
        range: RangeOptions {
            include_content: is_set("includeContent"),
            content_mode: given
                .get("contentMode")
                .and_then(Value::as_str)
                .map_or(ContentMode::Unified, |name| name.parse().unwrap()),
            max_snapshots: number("maxSnapshots"),
            max_changes_per_snapshot: number("maxChangesPerSnapshot"),
            ..RangeOptions::default()
        },
        range_as_nodes: false,
        limits: None,
    }
}

// covers: SEM-003, SEM-038
#[test]
fn every_vector_of_the_query_files_passes() {
    let mut counts = std::collections::BTreeMap::new();
    for file in FILES {
        for case in cases(file).into_iter() {
            for edition in case.editions.clone() {
                check(&case, edition);
                *counts.entry(case.kind.clone()).or_insert(0) += 1;
            }
        }
    }
    println!("{counts:?}");
    let total: usize = counts.values().sum();
    assert!(total >= 470, "the corpus must not silently shrink: {counts:?}");
}

fn check(case: &Case, edition: Edition) {
    match case.kind.as_str() {
        "select" => check_select(case, edition),
        "parse" => check_parse(case, edition),
        "range" => check_range(case, edition),
        "content_diff" => check_content_diff(case, edition),
        "diff" => check_diff(case, edition),
        other => panic!("{}: unknown kind {other}", case.id),
    }
}

fn run(case: &Case, edition: Edition, history: &History) -> Result<Value, String> {
    let options = options(case, edition);
    match select(case.text("query"), edition, history, &options) {
        Ok(Answer::Nodes(selection)) => {
            Ok(Value::Array(selection.ids().into_iter().map(Value::from).collect()))
        }
        Ok(Answer::Range(range)) => Ok(range.to_value()),
        Err(error) => Err(QueryError::code(&error).to_owned()),
    }
}

fn check_select(case: &Case, edition: Edition) {
    let history = History::load(case.fixture.as_ref().unwrap());
    let expect = case.field("expect");
    let found = run(case, edition, &history);
    match expect.get("error").and_then(Value::as_str) {
        Some(code) => assert_eq!(found, Err(code.to_owned()), "{}", case.id),
        None => {
            assert_eq!(found.as_ref(), Ok(expect.get("ids").unwrap()), "{} in {edition}", case.id);
            check_naive(case, edition, &history, &found.unwrap());
        }
    }
}

/// The naive evaluator does not support windows and evaluates one tree only.
fn check_naive(case: &Case, edition: Edition, history: &History, expected: &Value) {
    use contextree_query::Timeline as _;
    if !case.field("options").is_null() {
        return;
    }
    let selector: Selector = parse(case.text("query"), edition).unwrap();
    let nodes = match resolve(&selector, history).unwrap().at {
        At::Working => naive::select(&selector, history.working().unwrap().unwrap(), None),
        At::Snapshot(position) => {
            let moment = history.snapshot(position).unwrap().unwrap();
            naive::select(&selector, moment.tree, Some(moment.cycle))
        }
        At::Every(_) | At::Range(_) => return,
    };
    let ids = Value::Array(nodes.iter().map(|node| Value::from(node.id())).collect());
    assert_eq!(&ids, expected, "naive: {} in {edition}", case.id);
}

fn check_parse(case: &Case, edition: Edition) {
    let expect = case.field("expect");
    let text = case.text("query");
    match (parse(text, edition), expect.get("error").and_then(Value::as_str)) {
        (Err(errors), Some(code)) => assert_eq!(errors.code().as_str(), code, "{}", case.id),
        (Ok(selector), None) => {
            let result = if selector.is_range() { "range" } else { "ids" };
            assert_eq!(expect.get("result").and_then(Value::as_str), Some(result), "{}", case.id);
        }
        (found, expected) => panic!("{}: {found:?} instead of {expected:?}", case.id),
    }
}

fn check_range(case: &Case, edition: Edition) {
    let history = History::load(case.fixture.as_ref().unwrap());
    let found = run(case, edition, &history).unwrap();
    let expect = case.field("expect");
    assert!(is_subset(&expect, &found), "{} in {edition}: {found:#?}", case.id);
}

fn check_content_diff(case: &Case, edition: Edition) {
    let history = History::load(case.fixture.as_ref().unwrap());
    let found = run(case, edition, &history).unwrap();
    let expect = case.field("expect");
    let blocks = found.get("diffs").unwrap().as_array().unwrap();
    let mut changed =
        blocks.iter().flat_map(|block| block.get("changed").unwrap().as_array().unwrap());
    let node = changed
        .find(|node| node.get("id") == expect.get("changed_id"))
        .unwrap_or_else(|| panic!("{}: the node is not among the changed", case.id));
    match (expect.get("content_diff").unwrap(), node.get("content_diff")) {
        (Value::Null, None) => {}
        (Value::Object(expected), Some(found)) => {
            for (key, value) in expected.iter() {
                match key {
                    "has" => assert!(found.get(value.as_str().unwrap()).is_some(), "{}", case.id),
                    key => assert_eq!(found.get(key), Some(value), "{}", case.id),
                }
            }
        }
        (expected, found) => panic!("{}: {found:?} instead of {expected:?}", case.id),
    }
}

fn check_diff(case: &Case, edition: Edition) {
    let (older, newer) = (History::load(&case.field("older")), History::load(&case.field("newer")));
    let text = case.field("selector");
    let text = text.as_str().unwrap_or("*");
    let query = resolve_on_tree(&parse(text, edition).unwrap()).unwrap();
    let plan = plan(query);
    let side = |history: &'static History| {
        let (cycle, tree) = &history.snapshots[0];
        (tree.view(), Some(*cycle))
    };
    // Leaked: the diff borrows both trees for one lifetime, and a test may leak.
    let diff = diff_selected(
        &plan,
        side(Box::leak(Box::new(older))),
        side(Box::leak(Box::new(newer))),
        &QueryLimits::default(),
    )
    .unwrap();
    let found = contextree_json::parse(diff.to_json().as_bytes()).unwrap();
    assert_eq!(found, case.field("expect"), "{} in {edition}", case.id);
}
