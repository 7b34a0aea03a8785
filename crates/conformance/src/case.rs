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

    /// Returns the words of the edition.
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
    /// The file it stands in.
    pub file: String,
    /// The area of that file: selectors, ranges, lifecycle ….
    pub area: String,
    /// What to run.
    pub kind: String,
    /// `normative`, `erratum` or `ruling`.
    pub status: String,
    /// The editions it applies to.
    pub editions: Vec<Edition>,
    /// Rows of the requirements that it covers, if it says so itself.
    pub covers: Vec<String>,
    /// The case whose result must be the same.
    pub same_as: Option<Box<Case>>,
    /// All fields, as they stand in the file.
    pub fields: Object,
    /// The fixture that the case names, if it names one.
    pub fixture: Option<Value>,
}

impl Case {
    /// Returns a field; null if there is none.
    #[must_use]
    pub fn field(&self, name: &str) -> &Value {
        static NULL: Value = Value::Null;
        self.fields.get(name).unwrap_or(&NULL)
    }

    /// Returns what is expected.
    #[must_use]
    pub fn expect(&self) -> &Object {
        static EMPTY: std::sync::LazyLock<Object> = std::sync::LazyLock::new(Object::new);
        self.field("expect").as_object().unwrap_or(&EMPTY)
    }

    /// Returns one key of what is expected; null if there is none.
    #[must_use]
    pub fn expected(&self, name: &str) -> &Value {
        static NULL: Value = Value::Null;
        self.expect().get(name).unwrap_or(&NULL)
    }
}
