//! The conformance corpus through the wire: operations in, nodes, reports, diffs and errors out, and all of them back.

use contextree::{CommitOptions, Context, ContextOptions, Policy, TreeRef};
use contextree_app::{Error, wire};
use contextree_conformance::{Case, Corpus, Edition, Runner, set_detour};
use contextree_json::{Value, from_value};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn there_and_back<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(form: &T) {
    let value = wire::to_value(form);
    let text = value.to_canonical();
    let read: T = contextree_json::from_slice(&text).expect("the form is read again");
    assert_eq!(read, *form);
    assert_eq!(wire::to_value(&read), value);
}

fn nodes(tree: TreeRef<'_>) {
    for (_, node) in tree.nodes() {
        there_and_back(&wire::Node::new(node, contextree::Edition::V0_3));
    }
}

fn history(context: &Context) {
    nodes(context.working());
    let history = context.history();
    for (older, newer) in history.iter().zip(history.iter().skip(1)) {
        let diff = contextree::diff::diff(older.view(), newer.view());
        let form = wire::Diff::from(&diff);
        there_and_back(&form);
        assert_eq!(wire::to_value(&form).to_canonical(), diff.to_json().as_bytes());
        let changes = contextree::diff::changes(older.view(), newer.view());
        there_and_back(&wire::Changes::from(&changes));
    }
}

fn failure(error: &Error) {
    there_and_back(&error.to_wire());
}

/// The runner reads operations by their wire form; every context that a case makes passes through the forms of nodes and diffs.
#[test]
fn every_case_passes_with_its_trees_sent_through_the_wire() {
    set_detour(Some(Box::new(|context| {
        history(&context);
        Ok(context)
    })));
    let corpus = Corpus::embedded().expect("the corpus is sound");
    let runner = Runner::all();
    let mut number = 0;
    for case in &corpus.cases {
        for edition in &case.editions {
            let verdict = runner.run(case, *edition);
            assert!(verdict.is_pass(), "{} in {edition}: {verdict}", case.id);
            number += 1;
        }
    }
    assert!(number > 900, "the corpus is not empty");
    set_detour(None);
}

/// Replays every session and sends each operation, report and error through the wire.
#[test]
fn operations_reports_and_errors_of_sessions_survive_the_wire() {
    let corpus = Corpus::embedded().expect("the corpus is sound");
    let (mut operations, mut reports, mut refused) = (0, 0, 0);
    // Model calls are not operations: `request` and `answer` have forms of their own.
    let is_call = |step: &Value| {
        let op = step.get("op").and_then(Value::as_str).unwrap_or_default();
        ["begin", "complete", "cancel", "fail"].contains(&op)
    };
    let has_operations = |case: &&Case| {
        let steps = case.field("steps").as_array();
        steps.is_some_and(|steps| !steps.iter().any(is_call))
    };
    for case in corpus.cases.iter().filter(has_operations) {
        let edition = case.editions.first().copied().unwrap_or(Edition::E3);
        let options =
            ContextOptions { vocabulary: edition.vocabulary(), ..ContextOptions::default() };
        let mut context = Context::with_options(options);
        let mut handles = Vec::new();
        for step in case.field("steps").as_array().unwrap_or_default() {
            let name = step.get("op").and_then(Value::as_str).unwrap_or_default();
            let node = step.get("node").and_then(Value::as_str).unwrap_or_default();
            match name {
                "commit" => {
                    let policy = step.get("policy").map(Policy::from_value);
                    let policy = policy.map(|policy| policy.expect("a policy of the corpus"));
                    let options =
                        CommitOptions { policy: policy.as_ref(), ..CommitOptions::default() };
                    match context.commit_with(&options) {
                        Ok(report) => {
                            there_and_back(&wire::Report::from(&report));
                            reports += 1;
                        }
                        Err(error) => failure(&error.into()),
                    }
                }
                "retain" => handles.extend(context.retain(node)),
                "release" => handles.clear(),
                _ => {
                    let steps = match step.get("steps").and_then(Value::as_array) {
                        Some(steps) => steps,
                        None => std::slice::from_ref(step),
                    };
                    let mut batch = Vec::new();
                    for step in steps {
                        let op: wire::Op = from_value(step.clone()).expect("an operation");
                        there_and_back(&op);
                        let resolved =
                            op.clone().resolve(&mut context, None).expect("it has no position");
                        assert_eq!(wire::Op::of(&resolved), Some(op), "{}", case.id);
                        batch.push(resolved);
                        operations += 1;
                    }
                    if let Err(error) = context.batch(batch) {
                        failure(&error.error.into());
                        refused += 1;
                    }
                }
            }
            nodes(context.working());
        }
        history(&context);
    }
    assert!(operations > 50 && reports > 20 && refused > 10, "{operations} {reports} {refused}");
}
