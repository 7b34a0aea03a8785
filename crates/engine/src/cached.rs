//! What a layer above the engine keeps with a context from one use to the next.

use std::any::Any;
use std::fmt;

use crate::context::Context;

/// A value that makes the next use of a context faster, such as the rendering of its last request.
///
/// It is not part of the context: never stored, forked or compared, and dropped whenever the trees that it was made from are.
pub trait Cached: Any + Send + Sync {
    /// Returns about how many bytes of memory it takes.
    fn bytes(&self) -> usize;
}

/// The cached value of a context.
#[derive(Default)]
pub(crate) struct Cache(Option<Box<dyn Cached>>);

impl fmt::Debug for Cache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Cache").field(&self.0.as_ref().map(|value| value.bytes())).finish()
    }
}

impl Context {
    /// Takes the cached value out. `None` if there is none, or one of another type, which is dropped.
    pub fn take_cached<T: Cached>(&mut self) -> Option<T> {
        let value: Box<dyn Any> = self.cache.0.take()?;
        value.downcast::<T>().ok().map(|value| *value)
    }

    /// Keeps a value with the context, in place of the one before it.
    pub fn set_cached(&mut self, value: impl Cached) {
        self.cache.0 = Some(Box::new(value));
    }

    /// Returns about how many bytes the cached value takes.
    #[must_use]
    pub fn cached_bytes(&self) -> usize {
        self.cache.0.as_ref().map_or(0, |value| value.bytes())
    }
}
