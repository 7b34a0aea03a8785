//! Rejected texts: messages and positions.

use contextree_json::{Limits, ParseErrorKind, parse, parse_with};

#[track_caller]
fn check(text: impl AsRef<[u8]>, expect: &str) {
    let text = text.as_ref();
    let shown = String::from_utf8_lossy(text).into_owned();
    let error = parse(text).expect_err(&shown);
    assert_eq!(error.to_string(), expect, "{shown}");
    assert_eq!(error.code(), "E_JSON_INVALID", "{shown}");
}

#[test]
fn structure() {
    check("", "text ends where a value was expected at line 1, column 1");
    check("  \n ", "text ends where a value was expected at line 2, column 2");
    check("[1,\n 2,\n 3           4]", "expected `,` or `]` at line 3, column 14");
    check("[1,]", "expected a value at line 1, column 4");
    check("[,1]", "expected a value at line 1, column 2");
    check("[1", "text ends where `,` or `]` was expected at line 1, column 3");
    check("[1}", "expected `,` or `]` at line 1, column 3");
    check("{\"a\":1]", "expected `,` or `}` at line 1, column 7");
    check("{\"a\" 1}", "expected `:` at line 1, column 6");
    check("{\"a\":}", "expected a value at line 1, column 6");
    check("{\"a\":1,}", "expected a string key at line 1, column 8");
    check("{a:1}", "expected a string key or `}` at line 1, column 2");
    check("{\"a\"", "text ends where `:` was expected at line 1, column 5");
    check("1 2", "unexpected data after the value at line 1, column 3");
    check("{}]", "unexpected data after the value at line 1, column 3");
    check("// no\n1", "expected a value at line 1, column 1");
    check("\u{feff}1", "expected a value at line 1, column 1");
    check("]", "expected a value at line 1, column 1");
}

#[test]
fn in_line_reports_the_column_only() {
    let error = parse(b"[1,]").unwrap_err();
    assert_eq!(error.in_line().to_string(), "expected a value at column 4");
    let error = parse_with(b"[1]", &Limits { max_bytes: 2, ..Limits::default() }).unwrap_err();
    assert_eq!(error.in_line().to_string(), error.to_string());
}

#[test]
fn literals() {
    check("nul", "text ends where `null` was expected at line 1, column 4");
    check("nulL", "expected `null` at line 1, column 4");
    check("trux", "expected `true` at line 1, column 4");
    check("truex", "unexpected data after the value at line 1, column 5");
    check("False", "expected a value at line 1, column 1");
    check("NaN", "expected a value at line 1, column 1");
    check("Infinity", "expected a value at line 1, column 1");
}

#[test]
fn numbers() {
    check("01", "invalid number at line 1, column 2");
    check("-01", "invalid number at line 1, column 3");
    check("-x", "invalid number at line 1, column 2");
    check("-Infinity", "invalid number at line 1, column 2");
    check("-", "text ends where a digit was expected at line 1, column 2");
    check("[1.]", "invalid number at line 1, column 4");
    check("1.", "text ends where a digit was expected at line 1, column 3");
    check("1e+", "text ends where a digit was expected at line 1, column 4");
    check("[1e+]", "invalid number at line 1, column 5");
    check("+1", "expected a value at line 1, column 1");
    check(".5", "expected a value at line 1, column 1");
    check("1.5.5", "unexpected data after the value at line 1, column 4");
    check("0x10", "unexpected data after the value at line 1, column 2");
    check("[1, 1e400]", "number is out of range at line 1, column 5");
    check("-1e999999999999999999999", "number is out of range at line 1, column 1");
}

#[test]
fn strings() {
    check("\"abc", "text ends where `\"` was expected at line 1, column 5");
    check("\"abc\\", "text ends where an escape was expected at line 1, column 6");
    check("\"a\nb\"", "control character in a string must be escaped at line 1, column 3");
    check("\"a\0b\"", "control character in a string must be escaped at line 1, column 3");
    check("\"\\n\u{1f}\"", "control character in a string must be escaped at line 1, column 4");
    check("\"é\\x41\"", "invalid escape in a string at line 1, column 3");
    check("\"\\u12g4\"", "invalid escape in a string at line 1, column 2");
    check("\"\\u+123\"", "invalid escape in a string at line 1, column 2");
    check("\"\\u12\"", "invalid escape in a string at line 1, column 2");
    check("\"\\u12", "text ends where a hexadecimal digit was expected at line 1, column 6");
    check("'a'", "expected a value at line 1, column 1");
}

#[test]
fn lone_surrogates() {
    let lone = "lone surrogate in a string at line 1, column 4";
    for text in ["\\ud800", "\\udfff", "\\udc00\\ud800", "\\ud800\\ud800", "\\ud800x", "\\ud800\\n"]
    {
        check(format!("[ \"{text}\"]"), lone);
    }
    check(
        "\"\\ud800",
        "text ends where the second half of a surrogate pair was expected at line 1, column 8",
    );
}

#[test]
fn invalid_utf8_is_reported_at_its_position() {
    check(b"\"ab\xff\"", "invalid UTF-8 at line 1, column 4");
    check(b"[1,\n\xc3", "invalid UTF-8 at line 2, column 1");
    check(b"1\xff", "invalid UTF-8 at line 1, column 2");
    check(b"1.\xff", "invalid UTF-8 at line 1, column 3");
    check(b"{}\xff", "invalid UTF-8 at line 1, column 3");
    check(b"\"\xed\xa0\x80\"", "invalid UTF-8 at line 1, column 2");
    check(b"\"\xc0\x80\"", "invalid UTF-8 at line 1, column 2");
    check(b"[1 2 \xff", "expected `,` or `]` at line 1, column 4");
}

#[test]
fn columns_count_characters_and_lines_end_with_newlines() {
    check("[\"日本😀\", x]", "expected a value at line 1, column 9");
    check("[\r\n\r\n  x]", "expected a value at line 3, column 3");
    let error = parse("[\"日本😀\", x]".as_bytes()).unwrap_err();
    assert_eq!((error.offset(), error.line(), error.column()), (15, 1, 9));
}

#[test]
fn a_repeated_key_is_reported_at_its_second_position() {
    check("{\"a\":1,\n\"b\":2, \"a\":3, \"b\":4}", "duplicate key `a` at line 2, column 8");
    check(
        "[{\"x\":{\"a\":1}},{\"x\":[{\"a\":1,\"\\u0061\":2}]}]",
        "duplicate key `a` at line 1, column 29",
    );
    check("{\"b\":{\"a\":1},\"a\":{\"b\":1},\"b\":0}", "duplicate key `b` at line 1, column 26");
    let error = parse(b"{\"\":1,\"\":2}").unwrap_err();
    assert_eq!(error.kind(), &ParseErrorKind::DuplicateKey("".into()));
}
