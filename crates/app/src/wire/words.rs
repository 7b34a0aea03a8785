//! Types of the rooms below that JSON writes as one of a fixed list of words.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use contextree::import::Format;
use contextree::provider::Provider;
use contextree::query::{ContentMode, Materialize};
use contextree::tokens::By;
use contextree::{Edition, Vocabulary};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A type with a word for each of its values.
pub trait Words: Copy + PartialEq + Sized {
    /// The name of the type, in schemas and messages.
    const NAME: &'static str;

    /// Returns all values with their words.
    fn words() -> Vec<(Self, &'static str)>;
}

/// A value that JSON writes as a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Word<T>(pub T);

impl<T> From<T> for Word<T> {
    fn from(value: T) -> Self {
        Word(value)
    }
}

impl<T: Words> Word<T> {
    /// Returns the word.
    #[must_use]
    pub fn word(self) -> &'static str {
        let words = T::words();
        words.into_iter().find(|(value, _)| *value == self.0).map_or("", |(_, word)| word)
    }
}

impl<T: Words> fmt::Display for Word<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

/// A word that none of the values has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord(String);

impl fmt::Display for UnknownWord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for UnknownWord {}

impl<T: Words> FromStr for Word<T> {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let words = T::words();
        match words.iter().find(|(_, word)| *word == text) {
            Some((value, _)) => Ok(Word(*value)),
            None => {
                let known: Vec<&str> = words.iter().map(|(_, word)| *word).collect();
                let known = known.join("`, `");
                Err(UnknownWord(format!("unknown {} `{text}`; expected `{known}`", T::NAME)))
            }
        }
    }
}

impl<T: Words> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de, T: Words> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl<T: Words> JsonSchema for Word<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = T::words().into_iter().map(|(_, word)| word).collect();
        schemars::json_schema!({ "type": "string", "enum": words })
    }
}

/// Implements `Words` for a type that lists its values and knows their words.
macro_rules! words {
    ($($kind:ty, $name:literal, $all:expr, $word:expr;)*) => {
        $(impl Words for $kind {
            const NAME: &'static str = $name;

            fn words() -> Vec<(Self, &'static str)> {
                let word: fn($kind) -> &'static str = $word;
                $all.into_iter().map(|value| (value, word(value))).collect()
            }
        })*
    };
}

words! {
    Provider, "provider", Provider::ALL, Provider::name;
    Format, "format", Format::ALL, Format::name;
    By, "grouping", By::ALL, By::word;
    Materialize, "field", Materialize::ALL, Materialize::as_str;
    ContentMode, "content mode", ContentMode::ALL, |mode| match mode {
        ContentMode::Unified => "unified",
        ContentMode::JsonPatch => "jsonpatch",
        ContentMode::Tokens => "tokens",
    };
    Edition, "edition", [Edition::V0_1, Edition::V0_2, Edition::V0_3], |edition| edition.as_str();
    Vocabulary, "vocabulary", [Vocabulary::Segment, Vocabulary::Message], |words| match words {
        Vocabulary::Segment => "segment",
        Vocabulary::Message => "message",
    };
}
