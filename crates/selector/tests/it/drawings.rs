//! Errors as users see them: each drawing is part of the contract.

use contextree_selector::{Edition, ErrorKind, closest, parse};

use crate::support::check_errors;

fn check_in(edition: Edition, text: &str, expected: &str) {
    let errors = parse(text, edition).map(|tree| tree.to_string()).unwrap_err();
    check_errors(text, &errors);
    assert_eq!(errors.draw(text), expected.trim_matches('\n'), "`{text}`");
}

fn check(text: &str, expected: &str) {
    check_in(Edition::V0_3, text, expected);
}

#[test]
fn typos_give_a_suggestion() {
    check(
        "^seq :frist",
        r#"
error[E_SELECTOR_INVALID]: unknown pseudo-class `:frist`
  |
1 | ^seq :frist
  |      ^^^^^^
  = help: did you mean `:first`?
"#,
    );
    check(
        ".mt:dept(1)",
        r#"
error[E_SELECTOR_INVALID]: unknown pseudo-class `:dept`
  |
1 | .mt:dept(1)
  |    ^^^^^
  = help: did you mean `:depth`?
"#,
    );
    check(
        "(d0, contt[offset=0], *:blok)",
        r#"
error[E_SELECTOR_INVALID]: unknown hop `contt`
  |
1 | (d0, contt[offset=0], *:blok)
  |      ^^^^^
  = help: did you mean `cont`?

error[E_SELECTOR_INVALID]: unknown hop `blok`
  |
1 | (d0, contt[offset=0], *:blok)
  |                         ^^^^
  = help: did you mean `*:block`?
"#,
    );
    check(
        ".cb @order=bsf",
        r#"
error[E_SELECTOR_INVALID]: unknown control `@order=bsf`
  |
1 | .cb @order=bsf
  |            ^^^
  = help: did you mean `bfs`?
"#,
    );
    check(
        "@T0 .cb",
        r#"
error[E_SELECTOR_INVALID]: unknown snapshot `@T0`
  |
1 | @T0 .cb
  | ^^^
  = help: did you mean `@t0`?
"#,
    );
    check(
        "@histroy .cb",
        r#"
error[E_SELECTOR_INVALID]: unknown snapshot `@histroy`
  |
1 | @histroy .cb
  | ^^^^^^^^
  = help: did you mean `@history`?
"#,
    );
}

#[test]
fn every_unclosed_bracket_is_named() {
    check(
        ".cb[role='user",
        r#"
error[E_SELECTOR_INVALID]: the text `'user` is not closed; expected `'`
  |
1 | .cb[role='user
  |          ^^^^^
  = help: add a closing `'`
"#,
    );
}

#[test]
fn all_errors_of_a_selector_are_reported_at_once() {
    check(
        "@t0 ^sec .cb[role=] :bogus @frist",
        r#"
error[E_SELECTOR_INVALID]: unknown root `^sec`
  |
1 | @t0 ^sec .cb[role=] :bogus @frist
  |     ^^^^
  = help: did you mean `^seq`?

error[E_SELECTOR_INVALID]: expected a value (a number, a word or a quoted text), found `]`
  |
1 | @t0 ^sec .cb[role=] :bogus @frist
  |                   ^

error[E_SELECTOR_INVALID]: unknown pseudo-class `:bogus`
  |
1 | @t0 ^sec .cb[role=] :bogus @frist
  |                     ^^^^^^
  = help: the pseudo-classes are `:pre`, `:core`, `:post`, `:depth`, `:first`, `:last` or `:nth`

error[E_SELECTOR_INVALID]: unknown control `@frist`
  |
1 | @t0 ^sec .cb[role=] :bogus @frist
  |                            ^^^^^^
  = help: did you mean `@first`?
"#,
    );
}

#[test]
fn a_later_edition_is_named_for_each_construct() {
    check_in(
        Edition::V0_1,
        "within(d1) ?? { a=1 }",
        r#"
error[E_SELECTOR_INVALID]: `within(…)` needs edition 0.3, but this text is parsed as edition 0.1
  |
1 | within(d1) ?? { a=1 }
  | ^^^^^^

error[E_SELECTOR_INVALID]: the search `??` needs edition 0.3, but this text is parsed as edition 0.1
  |
1 | within(d1) ?? { a=1 }
  |            ^^

error[E_SELECTOR_INVALID]: a property block `{…}` needs edition 0.3, but this text is parsed as edition 0.1
  |
1 | within(d1) ?? { a=1 }
  |               ^
"#,
    );
}

// covers: ERC-001, ERC-002
#[test]
fn range_errors_have_their_codes() {
    check(
        "@t-1..@c3 ^root",
        r#"
error[E_SNAPSHOT_RANGE_KIND_MISMATCH]: a range cannot mix `@t` and `@c`: expected a `@t` snapshot, found `@c3`
  |
1 | @t-1..@c3 ^root
  |       ^^^
"#,
    );
    check(
        "@t0..@* ^root",
        r#"
error[E_SNAPSHOT_RANGE_WILDCARD]: `@*` cannot be the end of a range; expected one snapshot
  |
1 | @t0..@* ^root
  |      ^^
  = help: `@t-*` is the oldest snapshot, `@history` the range of all
"#,
    );
}

#[test]
fn an_empty_selector_is_an_error() {
    check(
        "",
        r#"
error[E_SELECTOR_INVALID]: nothing to select: expected a root, a type, a position or a search, found the end of the text
  |
1 |
  | ^
  = help: `^root` selects the root, `*` every node
"#,
    );
}

#[test]
fn tabs_wide_characters_and_lines_keep_the_caret_in_place() {
    check(
        ".cb[name='日本語' x]",
        r#"
error[E_SELECTOR_INVALID]: expected an operator or `]`, found `x`
  |
1 | .cb[name='日本語' x]
  |                   ^
"#,
    );
    check(
        "\t.cb\t[ttl>]",
        r#"
error[E_SELECTOR_INVALID]: expected a value (a number, a word or a quoted text), found `]`
  |
1 |     .cb    [ttl>]
  |                 ^
"#,
    );
    check(
        "^seq\n  .cb[\n  role=]",
        r#"
error[E_SELECTOR_INVALID]: expected a value (a number, a word or a quoted text), found `]`
  |
3 |   role=]
  |        ^
"#,
    );
    check(
        ".cb\u{a0}.mt",
        r#"
error[E_SELECTOR_INVALID]: expected a space, `>`, `,` or the end, found `\u{a0}`
  |
1 | .cb�.mt
  |    ^
  = help: this is not an ordinary space; use a plain one
"#,
    );
    check(
        ".cb[role=‘user’]",
        r#"
error[E_SELECTOR_INVALID]: expected a value (a number, a word or a quoted text), found `‘`
  |
1 | .cb[role=‘user’]
  |          ^
  = help: use straight quotes, `'` or `"`
"#,
    );
}

#[test]
fn misplaced_constructs_name_their_valid_place() {
    check(
        "block[role='user']",
        r#"
error[E_SELECTOR_INVALID]: expected a step such as `^seq`, `.cb`, `#x`, `[role='user']` or `*`, found `block`
  |
1 | block[role='user']
  | ^^^^^
  = help: types start with a dot: `.block`
"#,
    );
    check(
        ".cb @t0",
        r#"
error[E_SELECTOR_INVALID]: `@t0` is not allowed here; expected the snapshot at the beginning
  |
1 | .cb @t0
  |     ^^^
"#,
    );
    check(
        "@limit=2 .cb",
        r#"
error[E_SELECTOR_INVALID]: the control `@limit` is not allowed here; expected controls at the end, as in `.cb @limit=5`
  |
1 | @limit=2 .cb
  | ^^^^^^
"#,
    );
    check(
        "(d0, seg, end)",
        r#"
error[E_SELECTOR_INVALID]: `end` is an insertion cue, which a selector that reads cannot have; expected a hop
  |
1 | (d0, seg, end)
  |           ^^^
  = help: cues are for inserting; remove it to read
"#,
    );
    check(
        "*:block",
        r#"
error[E_SELECTOR_INVALID]: unknown pseudo-class `:block`
  |
1 | *:block
  |  ^^^^^^
  = help: `*:block` is a hop, as in `(d0, *:block)`; a type is `.block`
"#,
    );
    check(
        "@t0:pre",
        r#"
error[E_SELECTOR_INVALID]: expected the other end of the range, as in `@t-5..@t-1`, found `pre`
  |
1 | @t0:pre
  |     ^^^
  = help: directly after a snapshot `:` makes a range; add a space before a pseudo-class
"#,
    );
    check(
        "^seq d1",
        r#"
error[E_SELECTOR_INVALID]: expected a step such as `^seq`, `.cb`, `#x`, `[role='user']` or `*`, found `d1`
  |
1 | ^seq d1
  |      ^^
  = help: `d1` is a hop; in a chain write `depth(1)`
"#,
    );
}

// covers: SEM-020
#[test]
fn facets_require_a_snapshot() {
    check(
        ".cb[age<2]",
        r#"
error[E_SELECTOR_INVALID]: the facet `age` exists on snapshots only; expected a snapshot prefix
  |
1 | .cb[age<2]
  |     ^^^
  = help: add `@t0` before the selector to read the latest commit
"#,
    );
}

#[test]
fn invalid_values_and_numbers_are_explained() {
    check_in(
        Edition::V0_2,
        "[a='x\\n']",
        r#"
error[E_SELECTOR_INVALID]: unknown escape `\n`; expected `\\`, `\'` or `\"`
  |
1 | [a='x\n']
  |      ^^
  = help: use `\\` for a backslash
"#,
    );
    check(
        ":depth(3-1)",
        r#"
error[E_SELECTOR_INVALID]: `3-1` is descending; expected `1-3`
  |
1 | :depth(3-1)
  |        ^^^
  = help: the smaller depth must be first; depth 1 is the newest turn
"#,
    );
    check(
        "[id=9a2f]",
        r#"
error[E_SELECTOR_INVALID]: `9a2f` is not a number or a name
  |
1 | [id=9a2f]
  |     ^^^^
  = help: quote it if it is text: `'9a2f'`
"#,
    );
    check(
        ".cb[a=1,b=2]",
        r#"
error[E_SELECTOR_INVALID]: expected `]`, found `,`
  |
1 | .cb[a=1,b=2]
  |        ^
  = help: use one bracket for each: `[a=1][b=2]`
"#,
    );
}

/// Texts that parsed once and matched nothing: typing errors must not be silent (ER-177).
#[test]
fn forms_that_no_production_derives_are_explained() {
    check(
        "+featured:frist",
        r#"
error[E_SELECTOR_INVALID]: `+featured:frist` is not allowed here; expected a tag without a colon
  |
1 | +featured:frist
  | ^^^^^^^^^^^^^^^
  = help: a tag with a colon is written `{ tag='featured:frist' }`
"#,
    );
    check(
        "?? { role, kind=text }",
        r#"
error[E_SELECTOR_INVALID]: expected an operator and a value after `role`
  |
1 | ?? { role, kind=text }
  |      ^^^^
  = help: `role!=null` holds for every value
"#,
    );
    check(
        "(d0, *:block) [ role ]",
        r#"
error[E_SELECTOR_INVALID]: expected an operator and a value after `role`
  |
1 | (d0, *:block) [ role ]
  |                 ^^^^
  = help: `role!=null` holds for every value
"#,
    );
    check(
        "(d0, *:cont)",
        r#"
error[E_SELECTOR_INVALID]: unknown hop `cont`
  |
1 | (d0, *:cont)
  |        ^^^^
  = help: a hop to containers is `cont`, or `cont[offset=1]`
"#,
    );
    check(
        "*:cont",
        r#"
error[E_SELECTOR_INVALID]: unknown pseudo-class `:cont`
  |
1 | *:cont
  |  ^^^^^
  = help: a hop is `cont`, as in `(d0, cont)`; a type is `.cont`
"#,
    );
    check(
        "[data_foo.bar='1']",
        r#"
error[E_SELECTOR_INVALID]: expected an operator or `]`, found `.`
  |
1 | [data_foo.bar='1']
  |          ^
  = help: a name like this is quoted: `['data_foo.bar']`
"#,
    );
    check(
        r"{ data_path='C:\' }",
        r#"
error[E_SELECTOR_INVALID]: the text `'C:\' }` is not closed; expected `'`
  |
1 | { data_path='C:\' }
  |             ^^^^^^^
  = help: `\'` does not end the text; write `\\` for a backslash
"#,
    );
    check(
        "[''=1]",
        r#"
error[E_SELECTOR_INVALID]: `''` is empty; expected an attribute's name
  |
1 | [''=1]
  |  ^^
"#,
    );
}

#[test]
fn long_lines_are_cut_around_the_fault() {
    let text = format!("{}^foo {}", ".cb ".repeat(100), ".cb ".repeat(100));
    let errors = parse(&text, Edition::V0_3).unwrap_err();
    let drawing = errors.draw(&text);
    let lines: Vec<&str> = drawing.lines().collect();
    assert_eq!(
        lines[2],
        format!(
            "1 | …{}^foo {}…",
            ".cb ".repeat(8),
            ".cb ".repeat(14).trim_end().to_owned() + " .c"
        )
    );
    assert_eq!(lines[3], format!("  | {}^^^^", " ".repeat(33)));
}

#[test]
fn drawing_with_another_text_does_not_panic() {
    let errors = parse(".cb[role='日本語", Edition::V0_3).unwrap_err();
    for text in ["", "日", "日本語日本語日本語", "\n\n\n"] {
        assert!(errors.draw(text).contains('^'));
    }
}

#[test]
fn errors_have_fields_for_programs() {
    let errors = parse("^seq :frist", Edition::V0_3).unwrap_err();
    let error = &errors.errors()[0];
    assert_eq!(error.code.as_str(), "E_SELECTOR_INVALID");
    assert_eq!((error.kind, error.kind.as_str()), (ErrorKind::UnknownPseudo, "unknown_pseudo"));
    assert_eq!(error.span.range(), 5..11);
    assert_eq!(error.found, "`:frist`");
    assert!(error.expected.contains("`:first`"));
    assert_eq!(error.help.as_deref(), Some("did you mean `:first`?"));
    assert_eq!(errors.to_string(), "unknown pseudo-class `:frist`");
}

#[test]
fn only_typos_give_suggestions() {
    let names = ["pre", "core", "post", "depth", "first", "last", "nth"];
    for (written, meant) in [
        ("frist", Some("first")),
        ("First", Some("first")),
        ("firsts", Some("first")),
        ("dpeth", Some("depth")),
        ("nht", Some("nth")),
        ("cor", Some("core")),
        ("p", None),
        ("", None),
        ("banana", None),
        ("x", None),
        ("ünïcödé", None),
    ] {
        assert_eq!(closest(written, &names), meant, "`{written}`");
    }
    assert_eq!(closest(&"a".repeat(1 << 20), &names), None);
}
