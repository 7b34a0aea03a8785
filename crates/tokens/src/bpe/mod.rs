//! Byte pair encoding: pieces of text to tokens.
//!
//! Most pieces are tokens as they are; the others begin as single bytes, and the pair with the lowest rank is joined until none is
//! left that is a token. Counting takes time in proportion to the text, with a logarithm for pieces beyond [`SHORT`] bytes; no input
//! makes it quadratic.

mod keys;
mod memo;
mod merge;
mod vocabulary;

pub(crate) use memo::Memo;
pub(crate) use vocabulary::{CL100K, O200K, P50K, R50K, Vocabulary};

/// Pieces up to this length are joined in place; longer ones with a queue.
const SHORT: usize = 48;

/// How a text is cut: where the piece that begins at an offset ends.
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
                    out.push(self.rank(token).expect("only tokens are joined"));
                }),
            }
            start = end;
        }
    }
}
