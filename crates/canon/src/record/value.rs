//! JSON values as bytes, for accounts. They are short because most of their texts are words that
//! the frame already has.

use contextree_json::{Number, Object, Value};

use super::bytes::{Cursor, RecordError, bytes, varint, zigzag};
use super::words::{WordReader, WordWriter};

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const INTEGER: u8 = 3;
const NUMBER: u8 = 4;
const WORD: u8 = 5;
const ARRAY: u8 = 6;
const OBJECT: u8 = 7;

/// Accounts are a few levels deep; a deeper one was not written by this crate.
const DEEPEST: usize = 16;

pub(super) fn write<'a>(out: &mut Vec<u8>, words: &mut WordWriter<'a>, value: &'a Value) {
    match value {
        Value::Null => out.push(NULL),
        Value::Bool(false) => out.push(FALSE),
        Value::Bool(true) => out.push(TRUE),
        Value::Number(number) => match number.as_i64() {
            Some(integer) if number.is_integer() => {
                out.push(INTEGER);
                zigzag(out, integer);
            }
            _ => {
                out.push(NUMBER);
                bytes(out, &value.to_canonical());
            }
        },
        Value::String(text) => {
            out.push(WORD);
            words.write(out, text);
        }
        Value::Array(values) => {
            out.push(ARRAY);
            varint(out, values.len() as u64);
            values.iter().for_each(|value| write(out, words, value));
        }
        Value::Object(object) => {
            out.push(OBJECT);
            varint(out, object.len() as u64);
            for (name, value) in object.iter() {
                words.write(out, name);
                write(out, words, value);
            }
        }
    }
}

pub(super) fn read<'a>(
    cursor: &mut Cursor<'a>,
    words: &mut WordReader<'a>,
    depth: usize,
) -> Result<Value, RecordError> {
    if depth > DEEPEST {
        return Err(cursor.error("an account is too deep"));
    }
    Ok(match cursor.byte()? {
        NULL => Value::Null,
        FALSE => Value::Bool(false),
        TRUE => Value::Bool(true),
        INTEGER => Value::Number(Number::from_i64(cursor.zigzag()?)),
        NUMBER => {
            let number = Number::parse(cursor.text()?);
            Value::Number(number.ok_or_else(|| cursor.error("invalid number"))?)
        }
        WORD => Value::from(words.read(cursor)?),
        ARRAY => {
            let count = cursor.count()?;
            let values: Result<Vec<Value>, _> =
                (0..count).map(|_| read(cursor, words, depth + 1)).collect();
            Value::Array(values?)
        }
        OBJECT => {
            let count = cursor.count()?;
            let mut object = Object::with_capacity(count);
            for _ in 0..count {
                let name = words.read(cursor)?;
                object.insert(name, read(cursor, words, depth + 1)?);
            }
            Value::Object(object)
        }
        _ => return Err(cursor.error("a value has an unknown form")),
    })
}
