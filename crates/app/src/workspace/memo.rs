//! What is kept between commands of one program: values that take long to compute and depend on nothing but their key.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contextree::tokens::{TokenCounter, Tokenizer};

/// How much is kept, in bytes, about.
const BOUND: usize = 128 << 20;

/// How many counts of tokens are kept for each tokenizer; about 100 bytes each.
const COUNTS: usize = 400_000;

/// What is kept between commands. Clones of a workspace share it.
#[derive(Default)]
pub(crate) struct Memo {
    entries: Mutex<Entries>,
    counters: Mutex<Vec<Arc<TokenCounter>>>,
}

#[derive(Default)]
struct Entries {
    /// The one that was used last is at the end.
    list: VecDeque<Entry>,
    bytes: usize,
}

struct Entry {
    key: String,
    bytes: usize,
    value: Arc<dyn Any + Send + Sync>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Memo {
    /// Returns the value of a key; computes it if it is not kept. `weigh` says how many bytes it takes.
    ///
    /// # Errors
    ///
    /// If it cannot be computed.
    pub(crate) fn get<T: Send + Sync + 'static, E>(
        &self,
        key: &str,
        weigh: impl FnOnce(&T) -> usize,
        compute: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        if let Some(value) = lock(&self.entries).take(key).and_then(|value| value.downcast().ok()) {
            return Ok(value);
        }
        // Without the lock: others do not wait. Two that compute the same at once get the same.
        let value = Arc::new(compute()?);
        let bytes = weigh(&value);
        let kept: Arc<dyn Any + Send + Sync> = value.clone();
        lock(&self.entries).put(Entry { key: key.to_owned(), bytes, value: kept });
        Ok(value)
    }

    /// Returns the counter of a tokenizer, which remembers what it counted.
    pub(crate) fn counter(&self, tokenizer: Tokenizer) -> Arc<TokenCounter> {
        let mut counters = lock(&self.counters);
        if let Some(counter) = counters.iter().find(|counter| counter.tokenizer() == tokenizer) {
            return Arc::clone(counter);
        }
        let counter = Arc::new(TokenCounter::with_capacity(tokenizer, COUNTS));
        counters.push(Arc::clone(&counter));
        counter
    }
}

impl Entries {
    /// Returns a value, and makes it the one that was used last.
    fn take(&mut self, key: &str) -> Option<Arc<dyn Any + Send + Sync>> {
        let place = self.list.iter().position(|entry| entry.key == key)?;
        let entry = self.list.remove(place)?;
        let value = Arc::clone(&entry.value);
        self.list.push_back(entry);
        Some(value)
    }

    fn put(&mut self, entry: Entry) {
        if entry.bytes > BOUND || self.list.iter().any(|other| other.key == entry.key) {
            return;
        }
        self.bytes += entry.bytes;
        self.list.push_back(entry);
        while self.bytes > BOUND
            && let Some(oldest) = self.list.pop_front()
        {
            self.bytes -= oldest.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BOUND, Memo};

    #[test]
    fn what_was_not_used_for_longest_is_dropped_first() {
        let memo = Memo::default();
        let computed = |key: &str| {
            let mut was = false;
            let done = memo.get(
                key,
                |_: &u8| BOUND / 2,
                || {
                    was = true;
                    Ok::<_, ()>(1)
                },
            );
            assert!(done.is_ok());
            was
        };
        assert!(computed("a") && computed("b"));
        assert!(!computed("a"), "it is kept");
        assert!(computed("c"), "takes the place of b");
        assert!(!computed("a") && computed("b"));
    }
}
