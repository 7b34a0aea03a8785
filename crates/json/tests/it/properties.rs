//! Properties: reading and writing are inverse, no bytes cause a panic, and serde_json agrees on
//! what is JSON except where the crate documents a difference.

use contextree_json::{Event, Number, Object, ParseErrorKind, Reader, Value, parse, write};
use proptest::collection::vec;
use proptest::prelude::*;

fn any_number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::from_i64),
        (-100..100_i64).prop_map(Number::from_i64),
        any::<u64>().prop_map(Number::from_u64),
        any::<i128>().prop_filter_map("integer", |big| Number::parse(&big.to_string())),
        any::<u64>().prop_filter_map("finite", |bits| Number::from_f64(f64::from_bits(bits))),
        (-1e9..1e9_f64).prop_filter_map("finite", Number::from_f64),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any_number().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[ -~]{0,80}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec(("[a-cé😀]{0,3}", inner), 0..6)
                .prop_map(|entries| entries.into_iter().collect::<Object>().into()),
        ]
    })
}

/// Texts that are almost JSON.
fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\n",
        "\"a\"",
        "\"b\"",
        "\"\\u00e9\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"\\x\"",
        "\"",
        "\\",
        "1",
        "0",
        "12",
        "-",
        "1.5",
        "-2e3",
        "1e400",
        ".",
        "e",
        "é",
        "true",
        "false",
        "null",
        "nul",
        "\u{7f}",
        "\u{1}",
        "99999999999999999999",
        "\"a\":",
        "\"b\":1",
        "[1,2]",
        "{\"a\":1}",
        ",1",
        ",\"b\":2",
    ]);
    let pieces = vec(piece, 0..14).prop_map(|pieces| pieces.concat().into_bytes());
    let broken = (any_value(), any::<prop::sample::Index>(), any::<u8>()).prop_map(
        |(value, place, byte)| {
            let mut text = value.to_canonical();
            let place = place.index(text.len());
            text[place] = byte;
            text
        },
    );
    prop_oneof![pieces, broken]
}

/// Reads events to the end or the first error.
fn drain(text: &[u8]) {
    let mut reader = Reader::new(text);
    while !matches!(reader.next(), Ok(Event::End) | Err(_)) {
        assert!(reader.offset() <= text.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn reading_undoes_writing(value in any_value()) {
        let text = value.to_canonical();
        let read = parse(&text).unwrap();
        prop_assert_eq!(&read, &value);
        prop_assert_eq!(read.to_canonical(), text);
    }

    #[test]
    fn canonical_text_never_exceeds_its_bound(value in any_value()) {
        prop_assert!(value.to_canonical().len() <= value.canonical_bound());
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..200)) {
        drain(&bytes);
        if let Err(error) = parse(&bytes) {
            prop_assert!(error.offset() <= bytes.len());
        }
    }

    #[test]
    fn a_truncated_text_is_rejected_without_panic(value in any_value()) {
        let text = Value::from(vec![value]).to_canonical();
        for len in 0..text.len() {
            drain(&text[..len]);
            let error = parse(&text[..len]).unwrap_err();
            prop_assert_eq!(error.offset(), len, "only the end is wrong");
        }
    }

    #[test]
    fn serde_json_agrees_on_what_is_json(text in nearly_json()) {
        drain(&text);
        let theirs = serde_json::from_slice::<serde_json::Value>(&text);
        match parse(&text) {
            // The canonical text must mean the same; `-0` is the documented exception.
            Ok(ours) => {
                let theirs = theirs.unwrap();
                if !text.windows(2).any(|pair| pair == b"-0") {
                    let again: serde_json::Value = serde_json::from_slice(&ours.to_canonical()).unwrap();
                    prop_assert_eq!(again, theirs);
                }
            }
            Err(error) => match error.kind() {
                ParseErrorKind::DuplicateKey(_) => {}
                kind => prop_assert!(theirs.is_err(), "{kind:?}"),
            },
        }
    }

    #[test]
    fn written_strings_are_valid_json_for_serde_json(text in any::<String>()) {
        let mut out = Vec::new();
        write::string(&mut out, &text);
        prop_assert!(out.iter().all(|byte| (b' '..=b'~').contains(byte)));
        prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
    }

    #[test]
    fn comparison_is_a_total_order(numbers in vec(any_number(), 3)) {
        let [a, b, c] = &numbers[..] else { unreachable!() };
        prop_assert_eq!(a.compare(b), b.compare(a).reverse());
        if a.compare(b).is_le() && b.compare(c).is_le() {
            prop_assert!(a.compare(c).is_le());
        }
        if a == b {
            prop_assert!(a.compare(b).is_eq());
        }
    }
}
