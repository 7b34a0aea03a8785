//! The bytes of CPython, from `tests/fixtures`.

use contextree_json::{Number, Value, parse, write};

#[test]
fn floats_are_written_and_read_as_python_does() {
    let mut count = 0;
    for line in include_str!("../fixtures/python-floats.txt").lines() {
        let (bits, expect) = line.split_once(' ').unwrap();
        let float = f64::from_bits(u64::from_str_radix(bits, 16).unwrap());
        let mut out = Vec::new();
        write::float(&mut out, float);
        assert_eq!(String::from_utf8(out).unwrap(), expect);
        let read = Number::parse(expect).unwrap();
        assert_eq!(read.as_f64().to_bits(), float.to_bits(), "{expect}");
        assert!(!read.is_integer(), "{expect}");
        count += 1;
    }
    assert!(count > 3000, "only {count} floats");
}

#[test]
fn strings_are_written_and_read_as_python_does() {
    let mut count = 0;
    for line in include_str!("../fixtures/python-strings.txt").lines() {
        let (hex, expect) = line.split_once(' ').unwrap();
        let bytes: Vec<u8> = (0..hex.len())
            .step_by(2)
            .map(|place| u8::from_str_radix(&hex[place..place + 2], 16).unwrap())
            .collect();
        let text = String::from_utf8(bytes).unwrap();
        let mut out = Vec::new();
        write::string(&mut out, &text);
        assert_eq!(String::from_utf8(out).unwrap(), expect);
        assert_eq!(parse(expect.as_bytes()).unwrap(), Value::from(text));
        count += 1;
    }
    assert!(count > 500, "only {count} strings");
}

#[test]
fn values_are_written_as_python_does() {
    let mut lines = include_str!("../fixtures/python-values.txt").split('\n');
    let mut count = 0;
    while let (Some(loose), Some(expect)) = (lines.next(), lines.next()) {
        let value = parse(loose.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(value.to_canonical()).unwrap(), expect, "{loose}");
        assert_eq!(parse(expect.as_bytes()).unwrap(), value);
        count += 1;
    }
    assert!(count > 300, "only {count} values");
}
