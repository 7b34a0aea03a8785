//! How contexts are named that the caller does not name.

use contextree::Hash;

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
/// differ at their ends. Only a random UUID is sure to differ there; other identifiers get a hash of the whole.
pub(super) fn of_session(base: &str, session: &str) -> String {
    let plain: Vec<char> = session.chars().filter(char::is_ascii_alphanumeric).collect();
    let tail: String = plain[plain.len().saturating_sub(8)..].iter().collect();
    let tail = if tail.is_empty() { "session" } else { &*tail.to_ascii_lowercase() };
    if is_random_uuid(session) || session == tail {
        return format!("{base}-{tail}");
    }
    let hash = Hash::of(session.as_bytes()).to_string();
    format!("{base}-{tail}-{}", &hash[..8])
}

/// Returns whether a text is a UUID of a version that ends with random digits. Others end with the address of a machine, or a hash.
fn is_random_uuid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12])
        && text.chars().all(|it| it == '-' || it.is_ascii_hexdigit())
        && matches!(text.as_bytes()[14], b'4' | b'7')
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

    #[test]
    fn sessions_that_end_alike_have_different_names() {
        let names = [
            "team-a/00000001",
            "team-b/00000001",
            "00000001",
            "0000-0001",
            "ABC",
            "abc",
            "2c5ea4c0-4067-11e9-8bad-9b1deb4d3b7d",
            "3c5ea4c0-4067-11e9-8bad-9b1deb4d3b7d",
        ]
        .map(|session| of_session("agent", session));
        for (index, name) in names.iter().enumerate() {
            assert!(!names[..index].contains(name), "{names:?}");
        }
        assert_eq!(of_session("agent", "00000001"), "agent-00000001");
    }
}
