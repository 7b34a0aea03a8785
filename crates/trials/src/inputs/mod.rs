//! Hostile inputs: stored records, database files, command lines, wire JSON. Whatever the bytes are, there is an answer or an error, and no panic.
//!
//! The same functions are the fuzz targets of these names (`cargo xtask fuzz`), which are guided by coverage; here the bytes come from a seed.

mod command;
mod database;
mod json;
mod records;
mod wire;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;

pub use command::command;
pub use database::database;
pub use records::records;
pub use wire::{fields, request, wire};

use contextree_testkit::Rng;

use crate::script::Failure;

/// What reads the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Stored records.
    Records,
    /// Files of stores.
    Database,
    /// Command lines.
    Command,
    /// Requests, as JSON.
    Wire,
}

impl Reader {
    /// All of them.
    pub const ALL: [Reader; 4] = [Reader::Records, Reader::Database, Reader::Command, Reader::Wire];

    /// Returns the reader of a name.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn named(name: &str) -> Result<Reader, Failure> {
        match name {
            "records" => Ok(Reader::Records),
            "database" => Ok(Reader::Database),
            "command" => Ok(Reader::Command),
            "wire" => Ok(Reader::Wire),
            _ => Err(format!("unknown reader `{name}`: records, database, command, wire")),
        }
    }

    /// Reads bytes.
    pub fn read(self, data: &[u8]) {
        match self {
            Reader::Records => records(data),
            Reader::Database => database(data),
            Reader::Command => command(data),
            Reader::Wire => wire(data),
        }
    }
}

/// Returns the bytes of a seed: short, mostly small numbers, sometimes text.
#[must_use]
pub fn bytes(seed: u64) -> Vec<u8> {
    let mut random = Rng::new(seed);
    let length = random.index(96);
    let plain = random.percent(30);
    let byte = |_| match (plain, random.below(4)) {
        (true, _) => b' ' + random.below(95) as u8,
        (_, 0 | 1) => random.below(16) as u8,
        _ => random.below(256) as u8,
    };
    (0..length).map(byte).collect()
}

/// Reading an input takes milliseconds. After this time it is taken for endless.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads the inputs of as many seeds.
///
/// # Errors
///
/// The first seed whose input makes the reader panic, or keeps it for a minute. Its thread is left alone then. A reader that ends the process
/// is seen by the caller's progress.
pub fn run(reader: Reader, inputs: u64, seed: u64) -> Result<u64, Failure> {
    run_with(move |data| reader.read(data), inputs, seed, PATIENCE)
        .map_err(|failure| format!("{reader:?}, {failure}"))
}

fn run_with(
    read: impl Fn(&[u8]) + Send + 'static,
    inputs: u64,
    seed: u64,
    patience: Duration,
) -> Result<u64, Failure> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for number in seed..seed + inputs {
            let data = bytes(number);
            let done = catch_unwind(AssertUnwindSafe(|| read(&data))).map_err(|panic| {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("?");
                format!("seed {number}: a panic: {text}")
            });
            let is_end = done.is_err();
            if sender.send(done).is_err() || is_end {
                return;
            }
        }
    });
    for number in seed..seed + inputs {
        match receiver.recv_timeout(patience) {
            Ok(done) => done?,
            Err(_) => return Err(format!("seed {number}: no end")),
        }
    }
    Ok(inputs)
}

/// Choices that are made by bytes, and by zeros after the last one.
struct Choices<'d>(std::slice::Iter<'d, u8>);

impl<'d> Choices<'d> {
    fn new(data: &'d [u8]) -> Choices<'d> {
        Choices(data.iter())
    }

    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    fn number(&mut self) -> u64 {
        u64::from(u16::from_le_bytes([self.byte(), self.byte()]))
    }

    /// Returns an index into something of this length, which is not 0.
    fn index(&mut self, length: usize) -> usize {
        let number = if length > 256 { self.number() } else { u64::from(self.byte()) };
        usize::try_from(number).unwrap_or(0) % length
    }

    fn is_empty(&self) -> bool {
        self.0.as_slice().is_empty()
    }

    fn rest(&self) -> &'d [u8] {
        self.0.as_slice()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{bytes, run_with};

    #[test]
    fn an_input_without_end_and_a_panic_are_failures_with_their_seed() {
        let long = Duration::from_secs(600);
        let wanted = bytes(7);
        let panics = move |data: &[u8]| assert_ne!(data, wanted);
        let failure = run_with(panics, 10, 1, long).unwrap_err();
        assert!(failure.starts_with("seed 7: a panic"), "{failure}");
        let (_kept, never) = std::sync::mpsc::channel::<()>();
        let never = std::sync::Mutex::new(never);
        let waits = move |_: &[u8]| {
            never.lock().unwrap().recv().ok();
        };
        let failure = run_with(waits, 10, 1, Duration::from_millis(20)).unwrap_err();
        assert_eq!(failure, "seed 1: no end");
        assert_eq!(run_with(|_| (), 10, 1, long), Ok(10));
    }
}
