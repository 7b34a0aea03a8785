//! Decodes records.

use contextree_json::Value;
use contextree_tree::Cycle;

use super::bytes::{Cursor, RecordError};
use super::put::{self, Frame, Put};
use super::value;
use super::words::WordReader;
use super::write::{Heading, WorkCounters};
use crate::hash::Hash;

/// The kind of a record; the byte after the version.
pub(super) mod kind {
    pub(crate) const COMMIT: u8 = b'C';
    pub(crate) const WHOLE: u8 = b'S';
    pub(crate) const WORK: u8 = b'W';
    pub(crate) const TREE: u8 = b'T';
}

/// The subject of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A commit.
    Commit {
        /// Its number.
        cycle: Cycle,
        /// The digest of the snapshot that it made.
        digest: Hash,
        /// The latest creation stamp assigned so far.
        last_ns: i64,
        /// The previous commit; `None` for the first one.
        previous: Option<Cycle>,
        /// Whether the record is the full snapshot, including root and regions, instead of the
        /// changes.
        whole: bool,
    },
    /// A change of the working state.
    Work {
        /// The number of the next commit.
        next_cycle: Cycle,
        /// The counters after the change.
        counters: WorkCounters,
    },
    /// A checkpoint: a full tree.
    Tree {
        /// The number of the next commit.
        next_cycle: Cycle,
        /// The heading of the tree.
        heading: Heading,
    },
}

/// A decoded record. Texts are borrowed from its bytes.
#[derive(Clone, Debug)]
pub struct Effects<'a> {
    /// The subject.
    pub subject: Subject,
    /// Added and changed nodes, parents before children.
    pub puts: Vec<Put<'a>>,
    /// Ids of removed nodes, including all descendants of removed nodes.
    pub gone: Vec<&'a str>,
    /// The reasons for the changes, as JSON.
    pub account: Value,
}

/// Decodes a record.
///
/// # Errors
///
/// If the record is damaged.
pub fn read_effects(frame: &[u8]) -> Result<Effects<'_>, RecordError> {
    let mut cursor = Cursor::of_frame(frame)?;
    let kind = cursor.byte()?;
    let cycle = Cycle(cursor.u32()?);
    let subject = match kind {
        kind::COMMIT | kind::WHOLE => Subject::Commit {
            cycle,
            digest: Hash(cursor.array()?),
            last_ns: cursor.zigzag()?,
            previous: match cursor.u32()? {
                0 => None,
                distance => Some(
                    cycle
                        .get()
                        .checked_sub(distance)
                        .map(Cycle)
                        .ok_or_else(|| cursor.error("the previous commit is out of range"))?,
                ),
            },
            whole: kind == kind::WHOLE,
        },
        kind::WORK => Subject::Work {
            next_cycle: cycle,
            counters: WorkCounters { last_ns: cursor.zigzag()?, next_index: cursor.u32()? },
        },
        kind::TREE => Subject::Tree {
            next_cycle: cycle,
            heading: Heading {
                digest: Hash(cursor.array()?),
                history: Hash(cursor.array()?),
                last_ns: cursor.zigzag()?,
                snapshots: cursor.varint()?,
            },
        },
        _ => return Err(cursor.error("unknown record kind")),
    };
    let mut words = WordReader::default();
    let mut frame = Frame { cycle, stamp: 0 };
    let count = cursor.count_of(put::LEAST)?;
    let mut puts = Vec::with_capacity(count);
    for _ in 0..count {
        puts.push(put::read(&mut cursor, &mut words, &mut frame)?);
    }
    let count = cursor.count()?;
    let gone: Result<Vec<&str>, _> = (0..count).map(|_| words.read(&mut cursor)).collect();
    let gone = gone?;
    let account = value::read(&mut cursor, &mut words, 0)?;
    cursor.end()?;
    Ok(Effects { subject, puts, gone, account })
}
