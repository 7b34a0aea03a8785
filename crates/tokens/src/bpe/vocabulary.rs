//! The vocabulary of an encoding: its tokens and their ranks.

use std::sync::LazyLock;

use super::keys::{Key as _, Table};

pub(crate) static O200K: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::new(include_bytes!("../../data/o200k_base.bin"), usize::MAX));
pub(crate) static CL100K: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::new(include_bytes!("../../data/cl100k_base.bin"), usize::MAX));
static P50K_FILE: &[u8] = include_bytes!("../../data/p50k_base.bin");
pub(crate) static P50K: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::new(P50K_FILE, usize::MAX));
/// The tokens of `r50k_base` are the first ones of `p50k_base`.
pub(crate) static R50K: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::new(P50K_FILE, 50_256));

/// A map from tokens to ranks. Most tokens have at most 15 bytes and are found by one integer
/// comparison.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    short: Table<u64>,
    middle: Table<u128>,
    /// Longer tokens, sorted; a few thousand.
    long: Vec<(&'static [u8], u32)>,
    longest: usize,
    file: &'static [u8],
    below: usize,
}

impl Vocabulary {
    /// Reads a file of `data/`; only the ranks below a limit.
    fn new(file: &'static [u8], below: usize) -> Self {
        let tokens: Vec<(u32, &'static [u8])> = tokens(file, below).collect();
        let count = |shortest: usize, longest: usize| {
            tokens.iter().filter(|(_, token)| (shortest..=longest).contains(&token.len())).count()
        };
        let mut vocabulary = Vocabulary {
            short: Table::with_room(count(1, u64::LONGEST)),
            middle: Table::with_room(count(u64::LONGEST + 1, u128::LONGEST)),
            long: Vec::new(),
            longest: 0,
            file,
            below,
        };
        for (rank, token) in tokens {
            vocabulary.longest = vocabulary.longest.max(token.len());
            match token.len() {
                length if length <= u64::LONGEST => vocabulary.short.insert(token, rank),
                length if length <= u128::LONGEST => vocabulary.middle.insert(token, rank),
                _ => vocabulary.long.push((token, rank)),
            }
        }
        vocabulary.long.sort_unstable();
        vocabulary
    }

    /// Returns all tokens with their ranks, lowest rank first.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = (u32, &'static [u8])> {
        tokens(self.file, self.below)
    }

    /// Returns the rank of a token; `None` if the bytes are not a token.
    #[inline]
    pub(crate) fn rank(&self, bytes: &[u8]) -> Option<u32> {
        match bytes.len() {
            length if length <= u64::LONGEST => self.short.get(bytes),
            length if length <= u128::LONGEST => self.middle.get(bytes),
            length if length > self.longest => None,
            _ => {
                let found = self.long.binary_search_by(|(token, _)| (*token).cmp(bytes)).ok()?;
                Some(self.long[found].1)
            }
        }
    }
}

/// Returns the tokens of a file of `data/` with their ranks; only those below a limit.
fn tokens(file: &'static [u8], below: usize) -> impl Iterator<Item = (u32, &'static [u8])> {
    let (count, rest) = file.split_first_chunk::<4>().expect("the file begins with a count");
    let (lengths, mut bytes) = rest.split_at(u32::from_le_bytes(*count) as usize);
    (0_u32..).zip(lengths).take(below).filter_map(move |(rank, length)| {
        let (token, others) = bytes.split_at(*length as usize);
        bytes = others;
        (!token.is_empty()).then_some((rank, token))
    })
}

#[cfg(test)]
mod tests {
    use super::{CL100K, O200K, P50K, R50K};

    #[test]
    fn tokens_have_the_ranks_that_are_published() {
        assert_eq!(O200K.rank(b"!"), Some(0));
        assert_eq!(O200K.rank(b" the"), Some(290));
        assert_eq!(CL100K.rank(b" the"), Some(279));
        assert_eq!(P50K.rank(b" the"), Some(262));
        assert_eq!(R50K.rank(b" the"), Some(262));
        assert_eq!(
            P50K.rank(b"                         "),
            Some(50_280),
            "25 spaces, the last rank"
        );
        assert_eq!(R50K.rank(b"                         "), None);
        assert_eq!(P50K.rank(b"<|endoftext|>"), None, "special tokens are not text");
    }
}
