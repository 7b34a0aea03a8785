//! The corpus against the engine: every case passes, in every edition it names.

use std::path::Path;

use contextree::diff::Diff;
use contextree::json::{Object, Value};
use contextree::{Hash, Snapshot};
use contextree_conformance::{
    Case, Corpus, DiffSelector, Edition, FILES, Got, Runner, Verdict, check_schemas, run,
};

fn corpus() -> Corpus {
    Corpus::embedded().expect("the corpus is readable")
}

#[test]
fn embedded_corpus_equals_the_directory() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    assert_eq!(corpus(), Corpus::load(&directory).unwrap());
    for (name, text) in FILES {
        assert_eq!(std::fs::read(directory.join(name)).unwrap(), text, "{name}");
    }
}

#[test]
fn every_case_passes_in_every_edition_it_names() {
    let mut passed = 0;
    let mut failures = Vec::new();
    for case in &corpus().cases {
        for edition in &case.editions {
            match run(case, *edition) {
                Verdict::Pass { .. } => passed += 1,
                Verdict::Unsupported(_) => {}
                verdict => failures.push(format!("{} {edition}: {verdict}", case.id)),
            }
        }
    }
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
    assert!(passed > 700, "only {passed} runs: the corpus was not read");
}

/// Nothing is skipped silently.
#[test]
fn every_kind_of_the_corpus_has_a_check() {
    for case in &corpus().cases {
        let verdict = run(case, case.editions[0]);
        assert!(!matches!(verdict, Verdict::Unsupported(_)), "{}: {verdict}", case.id);
    }
}

#[test]
fn a_wrong_expectation_is_reported_with_both_values() {
    let corpus = corpus();
    let mut case = corpus.case("ORDER-7.1").unwrap().clone();
    let mut expect = case.expect().clone();
    expect.insert("ids", Value::from(vec![Value::from("z")]));
    case.fields.insert("expect", expect.into());
    let Verdict::Fail { expected, got } = run(&case, Edition::E1) else {
        panic!("a wrong expectation passed");
    };
    assert_eq!(Value::from(expected).to_canonical(), br#"{"ids":["z"]}"#);
    assert_eq!(Value::from(got).to_canonical(), br#"{"ids":["a","b","c","d"]}"#);
}

/// What is reported is what the program returned, also where it agrees, and where an answer came
/// instead of an error.
#[test]
fn reports_show_what_the_program_returned() {
    let corpus = corpus();
    let range = corpus.cases.iter().find(|case| case.id == "RANGE-ONE").unwrap();
    let Verdict::Pass { got } = run(range, range.editions[0]) else { panic!("it passes") };
    assert!(got.len() > range.expect().len(), "a range has more keys than a case names: {got:?}");
    let mut case = corpus.case("E3-7.1-1").unwrap().clone();
    let expect = Object::from_iter([("error", Value::from("E_SELECTOR_INVALID"))]);
    case.fields.insert("expect", expect.into());
    let verdict = run(&case, Edition::E3);
    let Verdict::Fail { expected, got } = &verdict else { panic!("a wrong expectation passed") };
    assert_eq!(expected.keys().collect::<Vec<_>>(), ["error"]);
    assert!(got.get("ids").is_some(), "{got:?}");
    assert!(verdict.to_string().contains(r#"got {"ids":["#), "{verdict}");
}

#[test]
fn remarks_are_not_compared_and_everything_else_is() {
    let corpus = corpus();
    let mut case = corpus.case("FLAT-4.1").unwrap().clone();
    assert!(run(&case, Edition::E1).is_pass());
    let mut input = case.field("input").as_object().unwrap().clone();
    let mut log = input.get("flat_log").unwrap().as_array().unwrap().to_vec();
    log.pop();
    input.insert("flat_log", Value::Array(log));
    case.fields.insert("input", input.into());
    assert!(!run(&case, Edition::E1).is_pass(), "a shorter log has another shape");
}

#[test]
fn a_key_of_an_expectation_that_nobody_checks_fails_the_case() {
    let corpus = corpus();
    let mut case = corpus.case("THREAD-12.8").unwrap().clone();
    let mut expect = case.expect().clone();
    expect.insert("colour", Value::from("red"));
    case.fields.insert("expect", expect.into());
    assert!(!run(&case, Edition::E1).is_pass(), "an unknown key must not be passed over");
}

#[test]
fn a_case_that_differs_from_its_twin_fails() {
    let corpus = corpus();
    let mut case = corpus.case("HASH-TEST1").unwrap().clone();
    assert!(run(&case, Edition::E1).is_pass());
    case.same_as = corpus.case("HASH-FULL").cloned().map(Box::new);
    assert!(!run(&case, Edition::E1).is_pass(), "two hashes that differ were taken for the same");
}

#[test]
fn kinds_are_plugged_in_by_name() {
    struct Everything;
    impl DiffSelector for Everything {
        fn diff(
            &self,
            older: &Snapshot,
            newer: &Snapshot,
            _: &str,
            _: Edition,
        ) -> Result<Diff, String> {
            Ok(contextree::diff::diff(older.view(), newer.view()))
        }
    }
    let corpus = corpus();
    let select = |_: &Case, _: Edition| Ok(Got::from_iter([("ids", Value::Array(vec![]))]));
    let runner = Runner::engine().with("select", select).with_diff_selector(Everything);
    let case = corpus.cases.iter().find(|case| case.kind == "select").unwrap();
    assert!(matches!(runner.run(case, case.editions[0]), Verdict::Fail { .. }));
    let case = corpus.case("DIFF-SEL").unwrap();
    assert!(matches!(runner.run(case, case.editions[0]), Verdict::Fail { .. }));
}

// covers: ATT-005, SNP-014, IDH-006, IDH-010, DIF-005, DIF-006, SEA-003, REF-006
#[test]
fn the_schemas_describe_the_engine() {
    let corpus = corpus();
    let (names, differences) = check_schemas(corpus.schemas.as_ref().unwrap());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    // The others describe the selector language.
    let others: Vec<&str> =
        corpus.schemas.as_ref().unwrap().keys().filter(|name| !names.contains(name)).collect();
    assert_eq!(
        others,
        [
            "DiffBlock",
            "DiffBlock.changed",
            "DiffBlock.stats",
            "RangeDiffLatestResult",
            "SnapshotRef",
            "behavior_flags_E3",
            "comparison_operators",
            "content_diff",
            "content_diff.summary",
            "controls_E3",
            "derived_facets",
            "error_codes",
            "errors_item",
            "limits",
            "migration_flag",
            "pseudos",
            "select_options",
            "selector_attributes",
        ]
    );
}

/// The cases of the specification are a copy; whoever edits one has to say so here.
#[test]
fn the_copied_cases_are_untouched() {
    let cases: Vec<String> = corpus()
        .cases
        .iter()
        .filter(|case| !case.file.starts_with("contextree-"))
        .map(|case| String::from_utf8(Value::Object(case.fields.clone()).to_canonical()).unwrap())
        .collect();
    assert_eq!(cases.len(), 555);
    let digest = Hash::of(cases.join("\n").as_bytes()).to_string();
    assert_eq!(digest, "05ff89b045e493d7124a0d86e67b11f9e5c6f1da04ae432dc7881c6afd79a852");
}
