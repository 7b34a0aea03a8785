//! Whether a history is linearizable.
//!
//! Each write of a context has a revision of its own, and each read says which one it saw. So the order of all operations is known: by
//! revision, and a write before the reads of its revision. Such a history is linearizable if that order never contradicts the time: an
//! operation that ended before another began must not come after it. In general this is a search; here it is one pass.

use std::collections::{BTreeMap, BTreeSet};

use crate::script::Failure;

/// One operation that ended, or whose end no one saw.
#[derive(Clone, Debug)]
struct Operation {
    name: String,
    start: u128,
    end: u128,
    revision: u64,
    is_write: bool,
    hash: Option<String>,
}

/// What one process said.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    operations: Vec<Operation>,
    /// The context of the operation that has begun and not ended.
    open: Option<String>,
    /// Writes without a known revision, by context: lost answers and retention.
    uncounted: BTreeMap<String, u64>,
    /// How often the store was verified.
    pub verifies: u64,
}

impl Seen {
    /// Takes a line. Returns whether an operation ended with it.
    ///
    /// # Errors
    ///
    /// If the client failed.
    pub fn line(&mut self, line: &str) -> Result<bool, Failure> {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |index: usize| -> Result<u128, Failure> {
            let word = words.get(index).copied().unwrap_or_default();
            word.parse().map_err(|_| format!("a client said `{line}`"))
        };
        if words[0] == "begin" {
            self.open = words.get(1).map(|name| (*name).to_owned());
            return Ok(false);
        }
        let name = self.open.take().ok_or_else(|| format!("`{line}` without a beginning"))?;
        match words[0] {
            "read" | "wrote" => self.operations.push(Operation {
                name,
                start: number(1)?,
                end: number(2)?,
                revision: u64::try_from(number(3)?).unwrap_or(u64::MAX),
                is_write: words[0] == "wrote",
                hash: words.get(4).map(|hash| (*hash).to_owned()),
            }),
            "collected" | "unknown" => *self.uncounted.entry(name).or_default() += 1,
            "verified" => self.verifies += 1,
            // An outdated session is refused, perhaps by what its process knows; that is not a read of the store.
            "found" | "kept" => {}
            _ => return Err(format!("a client: {line}")),
        }
        Ok(true)
    }

    /// Returns the number of writes.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.operations.iter().filter(|operation| operation.is_write).count() as u64
    }

    /// Returns whether the client was killed in the middle of an operation.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }
}

/// Checks the operations of a context, whose last revision is `last`.
///
/// # Errors
///
/// The first contradiction.
pub fn linearizable(seen: &[Seen], name: &str, last: u64) -> Result<(), Failure> {
    let all = seen.iter().flat_map(|one| &one.operations);
    let mut operations: Vec<&Operation> = all.filter(|it| it.name == name).collect();
    let mut written = BTreeSet::new();
    let mut hashes: BTreeMap<u64, &str> = BTreeMap::new();
    for operation in &operations {
        let Operation { revision, is_write, hash, .. } = operation;
        if *is_write && !written.insert(*revision) {
            return Err(format!("revision {revision} was written twice"));
        }
        if let Some(hash) = hash
            && *hashes.entry(*revision).or_insert(hash) != hash
        {
            return Err(format!("revision {revision} was seen with two contents"));
        }
        if *revision > last {
            return Err(format!("revision {revision} was seen and is lost; the last is {last}"));
        }
    }
    let uncounted: u64 = seen
        .iter()
        .map(|one| {
            let killed = one.open.as_deref() == Some(name);
            one.uncounted.get(name).copied().unwrap_or(0) + u64::from(killed)
        })
        .sum();
    // The first revision is the creation.
    let missing = (2..=last).filter(|revision| !written.contains(revision)).count() as u64;
    if missing > uncounted {
        return Err(format!("{missing} revisions no one wrote, {uncounted} unknown writes"));
    }
    // In the order of their beginnings; `ended` are those before, by their end.
    operations.sort_by_key(|operation| (operation.start, operation.end, operation.revision));
    let mut ended: BTreeSet<(u128, (u64, bool))> = BTreeSet::new();
    let mut newest: Option<(u64, bool)> = None;
    for operation in &operations {
        while let Some(first) = ended.first().copied().filter(|(end, _)| *end < operation.start) {
            ended.remove(&first);
            newest = newest.max(Some(first.1));
        }
        let place = (operation.revision, !operation.is_write);
        if newest.is_some_and(|newest| newest > place) {
            return Err(format!("{operation:?} began after {newest:?} had been seen"));
        }
        ended.insert((operation.end, place));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&[&str]], last: u64) -> Option<String> {
        let seen: Vec<Seen> = lines
            .iter()
            .map(|lines| {
                let mut seen = Seen::default();
                for line in *lines {
                    if !line.starts_with("begin") {
                        seen.line("begin one 0").unwrap();
                    }
                    seen.line(line).unwrap();
                }
                seen
            })
            .collect();
        linearizable(&seen, "one", last).err()
    }

    #[test]
    fn overlapping_operations_may_come_in_any_order() {
        assert_eq!(check(&[&["wrote 10 30 2 a"], &["read 20 25 1 x", "read 26 40 2 a"]], 2), None);
    }

    #[test]
    fn a_stale_read_is_found() {
        let found = check(&[&["wrote 10 20 2 a"], &["read 21 25 1 x"]], 2).unwrap();
        assert!(found.contains("had been seen"), "{found}");
    }

    #[test]
    fn a_read_before_its_write_is_found() {
        assert!(check(&[&["wrote 30 40 2 a"], &["read 10 20 2 a"]], 2).is_some());
    }

    #[test]
    fn a_lost_write_and_a_double_one_are_found() {
        assert!(check(&[&["wrote 10 20 3 a"]], 2).is_some());
        assert!(check(&[&["wrote 10 20 2 a"], &["wrote 10 20 2 b"]], 2).is_some());
        assert!(check(&[&["wrote 10 20 2 a"], &["read 30 40 2 b"]], 2).is_some());
    }

    #[test]
    fn a_revision_that_no_one_wrote_is_found_unless_a_client_was_killed() {
        assert!(check(&[&["wrote 10 20 2 a"]], 3).is_some());
        assert_eq!(check(&[&["wrote 10 20 2 a", "begin one 30"]], 3), None);
    }
}
