//! Byte pair encoding: turns pieces of text into tokens.
//!
//! Most pieces are tokens. The others start as single bytes, and the pair with the lowest rank is
//! merged until no pair forms a token. The time is linear in the text, with a logarithmic factor
//! for pieces longer than [`SHORT`] bytes; no input makes it quadratic.

mod keys;
mod memo;
mod merge;
mod vocabulary;

pub(crate) use memo::Memo;
pub(crate) use vocabulary::{CL100K, O200K, P50K, R50K, Vocabulary};

/// Pieces up to this length are merged in place, longer ones with a queue.
const SHORT: usize = 48;

/// Splits a text: returns the end of the piece that starts at an offset.
pub(crate) type Split = fn(&str, usize) -> usize;

impl Vocabulary {
    /// Returns the number of tokens of a text.
    pub(crate) fn count(&self, text: &str, split: Split) -> u64 {
        let mut memo = Memo::for_text(text.len());
        let mut tokens: u64 = 0;
        let mut start = 0;
        while start < text.len() {
            let end = split(text, start);
            tokens += self.count_piece(&text.as_bytes()[start..end], &mut memo) as u64;
            start = end;
        }
        tokens
    }

    #[inline]
    fn count_piece(&self, piece: &[u8], memo: &mut Memo) -> usize {
        if self.rank(piece).is_some() {
            return 1;
        }
        if let Some(count) = memo.get(piece) {
            return count;
        }
        let mut count = 0;
        merge::tokens(self, piece, |_| count += 1);
        memo.put(piece, count);
        count
    }

    /// Appends the ranks of the tokens of a text.
    pub(crate) fn encode(&self, text: &str, split: Split, out: &mut Vec<u32>) {
        let mut start = 0;
        while start < text.len() {
            let end = split(text, start);
            let piece = &text.as_bytes()[start..end];
            match self.rank(piece) {
                Some(rank) => out.push(rank),
                None => merge::tokens(self, piece, |token| {
                    out.push(self.rank(token).expect("merging yields only tokens"));
                }),
            }
            start = end;
        }
    }
}
