//! How contexts are named that the caller does not name.

use crate::Error;
use crate::workspace::OpenStore;

/// Returns a name for contexts: letters, digits and `-_.` of a text, in lower case.
#[must_use]
pub fn name_for(text: &str) -> String {
    let plain = |it: char| match it.is_ascii_alphanumeric() || "-_.".contains(it) {
        true => it.to_ascii_lowercase(),
        false => '-',
    };
    let name: String = text.chars().take(64).map(plain).collect();
    let name = name.trim_matches(|it: char| !it.is_ascii_alphanumeric());
    if name.is_empty() { "agent".to_owned() } else { name.to_owned() }
}

/// Returns the name of the context of a client's session: its last eight letters and digits, because identifiers that begin with a time
/// differ at their ends.
pub(super) fn of_session(base: &str, session: &str) -> String {
    let plain: Vec<char> = session.chars().filter(char::is_ascii_alphanumeric).collect();
    let tail: String = plain[plain.len().saturating_sub(8)..].iter().collect();
    match tail.is_empty() {
        true => format!("{base}-session"),
        false => format!("{base}-{}", tail.to_ascii_lowercase()),
    }
}

/// Returns the first free name of the form `main.2`.
pub(super) fn sibling(
    store: &OpenStore,
    main: &str,
    is_used: impl Fn(&str) -> bool,
) -> Result<String, Error> {
    let mut number = 2u32;
    loop {
        let name = format!("{main}.{number}");
        if !is_used(&name) && store.find(&name)?.is_none() {
            return Ok(name);
        }
        number = number.checked_add(1).ok_or_else(|| Error::usage("no name is free"))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_plain_characters() {
        assert_eq!(name_for("Claude"), "claude");
        assert_eq!(name_for("my agent.py"), "my-agent.py");
        assert_eq!(name_for("---"), "agent");
    }

    #[test]
    fn sessions_that_begin_with_the_same_time_have_different_names() {
        let (one, two) =
            ("0199f3a2-aaaa-7000-8000-1234567890ab", "0199f3a2-aaaa-7000-8000-ffffffff0001");
        assert_eq!(of_session("codex", one), "codex-567890ab");
        assert_ne!(of_session("codex", one), of_session("codex", two));
    }
}
