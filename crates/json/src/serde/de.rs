//! From values to serde's data model.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor, value::StringDeserializer,
};

use super::{ANY_VALUE, ConvertError};
use crate::number::Repr;
use crate::{Number, Object, Value, object};

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(ANY_VALUE, ValueVisitor)
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Object(object) => Ok(object),
            other => {
                let found = Unexpected::Other(other.type_name());
                Err(D::Error::invalid_type(found, &"an object"))
            }
        }
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Value, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Value, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, truth: bool) -> Result<Value, E> {
        Ok(truth.into())
    }

    fn visit_i64<E: serde::de::Error>(self, integer: i64) -> Result<Value, E> {
        Ok(integer.into())
    }

    fn visit_u64<E: serde::de::Error>(self, integer: u64) -> Result<Value, E> {
        Ok(integer.into())
    }

    fn visit_i128<E: serde::de::Error>(self, integer: i128) -> Result<Value, E> {
        self.visit_bytes(integer.to_string().as_bytes())
    }

    fn visit_u128<E: serde::de::Error>(self, integer: u128) -> Result<Value, E> {
        self.visit_bytes(integer.to_string().as_bytes())
    }

    fn visit_f64<E: serde::de::Error>(self, float: f64) -> Result<Value, E> {
        Value::try_from(float).map_err(E::custom)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E: serde::de::Error>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    /// The digits of an integer beyond 128 bits. JSON has no bytes of its own, so they mean nothing else.
    fn visit_bytes<E: serde::de::Error>(self, digits: &[u8]) -> Result<Value, E> {
        let text = std::str::from_utf8(digits).ok();
        text.and_then(Number::from_integer_text)
            .map(Value::Number)
            .ok_or_else(|| E::invalid_type(Unexpected::Bytes(digits), &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut elements = Vec::with_capacity(list.size_hint().unwrap_or(0).min(1024));
        while let Some(element) = list.next_element()? {
            elements.push(element);
        }
        Ok(Value::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Object::new();
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            if object.insert(&*key, value).is_some() {
                return Err(A::Error::custom(format_args!("the key `{key}` is repeated")));
            }
        }
        Ok(Value::Object(object))
    }
}

/// Deserializes from a value.
pub(super) struct FromValue(pub(super) Value);

impl FromValue {
    fn visit<'de, V: Visitor<'de>>(
        self,
        visitor: V,
        exact: bool,
    ) -> Result<V::Value, ConvertError> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(truth) => visitor.visit_bool(truth),
            Value::Number(number) => visit_number(&number, visitor, exact),
            Value::String(text) => visitor.visit_string(text.into()),
            Value::Array(elements) => visit_list(elements, visitor),
            Value::Object(object) => visit_object(object, visitor),
        }
    }
}

fn visit_number<'de, V: Visitor<'de>>(
    number: &Number,
    visitor: V,
    exact: bool,
) -> Result<V::Value, ConvertError> {
    match number.repr() {
        Repr::Int(integer) => visitor.visit_i64(*integer),
        Repr::Float(float) => visitor.visit_f64(*float),
        Repr::Big(digits) => match (number.as_u64(), digits.parse::<i128>()) {
            (Some(integer), _) => visitor.visit_u64(integer),
            (None, _) if exact => visitor.visit_bytes(digits.as_bytes()),
            (None, Ok(integer)) => visitor.visit_i128(integer),
            (None, Err(_)) => {
                Err(ConvertError::invalid_value(Unexpected::Other("a huge integer"), &visitor))
            }
        },
    }
}

fn visit_list<'de, V: Visitor<'de>>(
    elements: Vec<Value>,
    visitor: V,
) -> Result<V::Value, ConvertError> {
    let mut list = List { elements: elements.into_iter() };
    let visited = visitor.visit_seq(&mut list)?;
    match list.elements.len() {
        0 => Ok(visited),
        left => Err(ConvertError::custom(format_args!("{left} elements too many"))),
    }
}

fn visit_object<'de, V: Visitor<'de>>(
    object: Object,
    visitor: V,
) -> Result<V::Value, ConvertError> {
    let mut fields = Fields { entries: object.into_iter(), value: None };
    let visited = visitor.visit_map(&mut fields)?;
    match fields.entries.next() {
        None => Ok(visited),
        Some((key, _)) => Err(ConvertError::custom(format_args!("unexpected key `{key}`"))),
    }
}

/// The largest double below which every integer is a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Reads integers. JSON knows one type of number, and its schemas take `1.0` for an integer; so do we, where an integer is asked for.
/// A [`Value`] keeps what was written.
macro_rules! integers {
    ($($name:ident)*) => {
        $(fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConvertError> {
            match &self.0 {
                Value::Number(number) => match number.repr() {
                    Repr::Float(float) if float.trunc() == *float && float.abs() < EXACT => {
                        visitor.visit_i64(*float as i64)
                    }
                    _ => self.visit(visitor, false),
                },
                _ => self.visit(visitor, false),
            }
        })*
    };
}

impl<'de> Deserializer<'de> for FromValue {
    type Error = ConvertError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConvertError> {
        self.visit(visitor, false)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConvertError> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ConvertError> {
        match name == ANY_VALUE {
            true => self.visit(visitor, true),
            false => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConvertError> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(Variant { name: name.into(), value: None }),
            Value::Object(object) if object.len() == 1 => match object.into_iter().next() {
                Some((name, value)) => {
                    visitor.visit_enum(Variant { name: name.into(), value: Some(value) })
                }
                None => Err(ConvertError::custom("an enum without a variant")),
            },
            other => {
                let found = Unexpected::Other(other.type_name());
                Err(ConvertError::invalid_type(found, &"a string or an object with one key"))
            }
        }
    }

    /// A struct is an object. The derived code would take an array, too, with the fields by position, which no schema says.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConvertError> {
        match self.0 {
            Value::Array(_) => Err(ConvertError::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.visit(visitor, false),
        }
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    serde::forward_to_deserialize_any! {
        bool i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

impl IntoDeserializer<'_, ConvertError> for FromValue {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

struct List {
    elements: std::vec::IntoIter<Value>,
}

impl<'de> SeqAccess<'de> for &mut List {
    type Error = ConvertError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ConvertError> {
        self.elements.next().map(|value| seed.deserialize(FromValue(value))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.elements.len())
    }
}

struct Fields {
    entries: object::IntoIter,
    value: Option<(Box<str>, Value)>,
}

impl<'de> MapAccess<'de> for &mut Fields {
    type Error = ConvertError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ConvertError> {
        let Some((key, value)) = self.entries.next() else { return Ok(None) };
        self.value = Some((key.clone(), value));
        let key: StringDeserializer<ConvertError> = String::from(key).into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, ConvertError> {
        let (key, value) =
            self.value.take().ok_or_else(|| ConvertError::custom("a value without a key"))?;
        seed.deserialize(FromValue(value))
            .map_err(|error| ConvertError { message: format!("`{key}`: {error}"), ..error })
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

struct Variant {
    name: String,
    value: Option<Value>,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = ConvertError;
    type Variant = Content;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Content), ConvertError> {
        let name: StringDeserializer<ConvertError> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, Content(self.value)))
    }
}

/// What a variant holds.
struct Content(Option<Value>);

impl Content {
    fn value(self) -> Result<Value, ConvertError> {
        self.0.ok_or_else(|| ConvertError::custom("the variant needs data"))
    }
}

impl<'de> VariantAccess<'de> for Content {
    type Error = ConvertError;

    fn unit_variant(self) -> Result<(), ConvertError> {
        match self.0 {
            None | Some(Value::Null) => Ok(()),
            Some(_) => Err(ConvertError::custom("the variant has no data")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, ConvertError> {
        seed.deserialize(FromValue(self.value()?))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, ConvertError> {
        FromValue(self.value()?).deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConvertError> {
        FromValue(self.value()?).deserialize_struct("", &[], visitor)
    }
}
