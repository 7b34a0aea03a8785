//! Requirements of the engine that are observed through selectors.

use contextree::query::{RangeOptions, Timeline};
use contextree::tree::Header;
use contextree::{
    Context, ContextOptions, Edition, NewNode, Place, SelectOptions, SnapshotAddress, Vocabulary,
};

use crate::support::{block, commit, head, lenient};

/// Returns the ids of the matches of a selector.
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

/// Returns two turns; the second has a user type, a custom attribute and an attached note.
fn context(options: ContextOptions) -> Context {
    let mut context = Context::with_options(options);
    context.add(Place::system(), block("You are helpful.").id("s").role("system")).unwrap();
    context.add(Place::head(), block("Hello").id("u1").role("user")).unwrap();
    commit(&mut context);
    context.add(Place::head(), block("Hi").id("a1").role("assistant")).unwrap();
    let note = block("note").id("n1").node_type("custom:note").attribute("data_x", "1");
    let note = note.attribute("content_lang", "de").key("note").provenance("model:m");
    context.add(Place::at("^ah", 1), note.role("tool").kind("document").ttl(3)).unwrap();
    commit(&mut context);
    context
}

// covers: STR-013, STR-014, STR-020
#[test]
fn turns_cores_and_blocks_are_found_in_both_vocabularies() {
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

// covers: STR-021, IDH-009, ERC-007
#[test]
fn nodes_without_a_known_type_or_headers_are_found_by_the_defaults() {
    let context = lenient(
        r#"{"root":{"id":"r","children":[{"id":"h","nodeType":"^ah","children":[
        {"id":"w","nodeType":"weird"},{"id":"x"}]}]}}"#,
    );
    for edition in [Edition::V0_1, Edition::V0_2, Edition::V0_3] {
        assert_eq!(ids_in(&context, "@t0 .cb", edition), ["w", "x"]);
        let defaults = "@t0 ^ah > [priority=0][ttl=null][created_at_ns=0][offset=0]";
        assert_eq!(ids_in(&context, defaults, edition), ["w", "x"]);
    }
}

// covers: IDH-005
#[test]
fn ids_of_any_characters_are_found_and_case_matters() {
    let odd = ["ABC", "abc", "ünïcödé 😀", "a\"b\\c\n", " ", "^sysx", "#1 > .cb", "~2"];
    let mut context = Context::new();
    for id in odd {
        context.add(Place::system(), NewNode::text("x").id(id)).unwrap();
    }
    for id in odd {
        let quoted = id.replace('\\', r"\\").replace('\'', r"\'");
        assert_eq!(ids(&context, &format!("[id='{quoted}']")), [id]);
        assert_eq!(ids(&context, &format!("{{ id='{quoted}' }}")), [id]);
    }
    commit(&mut context);
    for edition in [Edition::V0_1, Edition::V0_2] {
        assert_eq!(ids_in(&context, "@t0 #ABC", edition), ["ABC"]);
        assert!(ids_in(&context, "@t0 #Abc", edition).is_empty());
    }
}

// covers: IDH-034, IDH-035
#[test]
fn a_key_finds_all_that_share_it_and_tags_must_all_match() {
    let mut context = Context::new();
    let plan = |id: &str| NewNode::text(id).id(id).key("plan");
    context.add(Place::head(), plan("v1").tag("a").tag("b")).unwrap();
    context.add(Place::head(), plan("v2").tag("b")).unwrap();
    context.add(Place::head(), NewNode::text("other").id("v3").key("other").tag("a")).unwrap();
    commit(&mut context);
    for edition in [Edition::V0_2, Edition::V0_3] {
        assert_eq!(ids_in(&context, "@t0 [key='plan']", edition), ["v2", "v1"], "newest first");
    }
    assert_eq!(ids(&context, "@t0 +a +b"), ["v1"]);
    assert_eq!(ids(&context, "@t0 +b"), ["v1", "v2"]);
}

// covers: PLO-001, SEM-008
#[test]
fn the_zones_divide_the_children_of_a_turn() {
    let mut context = Context::new();
    for (id, offset) in [("far", -7), ("pre", -1), ("post", 1), ("last", 9)] {
        context.add(Place::at("^ah", offset), NewNode::text(id).id(id)).unwrap();
    }
    context.add(Place::head(), NewNode::text("core").id("core")).unwrap();
    commit(&mut context);
    for edition in [Edition::V0_1, Edition::V0_2, Edition::V0_3] {
        let zone = |zone: &str| ids_in(&context, &format!("@t0 .mt > *{zone}"), edition);
        assert_eq!(zone(":pre"), ["far", "pre"]);
        assert_eq!(zone(":core"), ["cont:1"]);
        assert_eq!(zone(":post"), ["post", "last"]);
        assert_eq!(zone(""), [zone(":pre"), zone(":core"), zone(":post")].concat());
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

// covers: IDH-022, IDH-024, IDH-029, IDH-032, ADO-004
#[test]
fn every_header_and_attribute_can_be_queried_and_a_missing_one_is_null() {
    let context = context(ContextOptions::default());
    let node = head(&context).view().get("n1").unwrap();
    let required = Header::REQUIRED.into_iter().map(Header::name);
    for name in required.chain(["data_x", "content_lang", "role", "kind", "key", "provenance"]) {
        let value = node.header(name).unwrap_or_else(|| panic!("{name} is missing"));
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
fn changes_can_be_queried_by_selector_without_side_effects() {
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

// covers: ADO-001, ADO-010, DBG-003
#[test]
fn minimal_runtime_has_all_seven_parts() {
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

/// The list of features that chapter 06 demands of selectors for debugging, each in edition 0.1.
// covers: DBG-002
#[test]
fn every_feature_of_debug_selectors_is_answered() {
    let mut context = context(ContextOptions::default());
    context.add(Place::at("^ah", -1), block("hint").id("p")).unwrap();
    context.add(Place::head(), block("ask").id("q").priority(2)).unwrap();
    context.add(Place::at("^ah", 1), block("remark").id("r")).unwrap();
    commit(&mut context);
    let ids = |selector: &str| ids_in(&context, selector, Edition::V0_1).join(" ");
    for (selector, expected) in [
        // Roots.
        ("^root", "root"),
        ("^sys", "sys"),
        ("^seq", "seq"),
        ("^ah", "ah"),
        // Types.
        (".mt", "seg:1 seg:2 seg:3"),
        (".mc", "cont:1 cont:2 cont:3"),
        (".cb", "s u1 a1 n1 p q r"),
        // Ids.
        ("#q", "q"),
        // Pseudo-classes.
        ("^seq .cb:pre", "p"),
        ("^seq .cb:core", "u1 a1 q"),
        ("^seq .cb:post", "n1 r"),
        (".mt:depth(1)", "seg:3"),
        (".mt:depth(3)", "seg:1"),
        (".mt:depth(1) > .cb:first", "p"),
        (".mt:depth(1) > .cb:last", "r"),
        (".mt:depth(1) > .cb:nth(2)", "r"),
        // Combinators.
        ("^seq .mc .cb", "u1 a1 q"),
        ("^seq > .mt", "seg:1 seg:2 seg:3"),
        ("^seq > .cb", ""),
    ] {
        assert_eq!(ids(selector), expected, "{selector}");
    }
    // Attributes.
    let node = head(&context).view().get("n1").unwrap();
    for name in [
        "offset",
        "ttl",
        "priority",
        "cycle",
        "created_at_ns",
        "created_at_iso",
        "nodeType",
        "id",
        "role",
        "kind",
    ] {
        let value = String::from_utf8(node.header(name).unwrap().to_canonical()).unwrap();
        let is_found = |operator: &str| {
            ids(&format!(".cb[{name}{operator}{value}]")).split(' ').any(|id| id == "n1")
        };
        assert!(is_found("=") && !is_found("!="), "{name} is {value}");
    }
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
fn range_beyond_its_cap_is_truncated_and_reported() {
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
fn write_without_a_match_is_refused_and_changes_nothing() {
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

// covers: SEM-001, RNG-009
#[test]
fn queries_are_deterministic_and_change_nothing() {
    let mut context = context(ContextOptions::default());
    context.add(Place::head(), block("draft").id("d")).unwrap();
    let state = |context: &Context| {
        (context.export_working(), context.export_history(), context.history_digest())
    };
    let before = state(&context);
    let texts = [
        "*",
        "@t0 *",
        "@* .block",
        "@history .block",
        "@t-1..@t0 ^seq *",
        ".seg:depth(1-2) .block",
        "(d1, cont, *:block)",
        "?? { role=user } @order=bfs",
        "#none",
        ".bloc",
        "@t-9 *",
        ".cb[",
    ];
    for text in texts {
        let ask = || match context.select(text) {
            Ok(contextree::Answer::Nodes(selection)) => selection.ids().join(" "),
            Ok(contextree::Answer::Range(range)) => {
                String::from_utf8(range.to_value().to_canonical()).unwrap()
            }
            Err(error) => error.draw(text),
        };
        let explain = || context.explain(text).map(|explanation| explanation.to_text());
        assert_eq!((ask(), explain()), (ask(), explain()), "{text}");
    }
    assert_eq!(state(&context), before);
}

// covers: RNG-004
#[test]
fn range_diffs_can_be_requested_by_name() {
    let context = context(ContextOptions::default());
    let options = RangeOptions { include_content: true, ..RangeOptions::default() };
    for edition in [Edition::V0_1, Edition::V0_2, Edition::V0_3] {
        let context = self::context(ContextOptions { edition, ..ContextOptions::default() });
        let text = "@t-1..@t0 .block";
        let select_options = SelectOptions { range: options.clone(), ..SelectOptions::default() };
        let selected = context.select_with(text, edition, &select_options).unwrap();
        let named = context.range_diff_latest(text, &options).unwrap();
        assert_eq!(Some(&named), selected.range().as_ref(), "{edition}");
    }
    // Without a range, it covers the whole history, or one snapshot that has no predecessor.
    let whole = context.range_diff_latest(".block", &options).unwrap();
    assert_eq!((whole.snapshots.len(), whole.diffs.len()), (2, 1));
    let one = context.range_diff_latest("@t0 .block", &options).unwrap();
    assert_eq!((one.snapshots.len(), one.diffs.len()), (1, 0));
    let error = context.range_diff_latest("@t0..@* .block", &options).unwrap_err();
    assert_eq!(error.code(), "E_SNAPSHOT_RANGE_WILDCARD");
}

#[test]
fn first_node_of_a_turn_can_be_added_by_position() {
    for position in ["(d0, cont[offset=0], end)", "(d0, cont, )", "(d0, seg, mc[offset=0])"] {
        let mut context = Context::new();
        let id = context.add_at(position, "block:text { key='hero' }", "Hello".into()).unwrap();
        assert_eq!(ids(&context, "^ah .cont > .block"), [id.as_str()], "{position}");
        let next = context.add_at("(d0, cont[offset=0], +1)", "block", "!".into()).unwrap();
        assert_eq!(ids(&context, "(d0, cont, *:block)"), [id.as_str(), next.as_str()]);
    }
    // A node that is moved there also goes into the core, whatever its offset was.
    let mut context = Context::new();
    context.add(Place::at("^ah", 1), block("late").id("p")).unwrap();
    context.move_selected("{ id='p' }", "(d0, cont[offset=0], end)").unwrap();
    assert_eq!(ids(&context, "^ah > .cont > .block"), ["p"]);
    let mut context = Context::new();
    let before = context.export_working();
    let error = context.add_at("(d0, cont[offset=0], +1)", "block", "x".into()).unwrap_err();
    assert_eq!(error.code(), "E_INVALID_PLACEMENT", "there is no first child to go behind");
    let error = context.add_at("(d0, cont[kind=x], end)", "block", "x".into()).unwrap_err();
    assert_eq!(error.code(), "E_NO_MATCH", "the core to come has no kind");
    assert_eq!(context.export_working(), before);
}

#[test]
fn write_may_use_another_edition() {
    let mut context = Context::new();
    let mut old = context.in_edition(Edition::V0_2);
    let id = old.add_at("(d0, mc[offset=0], end)", "cb:text", "Hello".into()).unwrap();
    // In 0.2 `#` is an id, and property blocks do not exist.
    assert_eq!(old.remove_selected(&format!("#'{id}'")).unwrap(), [id.as_str()]);
    let error = old.add_at("(d0, end)", "cb { key=x }", "x".into()).unwrap_err();
    assert_eq!(error.code(), "E_SELECTOR_INVALID");
    assert!(error.to_string().contains("needs edition 0.3"), "{error}");
    let error = context.remove_selected(&format!("#'{id}'")).unwrap_err();
    assert_eq!(error.code(), "E_NO_MATCH", "in 0.3 it is a key");
    let explained = context.explain_with("^ah #x", Edition::V0_2).unwrap();
    assert_eq!(explained.edition, Edition::V0_2);
}

#[test]
fn refused_write_has_a_position() {
    let mut context = context(ContextOptions::default());
    let text = "@t0 .block";
    let error = context.remove_selected(text).unwrap_err();
    assert_eq!(
        error.draw(text),
        "\
error[E_SELECTOR_INVALID]: a write cannot address the snapshot `@t0`; expected the working state
  |
1 | @t0 .block
  | ^^^
  = help: snapshots never change; remove the prefix"
    );
    let node = "block { ttl=soon, pinned=maybe }";
    let error = context.add_at("(d0, end)", node, "x".into()).unwrap_err();
    assert_eq!(
        error.draw(node),
        "\
error[E_SELECTOR_INVALID]: the property `ttl` must be a whole number
  |
1 | block { ttl=soon, pinned=maybe }
  |         ^^^^^^^^"
    );
    for node in ["block { pinned=maybe }", "block { key=7 }", "block { tags=[1] }"] {
        let error = context.add_at("(d0, end)", node, "x".into()).unwrap_err();
        assert_eq!(error.code(), "E_SELECTOR_INVALID", "{node}");
    }
    for number in 0..9 {
        context.add(Place::head(), block("many").id(format!("m{number}"))).unwrap();
    }
    let error = context.move_selected("^ah .block", "(d0, end)").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`^ah .block` matches 9 nodes, but one is needed: m0, m1, m2, m3, m4, …"
    );
}

#[test]
fn thousand_nodes_and_their_descendants_are_removed_by_one_selector() {
    let mut context = Context::new();
    for number in 0..1000 {
        context.add(Place::head(), block("x").id(format!("b{number}")).role("tool")).unwrap();
    }
    let group = NewNode::container("cont:group").id("g");
    context.add(Place::at("^ah", 1), group).unwrap();
    context.add(Place::into("g"), block("y").id("in-g").role("tool")).unwrap();
    let gone = context.remove_selected(".block[role='tool'], { id='g' }");
    assert_eq!(gone.unwrap_err().code(), "E_SELECTOR_INVALID", "only chains are joined");
    let gone = context.remove_selected(".block[role='tool'], [id='g']").unwrap();
    assert_eq!(gone.len(), 1002);
    assert!(ids(&context, "^ah .block").is_empty());
}
