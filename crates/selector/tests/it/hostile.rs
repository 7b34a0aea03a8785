//! Invalid input: errors or trees, never a panic, a hang or excessive memory.

use contextree_selector::{
    Code, Edition, Limits, parse, parse_node_spec, parse_position, parse_with,
};
use proptest::prelude::*;

use crate::support::{check_errors, check_insertion_round_trip, check_round_trip};

/// Parses `text` with every entry point.
fn read_everything(text: &str) {
    for edition in Edition::ALL {
        match parse(text, edition) {
            Ok(selector) => check_round_trip(&selector),
            Err(errors) => check_errors(text, &errors),
        }
        match parse_position(text, edition) {
            Ok(insertion) => check_insertion_round_trip(&insertion, edition),
            Err(errors) => check_errors(text, &errors),
        }
        match parse_node_spec(text, edition) {
            Ok(spec) => assert!(parse_node_spec(&spec.to_string(), edition).is_ok()),
            Err(errors) => check_errors(text, &errors),
        }
    }
}

// covers: SYN-050, ERC-004
#[test]
fn a_mebibyte_of_anything_fails_quickly_with_few_errors() {
    let pieces = [
        "(", "[", "{", ")", "]", "}", "'", "\"", "\\", ".", "..", ":", "#", "^", "@", "+", "?",
        "*", ">", ",", "=", "~", " ", "\n", "0", "9", "-", "a", "d0", "é", "🦀", "\0", ".cb", "* ",
        "*,", "[a]", "(d0,", "[a='b']", ":first", ":depth(", "depth(1)", "@t0", "@first ", "+a",
        "{a=1}", "(a ", "? ", "within(", "d1,", "[a=[", "1,", "'\\", ".a:", "#a:", ":nth(1)",
        "@t0..", ">*",
    ];
    for piece in pieces {
        let text = piece.repeat((1 << 20) / piece.len());
        for prefix in ["", "(", ".cb(", "* {a=[", "block {"] {
            let text = format!("{prefix}{}", &text[..text.floor_char_boundary((1 << 20) - 9)]);
            for edition in [Edition::V0_1, Edition::V0_3] {
                for result in [
                    parse(&text, edition).map(drop),
                    parse_position(&text, edition).map(drop),
                    parse_node_spec(&text, edition).map(drop),
                ] {
                    let Err(errors) = result else { continue };
                    assert!(errors.errors().len() <= 16, "{} errors", errors.errors().len());
                    let drawing = errors.draw(&text);
                    assert!(drawing.len() < 16 * 1024, "drawings stay small:\n{drawing}");
                }
            }
        }
    }
}

#[test]
fn nested_brackets_are_reported_where_nesting_is_invalid() {
    for open in ["(", "[", "{", "((d0,", "within(", ":depth(", ".cb(", "?? {a=["] {
        let text = open.repeat(10_000);
        let errors = parse(&text, Edition::V0_3).unwrap_err();
        assert!(errors.errors().len() <= 16);
        assert!(errors.errors()[0].span.start < 16, "{open}: {}", errors.errors()[0]);
    }
}

#[test]
fn limits_have_their_own_code() {
    let limit = |text: &str, limits: &Limits| {
        let errors = parse_with(text, Edition::V0_3, limits).map(drop).unwrap_err();
        errors.into_iter().any(|error| error.code == Code::Limit)
    };
    let limits = Limits::default();
    let digits = "9".repeat(40);
    let numbers = [
        "[a=N]",
        ":depth(N)",
        ":depth(-N)",
        ":nth(N)",
        "@tN *",
        "@c1..N *",
        "(dN)",
        "(d0, N)",
        "* @limit=N",
    ];
    for number in numbers {
        assert!(limit(&number.replace('N', &digits), &limits), "{number}");
    }
    assert!(limit(&"a".repeat((1 << 20) + 1), &limits));
    assert!(limit(&"* ".repeat(20_000), &limits));
    assert!(limit(&"*,".repeat(20_000), &limits));
    assert!(limit(&format!(":depth({}1)", "1,".repeat(20_000)), &limits));
    assert!(limit(&format!("{{ a=[{}1] }}", "1,".repeat(20_000)), &limits));
    assert!(limit("* *", &Limits { nodes: 1, ..limits }));
    assert!(limit("....", &Limits { text_bytes: 3, ..limits }));
    let few = Limits { errors: 2, ..limits };
    let errors = parse_with("^a ^b ^c ^d", Edition::V0_3, &few).unwrap_err();
    assert_eq!(errors.errors().len(), 2);
    let errors = parse_with("[age][age][age]", Edition::V0_3, &few).unwrap_err();
    assert_eq!(errors.errors().len(), 2);
}

#[test]
fn the_largest_integers_are_read() {
    for text in
        ["@t-9223372036854775807 *", "@c9223372036854775807 *", "*:nth(9223372036854775807)"]
    {
        assert_eq!(parse(text, Edition::V0_1).unwrap().to_string(), text);
    }
    assert!(parse("@c9223372036854775808 *", Edition::V0_1).is_err());
}

/// Texts made of the language's own words reach deep into the parser.
fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "@t0",
        "@t-5",
        "..",
        ":",
        "@c3",
        "@*",
        "@history",
        "@t-*",
        "^seq",
        "^ah",
        "^x",
        ".cb",
        ".mt:x",
        ".a:b",
        "#k",
        "#'q k'",
        "[role='user']",
        "[ttl<=1]",
        "[a~b]",
        "[a=[b,1]]",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        ":first",
        ":pre",
        ":nth(2)",
        ":depth(1-3)",
        ":depth(<0,2)",
        "depth(0)",
        ":frist",
        "*",
        ">",
        ",",
        " ",
        " ",
        " ",
        "\t",
        "d0",
        "d-1",
        "seg",
        "cont",
        "*:block",
        "*:block.x",
        "? ",
        "??",
        "within(d1,d3)",
        "+tag",
        "end",
        "+1",
        "-2",
        "{ a=1, tag='x' }",
        "{ role=user }",
        "@mode=latest",
        "@limit=5",
        "@p=2",
        "@order=bfs",
        "@first",
        "@unique",
        "@order=turn:asc,pre",
        "[ ephemeral ]",
        "'",
        "\"",
        "\\",
        "=",
        "!=",
        "1.5",
        "null",
        "é",
        "block:text",
        "end)",
    ]);
    prop::collection::vec(word, 0..12).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,60}") {
        read_everything(&text);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        read_everything(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn arbitrary_words_give_trees_that_print_or_errors_that_draw(text in words()) {
        read_everything(&text);
    }
}
