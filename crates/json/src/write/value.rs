//! Writes values and integers. The traversal keeps its own stack, so any depth can be written.

use std::slice;

use super::string;
use crate::key::Key;
use crate::number::Repr;
use crate::{Number, Value, write};

/// Appends the canonical text of `value`.
pub fn value(out: &mut Vec<u8>, value: &Value) {
    let mut stack = Vec::new();
    let mut current = value;
    loop {
        match current {
            Value::Null => out.extend_from_slice(b"null"),
            Value::Bool(true) => out.extend_from_slice(b"true"),
            Value::Bool(false) => out.extend_from_slice(b"false"),
            Value::Number(number) => write::number(out, number),
            Value::String(text) => string(out, text),
            Value::Array(elements) => {
                let mut elements = elements.iter();
                out.push(b'[');
                if let Some(first) = elements.next() {
                    stack.push(Open::Array(elements));
                    current = first;
                    continue;
                }
                out.push(b']');
            }
            Value::Object(object) => {
                let mut entries = object.entries();
                out.push(b'{');
                if let Some((key, first)) = entries.next() {
                    string::key(out, key);
                    out.push(b':');
                    stack.push(Open::Object(entries));
                    current = first;
                    continue;
                }
                out.push(b'}');
            }
        }
        match next_value(out, &mut stack) {
            Some(next) => current = next,
            None => return,
        }
    }
}

/// Appends an integer in decimal.
pub fn integer(out: &mut Vec<u8>, integer: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(integer).as_bytes());
}

/// Appends an unsigned integer in decimal.
pub fn unsigned(out: &mut Vec<u8>, integer: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(integer).as_bytes());
}

/// Appends a number: integers exactly, doubles as [`float`](write::float) does.
pub fn number(out: &mut Vec<u8>, number: &Number) {
    match number.repr() {
        Repr::Int(int) => integer(out, *int),
        Repr::Big(digits) => out.extend_from_slice(digits.as_bytes()),
        Repr::Float(float) => write::float(out, *float),
    }
}

/// A container that is open, with its remaining items.
enum Open<'a> {
    Array(slice::Iter<'a, Value>),
    Object(slice::Iter<'a, (Key, Value)>),
}

/// Writes separators, keys and closing brackets up to the next value and returns that value.
fn next_value<'a>(out: &mut Vec<u8>, stack: &mut Vec<Open<'a>>) -> Option<&'a Value> {
    loop {
        match stack.last_mut()? {
            Open::Array(elements) => match elements.next() {
                Some(element) => {
                    out.push(b',');
                    return Some(element);
                }
                None => out.push(b']'),
            },
            Open::Object(entries) => match entries.next() {
                Some((key, value)) => {
                    out.push(b',');
                    string::key(out, key);
                    out.push(b':');
                    return Some(value);
                }
                None => out.push(b'}'),
            },
        }
        stack.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Object;

    #[test]
    fn a_value_built_by_hand_is_written_sorted_and_compact() {
        let object: Object = [
            ("b", Value::from(vec![Value::Null, true.into(), Value::from(Object::new())])),
            ("é", "/".into()),
            ("a", Value::from(Vec::new())),
            ("B", u64::MAX.into()),
        ]
        .into_iter()
        .collect();
        assert_eq!(
            String::from_utf8(Value::from(object).to_canonical()).unwrap(),
            r#"{"B":18446744073709551615,"a":[],"b":[null,true,{}],"\u00e9":"/"}"#
        );
    }

    #[test]
    fn deep_values_do_not_use_stack() {
        let mut value = Value::Null;
        for _ in 0..200_000 {
            value = Value::from(vec![value]);
        }
        assert_eq!(value.to_canonical().len(), 400_004);
        // Dropping would recurse; unwrap the layers one by one.
        while let Value::Array(mut elements) = value {
            value = elements.pop().unwrap_or_default();
        }
    }
}
