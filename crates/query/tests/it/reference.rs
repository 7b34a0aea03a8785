//! The reference document: every example of `docs/selectors.md` gives the documented result, and
//! every form is mentioned.

use contextree_canon::{Limits, Profile, import_working};
use contextree_json::{Value, parse as json};
use contextree_query::{Answer, SelectOptions, explain, select};
use contextree_selector::Edition;
use contextree_tree::Cycle;

use crate::support::History;

fn document() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/selectors.md");
    std::fs::read_to_string(path).unwrap()
}

/// The context in the last section of the document.
pub(crate) fn history() -> History {
    let system = r#"{"id":"r-sys","nodeType":"^sys","children":[
        {"id":"b-policy","nodeType":"block","role":"system","cycle":1,"created_at_ns":1,"key":"policy banner"},
        {"id":"b-hint","nodeType":"block","role":"system","cycle":1,"created_at_ns":2,"ttl":TTL}]}"#;
    let first = r#"{"id":"t-1","nodeType":"seg","cycle":1,"created_at_ns":10,"children":[
        {"id":"c-1","nodeType":"cont","cycle":1,"created_at_ns":3,"children":[
            {"id":"b-u1","nodeType":"block","role":"user","cycle":1,"created_at_ns":3}]},
        {"id":"b-s1","nodeType":"block","offset":1,"kind":"summary","cycle":1,"created_at_ns":4,"key":"K",
            "tags":["featured","summary"],"content":"Sum 1"},
        {"id":"b-x1","nodeType":"custom:note","offset":1,"kind":"note","cycle":1,"created_at_ns":5}]}"#;
    let second = r#"{"id":"t-2","nodeType":"seg","cycle":2,"created_at_ns":20,"children":[
        {"id":"b-u2","nodeType":"block","role":"user","cycle":2,"created_at_ns":11}]}"#;
    let committed = r#"
        {"id":"z-p3","nodeType":"block","offset":-1,"cycle":1,"created_at_ns":21},
        {"id":"b-u3","nodeType":"block","role":"user","cycle":2,"created_at_ns":22},
        {"id":"b-n3","nodeType":"block","offset":1,"cycle":2,"created_at_ns":23}"#;
    let live = r#"
        {"id":"z-p4","nodeType":"block","offset":-2,"role":"system","ttl":3,"cycle":3,"created_at_ns":31},
        {"id":"c-4","nodeType":"cont","cycle":3,"created_at_ns":32,"children":[
            {"id":"b-u4","nodeType":"block","role":"user","cycle":3,"created_at_ns":32,"key":"K","tags":["featured"]}]},
        {"id":"b-n4","nodeType":"block","offset":1,"cycle":3,"created_at_ns":33,"data_flag":true,"data_label":"7"}"#;
    let tree = |cycle: u32, turns: &[&str], head: &str, ttl: u32| {
        let system = system.replace("TTL", &ttl.to_string());
        format!(
            r#"{{"cycle":{cycle},"root":{{"id":"r-root","nodeType":"^root","children":[{system},
            {{"id":"r-seq","nodeType":"^seq","children":[{}]}},{{"id":"r-ah","nodeType":"^ah","children":[{head}]}}]}}}}"#,
            turns.join(",")
        )
    };
    let mut store = contextree_json::Object::new();
    let snapshots = [tree(1, &[first], "", 3), tree(2, &[first, second], committed, 2)];
    let snapshots = snapshots.iter().map(|text| json(text.as_bytes()).unwrap()).collect();
    store.insert("snapshots", Value::Array(snapshots));
    let mut history = History::load(&store.into());
    let working = tree(3, &[first, second], live, 1);
    let draft = import_working(working.as_bytes(), Profile::Lenient, &Limits::default(), Cycle(3));
    history.working = Some(draft.unwrap());
    history
}

/// One example of the reference.
#[derive(Debug)]
pub(crate) struct Example {
    pub(crate) edition: Edition,
    pub(crate) selector: String,
    pub(crate) expected: String,
}

/// The examples of the reference: `edition | selector | ids`.
pub(crate) fn examples() -> Vec<Example> {
    let mut examples = Vec::new();
    let mut is_example = false;
    for line in document().lines() {
        if line.starts_with("```") {
            is_example = line == "```selectors";
            continue;
        }
        if !is_example {
            continue;
        }
        let mut parts = line.splitn(3, " | ");
        let (Some(edition), Some(rest)) = (parts.next(), parts.next()) else { panic!("{line}") };
        let (selector, expected) = match parts.next() {
            Some(expected) => (rest, expected),
            None => (rest.trim_end().trim_end_matches('|'), ""),
        };
        examples.push(Example {
            edition: edition.trim().parse().unwrap(),
            selector: selector.trim().to_owned(),
            expected: expected.trim().to_owned(),
        });
    }
    examples
}

#[test]
fn every_example_of_the_reference_runs() {
    let history = history();
    let examples = examples();
    for Example { edition, selector, expected } in &examples {
        let found = match select(selector, *edition, &history, &SelectOptions::default()) {
            Ok(Answer::Nodes(selection)) => selection.ids().join(" "),
            Ok(Answer::Range(_)) => "range".to_owned(),
            Err(error) => error.code().to_owned(),
        };
        assert_eq!(found, *expected, "`{selector}` in {edition}");
    }
    assert!(examples.len() > 180, "{}", examples.len());
}

/// The table of comparisons names every attribute in the row of the rule by which it is compared.
// covers: SEM-034
#[test]
fn the_reference_documents_how_each_attribute_is_compared() {
    let text = document();
    let (_, section) = text.split_once("\n## Comparisons\n").expect("the section exists");
    let section = section.split("\n## ").next().unwrap();
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| ")).collect();
    let [head, numbers, texts, tags, others] = rows[..] else { panic!("{rows:#?}") };
    assert!(["`=`", "`<`", "`~`"].iter().all(|operator| head.contains(operator)), "{head}");
    let names = |row: &str| -> Vec<String> {
        let cell = row.split('|').nth(1).unwrap();
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let numeric = ["offset", "ttl", "priority", "cycle", "created_at_ns", "creation_index"];
    assert_eq!(names(numbers), numeric);
    assert_eq!(names(texts), ["id", "nodeType", "role", "kind", "created_at_iso", "key", "type"]);
    assert_eq!(names(tags), ["tag"]);
    assert!(others.contains("same JSON type and same value"), "{others}");
    for what in ["Null", "`true`", "Numbers are exact", "case-sensitive"] {
        assert!(section.contains(what), "the section says nothing of `{what}`");
    }
    // Where every header is 1, `'1.0'` is the same number and another text.
    let node = r#"{"root":{"id":"root","nodeType":"^root","children":[{"id":"ah","nodeType":"^ah","children":[
        {"id":"1","nodeType":"1","role":"1","kind":"1","key":"1","created_at_iso":"1","offset":1,"ttl":1,
        "priority":1,"cycle":1,"created_at_ns":1,"creation_index":1}]}]}}"#;
    let history = History::load(&json(node.as_bytes()).unwrap());
    let finds = |name: &str, value: &str| {
        let selector = format!("@t0 ^ah > [{name}={value}]");
        let answer = select(&selector, Edition::V0_3, &history, &SelectOptions::default());
        answer.unwrap().nodes().unwrap().ids() == ["1"]
    };
    for name in names(numbers).into_iter().chain(names(texts)) {
        // A type that is not known is that of a block.
        if name == "type" {
            assert!(finds("type", "block") && !finds("type", "'1.0'"));
            continue;
        }
        assert!(finds(&name, "1") && finds(&name, "'1'"), "`{name}`");
        assert_eq!(finds(&name, "'1.0'"), numeric.contains(&&*name), "`{name}`");
    }
}

#[test]
fn the_explanation_in_the_reference_is_current() {
    let text = "@t0 .seg:depth(1-2) .block[role='user']";
    let explanation = explain(text, Edition::V0_3, &history()).unwrap().to_text();
    assert!(document().contains(&explanation), "{explanation}");
}

#[test]
fn the_reference_mentions_every_form_and_code() {
    let text = document();
    let forms = [
        "@t0",
        "@c42",
        "@*",
        "@history",
        "@t-*",
        "^sys",
        "^seq",
        "^ah",
        "^root",
        ".mt",
        ".mc",
        ".cb",
        ".seg",
        ".cont",
        ".block",
        ":pre",
        ":core",
        ":post",
        ":first",
        ":last",
        ":nth",
        ":depth",
        "depth(0)",
        "within",
        "??",
        "+tag",
        "ephemeral",
        "sticky",
        "@mode",
        "@order",
        "@unique",
        "@limit",
        "@p",
        "@first",
        "turn:asc,pre",
        "turn:desc,pre",
        "bfs",
        "born_turn",
        "age",
        "sdepth",
        "includeContent",
        "contentMode",
        "contextLines",
        "materialize",
        "maxSnapshots",
        "maxChangesPerSnapshot",
        "E_SELECTOR_INVALID",
        "E_SNAPSHOT_RANGE_KIND_MISMATCH",
        "E_SNAPSHOT_RANGE_WILDCARD",
        "E_SNAPSHOT_NOT_FOUND",
        "E_SNAPSHOT_RANGE_LIMIT",
        "E_LIMIT",
        "E_NO_MATCH",
        "E_AMBIGUOUS",
        "16,384",
        "coordinate",
        "range_diff_latest",
        "union",
        "latest",
        "reduce",
        "unified",
        "jsonpatch",
        "tokens",
    ];
    for form in forms {
        assert!(text.contains(form), "`{form}` is not in the reference");
    }
}
