//! Open-addressing tables keyed by short tokens, each packed into one integer.

/// A short token packed into one integer, with its length in the highest byte, so that keys of
/// different tokens differ and none is 0.
pub(super) trait Key: Copy + Eq + Default {
    /// The maximum length of a token.
    const LONGEST: usize;

    /// Returns the key of a token of 1 to `LONGEST` bytes.
    fn of(token: &[u8]) -> Self;

    /// Hashes the key to 64 bits.
    fn spread(self) -> u64;
}

/// An odd number with its bits well mixed: 2^64 divided by the golden ratio.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

impl Key for u64 {
    const LONGEST: usize = 7;

    #[inline]
    fn of(token: &[u8]) -> u64 {
        load(token) | (token.len() as u64) << 56
    }

    #[inline]
    fn spread(self) -> u64 {
        let mixed = self.wrapping_mul(MIX);
        mixed ^ mixed >> 32
    }
}

impl Key for u128 {
    const LONGEST: usize = 15;

    #[inline]
    fn of(token: &[u8]) -> u128 {
        let (low, high) = match token.split_at_checked(8) {
            Some((low, high)) => (load(low), load(high)),
            None => (load(token), 0),
        };
        u128::from(low) | u128::from(high) << 64 | (token.len() as u128) << 120
    }

    #[inline]
    fn spread(self) -> u64 {
        let (low, high) = (self as u64, (self >> 64) as u64);
        let mixed = (low ^ high.rotate_left(29).wrapping_mul(MIX)).wrapping_mul(MIX);
        mixed ^ mixed >> 32
    }
}

/// Returns up to eight bytes as a little-endian integer.
#[inline]
fn load(bytes: &[u8]) -> u64 {
    // Two overlapping reads instead of a loop over the bytes.
    if let Some(all) = bytes.first_chunk::<8>() {
        return u64::from_le_bytes(*all);
    }
    let length = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return u64::from(first) | u64::from(last) << ((length - 4) * 8);
    }
    match bytes {
        [] => 0,
        [first, ..] => {
            let middle = u64::from(bytes[length / 2]) << (length / 2 * 8);
            u64::from(*first) | middle | u64::from(bytes[length - 1]) << ((length - 1) * 8)
        }
    }
}

/// A map from keys to ranks, at most half full.
#[derive(Debug)]
pub(super) struct Table<K> {
    keys: Box<[K]>,
    ranks: Box<[u32]>,
    shift: u32,
}

impl<K: Key> Table<K> {
    /// Creates an empty table with room for `count` keys.
    pub(super) fn with_room(count: usize) -> Self {
        let size = (count * 2).next_power_of_two().max(2);
        Table {
            keys: vec![K::default(); size].into(),
            ranks: vec![0; size].into(),
            shift: 64 - size.trailing_zeros(),
        }
    }

    /// Inserts a token that is not in the table yet.
    pub(super) fn insert(&mut self, token: &[u8], rank: u32) {
        let slot = self.slot(K::of(token));
        self.keys[slot] = K::of(token);
        self.ranks[slot] = rank;
    }

    /// Returns the rank of a token.
    #[inline]
    pub(super) fn get(&self, token: &[u8]) -> Option<u32> {
        let key = K::of(token);
        let slot = self.slot(key);
        (self.keys[slot] == key).then(|| self.ranks[slot])
    }

    /// Returns the slot of a key, or the free slot where it belongs.
    #[inline]
    fn slot(&self, key: K) -> usize {
        let mask = self.keys.len() - 1;
        let mut slot = (key.spread() >> self.shift) as usize & mask;
        while self.keys[slot] != key && self.keys[slot] != K::default() {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, load};

    #[test]
    fn bytes_are_read_as_one_number() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        for length in 0..=8 {
            let mut all = [0; 8];
            all[..length].copy_from_slice(&bytes[..length]);
            assert_eq!(load(&bytes[..length]), u64::from_le_bytes(all), "{length} bytes");
        }
    }

    #[test]
    fn zeros_at_the_end_make_another_key() {
        assert_ne!(u64::of(b"a"), u64::of(b"a\0"));
        assert_ne!(u128::of(b"abcdefgh"), u128::of(b"abcdefgh\0"));
        assert_ne!(u64::of(b"\0"), 0);
    }
}
