//! The pull parser: events, typed steps, and errors for callers that ask for the wrong type.

use contextree_json::{Event, ParseErrorKind, Reader};

/// Formats the events with their offsets, one letter or text each.
fn trace(text: &str) -> String {
    let mut reader = Reader::new(text.as_bytes());
    let mut out = Vec::new();
    loop {
        let word = match reader.next() {
            Ok(Event::ObjectStart) => "{".to_owned(),
            Ok(Event::ObjectEnd) => "}".to_owned(),
            Ok(Event::ArrayStart) => "[".to_owned(),
            Ok(Event::ArrayEnd) => "]".to_owned(),
            Ok(Event::Key(key)) => format!("{key}:"),
            Ok(Event::String(text)) => format!("'{text}'"),
            Ok(Event::Number(number)) => format!("{}", number.as_f64()),
            Ok(Event::Bool(truth)) => truth.to_string(),
            Ok(Event::Null) => "null".to_owned(),
            Ok(Event::End) => {
                assert_eq!(reader.next(), Ok(Event::End), "the end is returned again");
                break;
            }
            Err(error) => {
                assert_eq!(reader.next(), Err(error.clone()), "the same error is returned again");
                assert_eq!(
                    reader.read_value(),
                    Err(error.clone()),
                    "the same error is returned again"
                );
                assert_eq!(
                    reader.next_element(),
                    Err(error.clone()),
                    "the same error is returned again"
                );
                out.push(format!("! {error}"));
                break;
            }
        };
        out.push(format!("{}{word}", reader.offset()));
    }
    out.join(" ")
}

#[test]
fn events_are_in_order_with_their_offsets() {
    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(trace(text), expect);
    }
    check("1", "01");
    check(" [ ] ", "1[ 3]");
    check(
        "{ \"a\" : [1, {}, \"x\\n\"] , \"b\":null}",
        "0{ 2a: 8[ 91 12{ 13} 16'x\n' 21] 25b: 29null 33}",
    );
    check(
        "[true,false,",
        "0[ 1true 6false ! text ends where a value was expected at line 1, column 13",
    );
    check("{\"a\":1,\"a\":2}", "0{ 1a: 51 7a: 112 12}");
}

#[test]
fn strings_without_escapes_are_borrowed() {
    use std::borrow::Cow;
    let mut reader = Reader::new("[\"é plain\", \"e\\n\"]".as_bytes());
    reader.begin_array().unwrap();
    assert!(matches!(reader.read_string(), Ok(Cow::Borrowed("é plain"))));
    assert!(matches!(reader.read_string(), Ok(Cow::Owned(text)) if text == "e\n"));
}

#[test]
fn typed_steps_read_a_document() {
    let text = r#"{"n": null, "list": [1, 2], "u": 18446744073709551615, "f": 2.5, "b": true,
                   "none": [], "v": {"k": [{}]}, "e": {}}"#;
    let mut reader = Reader::new(text.as_bytes());
    reader.begin_object().unwrap();
    let mut seen = Vec::new();
    while let Some(key) = reader.next_key().unwrap() {
        match &*key {
            "n" => assert!(reader.read_null().unwrap()),
            "list" => {
                assert!(!reader.read_null().unwrap(), "any other value can still be read");
                reader.begin_array().unwrap();
                let mut sum = 0;
                while reader.next_element().unwrap() {
                    assert!(reader.next_element().unwrap(), "asking again does not advance");
                    sum += reader.read_i64().unwrap();
                }
                assert_eq!(sum, 3);
            }
            "u" => assert_eq!(reader.read_u64(), Ok(u64::MAX)),
            "f" => assert_eq!(reader.read_number().unwrap().as_f64(), 2.5),
            "b" => assert_eq!(reader.read_bool(), Ok(true)),
            "none" => {
                reader.begin_array().unwrap();
                assert!(!reader.next_element().unwrap());
            }
            "v" => assert_eq!(reader.read_value().unwrap().to_canonical(), br#"{"k":[{}]}"#),
            _ => {
                reader.begin_object().unwrap();
                assert_eq!(reader.next_key(), Ok(None));
            }
        }
        seen.push(key);
    }
    assert_eq!(seen, ["n", "list", "u", "f", "b", "none", "v", "e"]);
    reader.expect_end().unwrap();
}

#[test]
fn a_wrong_type_is_reported_with_its_position() {
    #[track_caller]
    fn check<'a, T: std::fmt::Debug>(
        text: &'a str,
        read: impl Fn(&mut Reader<'a>) -> Result<T, contextree_json::ParseError>,
        expect: &str,
    ) {
        assert_eq!(read(&mut Reader::new(text.as_bytes())).unwrap_err().to_string(), expect);
    }
    check(" 1", |reader| reader.read_string(), "expected a string at line 1, column 2");
    check("1.0", |reader| reader.read_i64(), "expected a 64-bit integer at line 1, column 1");
    check(
        "-1",
        |reader| reader.read_u64(),
        "expected an unsigned 64-bit integer at line 1, column 1",
    );
    check("[]", |reader| reader.begin_object(), "expected an object at line 1, column 1");
    check("{}", |reader| reader.begin_array(), "expected an array at line 1, column 1");
    check("\"\"", |reader| reader.read_number(), "expected a number at line 1, column 1");
    check("0", |reader| reader.read_bool(), "expected `true` or `false` at line 1, column 1");
    check("[1]", |reader| reader.expect_end(), "expected the end at line 1, column 1");
    check("[1]", |reader| reader.next_key(), "expected a key at line 1, column 1");
    let after_bracket = |reader: &mut Reader<'_>| reader.next().and_then(|_| reader.read_value());
    check("[]", after_bracket, "expected a value at line 1, column 2");
    check("{\"a\":1}", after_bracket, "expected a value at line 1, column 2");
    check("1", after_bracket, "expected a value at line 1, column 2");
    let element_of_object =
        |reader: &mut Reader<'_>| reader.next().and_then(|_| reader.next_element());
    check("{}", element_of_object, "expected an array at line 1, column 2");
}

#[test]
fn a_caller_can_reject_an_event_at_its_position() {
    let mut reader = Reader::new(b"{\"a\":1,\n \"a\":2}");
    for _ in 0..4 {
        reader.next().unwrap();
    }
    let error = reader.error(ParseErrorKind::DuplicateKey("a".into()));
    assert_eq!(error.to_string(), "duplicate key `a` at line 2, column 2");
}
