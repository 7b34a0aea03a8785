//! Why a budget file cannot be used: which key, where, and what to write instead.

use std::fmt;

/// A budget that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BudgetError {
    /// What is wrong.
    pub fault: Fault,
    /// The key, from the top: `regions.sys`; empty if the text is no document at all.
    pub key: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What to do about it.
    pub hint: String,
}

/// What is wrong with a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The text is neither TOML nor JSON.
    Syntax {
        /// What the parser says.
        message: String,
    },
    /// No budget has this key.
    UnknownKey,
    /// The key is there twice.
    DuplicateKey,
    /// The value is of another type.
    WrongType {
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// The value contradicts another one, or can never be kept.
    Contradiction {
        /// What is wrong.
        message: String,
    },
    /// Nobody knows how this counts.
    UnknownTokenizer {
        /// Its name.
        name: String,
    },
    /// The text is no selector.
    Selector {
        /// What the parser says, in one line.
        message: String,
        /// The code of the selector error.
        code: String,
    },
}

impl Fault {
    /// Returns the stable word, in snake case.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Fault::Syntax { .. } => "syntax",
            Fault::UnknownKey => "unknown_key",
            Fault::DuplicateKey => "duplicate_key",
            Fault::WrongType { .. } => "wrong_type",
            Fault::Contradiction { .. } => "contradiction",
            Fault::UnknownTokenizer { .. } => "unknown_tokenizer",
            Fault::Selector { .. } => "selector",
        }
    }
}

impl BudgetError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "E_BUDGET_INVALID"
    }

    /// Returns what to do about it.
    #[must_use]
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

impl fmt::Display for BudgetError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}: ", self.line, self.column)?;
        let key = &self.key;
        match &self.fault {
            Fault::Syntax { message } => formatter.write_str(message),
            Fault::UnknownKey => write!(formatter, "a budget has no `{key}`"),
            Fault::DuplicateKey => write!(formatter, "`{key}` is there twice"),
            Fault::WrongType { expected, found } => {
                write!(formatter, "`{key}` must be {expected} and is {found}")
            }
            Fault::Contradiction { message } => formatter.write_str(message),
            Fault::UnknownTokenizer { name } => {
                write!(formatter, "nobody knows how `{name}` counts tokens")
            }
            Fault::Selector { message, .. } => {
                write!(formatter, "`{key}` is no selector: {message}")
            }
        }
    }
}

impl std::error::Error for BudgetError {}
