//! Many units of a trial on several threads, in chunks, with the progress printed. The first failure ends all.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::script::Failure;

/// How many units, and how they are shared out.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// How many units there are.
    pub units: u64,
    /// How many a thread takes at once.
    pub chunk: u64,
    /// How many threads work.
    pub threads: usize,
}

/// Does the units of each chunk: the number of its first one, and how many they are. Calls `tell` with the number of units that are done.
///
/// # Errors
///
/// The first failure of a chunk. Chunks that have begun are finished.
pub fn spread<R: Default + Send>(
    size: Size,
    work: impl Fn(u64, u64) -> Result<R, Failure> + Sync,
    add: impl Fn(&mut R, R) + Sync,
    tell: impl Fn(u64) + Sync,
) -> Result<R, Failure> {
    let chunk = size.chunk.max(1);
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let sum: Mutex<Result<R, Failure>> = Mutex::new(Ok(R::default()));
    let lock = || sum.lock().unwrap_or_else(PoisonError::into_inner);
    let one = || {
        loop {
            let first = next.fetch_add(chunk, Ordering::Relaxed);
            if first >= size.units || lock().is_err() {
                return;
            }
            let count = chunk.min(size.units - first);
            let result = work(first, count);
            let all = done.fetch_add(count, Ordering::Relaxed) + count;
            let mut sum = lock();
            match (result, sum.is_ok()) {
                (Ok(part), true) => {
                    if let Ok(sum) = &mut *sum {
                        add(sum, part);
                    }
                }
                (Err(failure), true) => *sum = Err(failure),
                (_, false) => return,
            }
            drop(sum);
            tell(all);
        }
    };
    thread::scope(|scope| {
        for _ in 0..size.threads.max(1) {
            scope.spawn(one);
        }
    });
    sum.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{Size, spread};

    #[test]
    fn every_unit_is_done_once_and_a_failure_ends_all() {
        let size = Size { units: 103, chunk: 10, threads: 3 };
        let work = |first, count| Ok((first..first + count).collect::<Vec<u64>>());
        let mut all = spread(size, work, |all, part| all.extend(part), |_| ()).unwrap();
        all.sort_unstable();
        assert_eq!(all, (0..103).collect::<Vec<u64>>());
        let work = |first, _| if first < 50 { Ok(first) } else { Err(format!("unit {first}")) };
        let failure = spread(size, work, |_, _| (), |_| ()).unwrap_err();
        assert!(failure.starts_with("unit "), "{failure}");
    }
}
