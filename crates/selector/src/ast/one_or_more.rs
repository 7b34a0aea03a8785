//! A non-empty sequence that needs no allocation for a single element.

use std::fmt;
use std::{iter, slice};

/// At least one element, in order.
#[derive(Clone, PartialEq, Eq)]
pub struct OneOrMore<T> {
    first: T,
    rest: Vec<T>,
}

impl<T> OneOrMore<T> {
    /// Returns the sequence of one element.
    pub const fn new(first: T) -> Self {
        Self { first, rest: Vec::new() }
    }

    /// Appends an element.
    pub fn push(&mut self, element: T) {
        if self.rest.capacity() == 0 {
            // Two elements are common, four are not.
            self.rest = Vec::with_capacity(1);
        }
        self.rest.push(element);
    }

    /// Returns the first element.
    pub const fn first(&self) -> &T {
        &self.first
    }

    /// Returns the last element.
    pub fn last(&self) -> &T {
        self.rest.last().unwrap_or(&self.first)
    }

    /// Returns the number of elements; never 0, so there is no `is_empty`.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        1 + self.rest.len()
    }

    /// Returns the elements in order.
    pub fn iter(&self) -> iter::Chain<iter::Once<&T>, slice::Iter<'_, T>> {
        iter::once(&self.first).chain(&self.rest)
    }
}

impl<T: fmt::Debug> fmt::Debug for OneOrMore<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<'s, T> IntoIterator for &'s OneOrMore<T> {
    type Item = &'s T;
    type IntoIter = iter::Chain<iter::Once<&'s T>, slice::Iter<'s, T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> Extend<T> for OneOrMore<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        self.rest.extend(elements);
    }
}
