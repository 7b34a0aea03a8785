//! The meaning of each form: text → canonical text, and the tree where the text is ambiguous.

use contextree_selector::{
    AttrName, Body, Edition, Facet, Op, Part, PartKind, RelativePoint, Selector, Snapshot,
    SnapshotRange, Test, TimeKind, TypeTest, Value, parse,
};

use crate::support::{check_errors, check_round_trip};

const ALL: [Edition; 3] = Edition::ALL;
const E1: [Edition; 1] = [Edition::V0_1];
const E2: [Edition; 1] = [Edition::V0_2];
const E3: [Edition; 1] = [Edition::V0_3];
const E23: [Edition; 2] = [Edition::V0_2, Edition::V0_3];

fn read(text: &str, edition: Edition) -> Selector {
    let selector = parse(text, edition)
        .unwrap_or_else(|errors| panic!("edition {edition}\n{}", errors.draw(text)));
    check_round_trip(&selector);
    selector
}

/// Asserts that `text` is printed as `canonical` in these editions.
fn check(editions: &[Edition], text: &str, canonical: &str) {
    for edition in editions {
        assert_eq!(read(text, *edition).to_string(), canonical, "`{text}` in {edition}");
    }
}

/// Asserts that `text` is rejected in these editions.
fn refuse(editions: &[Edition], text: &str, kind: &str) {
    for edition in editions {
        let errors = parse(text, *edition).map(|tree| tree.to_string()).unwrap_err();
        check_errors(text, &errors);
        assert_eq!(errors.errors()[0].kind.as_str(), kind, "`{text}` in {edition}: {errors}");
    }
}

fn parts(text: &str, edition: Edition) -> Vec<Part> {
    match read(text, edition).body {
        Body::Chains(chains) => {
            chains.first().steps.last().unwrap().compound.parts.iter().cloned().collect()
        }
        body => panic!("`{text}` is not a chain: {body:?}"),
    }
}

fn only_part(text: &str, edition: Edition) -> PartKind {
    let parts = parts(text, edition);
    assert_eq!(parts.len(), 1, "{parts:?}");
    parts[0].kind.clone()
}

fn filter(text: &str, edition: Edition) -> (AttrName, Test) {
    match only_part(text, edition) {
        PartKind::Attr(filter) => (filter.name, filter.test),
        kind => panic!("`{text}` is not a filter: {kind:?}"),
    }
}

// covers: SYN-002
#[test]
fn the_roots_are_four_words() {
    check(&ALL, "^sys,^seq,^ah,^root", "^sys, ^seq, ^ah, ^root");
    refuse(&ALL, "^foo", "unknown_root");
    refuse(&ALL, "^", "unknown_root");
    refuse(&ALL, ".cb^seq", "misplaced");
}

// covers: SYN-003, SYN-004
#[test]
fn both_vocabularies_in_every_edition() {
    check(&ALL, ".mt .mc .cb", ".mt .mc .cb");
    check(&ALL, ".seg .cont .block", ".seg .cont .block");
}

// covers: SYN-005, SYN-006, SYN-007
#[test]
fn the_meaning_of_a_namespaced_type_depends_on_the_edition() {
    let node_type = TypeTest::NodeType("cb:summary".into());
    assert_eq!(only_part(".cb:summary", Edition::V0_1), PartKind::Type(node_type));
    for edition in E23 {
        match only_part(".block:summary:long", edition) {
            PartKind::Type(TypeTest::ClassKind { word, kind }) => {
                assert_eq!((word.as_str(), &*kind), ("block", "summary:long"));
            }
            kind => panic!("{kind:?}"),
        }
    }
}

// covers: SYN-008, SYN-009
#[test]
fn foreign_types_are_node_types_in_every_edition() {
    for edition in ALL {
        for text in [".custom:note", ".tool_call"] {
            let node_type = TypeTest::NodeType(text[1..].into());
            assert_eq!(only_part(text, edition), PartKind::Type(node_type));
        }
    }
    refuse(&ALL, ".", "unexpected");
    refuse(&ALL, ".cb:", "unexpected");
    refuse(&ALL, ".9", "unexpected");
    refuse(&ALL, ".cb.mt", "duplicate");
}

// covers: SYN-010, SYN-011, SYN-012, SYN-014
#[test]
fn a_hash_is_an_id_until_edition_0_2_and_a_key_in_0_3() {
    for edition in [Edition::V0_1, Edition::V0_2] {
        assert_eq!(only_part("#9a2f-00", edition), PartKind::Id("9a2f-00".into()));
    }
    assert_eq!(only_part("#hero", Edition::V0_3), PartKind::Key("hero".into()));
    assert_eq!(only_part("#'hero banner'", Edition::V0_3), PartKind::Key("hero banner".into()));
    check(&ALL, "#\"it's\"", "#'it\\'s'");
    check(&ALL, "#'cb:first'", "#'cb:first'");
    check(&ALL, "#cb:s2:post", "#cb:s2:post");
    refuse(&ALL, "#", "unexpected");
    refuse(&ALL, "#a#b", "duplicate");
}

// covers: SYN-013
#[test]
fn a_leading_block_searches_the_tree() {
    check(&E3, "{id=\"block:u2\"}", "{ id='block:u2' }");
    assert_eq!(read("{ id=x }", Edition::V0_3).body, Body::Tree);
}

// covers: SYN-015
#[test]
fn pseudos_end_an_identifier() {
    check(&ALL, ".cb:first:pre", ".cb:first:pre");
    check(&ALL, "*:core:post:last:nth( 2 )", "*:core:post:last:nth(2)");
    assert_eq!(parts(".cb:first-of", Edition::V0_1).len(), 1, "only whole names are reserved");
    refuse(&ALL, "^seq :bogus", "unknown_pseudo");
    refuse(&ALL, ":nth(0)", "invalid_number");
    refuse(&ALL, ":nth(1.5)", "invalid_number");
    refuse(&ALL, ":nth()", "unexpected");
    refuse(&ALL, ":nth", "unexpected");
    refuse(&ALL, ":first(1)", "misplaced");
}

// covers: SYN-016, SYN-018, SYN-051
#[test]
fn lists_and_ranges_of_depths() {
    check(&ALL, ":depth( 1 , 2-5 ,7)", ":depth(1,2-5,7)");
    check(&ALL, ":depth(-3--1)", ":depth(-3--1)");
    check(&ALL, ":depth(2-2)", ":depth(2)");
    refuse(&ALL, ":depth()", "empty");
    refuse(&ALL, ":depth(3-1)", "descending");
    refuse(&ALL, ":depth(1.5)", "invalid_number");
    refuse(&ALL, ":depth(a)", "invalid_number");
    refuse(&ALL, ":depth(1 -3)", "unexpected");
    refuse(&ALL, ":depth(1,)", "unexpected");
    refuse(&ALL, ":depth(1-)", "unexpected");
    refuse(&ALL, ":depth(1", "unclosed");
    refuse(&E23, ":depth({1,2)", "unexpected");
}

// covers: SYN-017
#[test]
fn comparisons_dots_and_sets_of_depths() {
    check(&E23, ":depth(<0)", ":depth(<0)");
    check(&E23, ":depth( >= 2 )", ":depth(>=2)");
    check(&E23, ":depth(<=-1,>3)", ":depth(<=-1,>3)");
    check(&E23, ":depth(1 .. 3)", ":depth(1-3)");
    check(&E23, ":depth({1, 2,4})", ":depth(1,2,4)");
    for text in [":depth(<0)", ":depth(1..3)", ":depth({1})"] {
        refuse(&E1, text, "later_edition");
    }
}

// covers: SYN-019
#[test]
fn a_bare_depth_is_allowed_where_a_root_is() {
    check(&E23, "depth(0)>.cont", "depth(0) > .cont");
    check(&E23, "depth(-1) [key='x']", "depth(-1) [key='x']");
    refuse(&E1, "depth(0) > .mc", "later_edition");
    refuse(&E23, ".cb depth", "unexpected");
}

// covers: SYN-020, SYN-021, SYN-022
#[test]
fn attributes_operators_and_presence() {
    let names = [
        "offset",
        "ttl",
        "priority",
        "cycle",
        "created_at_ns",
        "created_at_iso",
        "creation_index",
        "nodeType",
        "id",
        "role",
        "kind",
        "data_x",
        "x:y-z",
    ];
    for name in names {
        for operator in ["", "=1", "!=1", "<1", "<=1", ">1", ">=1"] {
            let text = format!("[{name}{operator}]");
            check(&ALL, &text, &text);
        }
    }
    assert_eq!(filter("[role]", Edition::V0_1), (AttrName::Role, Test::Present));
    for text in ["[]", "[ ]", "[=1]", "[role=]", "[role==1]", "[role!1]", "[role", "[a b]", "[a,b]"]
    {
        for edition in ALL {
            assert!(parse(text, edition).is_err(), "`{text}`");
        }
    }
}

// covers: SYN-021, SYN-046
#[test]
fn the_operator_contains_and_lists_need_edition_0_3() {
    check(&E3, "[content~'Sum']", "[content~'Sum']");
    check(&E3, "?? { kind = [a, 'b c', 1, null] }", "?? { kind=['a', 'b c', 1, null] }");
    for editions in [&E1, &E2] {
        refuse(editions, "[role~user]", "later_edition");
        refuse(editions, "[role=[a]]", "later_edition");
        refuse(editions, "[a=+1]", "later_edition");
    }
    refuse(&E3, "{ kind=[] }", "empty");
    refuse(&E3, "{ kind!=[a] }", "misplaced");
    refuse(&E3, "{ kind=[a b] }", "unexpected");
    refuse(&E3, "{ kind=[[a]] }", "unexpected");
}

// covers: SYN-023, SYN-024, SYN-025
#[test]
fn combinators_groups_and_star() {
    check(&ALL, "^seq   .mt>.cb ,*", "^seq .mt > .cb, *");
    check(&ALL, "^seq\n\t> .mt", "^seq > .mt");
    check(&ALL, "*[role='user']:post", "*[role='user']:post");
    for text in ["> .cb", ".cb >", ".cb > > .cb", ", .cb", ".cb,", ".cb,,.cb"] {
        refuse(&ALL, text, "unexpected");
    }
}

// covers: SYN-026
#[test]
fn a_value_is_null_a_number_or_a_text() {
    let value = |text: &str| match filter(&format!("[a={text}]"), Edition::V0_1).1 {
        Test::Compare(Op::Eq, value) => value,
        test => panic!("{test:?}"),
    };
    let text = |text: &str| Value::Text(text.into());
    assert_eq!(value("null"), Value::Null);
    assert_eq!(value("None"), Value::Null);
    assert_eq!(value("'null'"), text("null"));
    assert_eq!(value("true"), text("true"));
    assert_eq!(value("cb:sum-1_x"), text("cb:sum-1_x"));
    assert_eq!(value("\"it's\""), text("it's"));
    assert_eq!(value(r"'a\'b\\c\]'".replace(r"\]", "]").as_str()), text(r"a'b\c]"));
    assert_eq!(value("'ünï 🦀\n'"), text("ünï 🦀\n"));
    assert_eq!(value("''"), text(""));
    let number = |text: &str| match value(text) {
        Value::Number(number) => number,
        value => panic!("{value:?}"),
    };
    assert_eq!(number("1724670000000000001").as_i64(), Some(1_724_670_000_000_000_001));
    assert_eq!(number("-1.50").to_string(), "-1.5");
    assert_eq!(number("007").to_string(), "7");
    assert_eq!(number("-0").to_string(), "0");
    // The text is kept with the value and printed, because text attributes are compared with it.
    for written in ["7", "007", "-0", "0", "0.5", "00.5", "1.50", "-1.5", "10", "1.0", "0.0"] {
        assert_eq!(number(written).written(), written);
        check(&ALL, &format!("[id={written}]"), &format!("[id={written}]"));
    }
    check(&E3, "[id=+7]", "[id=+7]");
    refuse(&[Edition::V0_1, Edition::V0_2], r"[a='b\n']", "unknown_escape");
    // Edition 0.3 escapes quotes; any other backslash is part of the text.
    check(&E3, r"[a='C:\temp']", r"[a='C:\\temp']");
    check(&E3, r"[a='C:\\temp\\']", r"[a='C:\\temp\\']");
    refuse(&E3, r"[a='C:\']", "unclosed");
    refuse(&ALL, "[a='b]", "unclosed");
    // A name that is not an identifier is quoted; one that is prints without quotes.
    check(&ALL, r#"["data_a.b"=1]['role'=user]"#, "['data_a.b'=1][role='user']");
    check(&E3, "{ 'data_x]'='y', 'a b'!=null }", "{ 'data_x]'='y', 'a b'!=null }");
    refuse(&ALL, "[a=1x]", "invalid_number");
    refuse(&ALL, "[a=1.]", "invalid_number");
    refuse(&ALL, "[a=1-3]", "invalid_number");
    refuse(&ALL, "[a=-]", "unexpected");
}

// covers: SYN-027
#[test]
fn snapshots_are_counted_back_or_named_by_cycle() {
    let time = |text: &str, edition| read(&format!("{text} *"), edition).time.unwrap().kind;
    for edition in ALL {
        assert_eq!(time("@t0", edition), TimeKind::At(Snapshot::Relative(0)));
        assert_eq!(time("@t-0", edition), TimeKind::At(Snapshot::Relative(0)));
        assert_eq!(time("@t-12", edition), TimeKind::At(Snapshot::Relative(-12)));
        assert_eq!(time("@t5", edition), TimeKind::At(Snapshot::Relative(5)));
        assert_eq!(time("@c42", edition), TimeKind::At(Snapshot::Cycle(42)));
        assert_eq!(time("@*", edition), TimeKind::All);
    }
    assert_eq!(time("@t+1", Edition::V0_3), TimeKind::At(Snapshot::Relative(1)));
    refuse(&E1, "@t+1 *", "later_edition");
    check(&ALL, "@t0.cb", "@t0 .cb");
    refuse(&ALL, "@t *", "unknown_snapshot");
    refuse(&ALL, "@c-1 *", "unknown_snapshot");
    refuse(&ALL, "@t0x *", "invalid_number");
    refuse(&ALL, "@latest *", "unknown_snapshot");
    refuse(&ALL, "@ *", "unknown_snapshot");
    refuse(&ALL, "@limit=2 *", "misplaced");
    refuse(&ALL, "@t0", "nothing");
    refuse(&ALL, "", "nothing");
    refuse(&ALL, " \n ", "nothing");
}

// covers: SYN-028
#[test]
fn history_is_a_range() {
    check(&E3, "@history *", "@history *");
    check(&E3, "@t0..@t-* *", "@history *");
    check(&E3, "@t-*:0 *", "@t-*..@t0 *");
    check(&E3, "@t-3..-* *", "@t-3..@t-* *");
    assert_eq!(
        read("@history *", Edition::V0_3).time.unwrap().kind,
        TimeKind::Range(SnapshotRange::HISTORY)
    );
    refuse(&E1, "@history *", "later_edition");
    refuse(&E2, "@t0..@t-* *", "later_edition");
    refuse(&E3, "@t-* *", "misplaced");
    refuse(&E3, "@history..@t0 *", "misplaced");
}

// covers: SYN-029
#[test]
fn every_spelling_of_a_range() {
    for text in ["@t-5..@t-1 *", "@t-5:@t-1 *", "@t-5..-1 *", "@t-5:-1 *"] {
        check(&ALL, text, "@t-5..@t-1 *");
    }
    check(&ALL, "@t-5..0 *", "@t-5..@t0 *");
    check(&ALL, "@t0..@t-5 *", "@t0..@t-5 *");
    check(&ALL, "@c10:12 *", "@c10..@c12 *");
    check(&ALL, "@t-5..1 *", "@t-5..@t1 *");
    let range = SnapshotRange::Relative { from: RelativePoint::At(-5), to: RelativePoint::At(-1) };
    let time = read("@t-5:-1 ^ah", Edition::V0_1).time.unwrap();
    assert_eq!((time.kind, time.span.range()), (TimeKind::Range(range), 0..7));
    for text in ["@t0.. *", "@t0..x *", "@t0:pre *", "@c1..-1 *", "@t-5 ..@t0 *", "@t0..t-1 *"] {
        refuse(&ALL, text, "unexpected");
    }
}

// covers: SYN-030, SYN-031, ERC-001, ERC-002
#[test]
fn a_range_has_two_ends_of_one_kind() {
    for text in ["@t-1..@c3 *", "@c1..@t0 *", "@c1:@t-1 *"] {
        refuse(&ALL, text, "range_kinds");
    }
    for text in
        ["@*..@t0 *", "@t0..@* *", "@t0:@* *", "@*:@* *", "@t0..* *", "@c1..@* *", "@*..0 *"]
    {
        refuse(&ALL, text, "range_wildcard");
    }
}

// covers: SYN-032, SYN-033, SYN-034, SYN-035, SYN-036
#[test]
fn groups_are_filters() {
    let canonical = ".cb[kind='important'][ttl=5]";
    check(&E23, ".cb(kind='important' ttl=5)", canonical);
    check(&E23, ".cb( kind = 'important' , ttl=5 )", canonical);
    check(&E23, ".cb(kind='important')[ttl=5]", canonical);
    check(&E23, ".cb(ttl <= 2 kind role='x')", ".cb[ttl<=2][kind][role='x']");
    check(&E23, ".mt(priority=0):depth(1)", ".mt[priority=0]:depth(1)");
    refuse(&E1, ".cb(role='user')", "later_edition");
    refuse(&E23, ".cb()", "empty");
    refuse(&E23, ".cb( )", "empty");
    refuse(&E23, ".cb(a=1", "unclosed");
    refuse(&E23, ".cb(a=1;b=2)", "unexpected");
    refuse(&E23, ".cb (a=1)", "misplaced");
    refuse(&E23, "*(a=1)", "unexpected");
}

// covers: SYN-037, SYN-048
#[test]
fn positions_and_hops() {
    check(&E23, "(d0,mc[offset=0],*:cb[role=\"user\"])", "(d0, mc[offset=0], *:cb[role='user'])");
    check(&E23, "( depth( -1 ) , seg , cont , block )", "(d-1, seg, cont, *:block)");
    check(
        &E3,
        "(d+1, 1, -2 { role=user }, +3:block.text)",
        "(d1, 1, -2[role='user'], 3:block[kind='text'])",
    );
    check(
        &E3,
        "(d3, *:block.summary {a=1, b=2} [c=3])",
        "(d3, *:block[kind='summary'][a=1][b=2][c=3])",
    );
    check(&E3, "(d1, ?{role=system}, *:block)", "(d1, ? { role='system' }, *:block)");
    refuse(&E1, "(d0)", "later_edition");
    for text in ["(d0, 1)", "(d0, ? [a])", "(d0, *:cb.x)", "(d0 {a=1})"] {
        refuse(&E2, text, "later_edition");
    }
    refuse(&E23, "()", "empty");
    refuse(&E23, "(d0", "unclosed");
    refuse(&E23, "((d0))", "unexpected");
    refuse(&E23, "(d0, blok)", "unknown_hop");
    refuse(&E23, "(d0, *)", "unexpected");
    refuse(&E23, "(d0, *:seg)", "unknown_hop");
    refuse(&E23, "(^ah)", "unexpected");
    refuse(&E23, "(d0 seg)", "unexpected");
    refuse(&E23, "(depth(1-3))", "unexpected");
    refuse(&E23, "(d0) > .cb", "misplaced");
    refuse(&E23, "(d0), (d1)", "misplaced");
}

// covers: SYN-038
#[test]
fn cues_are_valid_in_writes_only() {
    refuse(&E23, "(d0, seg, end)", "cue_in_read");
    refuse(&E23, "(d0, seg, )", "cue_in_read");
    check(&E3, "(d0, cont[offset=0], +1)", "(d0, cont[offset=0], 1)");
}

// covers: SYN-040, ER-062
#[test]
fn the_tail_in_any_order() {
    let canonical = "@t0 (d1, *:block) +a +b { role='x' } [ ttl>0, ephemeral ] @mode=latest @first";
    check(&E3, canonical, canonical);
    check(
        &E3,
        "@t0 (d1, *:block) @first [ttl>0] {role=x, tag=b} @mode=latest +a [ephemeral]",
        canonical,
    );
    check(
        &E2,
        "@t0..@t-3 (d2, *:cb) @mode=latest [depth=2][age<1]",
        "@t0..@t-3 (d2, *:cb) [depth=2][age<1] @mode=latest",
    );
    refuse(&E2, "@t0 (d2, *:cb) [depth=2, age<1]", "later_edition");
    check(&E3, ".block { role=x } [sticky]", ".block { role='x' } [ sticky ]");
    check(&E3, ".block @first [ttl>0]", ".block @first [ ttl>0 ]");
    check(&E3, ".block [ttl>0]", ".block [ttl>0]");
    refuse(&E3, ".block {a=1} .block", "misplaced");
    refuse(&E3, ".block {a=1}, .block", "misplaced");
    refuse(&E3, ".block @t0", "misplaced");
}

// covers: SYN-041
#[test]
fn a_single_depth_hop_needs_no_parentheses() {
    check(&E3, "d1", "(d1)");
    check(&E3, "@t0 d-1 {role=system} +x", "@t0 (d-1[role='system']) +x");
    refuse(&E2, "d1", "later_edition");
    refuse(&E3, "block", "unexpected");
}

// covers: SYN-042, SYN-043
#[test]
fn a_search_is_one_step_or_deep_and_may_have_a_scope() {
    check(&E3, "? {role=user}", "? { role='user' }");
    check(&E3, "??{role=user}{ttl=1}", "?? { role='user', ttl=1 }");
    check(
        &E3,
        "within( d1 ,d3 )??{type=block, kind=summary} @order=bfs @limit=50",
        "within(d1, d3) ?? { type='block', kind='summary' } @limit=50 @order=bfs",
    );
    for text in ["? ? {a=1}", "??? {a=1}", "(d1, ? {a=1}, ? {b=1})", "(d1, ? ? {a=1})"] {
        refuse(&E3, text, "chained_step");
    }
    for text in
        ["??", "?", "?? +x", "within(d1)", "within ?? {a=1}", "within(d1) ? {a=1}", "?? [a=1]"]
    {
        refuse(&E3, text, "unexpected");
    }
    refuse(&E3, "?? { }", "empty");
    refuse(&E3, "within() ?? {a=1}", "empty");
    refuse(&E3, "within(d1, end) ?? {a=1}", "cue_in_read");
    for text in ["? {a=1}", "?? {a=1}", "within(d1) ?? {a=1}", "{a=1}", "+x"] {
        refuse(&E1, text, "later_edition");
        refuse(&E2, text, "later_edition");
    }
}

// covers: SYN-044, SYN-049, SEM-040, SEM-041
#[test]
fn tags_are_sorted_and_merged() {
    check(&E3, "+b +a+b", "+a +b");
    check(&E3, "?? { tag='b', role=x } +a", "?? { role='x' } +a +b");
    check(&E3, "?? { tag='summary' }", "+summary");
    check(&E3, "within(d1) ?? { tag=x }", "within(d1) ?? { tag='x' }");
    check(&E3, "{ tag=x }", "{ tag='x' }");
    check(&E3, "(d0) { tag='a b' } +z", "(d0) +z { tag='a b' }");
    check(&E3, "?? { tag='a b' } +z", "?? { tag='a b' } +z");
    check(&E3, ".block { tag!=a }", ".block { tag!='a' }");
    check(&E3, ".block+a", ".block +a");
    refuse(&E3, "+1", "unexpected");
    refuse(&E3, "+", "unexpected");
}

// covers: SYN-045
#[test]
fn controls_are_printed_in_one_order() {
    check(
        &E3,
        ".cb @unique @first @order=turn:desc,pre @limit=2 @p=3",
        ".cb @p=3 @limit=2 @order=turn:desc,pre @first @unique",
    );
    check(&E3, ".cb @limit = 0", ".cb @limit=0");
    for order in ["pre", "post", "bfs", "path", "turn:asc,pre", "turn:desc,pre"] {
        let text = format!("* @order={order}");
        check(&E3, &text, &text);
    }
    for mode in ["union", "latest", "reduce"] {
        let text = format!("@t0 * @mode={mode}");
        check(&E23, &text, &text);
        refuse(&E1, &text, "later_edition");
    }
    refuse(&E2, ".cb @first", "later_edition");
    refuse(&E3, "* @mode=bogus", "unknown_control");
    refuse(&E3, "* @foo", "unknown_control");
    refuse(&E3, "* @", "unknown_control");
    refuse(&E3, "* @limit", "unexpected");
    refuse(&E3, "* @limit=-1", "unexpected");
    refuse(&E3, "* @limit=x", "invalid_number");
    refuse(&E3, "* @p=0", "invalid_number");
    refuse(&E3, "* @first @first", "duplicate");
}

// covers: SYN-047
#[test]
fn flags_are_flags_only_after_a_body() {
    check(&E3, "(d0) [ sticky , ttl>0 ]", "(d0) [ sticky, ttl>0 ]");
    let (name, test) = filter("[ephemeral]", Edition::V0_3);
    assert_eq!((name.as_str(), test), ("ephemeral", Test::Present));
    check(&E2, "(d0)[ephemeral]", "(d0) [ephemeral]");
    refuse(&E3, "(d0) []", "empty");
    refuse(&E3, "(d0) [ttl>0,]", "unexpected");
}

// covers: SEM-020
#[test]
fn facets_and_mode_need_a_snapshot() {
    let facets = ["age", "born_turn", "depth", "sdepth"];
    for facet in facets {
        for text in [format!("*[{facet}=1]"), format!("*, * > .cb[{facet}]")] {
            check(&E1, &text, &text);
            refuse(&E23, &text, "needs_snapshot");
            for time in ["@t0", "@c4", "@*", "@t-1..@t0"] {
                read(&format!("{time} {text}"), Edition::V0_2);
            }
        }
    }
    assert_eq!(filter("[age]", Edition::V0_1).0, AttrName::Other("age".into()));
    assert_eq!(filter("@t0 [age]", Edition::V0_2).0, AttrName::Facet(Facet::Age));
    for text in [
        "?? { age<2 }",
        "(d0[age<1])",
        "within(d1[age=1]) ?? {a=1}",
        "(d0) [age<1]",
        "* @mode=union",
    ] {
        refuse(&E3, text, "needs_snapshot");
        read(&format!("@history {text}"), Edition::V0_3);
    }
    check(&E23, ":depth(1) depth(0)", ":depth(1) depth(0)");
}

#[test]
fn key_tag_and_type_are_special_from_edition_0_2_on() {
    assert_eq!(filter("[key='K']", Edition::V0_1).0, AttrName::Other("key".into()));
    assert_eq!(filter("[key='K']", Edition::V0_2).0, AttrName::Key);
    assert_eq!(filter("[tag=x]", Edition::V0_3).0, AttrName::Tag);
    assert_eq!(filter("[type=x]", Edition::V0_3).0, AttrName::Type);
}
