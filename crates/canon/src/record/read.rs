//! Records → what they say.

use contextree_json::Value;

use super::bytes::{Cursor, RecordError};
use super::put::{self, Frame, Put};
use super::value;
use super::words::WordReader;
use super::write::{Heading, WorkCounters};
use crate::hash::Hash;

/// What a record is; the byte behind the version.
pub(super) mod kind {
    pub(crate) const COMMIT: u8 = b'C';
    pub(crate) const WHOLE: u8 = b'S';
    pub(crate) const WORK: u8 = b'W';
    pub(crate) const TREE: u8 = b'T';
}

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A commit.
    Commit {
        /// Its number.
        cycle: u32,
        /// The digest of the snapshot that it made.
        digest: Hash,
        /// The latest creation stamp that was given by then.
        last_ns: i64,
        /// The commit before it; nothing for the first one.
        previous: Option<u32>,
        /// True if the record is the whole snapshot, root and regions included, and not what changed.
        whole: bool,
    },
    /// Something that was done to the working state.
    Work {
        /// The commit to come.
        next_cycle: u32,
        /// The counters after it.
        counters: WorkCounters,
    },
    /// A checkpoint: a whole tree.
    Tree {
        /// The commit to come after it.
        next_cycle: u32,
        /// What stands before the tree.
        heading: Heading,
    },
}

/// A record. Texts stand in the bytes that it was read from.
#[derive(Clone, Debug)]
pub struct Effects<'a> {
    /// What it is about.
    pub subject: Subject,
    /// Nodes that came or are others now, parents before children.
    pub puts: Vec<Put<'a>>,
    /// Ids of nodes that went. Everything below one that went is listed, too.
    pub gone: Vec<&'a str>,
    /// Why, in words.
    pub account: Value,
}

/// Reads a record.
///
/// # Errors
///
/// The record is damaged.
pub fn read_effects(frame: &[u8]) -> Result<Effects<'_>, RecordError> {
    let mut cursor = Cursor::of_frame(frame)?;
    let kind = cursor.byte()?;
    let cycle = cursor.u32()?;
    let subject = match kind {
        kind::COMMIT | kind::WHOLE => Subject::Commit {
            cycle,
            digest: Hash(cursor.array()?),
            last_ns: cursor.zigzag()?,
            previous: match cursor.u32()? {
                0 => None,
                distance => Some(
                    cycle
                        .checked_sub(distance)
                        .ok_or_else(|| cursor.error("the commit before is out of range"))?,
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
        _ => return Err(cursor.error("the record is of an unknown kind")),
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
