//! The hash of a text that mostly grows at its end.

use sha2::{Digest as _, Sha256};

use crate::hash::Hash;

/// The distance of the states that are kept: a change costs at most this much more than what follows it.
const STRIDE: usize = 16 * 1024;

/// Hashes one text after another. What a text has in common with the one before it is not hashed again.
///
/// ```
/// use contextree_canon::{Hash, PrefixHasher};
///
/// let mut hasher = PrefixHasher::default();
/// assert_eq!(hasher.hash(b"one", 0), Hash::of(b"one"));
/// assert_eq!(hasher.hash(b"once", 2), Hash::of(b"once"));
/// ```
#[derive(Clone, Default)]
pub struct PrefixHasher {
    /// The states after one stride, two strides, and so on.
    states: Vec<Sha256>,
}

impl std::fmt::Debug for PrefixHasher {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("PrefixHasher").field("states", &self.states.len()).finish()
    }
}

impl PrefixHasher {
    /// Returns the hash of a text: [`Hash::of`] it. The first `kept` bytes must be those of the text before it.
    pub fn hash(&mut self, text: &[u8], kept: usize) -> Hash {
        self.states.truncate(kept.min(text.len()) / STRIDE);
        let mut hasher = self.states.last().cloned().unwrap_or_default();
        let (strides, rest) = text[self.states.len() * STRIDE..].as_chunks::<STRIDE>();
        for stride in strides {
            hasher.update(stride);
            self.states.push(hasher.clone());
        }
        hasher.update(rest);
        Hash(hasher.finalize().into())
    }

    /// Returns about how many bytes of memory this takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.states.capacity() * size_of::<Sha256>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_of_a_changing_text_equals_the_hash_of_its_bytes() {
        let mut hasher = PrefixHasher::default();
        let (mut text, mut longest): (Vec<u8>, usize) = (Vec::new(), 0);
        for step in 0..200_usize {
            let kept = text.len() - text.len().min(step * step * 37 % (STRIDE * 3));
            text.truncate(kept);
            let more = step * 7_919 % (STRIDE * 2);
            text.extend((0..more).map(|index| (index * step) as u8));
            assert_eq!(hasher.hash(&text, kept), Hash::of(&text), "step {step}");
            assert_eq!(hasher.states.len(), text.len() / STRIDE);
            longest = longest.max(text.len());
        }
        assert!(longest > 4 * STRIDE, "states are kept and dropped");
    }
}
