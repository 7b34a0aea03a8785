//! Conversions from and to the values of `serde_json`.

use crate::{Number, Object, Value};

impl From<serde_json::Value> for Value {
    /// Converts without loss.
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(truth) => Value::Bool(truth),
            // The text is exact whichever representation `serde_json` was built with.
            serde_json::Value::Number(number) => {
                Number::parse(&number.to_string()).map_or(Value::Null, Value::Number)
            }
            serde_json::Value::String(text) => Value::String(text.into_boxed_str()),
            serde_json::Value::Array(elements) => {
                Value::Array(elements.into_iter().map(Value::from).collect())
            }
            serde_json::Value::Object(entries) => Value::Object(Object::from(entries)),
        }
    }
}

impl From<serde_json::Map<String, serde_json::Value>> for Object {
    /// Converts without loss.
    fn from(entries: serde_json::Map<String, serde_json::Value>) -> Self {
        entries.into_iter().map(|(key, value)| (key, Value::from(value))).collect()
    }
}

impl From<Value> for serde_json::Value {
    /// Converts like `serde_json` reads: integers beyond 64 bits become doubles.
    fn from(value: Value) -> Self {
        match value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(truth) => serde_json::Value::Bool(truth),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(integer), _) => integer.into(),
                (None, Some(integer)) => integer.into(),
                (None, None) => number.as_f64().into(),
            },
            Value::String(text) => serde_json::Value::String(text.into()),
            Value::Array(elements) => elements.into_iter().map(serde_json::Value::from).collect(),
            Value::Object(object) => object
                .into_iter()
                .map(|(key, value)| (String::from(key), serde_json::Value::from(value)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Value, parse};

    #[test]
    fn values_survive_the_way_to_serde_json_and_back() {
        let text = br#"{"a":[null,true,-1,18446744073709551615,1.0,0.1,"x"],"b":{"c":"\u00e9"}}"#;
        let value = parse(text).unwrap();
        let theirs = serde_json::Value::from(value.clone());
        assert_eq!(theirs, serde_json::from_slice::<serde_json::Value>(text).unwrap());
        assert_eq!(Value::from(theirs), value);
    }

    #[test]
    fn integers_beyond_64_bits_become_doubles_as_in_serde_json() {
        let text = b"123456789012345678901234567890";
        let theirs = serde_json::Value::from(parse(text).unwrap());
        assert_eq!(theirs, serde_json::from_slice::<serde_json::Value>(text).unwrap());
    }
}
