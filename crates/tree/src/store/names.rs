//! Strings and their numbers: interned once, found without a lock.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::Paged;

/// Slots of the smallest table; later ones double.
const FIRST_TABLE: usize = 64;
const TABLES: usize = 27;

/// An insert-only interner.
///
/// Names are shared by a context and all its forks. Numbers depend on the order of arrival and therefore
/// never reach any output: whatever is printed or compared uses the string.
#[derive(Debug)]
pub(crate) struct Names {
    strings: Paged<OnceLock<Box<str>>>,
    /// Open-addressing tables of `number + 1`, each twice as large as the one before. Readers use the newest one
    /// that they see; an older one still has every name that their snapshot can contain.
    tables: [OnceLock<Box<[AtomicU32]>>; TABLES],
    current: AtomicUsize,
    /// Held by the one who inserts; the value is the number of names.
    writer: Mutex<u32>,
}

impl Default for Names {
    fn default() -> Self {
        let names = Names {
            strings: Paged::default(),
            tables: [const { OnceLock::new() }; TABLES],
            current: AtomicUsize::new(0),
            writer: Mutex::new(0),
        };
        names.table(0);
        names
    }
}

impl Names {
    fn table(&self, generation: usize) -> &[AtomicU32] {
        self.tables[generation]
            .get_or_init(|| (0..FIRST_TABLE << generation).map(|_| AtomicU32::new(0)).collect())
    }

    /// Returns the string with this number.
    #[inline]
    pub(crate) fn name(&self, number: u32) -> &str {
        self.strings
            .get(number)
            .and_then(OnceLock::get)
            .expect("a number is only handed out after its string was stored")
    }

    /// Returns the number of a string, if it was ever interned.
    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        let table = self.table(self.current.load(Ordering::Acquire));
        let mask = table.len() - 1;
        let mut slot = hash(name) as usize & mask;
        loop {
            let entry = table[slot].load(Ordering::Acquire);
            if entry == 0 {
                return None;
            }
            if self.name(entry - 1) == name {
                return Some(entry - 1);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Returns the number of a string, giving it one if it is new.
    pub(crate) fn intern(&self, name: &str) -> u32 {
        if let Some(number) = self.find(name) {
            return number;
        }
        let mut count = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // Another fork may have inserted it in between.
        if let Some(number) = self.find(name) {
            return number;
        }
        let number = *count;
        self.strings
            .slot(number)
            .set(name.into())
            .expect("numbers are given out once, under the writer's lock");
        *count += 1;
        let generation = self.current.load(Ordering::Relaxed);
        let table = self.table(generation);
        // Three quarters full at most, so that probes stay short.
        if (*count as usize) * 4 > table.len() * 3 {
            let larger = self.table(generation + 1);
            for number in 0..*count {
                insert(larger, self.name(number), number);
            }
            self.current.store(generation + 1, Ordering::Release);
        } else {
            insert(table, name, number);
        }
        number
    }
}

fn insert(table: &[AtomicU32], name: &str, number: u32) {
    let mask = table.len() - 1;
    let mut slot = hash(name) as usize & mask;
    while table[slot].load(Ordering::Relaxed) != 0 {
        slot = (slot + 1) & mask;
    }
    table[slot].store(number + 1, Ordering::Release);
}

/// The 64-bit FNV-1a hash of a name, with a final mix so that the low bits are usable too.
///
/// It decides the shape of child lists, and with it the digest of a tree: it is part of the format.
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
