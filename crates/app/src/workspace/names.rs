//! Which contexts of a store a workspace knows.

use std::sync::Arc;

use crate::Error;

/// Which contexts of a store a workspace knows: all of them, or those whose names begin with one of some prefixes.
///
/// A context with another name does not exist for the workspace: it is not listed, not found, and never named in a hint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(Option<Arc<[String]>>);

impl Names {
    /// Returns names without a limit.
    #[must_use]
    pub fn all() -> Names {
        Names(None)
    }

    /// Returns the names that begin with one of these prefixes. No prefix means no context at all.
    pub fn beginning_with(prefixes: impl IntoIterator<Item = String>) -> Names {
        let mut sorted: Vec<String> = prefixes.into_iter().collect();
        sorted.sort();
        let mut kept: Vec<String> = Vec::new();
        for prefix in sorted {
            // A longer prefix of the same names adds nothing, and pages would repeat them.
            if !kept.last().is_some_and(|last| prefix.starts_with(last.as_str())) {
                kept.push(prefix);
            }
        }
        Names(Some(kept.into()))
    }

    /// Returns whether every name is known.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.0.is_none()
    }

    /// Returns whether a name is known.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        match &self.0 {
            None => true,
            Some(prefixes) => prefixes.iter().any(|prefix| name.starts_with(prefix.as_str())),
        }
    }

    /// Returns the prefixes, in the order of their bytes; `None` if every name is known.
    #[must_use]
    pub fn prefixes(&self) -> Option<&[String]> {
        self.0.as_deref()
    }

    /// Refuses the name of a new context that would not be known.
    pub(crate) fn check_new(&self, name: &str) -> Result<(), Error> {
        if self.contains(name) {
            return Ok(());
        }
        let prefixes = self.prefixes().unwrap_or_default().join("`, `");
        let message = format!("the name `{name}` does not begin with `{prefixes}`");
        Err(Error::new("E_CONTEXT_NAME", message).with_detail("context", name))
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn longer_prefixes_of_the_same_names_are_dropped() {
        let names = Names::beginning_with(["b/x".into(), "a".into(), "b/".into(), "ab".into()]);
        assert_eq!(names.prefixes(), Some(&["a".to_owned(), "b/".to_owned()][..]));
        assert!(names.contains("abc") && names.contains("b/y") && !names.contains("b"));
        assert!(!Names::beginning_with([]).contains("a"));
        assert!(Names::all().contains("anything"));
    }
}
