//! Interns strings as numbers; lookup takes no lock.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::Paged;

/// Default initial capacity in names.
const FEW: usize = 16;
/// Each table is twice as large as the one before, so this many cover 32 bits.
const TABLES: usize = 32;

/// An insert-only interner.
///
/// Names are shared by a context and all its forks. Numbers depend on the order of arrival and
/// therefore never affect output: everything printed or compared uses the string.
#[derive(Debug)]
pub(crate) struct Names {
    strings: Paged<OnceLock<Name>>,
    /// Open-addressing tables, each twice as large as the one before. Readers use the newest one
    /// they see; an older one still has every name that their snapshot can contain.
    ///
    /// An entry is `number + 1`, which is less than the size of the table; the bits above hold part
    /// of the name's hash, so that most other names are skipped without comparing strings.
    first: Table,
    larger: OnceLock<Box<[OnceLock<Table>; TABLES]>>,
    current: AtomicUsize,
    /// Locked during insertion; the value is the number of names.
    writer: Mutex<u32>,
}

type Table = Box<[AtomicU32]>;

fn empty(slots: usize) -> Table {
    (0..slots).map(|_| AtomicU32::new(0)).collect()
}

/// Number of bytes stored inline in a slot.
const SHORT: usize = 22;

/// A string; a short one is stored inline, so that comparing it takes one memory access.
#[derive(Debug)]
enum Name {
    Short { len: u8, bytes: [u8; SHORT] },
    Long(Box<[u8]>),
}

impl Name {
    fn new(name: &str) -> Self {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..name.len()) {
            Some(place) => {
                place.copy_from_slice(name.as_bytes());
                Name::Short { len: name.len() as u8, bytes }
            }
            None => Name::Long(name.as_bytes().into()),
        }
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        match self {
            Name::Short { len, bytes } => &bytes[..usize::from(*len)],
            Name::Long(bytes) => bytes,
        }
    }
}

impl Default for Names {
    fn default() -> Self {
        Names::with_capacity(FEW)
    }
}

impl Names {
    /// Returns an interner with capacity for `names` names.
    pub(crate) fn with_capacity(names: usize) -> Self {
        // At most three quarters full, so that probes stay short.
        let slots = (names * 4 / 3 + 1).next_power_of_two();
        Names {
            strings: Paged::with_capacity(names),
            first: empty(slots),
            larger: OnceLock::new(),
            current: AtomicUsize::new(0),
            writer: Mutex::new(0),
        }
    }

    fn table(&self, generation: usize) -> &[AtomicU32] {
        let Some(index) = generation.checked_sub(1) else { return &self.first };
        let larger = self.larger.get_or_init(|| Box::new([const { OnceLock::new() }; TABLES]));
        larger[index].get_or_init(|| empty(self.first.len() << generation))
    }

    /// Returns the string with this number.
    #[inline]
    pub(crate) fn name(&self, number: u32) -> &str {
        std::str::from_utf8(self.bytes(number)).expect("a name was copied from a string")
    }

    /// Returns whether a string has this number. Brings it into the cache with less work than
    /// reading it.
    #[inline]
    pub(crate) fn touch(&self, number: u32) -> bool {
        self.strings.get(number).is_some_and(|slot| slot.get().is_some())
    }

    #[inline]
    fn bytes(&self, number: u32) -> &[u8] {
        self.strings
            .get(number)
            .and_then(OnceLock::get)
            .expect("a number is only handed out after its string was stored")
            .bytes()
    }

    /// Returns the number of a string, if it was ever interned.
    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.find_hashed(name, hash(name))
    }

    fn find_hashed(&self, name: &str, hash: u64) -> Option<u32> {
        let table = self.table(self.current.load(Ordering::Acquire));
        let mask = table.len() - 1;
        let tag = tag(hash, mask);
        let mut slot = hash as usize & mask;
        loop {
            let entry = table[slot].load(Ordering::Acquire);
            if entry == 0 {
                return None;
            }
            let number = (entry & mask as u32) - 1;
            if entry & !(mask as u32) == tag && self.bytes(number) == name.as_bytes() {
                return Some(number);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Returns the number of a string, assigning one if it is new.
    pub(crate) fn intern(&self, name: &str) -> u32 {
        let hash = hash(name);
        if let Some(number) = self.find_hashed(name, hash) {
            return number;
        }
        let mut count = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // Another fork may have inserted it in the meantime.
        if let Some(number) = self.find_hashed(name, hash) {
            return number;
        }
        let number = *count;
        self.strings
            .slot(number)
            .set(Name::new(name))
            .expect("numbers are given out once, under the writer's lock");
        *count += 1;
        let generation = self.current.load(Ordering::Relaxed);
        let table = self.table(generation);
        if (*count as usize) * 4 > table.len() * 3 {
            let larger = self.table(generation + 1);
            for number in 0..*count {
                insert(larger, self::hash(self.name(number)), number);
            }
            self.current.store(generation + 1, Ordering::Release);
        } else {
            insert(table, hash, number);
        }
        number
    }
}

/// Returns the bits of a hash that are stored above the number in an entry.
fn tag(hash: u64, mask: usize) -> u32 {
    (hash >> 32) as u32 & !(mask as u32)
}

fn insert(table: &[AtomicU32], hash: u64, number: u32) {
    let mask = table.len() - 1;
    let mut slot = hash as usize & mask;
    while table[slot].load(Ordering::Relaxed) != 0 {
        slot = (slot + 1) & mask;
    }
    table[slot].store((number + 1) | tag(hash, mask), Ordering::Release);
}

/// Returns the 64-bit FNV-1a hash of a name, with a final mix so that the low bits are usable too.
///
/// It determines the shape of child lists, and with it the digest of a tree: it is part of the
/// format.
pub(crate) fn hash(name: &str) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for byte in name.bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    state = (state ^ (state >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    state ^ (state >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_numbers_while_tables_grow() {
        let names = Names::default();
        for index in 0..10_000_u32 {
            assert_eq!(names.intern(&format!("n{index}")), index);
        }
        for index in 0..10_000_u32 {
            let name = format!("n{index}");
            assert_eq!(names.find(&name), Some(index));
            assert_eq!(names.name(index), name);
            assert_eq!(names.intern(&name), index);
        }
        assert_eq!(names.find("other"), None);
    }

    #[test]
    fn readers_find_names_while_a_writer_inserts() {
        let names = Names::default();
        names.intern("early");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for index in 0..20_000 {
                    names.intern(&index.to_string());
                }
            });
            for _ in 0..20_000 {
                assert_eq!(names.find("early"), Some(0));
            }
        });
    }
}
