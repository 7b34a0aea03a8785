//! From serde's data model to values.

use serde::ser::{
    Error as _, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct,
    SerializeStructVariant, SerializeTuple, SerializeTupleStruct, SerializeTupleVariant,
    Serializer,
};

use super::{BIG_NUMBER, ConvertError};
use crate::number::Repr;
use crate::{Number, Object, Value};

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(truth) => serializer.serialize_bool(*truth),
            Value::Number(number) => number.serialize(serializer),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(elements) => serializer.collect_seq(elements),
            Value::Object(object) => object.serialize(serializer),
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.repr() {
            Repr::Int(integer) => serializer.serialize_i64(*integer),
            Repr::Float(float) => serializer.serialize_f64(*float),
            Repr::Big(digits) => match self.as_u64() {
                Some(integer) => serializer.serialize_u64(integer),
                None => serializer.serialize_newtype_struct(BIG_NUMBER, &**digits),
            },
        }
    }
}

/// Builds one value.
pub(super) struct ToValue;

/// Returns `{"variant": value}`, the form of an enum's variant with data.
fn variant(name: &'static str, value: Value) -> Value {
    Value::Object(Object::from_iter([(name, value)]))
}

fn integer(text: &str) -> Result<Value, ConvertError> {
    Number::from_integer_text(text)
        .map(Value::Number)
        .ok_or_else(|| ConvertError::custom(format_args!("`{text}` is not an integer")))
}

impl Serializer for ToValue {
    type Ok = Value;
    type Error = ConvertError;
    type SerializeSeq = List;
    type SerializeTuple = List;
    type SerializeTupleStruct = List;
    type SerializeTupleVariant = List;
    type SerializeMap = Fields;
    type SerializeStruct = Fields;
    type SerializeStructVariant = Fields;

    fn serialize_bool(self, truth: bool) -> Result<Value, ConvertError> {
        Ok(truth.into())
    }

    fn serialize_i8(self, integer: i8) -> Result<Value, ConvertError> {
        self.serialize_i64(integer.into())
    }

    fn serialize_i16(self, integer: i16) -> Result<Value, ConvertError> {
        self.serialize_i64(integer.into())
    }

    fn serialize_i32(self, integer: i32) -> Result<Value, ConvertError> {
        self.serialize_i64(integer.into())
    }

    fn serialize_i64(self, integer: i64) -> Result<Value, ConvertError> {
        Ok(integer.into())
    }

    fn serialize_i128(self, number: i128) -> Result<Value, ConvertError> {
        integer(&number.to_string())
    }

    fn serialize_u8(self, integer: u8) -> Result<Value, ConvertError> {
        self.serialize_u64(integer.into())
    }

    fn serialize_u16(self, integer: u16) -> Result<Value, ConvertError> {
        self.serialize_u64(integer.into())
    }

    fn serialize_u32(self, integer: u32) -> Result<Value, ConvertError> {
        self.serialize_u64(integer.into())
    }

    fn serialize_u64(self, integer: u64) -> Result<Value, ConvertError> {
        Ok(integer.into())
    }

    fn serialize_u128(self, number: u128) -> Result<Value, ConvertError> {
        integer(&number.to_string())
    }

    fn serialize_f32(self, float: f32) -> Result<Value, ConvertError> {
        self.serialize_f64(float.into())
    }

    fn serialize_f64(self, float: f64) -> Result<Value, ConvertError> {
        Value::try_from(float).map_err(ConvertError::custom)
    }

    fn serialize_char(self, character: char) -> Result<Value, ConvertError> {
        Ok(character.to_string().into())
    }

    fn serialize_str(self, text: &str) -> Result<Value, ConvertError> {
        Ok(text.into())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<Value, ConvertError> {
        Ok(Value::Array(bytes.iter().map(|byte| Value::from(u32::from(*byte))).collect()))
    }

    fn serialize_none(self) -> Result<Value, ConvertError> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, data: &T) -> Result<Value, ConvertError> {
        data.serialize(self)
    }

    fn serialize_unit(self) -> Result<Value, ConvertError> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Value, ConvertError> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
    ) -> Result<Value, ConvertError> {
        Ok(name.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        data: &T,
    ) -> Result<Value, ConvertError> {
        match data.serialize(self)? {
            Value::String(digits) if name == BIG_NUMBER => integer(&digits),
            value => Ok(value),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        data: &T,
    ) -> Result<Value, ConvertError> {
        Ok(variant(name, data.serialize(self)?))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<List, ConvertError> {
        Ok(List { elements: Vec::with_capacity(length.unwrap_or(0)), variant: None })
    }

    fn serialize_tuple(self, length: usize) -> Result<List, ConvertError> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<List, ConvertError> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        length: usize,
    ) -> Result<List, ConvertError> {
        Ok(List { elements: Vec::with_capacity(length), variant: Some(name) })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Fields, ConvertError> {
        Ok(Fields::default())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields, ConvertError> {
        Ok(Fields::default())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Fields, ConvertError> {
        Ok(Fields { variant: Some(name), ..Fields::default() })
    }
}

/// Builds an array.
pub(super) struct List {
    elements: Vec<Value>,
    variant: Option<&'static str>,
}

impl List {
    fn push<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<(), ConvertError> {
        self.elements.push(element.serialize(ToValue)?);
        Ok(())
    }

    fn finish(self) -> Value {
        let list = Value::Array(self.elements);
        match self.variant {
            Some(name) => variant(name, list),
            None => list,
        }
    }
}

/// Implements one of serde's traits for lists; they differ in the name of a method.
macro_rules! list {
    ($($name:ident::$method:ident),*) => {
        $(impl $name for List {
            type Ok = Value;
            type Error = ConvertError;

            fn $method<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<(), ConvertError> {
                self.push(element)
            }

            fn end(self) -> Result<Value, ConvertError> {
                Ok(self.finish())
            }
        })*
    };
}

list!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

/// Builds an object.
#[derive(Default)]
pub(super) struct Fields {
    object: Object,
    key: Option<Box<str>>,
    variant: Option<&'static str>,
}

impl Fields {
    fn insert<T: Serialize + ?Sized>(&mut self, key: &str, data: &T) -> Result<(), ConvertError> {
        let value = data.serialize(ToValue)?;
        match self.object.insert(key, value) {
            None => Ok(()),
            Some(_) => Err(ConvertError::custom(format_args!("the key `{key}` is repeated"))),
        }
    }

    fn finish(self) -> Value {
        let object = Value::Object(self.object);
        match self.variant {
            Some(name) => variant(name, object),
            None => object,
        }
    }
}

impl SerializeMap for Fields {
    type Ok = Value;
    type Error = ConvertError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), ConvertError> {
        self.key = Some(key.serialize(ToKey)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, data: &T) -> Result<(), ConvertError> {
        let key = self.key.take().ok_or_else(|| ConvertError::custom("a value without a key"))?;
        self.insert(&key, data)
    }

    fn end(self) -> Result<Value, ConvertError> {
        Ok(self.finish())
    }
}

impl SerializeStruct for Fields {
    type Ok = Value;
    type Error = ConvertError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        data: &T,
    ) -> Result<(), ConvertError> {
        self.insert(key, data)
    }

    fn end(self) -> Result<Value, ConvertError> {
        Ok(self.finish())
    }
}

impl SerializeStructVariant for Fields {
    type Ok = Value;
    type Error = ConvertError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        data: &T,
    ) -> Result<(), ConvertError> {
        self.insert(key, data)
    }

    fn end(self) -> Result<Value, ConvertError> {
        Ok(self.finish())
    }
}

/// Accepts the keys that JSON has: strings, and names of variants.
struct ToKey;

/// Refuses everything that is not a string.
macro_rules! refuse {
    ($($method:ident($($kind:ty)?)),*) => {
        $(fn $method(self $(, _: $kind)?) -> Result<Box<str>, ConvertError> {
            Err(not_a_string())
        })*
    };
}

fn not_a_string() -> ConvertError {
    ConvertError::custom("a key of an object is not a string")
}

impl Serializer for ToKey {
    type Ok = Box<str>;
    type Error = ConvertError;
    type SerializeSeq = Impossible<Box<str>, ConvertError>;
    type SerializeTuple = Impossible<Box<str>, ConvertError>;
    type SerializeTupleStruct = Impossible<Box<str>, ConvertError>;
    type SerializeTupleVariant = Impossible<Box<str>, ConvertError>;
    type SerializeMap = Impossible<Box<str>, ConvertError>;
    type SerializeStruct = Impossible<Box<str>, ConvertError>;
    type SerializeStructVariant = Impossible<Box<str>, ConvertError>;

    refuse!(
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_f32(f32),
        serialize_f64(f64),
        serialize_bytes(&[u8]),
        serialize_none(),
        serialize_unit(),
        serialize_unit_struct(&'static str)
    );

    fn serialize_char(self, character: char) -> Result<Box<str>, ConvertError> {
        Ok(character.to_string().into())
    }

    fn serialize_str(self, text: &str) -> Result<Box<str>, ConvertError> {
        Ok(text.into())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, data: &T) -> Result<Box<str>, ConvertError> {
        data.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
    ) -> Result<Box<str>, ConvertError> {
        Ok(name.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        data: &T,
    ) -> Result<Box<str>, ConvertError> {
        data.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Box<str>, ConvertError> {
        Err(not_a_string())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, ConvertError> {
        Err(not_a_string())
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, ConvertError> {
        Err(not_a_string())
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, ConvertError> {
        Err(not_a_string())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, ConvertError> {
        Err(not_a_string())
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, ConvertError> {
        Err(not_a_string())
    }

    fn serialize_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStruct, ConvertError> {
        Err(not_a_string())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, ConvertError> {
        Err(not_a_string())
    }
}
