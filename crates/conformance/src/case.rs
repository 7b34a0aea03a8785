//! One case of the corpus.

use std::fmt;

use contextree::Vocabulary;
use contextree_json::{Object, Value};

/// An edition of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edition {
    /// Documents 002, 003 and 004.
    E1,
    /// Document 000.
    E2,
    /// Document 001.
    E3,
}

impl Edition {
    /// The editions, oldest first.
    pub const ALL: [Edition; 3] = [Edition::E1, Edition::E2, Edition::E3];

    /// Returns the edition with this name: `E1`, `E2`, `E3`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Edition> {
        Edition::ALL.into_iter().find(|edition| edition.to_string() == name)
    }

    /// Returns the vocabulary of the edition.
    #[must_use]
    pub fn vocabulary(self) -> Vocabulary {
        match self {
            Edition::E1 | Edition::E2 => Vocabulary::Message,
            Edition::E3 => Vocabulary::Segment,
        }
    }
}

impl fmt::Display for Edition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, formatter)
    }
}

/// One case.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Its id, unique over all files.
    pub id: String,
    /// The name of its file.
    pub file: String,
    /// The area of that file: selectors, ranges, lifecycle ….
    pub area: String,
    /// The kind, which selects the check.
    pub kind: String,
    /// `normative`, `erratum` or `ruling`.
    pub status: String,
    /// The editions it applies to.
    pub editions: Vec<Edition>,
    /// The requirements that it covers, if it names any.
    pub covers: Vec<String>,
    /// The case that must give the same result.
    pub same_as: Option<Box<Case>>,
    /// All fields, as in the file.
    pub fields: Object,
    /// The fixture of the case, if it names one.
    pub fixture: Option<Value>,
}

impl Case {
    /// Returns a field; null if it is missing.
    #[must_use]
    pub fn field(&self, name: &str) -> &Value {
        static NULL: Value = Value::Null;
        self.fields.get(name).unwrap_or(&NULL)
    }

    /// Returns the expectation.
    #[must_use]
    pub fn expect(&self) -> &Object {
        static EMPTY: std::sync::LazyLock<Object> = std::sync::LazyLock::new(Object::new);
        self.field("expect").as_object().unwrap_or(&EMPTY)
    }

    /// Returns one key of the expectation; null if it is missing.
    #[must_use]
    pub fn expected(&self, name: &str) -> &Value {
        static NULL: Value = Value::Null;
        self.expect().get(name).unwrap_or(&NULL)
    }
}
