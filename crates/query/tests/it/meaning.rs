//! What each form matches, on the context of the reference document. The corpus tests the same on
//! the specification's own trees.

use contextree_json::Value;
use contextree_query::{Answer, RangeOptions, SelectOptions, select};
use contextree_selector::Edition::{self, V0_1 as E1, V0_2 as E2, V0_3 as E3};

use crate::reference::history;
use crate::support::History;

fn answer(history: &History, edition: Edition, text: &str) -> Result<String, &'static str> {
    match select(text, edition, history, &SelectOptions::default()) {
        Ok(Answer::Nodes(selection)) => Ok(selection.ids().join(" ")),
        Ok(Answer::Range(_)) => Ok("range".to_owned()),
        Err(error) => Err(error.code()),
    }
}

/// Checks that each selector matches these nodes, in this order, in all these editions.
fn check(editions: &[Edition], cases: &[(&str, &str)]) {
    let history = history();
    for edition in editions {
        for (text, expected) in cases {
            let found = answer(&history, *edition, text);
            assert_eq!(found.as_deref(), Ok(*expected), "`{text}` in {edition}");
        }
    }
}

/// Checks that all of these match the same nodes, and at least one.
fn same(editions: &[Edition], texts: &[&str]) {
    let history = history();
    for edition in editions {
        let first = answer(&history, *edition, texts[0]).unwrap();
        assert!(!first.is_empty(), "`{}` matches no node in {edition}", texts[0]);
        for text in texts {
            assert_eq!(answer(&history, *edition, text).as_ref(), Ok(&first), "`{text}`");
        }
    }
}

fn refused(editions: &[Edition], texts: &[&str]) {
    let history = history();
    for edition in editions {
        for text in texts {
            let found = answer(&history, *edition, text);
            assert_eq!(found, Err("E_SELECTOR_INVALID"), "`{text}` in {edition}");
        }
    }
}

const ALL: [Edition; 3] = Edition::ALL;
const E23: [Edition; 2] = [E2, E3];

// covers: SYN-003, SYN-004
#[test]
fn class_words_of_both_vocabularies_find_the_same_nodes() {
    check(
        &ALL,
        &[
            ("@t0 .mt", "t-1 t-2"),
            ("@t0 .mc", "c-1"),
            ("@t0 ^ah .cb", "z-p3 b-u3 b-n3"),
            ("@t0 .seg", "t-1 t-2"),
            ("@t0 .cont", "c-1"),
            ("@t0 ^ah .block", "z-p3 b-u3 b-n3"),
        ],
    );
}

// covers: SYN-005, SYN-006, SYN-007
#[test]
fn a_type_with_a_kind_is_one_custom_type_in_edition_one_only() {
    same(&E23, &["@t0 .block:summary", "@t0 [nodeType='block'][kind='summary']"]);
    check(&[E1], &[("@t0 .block:summary", ""), ("@t0 [nodeType='block:summary']", "")]);
}

// covers: SYN-008, SYN-009
#[test]
fn custom_types_match_by_token_and_attribute_and_kinds_by_attribute() {
    same(&ALL, &["@t0 .custom:note", "@t0 [nodeType='custom:note']", "@t0 .cb[kind='note']"]);
    check(&ALL, &[("@t0 .note", ""), ("@t0 .tool_call", "")]);
}

// covers: SYN-010, SYN-011, SYN-012, SYN-013, SYN-014
#[test]
fn a_hash_is_an_id_until_edition_two_and_only_a_key_in_edition_three() {
    check(&[E1, E2], &[("@t0 #b-u1", "b-u1"), ("@t0 #'b-u1'", "b-u1"), ("@t0 #K", "")]);
    check(
        &[E3],
        &[
            ("#b-u1", ""),
            ("{ id=\"b-u1\" }", "b-u1"),
            ("{ id='b-u1' }", "b-u1"),
            ("#'policy banner'", "b-policy"),
        ],
    );
    same(&[E3], &["#K", "{ key=\"K\" }", "?? { key='K' }"]);
}

// covers: SYN-015, SEM-008, SEM-010
#[test]
fn pseudos_filter_by_offset_and_pick_among_siblings() {
    check(
        &ALL,
        &[
            ("@t0 ^ah .cb:pre", "z-p3"),
            ("@t0 ^ah .cb:core", "b-u3"),
            ("@t0 ^ah .cb:post", "b-n3"),
            ("@t0 ^seq .cb:post", "b-s1 b-x1"),
            ("@t0 ^ah .cb:first", "z-p3"),
            ("@t0 ^ah .cb:last", "b-n3"),
            ("@t0 ^ah .cb:nth(2)", "b-u3"),
            ("@t0 ^ah .cb:nth(4)", ""),
            // Per parent: the first block of each.
            ("@t0 ^seq .cb:first", "b-u1 b-s1 b-u2"),
        ],
    );
    refused(&ALL, &["@t0 .cb:nth(0)", "@t0 .cb:nth()", "@t0 ^ah :frist"]);
}

// covers: SYN-016, SYN-018, SYN-051, SEM-011
#[test]
fn depths_count_turns_from_the_newest_and_ranges_include_their_ends() {
    check(
        &ALL,
        &[
            ("@t0 .mt:depth(1)", "t-2"),
            ("@t0 .mt:depth(2)", "t-1"),
            ("@t0 .mt:depth(1,2)", "t-1 t-2"),
            ("@t0 .mt:depth(1-2)", "t-1 t-2"),
            ("@t0 .mt:depth(2-9)", "t-1"),
            ("@t0 .mt:depth(3)", ""),
        ],
    );
    check(&E23, &[("@t0 .mt:depth(1..2)", "t-1 t-2"), ("@t0 .mt:depth(0..1)", "t-2 r-ah")]);
    refused(&ALL, &["@t0 .mt:depth()", "@t0 .mt:depth(2-1)", "@t0 .mt:depth(1.5)"]);
    refused(&[E1], &["@t0 .mt:depth(1..2)"]);
    refused(&E23, &["@t0 .mt:depth(2..1)"]);
}

// covers: SYN-017, SEM-012
#[test]
fn depth_zero_is_the_head_and_below_is_the_system_region() {
    check(
        &E23,
        &[
            (".mt:depth(0)", "r-ah"),
            (".mt:depth(<0)", "r-sys"),
            (".mt:depth(-1)", "r-sys"),
            (".mt:depth(>0)", "t-1 t-2"),
            (".mt:depth(>=2)", "t-1"),
            (".mt:depth(<=-1)", "r-sys"),
            (".mt:depth({0,2})", "t-1 r-ah"),
            (":depth(0)", "r-ah"),
        ],
    );
    check(&[E1], &[("@t0 .mt:depth(0)", ""), ("@t0 .mt:depth(-1)", "")]);
}

// covers: SYN-019, SEM-013
#[test]
fn a_region_and_its_depth_are_equivalent_in_every_position() {
    for tail in ["", " .block", " > .block", " .block[role='user']", " :pre .cb"] {
        same(&E23, &[&format!("^ah{tail}"), &format!("depth(0){tail}")]);
    }
    for tail in ["", " .block", " > .block", " .block[ttl<=1]"] {
        same(&E23, &[&format!("^sys{tail}"), &format!("depth(-1){tail}")]);
    }
    for depth in ["1", "2", "1-2"] {
        let (long, short) = (format!("^seq .mt:depth({depth})"), format!(".mt:depth({depth})"));
        same(&E23, &[&long, &short]);
        same(&E23, &[&format!("{long} .cb"), &format!("{short} .cb")]);
    }
}

// covers: SYN-022
#[test]
fn an_attribute_name_alone_tests_for_presence() {
    check(
        &ALL,
        &[("@t0 .cb[ttl]", "b-hint"), ("@t0 ^seq [kind]", "b-s1 b-x1"), ("@t0 .cb[data_none]", "")],
    );
}

// covers: SYN-024
#[test]
fn groups_share_one_snapshot_and_are_in_document_order() {
    check(
        &ALL,
        &[
            ("@t-1 ^ah .cb, ^seq .mt", "t-1"),
            ("@t0 ^ah .cb:post, ^sys .cb, .mt:depth(1)", "b-policy b-hint t-2 b-n3"),
            ("@t0 .mt, .mt:depth(1), .seg", "t-1 t-2"),
        ],
    );
    refused(&ALL, &["@t0 .mt, @t-1 .mt", "@t0 .mt,", "@t0 , .mt"]);
}

// covers: SYN-025
#[test]
fn a_star_matches_any_node() {
    check(
        &ALL,
        &[
            ("@t0 ^sys *", "b-policy b-hint"),
            ("@t0 ^seq > *", "t-1 t-2"),
            ("@t0 ^ah > *:post", "b-n3"),
            ("@t-1 *", "r-root r-sys b-policy b-hint r-seq t-1 c-1 b-u1 b-s1 b-x1 r-ah"),
            ("@t0 ^root > *", "r-sys r-seq r-ah"),
        ],
    );
}

// covers: SYN-032, SYN-033, SYN-034, SYN-035
#[test]
fn a_group_after_a_type_is_equivalent_to_brackets() {
    same(
        &E23,
        &[
            ".cb(role='system' ttl<=1)",
            ".cb(role='system', ttl<=1)",
            ".cb(role='system')[ttl<=1]",
            ".cb[role='system'][ttl<=1]",
            ".cb(ttl <= 1 role = 'system')",
        ],
    );
    same(&E23, &[".block:summary(key=K)", ".block:summary[key=K]"]);
    same(&E23, &[".mt:depth(1)", ".mt(nodeType=seg):depth(1)"]);
    same(&E23, &["^seq .cb:nth(1)", "^seq .cb(type=cb):nth(1)"]);
    refused(&E23, &[".cb()", ".cb(role='system'", "^sys(role='system')", ".cb[ttl](role=user)"]);
    refused(&[E1], &[".cb(role='system')"]);
}

// covers: SYN-037
#[test]
fn a_position_follows_its_hops() {
    same(&E23, &["(d1)", "(depth(1))", "(d1, seg)", "(d1, mt)", ".mt:depth(1)"]);
    check(
        &E23,
        &[
            ("(d2, cont)", "c-1"),
            ("(d2, mc[offset=0], *:cb)", "b-u1"),
            ("(d2, *:block[offset=1][kind='summary'])", "b-s1"),
            ("(d0, cont[offset=0], *:block[role='user'])", "b-u4"),
            ("(d-1, *:block)", "b-policy b-hint"),
            ("(d9)", ""),
        ],
    );
    refused(&[E1], &["(d1)"]);
}

// covers: SYN-040, SYN-047
#[test]
fn time_position_attributes_behavior_and_controls_combine() {
    check(
        &[E3],
        &[
            ("@t0 (d0, *:block) { offset=0 } [ sticky ] @limit=1", "b-u3"),
            ("(d0, *:block) { role=system } [ ephemeral ] @first", "z-p4"),
            ("(d0, *:block) [ ttl>0 ]", "z-p4"),
            ("(d0, *:block) [ ttl>0, role=user ]", ""),
            ("(d0, *:block) [ sticky ]", "b-n4"),
        ],
    );
    refused(&[E3], &["@limit=1 .block", ".block @t0"]);
}

// covers: SYN-041
#[test]
fn a_single_hop_needs_no_parentheses() {
    same(&[E3], &["d1", "(d1)"]);
    same(&[E3], &["@t0 d0", "@t0 (d0)", "@t0 ^ah"]);
    refused(&[E2], &["d1"]);
}

// covers: SYN-042, SYN-043
#[test]
fn a_search_is_one_level_or_all_levels_or_within_a_scope() {
    check(
        &[E3],
        &[
            ("? { offset=0 }", "r-sys r-seq r-ah"),
            ("? { role=user }", ""),
            ("?? { role=user }", "b-u1 b-u2 b-u4"),
            ("within(d2) ?? { role=user }", "b-u1"),
            ("within(d0,d2) ?? { role=user }", "b-u1 b-u4"),
            ("within(d2, cont) ?? { role=user }", "b-u1"),
            ("(d0, ? { role=system })", "z-p4"),
        ],
    );
    refused(&[E3], &["? ? { role=user }", "(d0, ? { a=1 }, ? { b=1 })", "??", "?"]);
}

// covers: SYN-044, SYN-049, SEM-040, SEM-041
#[test]
fn tags_search_at_the_root_filter_after_a_body_and_all_must_match() {
    same(&[E3], &["+featured +summary", "+summary +featured", "+summary { tag=featured }"]);
    check(
        &[E3],
        &[
            ("+featured", "b-s1 b-u4"),
            ("+featured +summary", "b-s1"),
            ("+featured +none", ""),
            ("^ah .block +featured", "b-u4"),
            ("(d0, cont, *:block) +featured", "b-u4"),
            ("(d0) +featured", ""),
            ("?? { role=user } +featured", "b-u4"),
        ],
    );
    let printed = |text| contextree_selector::parse(text, E3).unwrap().to_string();
    assert_eq!(printed("+b +a"), "+a +b");
    assert_eq!(printed("+b { tag='a' }"), "+a +b");
}

// covers: SYN-046
#[test]
fn property_blocks_compare_contain_and_choose() {
    check(
        &[E3],
        &[
            ("?? { kind=[summary,note] }", "b-s1 b-x1"),
            ("?? { kind=[summary,note], key=K }", "b-s1"),
            ("?? { content~'Sum' }", "b-s1"),
            ("?? { content~'sum' }", ""),
            ("?? { tag~summary }", "b-s1"),
            ("?? { offset>=1, nodeType=block }", "b-s1 b-n4"),
            ("?? { ttl!=null, role=\"system\" }", "b-hint z-p4"),
            ("?? { offset=-2 }", "z-p4"),
        ],
    );
    refused(&[E2], &[".cb[kind=[summary,note]]", ".cb[content~'Sum']", "{ key=K }"]);
}

// covers: SYN-048
#[test]
fn a_number_is_a_hop_to_the_children_at_that_offset() {
    check(
        &[E3],
        &[
            ("(d2, 1)", "b-s1 b-x1"),
            ("(d2, +1)", "b-s1 b-x1"),
            ("(d2, 1 { kind=note })", "b-x1"),
            ("(d2, 1:block)", "b-s1 b-x1"),
            ("(d0, -2)", "z-p4"),
            ("(d0, 0)", "c-4"),
            ("(d0, 7)", ""),
        ],
    );
    refused(&[E2], &["(d2, 1)"]);
}

// covers: SEM-002, SEM-003
#[test]
fn results_are_in_document_order_each_node_once() {
    let history = history();
    for edition in ALL {
        for text in
            ["@t0 *", "@t0 .cb, .mt, ^sys *", "@t0 * *, * > *", "@t0 [offset=1], [offset=-1]"]
        {
            let found = answer(&history, edition, text).unwrap();
            let tree = history.snapshots[1].1.view();
            let place = |id: &str| tree.nodes().position(|(_, node)| node.id() == id).unwrap();
            let places: Vec<usize> = found.split(' ').map(place).collect();
            assert!(places.is_sorted_by(|left, right| left < right), "`{text}`: {found}");
        }
    }
}

// covers: SEM-004, SEM-005, SEM-006, SEM-007
#[test]
fn without_a_time_the_working_state_is_read_and_in_edition_one_the_latest_commit() {
    check(&[E1], &[("^ah .cb", "z-p3 b-u3 b-n3")]);
    same(&[E1], &["^ah .cb", "@t0 ^ah .cb", "@c2 ^ah .cb"]);
    check(&E23, &[("^ah .cb", "z-p4 b-u4 b-n4"), ("^sys .cb", "b-policy b-hint")]);
    same(&ALL, &["@t0 *", "@c2 *"]);
    same(&ALL, &["@t-1 *", "@c1 *"]);
    // Before the first commit there is no latest commit.
    let young = History { snapshots: Vec::new(), working: history().working };
    assert_eq!(answer(&young, E3, "@t0 ^ah"), Err("E_SNAPSHOT_NOT_FOUND"));
    assert_eq!(answer(&young, E3, "^ah").as_deref(), Ok("r-ah"));
    let past = History { working: None, ..history() };
    assert_eq!(answer(&past, E3, "^ah"), Err("E_SNAPSHOT_NOT_FOUND"), "`@t0` is not assumed");
}

// covers: SEM-009
#[test]
fn a_zone_as_its_own_step_is_a_part_of_a_turn() {
    check(
        &ALL,
        &[
            ("@t0 ^ah :pre .cb", "z-p3"),
            ("@t0 ^ah :post .cb", "b-n3"),
            ("@t0 ^seq :core .cb", "b-u1 b-u2"),
            ("@t0 ^seq :post .cb", "b-s1 b-x1"),
            ("@t0 ^ah > :pre > .cb", ""),
        ],
    );
    same(&ALL, &["@t0 ^ah :pre .cb", "@t0 ^ah .cb:pre"]);
}

// covers: SEM-023, SEM-032
#[test]
fn a_number_is_compared_as_text_where_the_attribute_is_text() {
    // Ids and keys are texts; `7` and `007` are different.
    let document = r#"{"root":{"id":"root","nodeType":"^root","children":[{"id":"ah","nodeType":"^ah","children":[
        {"id":"007","nodeType":"block","key":"1.50","data_x":7,"content":"agent 007"},
        {"id":"7","nodeType":"block","key":"1.5","data_x":"7","content":"7 up"}]}]}}"#;
    let history = History::load(&contextree_json::parse(document.as_bytes()).unwrap());
    for (text, expected) in [
        ("@t0 [id=007]", "007"),
        ("@t0 [id='007']", "007"),
        ("@t0 [id=7]", "7"),
        ("@t0 [data_x=007]", "007"),
        ("@t0 [data_x=7.0]", "007"),
        ("@t0 [data_x>=007]", "007 7"),
        ("@t0 .cb[offset=-0]", "007 7"),
    ] {
        for edition in ALL {
            assert_eq!(answer(&history, edition, text).as_deref(), Ok(expected), "`{text}`");
        }
    }
    for edition in E23 {
        // In edition 0.1 a key is an ordinary attribute, and a text is not a number.
        assert_eq!(answer(&history, edition, "@t0 [key=1.50]").as_deref(), Ok("007"));
        assert_eq!(answer(&history, edition, "@t0 [key=1.5]").as_deref(), Ok("7"));
    }
    assert_eq!(answer(&history, E3, "@t0 [content~007]").as_deref(), Ok("007"));
    assert_eq!(answer(&history, E3, "@t0 [id=[007,8]]").as_deref(), Ok("007"));
}

// covers: RNG-030
#[test]
fn range_options_are_ignored_without_a_range() {
    let history = history();
    let range = RangeOptions {
        include_content: true,
        max_snapshots: Some(0),
        max_changes_per_snapshot: Some(0),
        ..RangeOptions::default()
    };
    let options = SelectOptions { range, range_as_nodes: true, ..SelectOptions::default() };
    for text in ["@t0 .cb", "@* .cb", "^sys .cb"] {
        for edition in ALL {
            let with = select(text, edition, &history, &options).unwrap().nodes().unwrap();
            assert_eq!(with.ids().join(" "), answer(&history, edition, text).unwrap(), "{text}");
        }
    }
}

#[test]
fn windows_apply_where_then_skip_then_limit() {
    let history = history();
    let run = |text: &str, skip, limit, filter: Option<&str>| {
        let filter = filter.map(|text| contextree_selector::parse(text, E3).unwrap());
        let options = SelectOptions { skip, limit, filter, ..SelectOptions::default() };
        select(text, E3, &history, &options).unwrap().nodes().unwrap().ids().join(" ")
    };
    assert_eq!(run("?? { role=user }", 0, None, None), "b-u1 b-u2 b-u4");
    assert_eq!(run("?? { role=user }", 1, None, None), "b-u2 b-u4");
    assert_eq!(run("?? { role=user }", 1, Some(1), None), "b-u2");
    assert_eq!(run("?? { role=user }", 9, Some(1), None), "");
    assert_eq!(run("?? { role=user }", 0, Some(0), None), "");
    assert_eq!(run("?? { role=user }", 0, None, Some(".mt:depth(>0)")), "b-u1 b-u2");
    assert_eq!(run("?? { role=user }", 1, Some(1), Some(".mt:depth(>0)")), "b-u2");
    assert_eq!(run("#K", 0, Some(1), None), "b-u4", "the newest of a key");
    assert_eq!(run("#K", 1, Some(1), None), "b-s1", "the second newest");
    // Over all snapshots the window applies to the whole list.
    assert_eq!(run("@* .seg", 1, Some(1), None), "t-2");
}

#[test]
fn a_view_has_the_position_of_a_node_and_copies_no_content() {
    let history = history();
    let place = |edition, text: &str| -> Vec<String> {
        let answer = select(text, edition, &history, &SelectOptions::default()).unwrap();
        let selection = answer.nodes().unwrap();
        let view = |view: contextree_query::NodeView<'_>| {
            assert_eq!(view.path.last(), Some(&view.node.id()));
            format!("{} {}", view.coordinate, view.path.join("/"))
        };
        selection.views().map(view).collect()
    };
    assert_eq!(place(E3, "^root"), ["^root r-root"]);
    assert_eq!(place(E3, "^seq"), ["^seq r-root/r-seq"]);
    assert_eq!(place(E3, "^sys"), ["d-1 r-root/r-sys"]);
    assert_eq!(place(E3, "{ id='b-u1' }"), ["d2/1/1 r-root/r-seq/t-1/c-1/b-u1"]);
    assert_eq!(place(E3, "#K"), ["d0/2/1 r-root/r-ah/c-4/b-u4", "d2/2 r-root/r-seq/t-1/b-s1"]);
    assert_eq!(place(E1, "@t-1 .mt"), ["d1 r-root/r-seq/t-1"]);
    let answer = select("{ id='b-s1' }", E3, &history, &SelectOptions::default()).unwrap();
    let selection = answer.nodes().unwrap();
    let view = selection.views().next().unwrap();
    assert_eq!(view.node.content().as_text(), Some("Sum 1"));
    assert!(std::ptr::eq(view.node.content(), selection.nodes[0].content()), "nothing is copied");
    assert_eq!(view.node.header("kind"), Some(Value::from("summary")));
}
