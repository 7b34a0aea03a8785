//! The names of contexts: which ones a new context may have, and finding the right one.

use crate::backend::Backend;
use crate::error::{Result, StoreError};
use crate::rows::ContextRow;

/// The longest name, in bytes. PostgreSQL cannot index much longer ones.
const LONGEST: usize = 1_024;

/// Fails unless a new context may have this name: one line of at most 1,024 bytes, without control characters and without those that change the
/// direction of text. Stores may contain older contexts with other names.
pub(crate) fn check(name: &str) -> Result<()> {
    let message = if name.is_empty() {
        "it is empty"
    } else if name.len() > LONGEST {
        "it is longer than 1,024 bytes"
    } else if name.chars().any(char::is_control) || name.contains(['\u{2028}', '\u{2029}']) {
        "it has a control character or a line break"
    } else if name.chars().any(is_direction) {
        "it has a character that changes the direction of text"
    } else {
        return Ok(());
    };
    Err(StoreError::Name { name: name.to_owned(), message: message.to_owned() })
}

fn is_direction(character: char) -> bool {
    matches!(character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns a context by its name, after checking that it is the one: a damaged index may lead to another row.
pub(crate) fn find(backend: &dyn Backend, name: &str) -> Result<Option<ContextRow>> {
    match backend.find(name)? {
        Some(row) if row.name != name => Err(StoreError::Corrupt {
            record: format!("context {name}"),
            message: "its name leads to another context".to_owned(),
        }),
        found => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn names_are_one_line_of_visible_text() {
        for name in ["main", "a b", "über/日本", "x".repeat(1_024).as_str()] {
            check(name).unwrap();
        }
        let long = "x".repeat(1_025);
        for name in ["", "a\nb", "\u{1b}[0m", "a\u{202e}b", "\u{2067}x", "a\u{2028}", &long] {
            assert_eq!(check(name).unwrap_err().code(), "E_CONTEXT_NAME", "{name:?}");
        }
    }
}
