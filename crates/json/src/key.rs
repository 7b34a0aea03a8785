//! Keys of objects. Nearly all keys are short and are stored inside the entry: they need no
//! allocation, and comparing them touches no other memory.

use std::cmp::Ordering;
use std::fmt;

/// Number of bytes that fit beside the length; makes a key as large as a `String`.
const SHORT: usize = 22;

/// A key. Each text has exactly one representation, so equal keys are equal field by field.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// At most `SHORT` bytes, padded with zeros.
    Short { len: u8, bytes: [u8; SHORT] },
    /// More than `SHORT` bytes.
    Long(Box<str>),
}

impl Key {
    /// Returns `text` as a key if it is short enough to need no allocation.
    #[inline]
    pub(crate) fn short(text: &str) -> Option<Key> {
        let mut bytes = [0; SHORT];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Key::Short { len: text.len() as u8, bytes })
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Key::Short { len, bytes } => &bytes[..usize::from(*len)],
            Key::Long(text) => text.as_bytes(),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Key::Short { .. } => str::from_utf8(self.as_bytes()).expect("copied from a string"),
            Key::Long(text) => text,
        }
    }
}

impl From<&str> for Key {
    #[inline]
    fn from(text: &str) -> Self {
        Key::short(text).unwrap_or_else(|| Key::Long(text.into()))
    }
}

impl From<Box<str>> for Key {
    fn from(text: Box<str>) -> Self {
        if text.len() <= SHORT { Key::from(&*text) } else { Key::Long(text) }
    }
}

impl From<Key> for Box<str> {
    fn from(key: Key) -> Self {
        match key {
            Key::Short { .. } => key.as_str().into(),
            Key::Long(text) => text,
        }
    }
}

/// Code point order, which is the byte order of UTF-8.
impl Ord for Key {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Key::Short { bytes: left, .. }, Key::Short { bytes: right, .. }) = (self, other) {
            // Most pairs differ within the first eight bytes. The zero padding of a shorter key
            // sorts before any byte except zero itself; if the words are equal, the full comparison
            // below decides.
            let word = |bytes: &[u8; SHORT]| bytes.first_chunk().copied().map(u64::from_be_bytes);
            match word(left).cmp(&word(right)) {
                Ordering::Equal => {}
                order => return order,
            }
        }
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_its_text_whatever_its_length() {
        for len in 0..50 {
            let text: String = "aé日😀\0".chars().cycle().take(len).collect();
            let key = Key::from(&*text);
            assert_eq!(key.as_str(), text);
            assert_eq!(Key::from(text.clone().into_boxed_str()), key);
            assert_eq!(Box::<str>::from(key), text.into_boxed_str());
        }
    }

    #[test]
    fn keys_are_ordered_like_their_texts() {
        let mut texts = vec!["", "\0", "\0\0", "a", "a\0", "aa", "b", "é", "\u{ffee}", "😀"];
        let long: Vec<String> =
            texts.iter().map(|text| format!("{}{text}", "a".repeat(21))).collect();
        texts.extend(long.iter().map(|text| &**text));
        for left in &texts {
            for right in &texts {
                assert_eq!(Key::from(*left).cmp(&Key::from(*right)), left.cmp(right));
            }
        }
    }
}
