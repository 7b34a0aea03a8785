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

/// A record.
#[derive(Clone, Debug)]
pub struct Effects {
    /// What it is about.
    pub subject: Subject,
    /// Nodes that came or are others now, parents before children.
    pub puts: Vec<Put>,
    /// Ids of nodes that went. Everything below one that went is listed, too.
    pub gone: Vec<Box<str>>,
    /// Why, in words.
    pub account: Value,
}

/// Reads a record.
///
/// # Errors
///
/// The record is damaged.
pub fn read_effects(frame: &[u8]) -> Result<Effects, RecordError> {
    let mut cursor = Cursor::of_frame(frame)?;
    let kind = cursor.byte()?;
    let cycle = cursor.u32()?;
    let subject = match kind {
        kind::COMMIT | kind::WHOLE => Subject::Commit {
            cycle,
            digest: Hash(cursor.array()?),
            last_ns: cursor.zigzag()?,
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
    let count = cursor.count()?;
    let puts: Result<Vec<_>, _> =
        (0..count).map(|_| put::read(&mut cursor, &mut words, &mut frame)).collect();
    let puts = puts?;
    let count = cursor.count()?;
    let gone: Result<Vec<Box<str>>, _> =
        (0..count).map(|_| words.read(&mut cursor).map(Into::into)).collect();
    let gone = gone?;
    let account = value::read(&mut cursor, &mut words, 0)?;
    cursor.end()?;
    Ok(Effects { subject, puts, gone, account })
}
