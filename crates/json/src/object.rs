//! A JSON object: unique keys, always in code point order.
//!
//! The order is an invariant of the type, so a writer only walks the entries. Code point order is
//! UTF-8 byte order; it is *not* UTF-16 order, which differs for characters beyond U+FFFF.

use std::slice;
use std::vec;

use crate::Value;
use crate::key::Key;

/// An object's entries, sorted by key.
///
/// Appending keys in ascending order is cheap; inserting elsewhere shifts all later entries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Object {
    entries: Vec<(Key, Value)>,
}

impl Object {
    /// Returns an object without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns an object without entries and with room for `capacity` of them.
    pub fn with_capacity(capacity: usize) -> Self {
        Object { entries: Vec::with_capacity(capacity) }
    }

    /// Returns the object of `entries`, or `None` if a key appears twice.
    pub(crate) fn from_entries(mut entries: Vec<(Key, Value)>) -> Option<Self> {
        let is_sorted = |entries: &[(Key, Value)]| entries.is_sorted_by(|a, b| a.0 < b.0);
        if !is_sorted(&entries) {
            entries.sort_unstable_by(|left, right| left.0.cmp(&right.0));
            if !is_sorted(&entries) {
                return None;
            }
        }
        Some(Object { entries })
    }

    /// Returns the value under `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let index = self.find(key).ok()?;
        self.entries.get(index).map(|(_, value)| value)
    }

    /// Returns the value under `key`, for changing it in place.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        let index = self.find(key).ok()?;
        self.entries.get_mut(index).map(|(_, value)| value)
    }

    /// Returns whether `key` is present, even if its value is `null`.
    pub fn contains_key(&self, key: &str) -> bool {
        self.find(key).is_ok()
    }

    /// Inserts `value` under `key` and returns the value it replaced.
    pub fn insert(&mut self, key: impl AsRef<str>, value: Value) -> Option<Value> {
        let key = Key::from(key.as_ref());
        if self.entries.last().is_none_or(|(last, _)| *last < key) {
            self.entries.push((key, value));
            return None;
        }
        match self.find_key(&key) {
            Ok(index) => self.entries.get_mut(index).map(|(_, old)| std::mem::replace(old, value)),
            Err(index) => {
                self.entries.insert(index, (key, value));
                None
            }
        }
    }

    /// Removes `key` and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let index = self.find(key).ok()?;
        Some(self.entries.remove(index).1)
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether the object is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the entries in key order.
    pub fn iter(&self) -> Iter<'_> {
        Iter { entries: self.entries.iter() }
    }

    /// Returns the keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> + DoubleEndedIterator {
        self.entries.iter().map(|(key, _)| key.as_str())
    }

    /// Returns the entries in key order, for the writer.
    pub(crate) fn entries(&self) -> slice::Iter<'_, (Key, Value)> {
        self.entries.iter()
    }

    fn find(&self, key: &str) -> Result<usize, usize> {
        match Key::short(key) {
            Some(key) => self.find_key(&key),
            None => {
                self.entries.binary_search_by(|(probe, _)| probe.as_bytes().cmp(key.as_bytes()))
            }
        }
    }

    fn find_key(&self, key: &Key) -> Result<usize, usize> {
        self.entries.binary_search_by(|(probe, _)| probe.cmp(key))
    }
}

/// The entries of an object in key order; from [`Object::iter`].
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    entries: slice::Iter<'a, (Key, Value)>,
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a str, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.entries.next().map(|(key, value)| (key.as_str(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.entries.next_back().map(|(key, value)| (key.as_str(), value))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a Object {
    type Item = (&'a str, &'a Value);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// The owned entries of an object in key order; from [`Object::into_iter`].
#[derive(Debug)]
pub struct IntoIter {
    entries: vec::IntoIter<(Key, Value)>,
}

impl Iterator for IntoIter {
    type Item = (Box<str>, Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.entries.next().map(|(key, value)| (key.into(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl DoubleEndedIterator for IntoIter {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.entries.next_back().map(|(key, value)| (key.into(), value))
    }
}

impl ExactSizeIterator for IntoIter {}

impl IntoIterator for Object {
    type Item = (Box<str>, Value);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter { entries: self.entries.into_iter() }
    }
}

/// Collects entries in any order; of two equal keys the later wins.
impl<K: AsRef<str>> FromIterator<(K, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(entries: I) -> Self {
        let mut entries: Vec<_> =
            entries.into_iter().map(|(key, value)| (Key::from(key.as_ref()), value)).collect();
        // The sort is stable, so of two equal keys the later one comes second and replaces the
        // earlier.
        entries.sort_by(|left, right| left.0.cmp(&right.0));
        entries.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                std::mem::swap(&mut later.1, &mut kept.1);
            }
            same
        });
        Object { entries }
    }
}
