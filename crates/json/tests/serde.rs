//! Types that derive serde's traits, through values and back.

#![cfg(feature = "serde")]

use std::collections::BTreeMap;

use contextree_json::{Object, Value, from_slice, from_value, parse, to_canonical, to_value};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Everything {
    small: i8,
    large: u64,
    float: f64,
    text: String,
    letter: char,
    nothing: Option<u32>,
    something: Option<u32>,
    pair: (bool, i64),
    list: Vec<Kind>,
    map: BTreeMap<String, i64>,
    any: Value,
    object: Object,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Unit,
    Newtype(u64),
    Tuple(u8, String),
    Struct { inner: Value },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Tagged {
    First { value: Value },
    SecondOne,
}

fn everything() -> Everything {
    let any =
        parse(br#"[1,1.0,-0.0,12345678901234567890123456789012345678901234567890,{"a":null}]"#);
    let any = any.expect("it is JSON");
    Everything {
        small: -5,
        large: u64::MAX,
        float: 1.0,
        text: "é\n".into(),
        letter: 'x',
        nothing: None,
        something: Some(7),
        pair: (true, i64::MIN),
        list: vec![
            Kind::Unit,
            Kind::Newtype(1),
            Kind::Tuple(2, "t".into()),
            Kind::Struct { inner: any.clone() },
        ],
        map: BTreeMap::from([("b".into(), 1), ("a".into(), 2)]),
        object: Object::from_iter([("any", any.clone())]),
        any,
    }
}

#[test]
fn every_shape_survives_the_way_to_a_value_and_back() {
    let data = everything();
    let value = to_value(&data).expect("it can be converted");
    assert_eq!(from_value::<Everything>(value.clone()), Ok(data.clone()));
    let text = to_canonical(&data).expect("it can be converted");
    assert_eq!(text, value.to_canonical());
    assert_eq!(from_slice::<Everything>(&text), Ok(data));
}

#[test]
fn integers_of_any_size_stay_exact() {
    let text = br#"[-170141183460469231731687303715884105729,1e3,99999999999999999999,{"x":123456789012345678901234567890}]"#;
    let value = parse(text).expect("it is JSON");
    assert_eq!(to_value(&value), Ok(value.clone()), "a value is its own value");
    assert_eq!(from_value::<Value>(value.clone()), Ok(value));
    assert_eq!(
        to_value(&u128::MAX).map(|value| value.to_canonical()),
        Ok(u128::MAX.to_string().into())
    );
}

#[test]
fn values_pass_through_other_formats() {
    let value = parse(br#"{"a":[1,-2,1.5,"x",null,true],"b":18446744073709551615}"#).expect("JSON");
    let other = serde_json::to_string(&value).expect("serde_json writes it");
    assert_eq!(serde_json::from_str::<Value>(&other).expect("and reads it"), value);
}

#[test]
fn tagged_enums_are_objects() {
    let first = Tagged::First { value: Value::from(1_u64) };
    let text = to_canonical(&first).expect("it can be converted");
    assert_eq!(text, br#"{"op":"first","value":1}"#);
    assert_eq!(from_slice::<Tagged>(&text), Ok(first));
    assert_eq!(from_slice::<Tagged>(br#"{"op":"second_one"}"#), Ok(Tagged::SecondOne));
}

#[test]
fn errors_name_the_place() {
    let message = |text: &[u8]| from_slice::<Everything>(text).expect_err("wrong").to_string();
    assert_eq!(message(b"[1 2]"), "expected `,` or `]` at line 1, column 4");
    assert!(message(br#"{"small":300}"#).starts_with("`small`: invalid value: integer `300`"));
    assert!(message(br#"{"other":1}"#).starts_with("unknown field `other`"));
    assert!(to_value(&f64::NAN).is_err());
    assert!(to_value(&BTreeMap::from([(1, 2)])).is_err(), "keys are strings");
}

#[test]
fn an_integer_may_be_written_with_a_fraction_of_zero() {
    assert_eq!(from_slice::<u32>(b"1000.0"), Ok(1000));
    assert_eq!(from_slice::<i64>(b"-3e2"), Ok(-300));
    assert_eq!(from_slice::<Option<u8>>(b"7.0"), Ok(Some(7)));
    for wrong in ["1.5", "1e300", "-1.0", "256.0"] {
        assert!(from_slice::<u8>(wrong.as_bytes()).is_err(), "{wrong}");
    }
    let kept = from_slice::<Value>(b"1.0").expect("a number");
    assert_eq!(kept.to_canonical(), b"1.0", "a value keeps what was written");
}

#[test]
fn struct_is_an_object_and_never_an_array_of_its_fields() {
    #[derive(Debug, Deserialize)]
    struct Outer {
        #[expect(dead_code, reason = "only its shape is read")]
        inner: Option<Tagged>,
        #[expect(dead_code, reason = "only its shape is read")]
        kind: Option<Kind>,
        #[expect(dead_code, reason = "only its shape is read")]
        pair: Pair,
    }
    #[derive(Debug, Deserialize)]
    struct Pair {
        #[expect(dead_code, reason = "only its shape is read")]
        left: u8,
        #[expect(dead_code, reason = "only its shape is read")]
        right: u8,
    }
    assert!(from_slice::<Outer>(br#"{"pair":{"left":1,"right":2}}"#).is_ok());
    for wrong in [
        &br#"{"pair":[1,2]}"#[..],
        br#"[null,null,{"left":1,"right":2}]"#,
        br#"{"kind":{"Struct":[1]},"pair":{"left":1,"right":2}}"#,
    ] {
        let error = from_slice::<Outer>(wrong).expect_err("an array");
        assert_eq!(error.code(), "E_JSON_SHAPE", "{error}");
    }
}
