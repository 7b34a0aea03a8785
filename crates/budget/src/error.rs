//! Describes why a budget file is invalid: the key, its position, and a hint.

use std::fmt;

/// An invalid budget.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BudgetError {
    /// The problem.
    pub fault: Fault,
    /// The full key: `regions.sys`; empty if the text cannot be parsed.
    pub key: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// A hint.
    pub hint: String,
}

/// The kinds of problems.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The text is neither TOML nor JSON.
    Syntax {
        /// The message of the parser.
        message: String,
    },
    /// The key is unknown.
    UnknownKey,
    /// The key is repeated.
    DuplicateKey,
    /// The value has the wrong type.
    WrongType {
        /// The expected type.
        expected: &'static str,
        /// The actual type.
        found: &'static str,
    },
    /// The value contradicts another one, or cannot be satisfied.
    Contradiction {
        /// The contradiction.
        message: String,
    },
    /// The tokenizer is unknown.
    UnknownTokenizer {
        /// Its name.
        name: String,
    },
    /// The text is not a valid selector.
    Selector {
        /// The message of the parser, in one line.
        message: String,
        /// The code of the selector error.
        code: String,
    },
}

impl Fault {
    /// Returns the stable name, in snake case.
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

    /// Returns a hint.
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
            Fault::UnknownKey => write!(formatter, "unknown key `{key}`"),
            Fault::DuplicateKey => write!(formatter, "duplicate key `{key}`"),
            Fault::WrongType { expected, found } => match key.as_str() {
                "" => write!(formatter, "a budget must be {expected}, not {found}"),
                key => write!(formatter, "`{key}` must be {expected}, not {found}"),
            },
            Fault::Contradiction { message } => formatter.write_str(message),
            Fault::UnknownTokenizer { name } => {
                write!(formatter, "unknown model or tokenizer `{name}`")
            }
            Fault::Selector { message, .. } => {
                write!(formatter, "`{key}` is not a valid selector: {message}")
            }
        }
    }
}

impl std::error::Error for BudgetError {}
