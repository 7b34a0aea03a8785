//! Limits: no text may use more stack or memory than was allowed.

use contextree_json::{Event, Limits, MAX_VALUE_DEPTH, ParseErrorKind, Reader, parse, parse_with};

fn nested(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

#[track_caller]
fn check(text: &str, limits: &Limits, expect: Option<(ParseErrorKind, usize)>) {
    match (parse_with(text.as_bytes(), limits), expect) {
        (Ok(_), None) => {}
        (Err(error), Some((kind, offset))) => {
            assert_eq!((error.kind(), error.offset()), (&kind, offset));
            assert_eq!(error.code(), "E_LIMIT");
        }
        (result, expect) => panic!("{:?} instead of {expect:?}", result.map(drop)),
    }
}

#[test]
fn depth_is_bounded() {
    let limits = Limits::default();
    let too_deep = Some((ParseErrorKind::TooDeep { limit: 256 }, 256));
    check(&nested(256), &limits, None);
    check(&nested(257), &limits, too_deep.clone());
    check(&"[".repeat(1_000_000), &limits, too_deep.clone());
    check(&nested(1_000_000), &limits, too_deep);
    let too_deep = Some((ParseErrorKind::TooDeep { limit: 256 }, 5 * 256));
    check(&"{\"a\":".repeat(1_000_000), &limits, too_deep);
    check(
        "[]",
        &Limits { max_depth: 0, ..limits },
        Some((ParseErrorKind::TooDeep { limit: 0 }, 0)),
    );
    check("1", &Limits { max_depth: 0, ..limits }, None);
}

#[test]
fn a_value_can_be_dropped_at_any_depth_limit() {
    let limits = Limits { max_depth: usize::MAX, ..Limits::default() };
    let too_deep = (ParseErrorKind::TooDeep { limit: MAX_VALUE_DEPTH }, MAX_VALUE_DEPTH);
    check(&nested(MAX_VALUE_DEPTH), &limits, None);
    check(&nested(MAX_VALUE_DEPTH + 1), &limits, Some(too_deep.clone()));
    check(&nested(1_000_000), &limits, Some(too_deep));
}

#[test]
fn events_may_nest_as_deep_as_the_limit() {
    let text = nested(1_000_000);
    let limits = Limits { max_depth: 1_000_000, ..Limits::default() };
    let mut reader = Reader::with_limits(text.as_bytes(), &limits);
    let mut count = 0;
    while reader.next().unwrap() != Event::End {
        count += 1;
    }
    assert_eq!(count, 2_000_000);
}

#[test]
fn size_is_bounded() {
    let limits = Limits { max_bytes: 5, ..Limits::default() };
    check("[1,2]", &limits, None);
    check("[1,2] ", &limits, Some((ParseErrorKind::TooLarge { limit: 5 }, 0)));
    let error = parse_with(b"[1,2] ", &limits).unwrap_err();
    assert_eq!(error.to_string(), "text is larger than 5 bytes");
}

#[test]
fn long_integers_are_exact_up_to_the_limit() {
    let digits = "9".repeat(4300);
    assert_eq!(parse(digits.as_bytes()).unwrap().to_canonical(), digits.as_bytes());
    let too_long = ParseErrorKind::NumberTooLong { limit: 4300 };
    check(&format!("[-{digits}]"), &Limits::default(), Some((too_long, 1)));
}
