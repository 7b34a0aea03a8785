//! Rows of the engine's areas that are seen through selectors.

use contextree::query::Timeline;
use contextree::{
    Context, ContextOptions, Edition, NewNode, Place, SelectOptions, SnapshotAddress, Vocabulary,
};

use crate::support::{block, commit, head};

/// The ids that a selector finds.
fn ids(context: &Context, selector: &str) -> Vec<String> {
    ids_in(context, selector, context.edition())
}

fn ids_in(context: &Context, selector: &str, edition: Edition) -> Vec<String> {
    let answer = context
        .select_with(selector, edition, &SelectOptions::default())
        .unwrap_or_else(|error| panic!("{}", error.draw(selector)));
    let selection = answer.nodes().expect("no range");
    selection.ids().into_iter().map(str::to_owned).collect()
}

/// Two turns; the second has a user type, a custom attribute and an attached note.
fn context(options: ContextOptions) -> Context {
    let mut context = Context::with_options(options);
    context.add(Place::system(), block("You are helpful.").id("s").role("system")).unwrap();
    context.add(Place::head(), block("Hello").id("u1").role("user")).unwrap();
    commit(&mut context);
    context.add(Place::head(), block("Hi").id("a1").role("assistant")).unwrap();
    let note = block("note").id("n1").node_type("custom:note").attribute("data_x", "1");
    context.add(Place::at("^ah", 1), note.ttl(3)).unwrap();
    commit(&mut context);
    context
}

// covers: STR-013, STR-014, STR-020
#[test]
fn turns_cores_and_blocks_are_found_by_their_words_in_both_vocabularies() {
    for vocabulary in [Vocabulary::Message, Vocabulary::Segment] {
        let context = context(ContextOptions { vocabulary, ..ContextOptions::default() });
        let words = [("mt", "seg"), ("mc", "cont"), ("cb", "block")];
        for (edition, (old, new)) in [Edition::V0_1, Edition::V0_2, Edition::V0_3]
            .into_iter()
            .flat_map(|edition| words.map(|pair| (edition, pair)))
        {
            let found = ids_in(&context, &format!("@t0 .{old}"), edition);
            assert_eq!(
                found,
                ids_in(&context, &format!("@t0 .{new}"), edition),
                "{edition} .{old}"
            );
            let expected: &[&str] = match (old, vocabulary) {
                ("mt", Vocabulary::Message) => &["mt:1", "mt:2"],
                ("mt", Vocabulary::Segment) => &["seg:1", "seg:2"],
                ("mc", Vocabulary::Message) => &["mc:1", "mc:2"],
                ("mc", Vocabulary::Segment) => &["cont:1", "cont:2"],
                _ => &["s", "u1", "a1", "n1"],
            };
            assert_eq!(found, expected, "{edition} .{old}");
        }
    }
}

// covers: STR-027, PLO-021, PLO-022
#[test]
fn depth_counts_from_the_newest_turn_and_the_head_is_depth_zero_from_edition_two_on() {
    let context = context(ContextOptions::default());
    for edition in [Edition::V0_1, Edition::V0_2, Edition::V0_3] {
        assert_eq!(ids_in(&context, "@t0 .mt:depth(1)", edition), ["seg:2"]);
        assert_eq!(ids_in(&context, "@t0 .mt:depth(2)", edition), ["seg:1"]);
    }
    assert!(ids_in(&context, "@t0 .mt:depth(0)", Edition::V0_1).is_empty());
    assert_eq!(ids_in(&context, "@t0 .mt:depth(0)", Edition::V0_2), ["ah"]);
    assert_eq!(ids_in(&context, "@t0 .mt:depth(-1)", Edition::V0_3), ["sys"]);
}

// covers: IDH-029, IDH-032, ADO-004
#[test]
fn every_stored_header_and_attribute_can_be_asked_for_and_a_missing_one_is_null() {
    let context = context(ContextOptions::default());
    let node = head(&context).view().get("n1").unwrap();
    for name in ["nodeType", "offset", "ttl", "priority", "cycle", "created_at_ns", "data_x"] {
        let value = node.header(name).unwrap();
        let text = String::from_utf8(value.to_canonical()).unwrap().replace('"', "'");
        let found = ids(&context, &format!("@t0 .block[{name}={text}]"));
        assert!(found.contains(&"n1".to_owned()), "[{name}={text}] finds {found:?}");
    }
    assert_eq!(ids(&context, "@t0 .block[data_x='1']"), ["n1"]);
    assert_eq!(ids(&context, "@t0 [nodeType='custom:note']"), ["n1"]);
    assert_eq!(ids(&context, "@t0 .block[data_x=null]"), ["s", "u1", "a1"]);
}

// covers: SNP-016, DIF-002, DBG-001
#[test]
fn what_changed_can_be_asked_for_by_selector_and_nothing_is_touched_by_asking() {
    let context = context(ContextOptions::default());
    let before = (head(&context).export(), context.export_working());
    let (older, newer) = (SnapshotAddress::Back(1), SnapshotAddress::Back(0));
    let diff = context.diff_selected(older, newer, ".block[role='assistant']").unwrap();
    assert_eq!((diff.added, diff.removed.len(), diff.changed.len()), (vec!["a1".into()], 0, 0));
    let error = context.diff_selected(older, newer, "@t0 .block").unwrap_err();
    assert_eq!(error.code(), "E_SELECTOR_INVALID");
    let explanation = context.explain("@t0 ^seq .seg:depth(1) .block").unwrap();
    assert!(!explanation.to_text().is_empty());
    assert_eq!((head(&context).export(), context.export_working()), before);
}

// covers: ADO-001, ADO-010, DBG-002, DBG-003
#[test]
fn a_minimal_runtime_has_all_seven_parts() {
    let mut context = context(ContextOptions::default());
    assert_eq!(ids(&context, "^root > *"), ["sys", "seq", "ah"], "regions");
    assert_eq!(ids(&context, "@t0 ^seq > .seg > .cont"), ["cont:1", "cont:2"], "canonical types");
    assert_eq!(ids(&context, "@t0 .block"), ["s", "u1", "a1", "n1"], "order");
    assert_eq!(ids(&context, "@t0 ^root .block[ttl<=2]"), ["n1"], "about to expire");
    for _ in 0..3 {
        commit(&mut context);
    }
    assert!(ids(&context, "@t0 #note").is_empty() && ids(&context, "@t0 { id='n1' }").is_empty());
    assert_eq!(ids(&context, "@c2 { id='n1' }"), ["n1"], "the past is what it was");
    context.add(Place::at("^ah", -1), NewNode::text("hint").id("p")).unwrap();
    assert_eq!(ids_in(&context, "^ah :pre .cb", Edition::V0_2), ["p"], "pre-context of the head");
    assert_eq!(Timeline::snapshot_count(&context), 5, "one snapshot for each commit");
}

// covers: ERC-001, ERC-002, ERC-004
#[test]
fn bad_selectors_have_the_codes_of_the_specification() {
    let context = context(ContextOptions::default());
    for (selector, code) in [
        ("@t0..@c1 ^root", "E_SNAPSHOT_RANGE_KIND_MISMATCH"),
        ("@t0..@* ^root", "E_SNAPSHOT_RANGE_WILDCARD"),
        (".block[role=", "E_SELECTOR_INVALID"),
        ("@t-99 .block", "E_SNAPSHOT_NOT_FOUND"),
    ] {
        assert_eq!(context.select(selector).unwrap_err().code(), code, "{selector}");
    }
}

// covers: ERC-003
#[test]
fn a_range_beyond_its_cap_says_so_and_is_cut() {
    let context = context(ContextOptions::default());
    let mut options = SelectOptions::default();
    options.range.max_snapshots = Some(1);
    let answer = context.select_with("@history .block", Edition::V0_3, &options).unwrap();
    let value = answer.range().expect("a range").to_value();
    let code = value.get("errors").unwrap().as_array().unwrap()[0].get("code").unwrap().clone();
    assert_eq!(code.as_str(), Some("E_SNAPSHOT_RANGE_LIMIT"));
}

// covers: SYN-038, SYN-039, SEM-043
#[test]
fn nodes_are_added_changed_moved_and_removed_by_selector() {
    let mut context = context(ContextOptions::default());
    context.add(Place::head(), block("first").id("c1")).unwrap();
    context.add(Place::head(), block("second").id("c2")).unwrap();
    let spec = "block:text { key='hero', priority=2, tags=[a,b] }";
    let id = context.add_at("(d0, cont[offset=0], +1)", spec, "new".into()).unwrap();
    assert_eq!(ids(&context, "^ah .cont > .block"), ["c1", id.as_str(), "c2"]);
    let node = context.working().get(&id).unwrap();
    assert_eq!((node.kind(), node.key()), (Some("text"), Some("hero")));
    assert_eq!(ids(&context, "+a +b"), [id.as_str()]);
    let edit = contextree::Edit { content: Some("newer".into()), ..Default::default() };
    assert_eq!(context.edit_selected("#hero", &edit).unwrap(), [id.as_str()]);
    assert_eq!(context.working().get(&id).unwrap().content().as_text(), Some("newer"));
    context.move_selected("#hero", "(d0, cont[offset=0], end)").unwrap();
    assert_eq!(ids(&context, "^ah .cont > .block"), ["c1", "c2", id.as_str()]);
    // Post-context of an older turn.
    let note = context.add_at("(d2, end)", "custom:note", "later".into()).unwrap();
    assert_eq!(ids(&context, ".seg:depth(2) > .block"), [note.as_str()]);
    assert_eq!(context.remove_selected(".cont .block[id='c1'], #hero").unwrap().len(), 2);
    assert_eq!(ids(&context, "^ah .block"), ["c2"]);
}

#[test]
fn a_write_that_misses_says_so_and_changes_nothing() {
    let mut context = context(ContextOptions::default());
    let before = context.export_working();
    let add = |context: &mut Context, position: &str| {
        context.add_at(position, "block", "x".into()).unwrap_err().code()
    };
    assert_eq!(add(&mut context, "(d9, end)"), "E_NO_MATCH");
    assert_eq!(add(&mut context, "(d1, *:block, end)"), "E_INVALID_PLACEMENT");
    assert_eq!(add(&mut context, "(d1, cont[offset=0], end)"), "E_SEALED");
    assert_eq!(add(&mut context, "(d1, ,"), "E_SELECTOR_INVALID");
    assert_eq!(context.remove_selected("@t0 .block").unwrap_err().code(), "E_SELECTOR_INVALID");
    assert_eq!(context.remove_selected(".block[role='nobody']").unwrap_err().code(), "E_NO_MATCH");
    assert_eq!(context.remove_selected(".block").unwrap_err().code(), "E_SEALED");
    let error = context.move_selected(".block", "(d0, end)").unwrap_err();
    assert_eq!(error.code(), "E_AMBIGUOUS");
    assert_eq!(context.export_working(), before);
}
