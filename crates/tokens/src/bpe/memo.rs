//! Caches the token counts of pieces during one long count.

use super::keys::Key;

/// For a shorter text, the cache costs more than it saves.
const WORTHWHILE: usize = 16 << 10;
const SLOTS: usize = 1 << 13;

/// Token counts of pieces of up to 15 bytes. A piece evicts the previous one in its slot, so memory
/// does not grow.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    slots: Vec<(u128, u32)>,
}

impl Memo {
    /// Creates a cache for a text of this length; disabled if the text is short.
    pub(crate) fn for_text(length: usize) -> Self {
        Memo { slots: if length < WORTHWHILE { Vec::new() } else { vec![(0, 0); SLOTS] } }
    }

    #[inline]
    pub(super) fn get(&self, piece: &[u8]) -> Option<usize> {
        if piece.len() > u128::LONGEST {
            return None;
        }
        let key = u128::of(piece);
        let (known, count) = self.slots.get(slot(key))?;
        (*known == key).then_some(*count as usize)
    }

    pub(super) fn put(&mut self, piece: &[u8], count: usize) {
        if piece.len() <= u128::LONGEST {
            let key = u128::of(piece);
            if let (Some(slot), Ok(count)) = (self.slots.get_mut(slot(key)), u32::try_from(count)) {
                *slot = (key, count);
            }
        }
    }
}

fn slot(key: u128) -> usize {
    (key.spread() >> 51) as usize
}
