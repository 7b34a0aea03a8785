//! Values and objects in memory.

use contextree_json::{NotFinite, Object, Value, parse};

#[track_caller]
fn check(text: &str, expect: &str) {
    let value = parse(text.as_bytes()).expect(text);
    assert_eq!(String::from_utf8_lossy(&value.to_canonical()), expect);
}

#[test]
fn texts_become_canonical() {
    check(" null ", "null");
    check("\t[ true , false ]\r\n", "[true,false]");
    check("-0", "0");
    check("-0.0", "-0.0");
    check(
        "[0, -1, 12345678901234567890, 1724670000000000001]",
        "[0,-1,12345678901234567890,1724670000000000001]",
    );
    check("[1.0, 0.1, 1E16, 1e-7, 1e21, 100000.0]", "[1.0,0.1,1e+16,1e-07,1e+21,100000.0]");
    check(r#"{"b":{"y":true,"x":false},"a":[]}"#, r#"{"a":[],"b":{"x":false,"y":true}}"#);
    check(r#""\u0041\/\ud83d\ude00""#, r#""A/\ud83d\ude00""#);
    check(r#"{"\u0062":1,"a":2}"#, r#"{"a":2,"b":1}"#);
}

#[test]
fn keys_are_ordered_by_code_point_and_not_by_utf16() {
    check(
        r#"{"😀":4,"\uffee":5,"é":1,"z":2,"Z":3}"#,
        r#"{"Z":3,"z":2,"\u00e9":1,"\uffee":5,"\ud83d\ude00":4}"#,
    );
}

#[test]
fn equality_is_equality_of_text() {
    let value = |text: &str| parse(text.as_bytes()).unwrap();
    assert_eq!(value(r#"{"a":1,"b":2}"#), value(r#"{"b":2,"a":1}"#));
    assert_eq!(value("1e2"), value("100.0"));
    assert_ne!(value("1"), value("1.0"));
    assert_ne!(value("0.0"), value("-0.0"));
    assert_ne!(value("[1,2]"), value("[2,1]"));
}

#[test]
fn an_object_keeps_its_keys_unique_and_sorted() {
    let mut object = Object::new();
    for key in ["m", "z", "a", "m", "b"] {
        object.insert(key, Value::from(key));
    }
    assert_eq!(object.keys().collect::<Vec<_>>(), ["a", "b", "m", "z"]);
    assert_eq!(
        object.insert("m", 1.into()),
        Some("m".into()),
        "insert returns the value it replaced"
    );
    assert_eq!(object.remove("m"), Some(1.into()));
    assert_eq!(object.remove("m"), None);
    assert!(object.contains_key("z") && !object.contains_key("m"));
    *object.get_mut("a").unwrap() = Value::Null;
    assert_eq!(object.get("a"), Some(&Value::Null));
    assert_eq!((object.len(), object.is_empty()), (3, false));
    assert_eq!(object.iter().next_back(), Some(("z", &Value::from("z"))));
    assert_eq!(object, object.clone().into_iter().rev().collect());
}

#[test]
fn the_later_of_two_equal_keys_wins_when_collecting() {
    let object: Object =
        [("b", 1.into()), ("a", 2.into()), ("b", 3.into()), ("b", 4.into())].into_iter().collect();
    assert_eq!(Value::from(object).to_canonical(), br#"{"a":2,"b":4}"#);
}

#[test]
fn accessors_return_none_for_other_types() {
    let value = parse(br#"{"s":"x","i":7,"f":1.5,"t":true,"n":null,"a":[1],"big":1e308}"#).unwrap();
    let get = |key: &str| value.get(key).unwrap();
    assert_eq!(get("s").as_str(), Some("x"));
    assert_eq!(
        (get("i").as_i64(), get("i").as_u64(), get("i").as_f64()),
        (Some(7), Some(7), Some(7.0))
    );
    assert_eq!((get("f").as_i64(), get("f").as_f64()), (None, Some(1.5)));
    assert_eq!((get("t").as_bool(), get("s").as_bool()), (Some(true), None));
    assert!(get("n").is_null() && !get("i").is_null());
    assert_eq!(get("a").as_array().map(<[Value]>::len), Some(1));
    assert_eq!(value.as_object().map(Object::len), Some(7));
    assert_eq!((value.get("missing"), get("s").get("x")), (None, None));
    let names: Vec<_> = ["n", "t", "i", "s", "a"].map(|key| get(key).type_name()).into();
    assert_eq!(names, ["null", "boolean", "number", "string", "array"]);
    assert_eq!(value.type_name(), "object");
    assert_eq!(Value::try_from(f64::NAN), Err(NotFinite));
    assert_eq!(Value::try_from(1.5), Ok(get("f").clone()));
}
