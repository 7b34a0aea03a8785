//! Ranges: incremental results equal evaluation per snapshot, patches apply, options are honoured.

use contextree_json::Value;
use contextree_query::resolved::lower;
use contextree_query::{
    ContentMode, Locality, Materialize, RangeDiff, RangeOptions, SelectOptions, json_patch,
    locality, select,
};
use contextree_selector::{Edition, parse};
use contextree_tree::Cycle;

use crate::differential::draw;
use crate::generate;
use crate::histories::{blocks, expected, history};
use crate::support::{History, Random};

// covers: RNG-005, RNG-008
#[test]
fn a_range_equals_the_evaluation_of_every_snapshot() {
    let rounds = if cfg!(debug_assertions) { 250 } else { 3000 };
    let (mut local, mut all) = (0, 0);
    // The last seed once exposed that the children of regions are not part of their rows.
    for seed in (0..rounds).chain([2598]) {
        let mut random = Random::new(seed * 7 + 1);
        let history = history(&mut random);
        for _ in 0..12 {
            let edition = Edition::ALL[random.index(3)];
            let single = generate::selector(&mut random, edition);
            let text = single.replacen("@t0 ", "@t-9..@t0 ", 1);
            let Ok(selector) = parse(&text, edition) else { continue };
            all += 1;
            local += usize::from(locality(&lower(&selector)) == Locality::Local);
            let found = range(&text, edition, &history, &RangeOptions::default());
            let trees: Vec<String> =
                history.snapshots.iter().map(|(_, tree)| draw(tree.view())).collect();
            assert_eq!(
                blocks(found),
                expected(&selector, &history),
                "`{text}` in {edition}, seed {seed}\n{}",
                trees.join("--\n")
            );
        }
    }
    println!("{all} ranges, {local} of them local");
    assert!(local * 5 > all && local < all, "both ways must be tried: {local} of {all}");
}

fn range(text: &str, edition: Edition, history: &History, options: &RangeOptions) -> RangeDiff {
    let options = SelectOptions { range: options.clone(), ..SelectOptions::default() };
    select(text, edition, history, &options).unwrap().range().unwrap()
}

fn document(content: &str) -> Value {
    let text = format!(
        r#"{{"root":{{"id":"root","nodeType":"^root","children":[
        {{"id":"ah","nodeType":"^ah","children":[{{"id":"b","nodeType":"block","content":{content}}}]}}]}}}}"#
    );
    contextree_json::parse(text.as_bytes()).unwrap()
}

fn two(before: &str, after: &str) -> History {
    let mut store = contextree_json::Object::new();
    let mut snapshots = vec![document(before), document(after)];
    for (cycle, snapshot) in snapshots.iter_mut().enumerate() {
        if let Value::Object(object) = snapshot {
            object.insert("cycle", Value::from(cycle as u64));
        }
    }
    store.insert("snapshots", Value::Array(snapshots));
    History::load(&store.into())
}

#[test]
fn a_json_patch_turns_the_older_content_into_the_newer_one() {
    let mut random = Random::new(5);
    for _ in 0..2000 {
        let (before, after) = (json(&mut random, 0), json(&mut random, 0));
        let ops: Vec<Value> = json_patch(&before, &after).iter().map(|op| op.to_value()).collect();
        let text = |value: &Value| String::from_utf8(value.to_canonical()).unwrap();
        let patch: json_patch::Patch = serde_json::from_str(&text(&Value::Array(ops))).unwrap();
        let mut document: serde_json::Value = serde_json::from_str(&text(&before)).unwrap();
        json_patch::patch(&mut document, &patch).unwrap();
        let sought: serde_json::Value = serde_json::from_str(&text(&after)).unwrap();
        assert_eq!(document, sought, "{before:?} → {after:?}: {patch}");
    }
}

fn json(random: &mut Random, depth: usize) -> Value {
    match random.index(if depth < 3 { 7 } else { 4 }) {
        0 => Value::Null,
        1 => Value::from(random.index(3) as i64),
        2 => Value::from(random.word(&["a", "b/c", "~x"])),
        3 => Value::Bool(random.one_in(2)),
        4 => Value::Array((0..random.index(5)).map(|_| json(random, depth + 1)).collect()),
        _ => {
            let mut object = contextree_json::Object::new();
            for key in ["a", "b/c", "d~e", ""] {
                if random.one_in(2) {
                    object.insert(key, json(random, depth + 1));
                }
            }
            object.into()
        }
    }
}

// covers: RNG-023, RNG-024, RNG-026
#[test]
fn content_modes_and_context_lines_are_honoured() {
    let lines: Vec<String> = (0..20).map(|line| format!("line {line}")).collect();
    let before = lines.join("\n");
    let after = before.replace("line 10", "line ten");
    let quoted = |text: &str| format!("\"{}\"", text.replace('\n', "\\n"));
    let history = two(&quoted(&before), &quoted(&after));
    let body = |options: &RangeOptions| {
        let range = range("@t-1..@t0 ^ah *", Edition::V0_3, &history, options);
        let value = range.to_value();
        value.get("diffs").unwrap().as_array().unwrap()[0]
            .get("changed")
            .unwrap()
            .as_array()
            .unwrap()[0]
            .clone()
    };
    let with = |context_lines| RangeOptions {
        include_content: true,
        context_lines,
        ..RangeOptions::default()
    };
    for (context, shown) in [(0, 1), (3, 7), (10, 20)] {
        let changed = body(&with(context));
        let diff =
            changed.get("content_diff").unwrap().get("diff").unwrap().as_str().unwrap().to_owned();
        assert!(diff.starts_with("--- older(@t-1)/b\n+++ newer(@t0)/b\n@@ -"), "{diff}");
        let kept = diff.lines().filter(|line| line.starts_with(' ')).count();
        assert_eq!(kept + 1, shown, "{diff}");
    }
    let tokens = RangeOptions { content_mode: ContentMode::Tokens, ..with(3) };
    let hunks =
        body(&tokens).get("content_diff").unwrap().get("hunks").unwrap().as_array().unwrap().len();
    assert_eq!(hunks, 4, "keep, delete, insert, keep");
    let materialize =
        RangeOptions { materialize: Materialize::ALL.to_vec(), ..RangeOptions::default() };
    let changed = body(&materialize);
    let newer = changed.get("materialized").unwrap().get("newer").unwrap();
    assert_eq!(newer.get("content").unwrap().as_str(), Some(&*after));
    assert!(newer.get("content_hash").is_some() && changed.get("content_diff").is_none());
}

#[test]
fn structured_content_is_patched_inside() {
    let history = two(r#"{"a":[1,2,3],"b":"x"}"#, r#"{"a":[1,3],"b":"x","c":null}"#);
    let options = RangeOptions {
        include_content: true,
        content_mode: ContentMode::JsonPatch,
        ..RangeOptions::default()
    };
    let range = range("@c0..@c1 .block", Edition::V0_3, &history, &options);
    let text = String::from_utf8(range.to_value().to_canonical()).unwrap();
    assert!(
        text.contains(
            r#""patch":[{"op":"remove","path":"/a/1"},{"op":"add","path":"/c","value":null}]"#
        ),
        "{text}"
    );
    assert!(text.contains(r#""kind":"c","label":"@c1","value":1"#), "{text}");
}

#[test]
fn modes_change_what_is_compared_but_not_the_shape() {
    let history = two("\"x\"", "\"y\"");
    for (mode, blocks) in [("union", 1), ("latest", 1), ("reduce", 1)] {
        let text = format!("@history .block @mode={mode}");
        let range = range(&text, Edition::V0_3, &history, &RangeOptions::default());
        assert_eq!((range.snapshots.len(), range.diffs.len()), (2, blocks), "{mode}");
        assert_eq!(range.to_value().get("mode").unwrap().as_str(), Some("pairwise"));
    }
}

// covers: RNG-002, RNG-003
#[test]
fn a_range_as_nodes_is_for_edition_one_only() {
    let history = two("\"x\"", "\"y\"");
    let options = SelectOptions { range_as_nodes: true, ..SelectOptions::default() };
    let nodes = select("@t-1..@t0 .block", Edition::V0_1, &history, &options).unwrap().nodes();
    assert_eq!(nodes.unwrap().ids(), ["b"]);
    assert!(
        select("@t-1..@t0 .block", Edition::V0_2, &history, &options).unwrap().range().is_some()
    );
}

#[test]
fn a_future_end_is_an_error_and_a_past_one_is_clipped() {
    let history = two("\"x\"", "\"y\"");
    let options = SelectOptions::default();
    let error = select("@t-5..1 .block", Edition::V0_2, &history, &options).unwrap_err();
    assert_eq!(error.code(), "E_SNAPSHOT_NOT_FOUND");
    assert_eq!(
        error.draw("@t-5..1 .block"),
        "error[E_SNAPSHOT_NOT_FOUND]: no snapshot `@t+1`\n  |\n1 | @t-5..1 .block\n  | ^^^^^^^\n  = help: existing snapshots: `@t-1` to `@t0`, or `@c0` to `@c1`"
    );
    let clipped = range("@c1..@c9 .block", Edition::V0_2, &history, &RangeOptions::default());
    assert_eq!((clipped.snapshots.len(), clipped.warnings.len()), (1, 1));
    let empty = range("@c7..@c9 .block", Edition::V0_2, &history, &RangeOptions::default());
    assert_eq!((empty.snapshots.len(), empty.diffs.len(), empty.warnings.len()), (0, 0, 1));
}

// covers: RNG-006, RNG-007, RNG-008
#[test]
fn a_range_includes_both_ends_and_compares_adjacent_snapshots() {
    let mut random = Random::new(4);
    let mut history = history(&mut random);
    while history.snapshots.len() < 5 {
        let mut draft = history.working.take().unwrap();
        let cycle = Cycle(history.snapshots.len() as u32);
        history.snapshots.push((cycle, draft.freeze()));
        history.working = Some(draft);
    }
    history.snapshots.truncate(5);
    for (text, labels) in [
        ("@t-3..@t-1 *", ["@t-1", "@t-2", "@t-3"].as_slice()),
        ("@t-1..@t-3 *", &["@t-1", "@t-2", "@t-3"]),
        ("@t-3..-1 *", &["@t-1", "@t-2", "@t-3"]),
        ("@t-3:-1 *", &["@t-1", "@t-2", "@t-3"]),
        ("@t-4:0 *", &["@t0", "@t-1", "@t-2", "@t-3", "@t-4"]),
        ("@c1..@c3 *", &["@c3", "@c2", "@c1"]),
        ("@t-2..@t-2 *", &["@t-2"]),
    ] {
        for edition in Edition::ALL {
            let range = range(text, edition, &history, &RangeOptions::default());
            let found: Vec<&str> = range.snapshots.iter().map(|each| &*each.label).collect();
            assert_eq!(found, labels, "{text}");
            let cycles: Vec<Cycle> = range.snapshots.iter().map(|each| each.cycle).collect();
            assert!(cycles.is_sorted_by(|newer, older| newer > older), "{cycles:?}");
            let pairs: Vec<(&str, &str)> =
                range.diffs.iter().map(|block| (&*block.from.label, &*block.to.label)).collect();
            let expected: Vec<(&str, &str)> =
                labels.windows(2).map(|pair| (pair[0], pair[1])).collect();
            assert_eq!(pairs, expected, "{text}");
        }
    }
}

// covers: RNG-009
#[test]
fn the_same_range_gives_the_same_bytes() {
    for seed in 0..40 {
        let histories = [history(&mut Random::new(seed)), history(&mut Random::new(seed))];
        let mut random = Random::new(seed + 1000);
        for _ in 0..6 {
            let edition = Edition::ALL[random.index(3)];
            let text = generate::selector(&mut random, edition).replacen("@t0 ", "@t-9..@t0 ", 1);
            if parse(&text, edition).is_err() {
                continue;
            }
            let options = RangeOptions {
                include_content: true,
                materialize: Materialize::ALL.to_vec(),
                ..RangeOptions::default()
            };
            let bytes = |history: &History| {
                range(&text, edition, history, &options).to_value().to_canonical()
            };
            let first = bytes(&histories[0]);
            assert_eq!(bytes(&histories[0]), first, "`{text}` again");
            assert_eq!(bytes(&histories[1]), first, "`{text}` on a history made anew");
        }
    }
}

// covers: RNG-022, RNG-025
#[test]
fn a_content_diff_is_attached_exactly_where_the_content_hash_changed() {
    let (mut with, mut without) = (0, 0);
    for seed in 0..60 {
        let history = history(&mut Random::new(seed));
        for mode in ContentMode::ALL {
            let options = RangeOptions {
                include_content: true,
                content_mode: mode,
                ..RangeOptions::default()
            };
            let diffs = range("@history *", Edition::V0_3, &history, &options).diffs;
            for node in diffs.into_iter().flat_map(|block| block.changed) {
                let is_changed = node.fields.iter().any(|field| field == "content_hash");
                assert_eq!(node.content_diff.is_some(), is_changed, "{}", node.id);
                with += usize::from(is_changed);
                without += usize::from(!is_changed);
                let Some(diff) = node.content_diff else { continue };
                let value = diff.to_value();
                assert_eq!(value.get("mode").unwrap().as_str(), Some(mode.as_str()));
                let summary = value.get("summary").unwrap();
                for name in ["bytesNewer", "bytesOlder", "identical", "truncated"] {
                    assert!(summary.get(name).is_some(), "{name}");
                }
            }
        }
        let plain = range("@history *", Edition::V0_3, &history, &RangeOptions::default());
        let mut changed = plain.diffs.iter().flat_map(|block| &block.changed);
        assert!(changed.all(|node| node.content_diff.is_none()), "it was not asked for");
    }
    assert!(with > 20 && without > 20, "{with} with, {without} without");
}
