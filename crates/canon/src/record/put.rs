//! A node as bytes: its headers, its position and the place of its body.

use contextree_tree::{Cycle, Header, HeaderSet, NodeData, NodeRef, PolicyEntry, Scalar};

use super::bytes::{Cursor, RecordError, varint, zigzag};
use super::words::{WordReader, WordWriter};

/// The place of a node's content and attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyPlace {
    /// The node has no body.
    None,
    /// In the bodies of the same record, at this index.
    Here(
        /// The index.
        u32,
    ),
    /// As in the last snapshot.
    Kept,
    /// In the bodies of a commit.
    At {
        /// The commit.
        cycle: Cycle,
        /// The index.
        index: u32,
    },
}

/// An added or changed node. Its texts are borrowed from the record.
#[derive(Clone, Copy, Debug)]
pub struct Put<'a> {
    /// The id of its parent; empty for the root.
    pub parent: &'a str,
    /// The node, and the place of its body.
    pub data: NodeData<&'a str, BodyPlace>,
}

/// The minimum size of a node in bytes: flags, three words, stamp and index.
pub(super) const LEAST: usize = 6;

const REMOVABLE: u64 = 1 << 2;
const PINNED: u64 = 1 << 3;
const CHILDREN: u64 = 1 << 4;
const OFFSET: u64 = 1 << 5;
const PRIORITY: u64 = 1 << 6;
const EXPIRES: u64 = 1 << 7;
const ROLE: u64 = 1 << 8;
const KIND: u64 = 1 << 9;
const CYCLE: u64 = 1 << 10;
const MISSING: u64 = 1 << 11;
const POLICY: u64 = 1 << 12;

/// Bits of the byte that begins a policy entry.
const HAS_PIN: u8 = 1;
const PIN: u8 = 1 << 1;
const HAS_PRIORITY: u8 = 1 << 2;

/// The values that the nodes of one record are encoded relative to.
#[derive(Debug)]
pub(super) struct Frame {
    /// The cycle of the record.
    pub(super) cycle: Cycle,
    /// The stamp of the previous node.
    pub(super) stamp: i64,
}

pub(super) fn write<'a>(
    out: &mut Vec<u8>,
    words: &mut WordWriter<'a>,
    frame: &mut Frame,
    node: NodeRef<'a>,
    body: BodyPlace,
) {
    let missing = Header::REQUIRED
        .iter()
        .enumerate()
        .filter(|(_, header)| !node.has_header(**header))
        .fold(0_u64, |bits, (index, _)| bits | 1 << index);
    let is_set = |scalar: Scalar| scalar.as_int() != Some(0);
    let bit = |on: bool, bit: u64| if on { bit } else { 0 };
    let flags = match body {
        BodyPlace::None => 0,
        BodyPlace::Here(_) => 1,
        BodyPlace::Kept => 2,
        BodyPlace::At { .. } => 3,
    } | bit(node.is_removable(), REMOVABLE)
        | bit(node.is_pinned(), PINNED)
        | bit(node.has_header(Header::Children), CHILDREN)
        | bit(is_set(node.offset()), OFFSET)
        | bit(is_set(node.priority()), PRIORITY)
        | bit(node.expires().is_some(), EXPIRES)
        | bit(node.role().is_some(), ROLE)
        | bit(node.kind().is_some(), KIND)
        | bit(node.cycle() != frame.cycle, CYCLE)
        | bit(missing != 0, MISSING)
        | bit(!node.policy().is_empty(), POLICY);
    varint(out, flags);
    words.write(out, node.id());
    words.write(out, node.node_type());
    words.write(out, node.parent_id().unwrap_or_default());
    if flags & OFFSET != 0 {
        scalar(out, node.offset());
    }
    if flags & PRIORITY != 0 {
        scalar(out, node.priority());
    }
    if let Some(expires) = node.expires() {
        zigzag(out, i64::from(expires) - i64::from(frame.cycle));
    }
    for word in [node.role(), node.kind()].into_iter().flatten() {
        words.write(out, word);
    }
    if flags & CYCLE != 0 {
        varint(out, u64::from(node.cycle()));
    }
    if flags & MISSING != 0 {
        varint(out, missing);
    }
    if flags & POLICY != 0 {
        policy(out, node.policy());
    }
    zigzag(out, node.created_at_ns().wrapping_sub(frame.stamp));
    frame.stamp = node.created_at_ns();
    varint(out, u64::from(node.creation_index()));
    match body {
        BodyPlace::None | BodyPlace::Kept => {}
        BodyPlace::Here(index) => varint(out, u64::from(index)),
        BodyPlace::At { cycle, index } => {
            zigzag(out, i64::from(frame.cycle) - i64::from(cycle));
            varint(out, u64::from(index));
        }
    }
}

pub(super) fn read<'a>(
    cursor: &mut Cursor<'a>,
    words: &mut WordReader<'a>,
    frame: &mut Frame,
) -> Result<Put<'a>, RecordError> {
    let flags = cursor.varint()?;
    let id = words.read(cursor)?;
    let node_type = words.read(cursor)?;
    let parent = words.read(cursor)?;
    let mut data = NodeData::with_body(id, node_type, BodyPlace::None);
    data.removable = flags & REMOVABLE != 0;
    data.pinned = flags & PINNED != 0;
    data.shows_children = Some(flags & CHILDREN != 0);
    if flags & OFFSET != 0 {
        data.offset = read_scalar(cursor)?;
    }
    if flags & PRIORITY != 0 {
        data.priority = read_scalar(cursor)?;
    }
    if flags & EXPIRES != 0 {
        data.expires = Some(relative(cursor, i64::from(frame.cycle), 1)?);
    }
    if flags & ROLE != 0 {
        data.role = Some(words.read(cursor)?);
    }
    if flags & KIND != 0 {
        data.kind = Some(words.read(cursor)?);
    }
    data.cycle = if flags & CYCLE != 0 { Cycle(cursor.u32()?) } else { frame.cycle };
    if flags & MISSING != 0 {
        data.missing = HeaderSet::from_bits(cursor.varint()?);
    }
    if flags & POLICY != 0 {
        data.policy = read_policy(cursor)?;
    }
    frame.stamp = frame.stamp.wrapping_add(cursor.zigzag()?);
    data.created_at_ns = frame.stamp;
    data.creation_index = cursor.u32()?;
    data.body = match flags & 3 {
        0 => BodyPlace::None,
        1 => BodyPlace::Here(cursor.u32()?),
        2 => BodyPlace::Kept,
        _ => {
            let cycle = relative(cursor, i64::from(frame.cycle), -1)?;
            BodyPlace::At { cycle, index: cursor.u32()? }
        }
    };
    Ok(Put { parent, data })
}

/// Reads a number encoded as its distance from another, upwards or downwards.
fn relative(cursor: &mut Cursor<'_>, from: i64, sign: i64) -> Result<Cycle, RecordError> {
    let distance = cursor.zigzag()?;
    let number = distance.checked_mul(sign).and_then(|distance| from.checked_add(distance));
    let number = number.and_then(|number| u32::try_from(number).ok()).map(Cycle);
    number.ok_or_else(|| cursor.error("the number of a commit is out of range"))
}

fn policy(out: &mut Vec<u8>, entry: PolicyEntry) {
    let bit = |on: bool, bit: u8| if on { bit } else { 0 };
    out.push(
        bit(entry.pinned.is_some(), HAS_PIN)
            | bit(entry.pinned == Some(true), PIN)
            | bit(entry.priority.is_some(), HAS_PRIORITY),
    );
    if let Some(priority) = entry.priority {
        scalar(out, priority);
    }
}

fn read_policy(cursor: &mut Cursor<'_>) -> Result<PolicyEntry, RecordError> {
    let bits = cursor.byte()?;
    let priority = (bits & HAS_PRIORITY != 0).then(|| read_scalar(cursor)).transpose()?;
    Ok(PolicyEntry { pinned: (bits & HAS_PIN != 0).then_some(bits & PIN != 0), priority })
}

fn scalar(out: &mut Vec<u8>, scalar: Scalar) {
    match scalar {
        Scalar::Int(value) => {
            out.push(0);
            zigzag(out, value);
        }
        Scalar::Float(value) => {
            out.push(1);
            out.extend_from_slice(&value.to_bits().to_le_bytes());
        }
    }
}

fn read_scalar(cursor: &mut Cursor<'_>) -> Result<Scalar, RecordError> {
    match cursor.byte()? {
        0 => Ok(Scalar::Int(cursor.zigzag()?)),
        1 => {
            let value = f64::from_bits(u64::from_le_bytes(cursor.array()?));
            match value.is_finite() {
                true => Ok(Scalar::Float(value)),
                false => Err(cursor.error("a number is not finite")),
            }
        }
        _ => Err(cursor.error("a number has an unknown form")),
    }
}

/// Returns whether a node would be encoded differently, ignoring its body.
pub(super) fn differs(before: NodeRef<'_>, after: NodeRef<'_>) -> bool {
    let scalar = |scalar: Scalar| match scalar {
        Scalar::Int(value) => (0, value),
        Scalar::Float(value) => (1, value.to_bits().cast_signed()),
    };
    let all = |node: NodeRef<'_>| {
        (
            (scalar(node.offset()), scalar(node.priority()), node.expires(), node.cycle()),
            (node.created_at_ns(), node.creation_index(), node.is_removable(), node.is_pinned()),
            Header::REQUIRED.map(|header| node.has_header(header)),
            node.has_header(Header::Children),
            (node.policy().pinned, node.policy().priority.map(scalar)),
        )
    };
    let texts = |node: NodeRef<'_>| [node.role(), node.kind()].map(|text| text.map(str::to_owned));
    before.node_type() != after.node_type()
        || before.parent_id() != after.parent_id()
        || all(before) != all(after)
        || texts(before) != texts(after)
}

/// Returns whether content and attributes are equal.
pub(super) fn same_body(before: NodeRef<'_>, after: NodeRef<'_>) -> bool {
    match (before.body(), after.body()) {
        (None, None) => true,
        (Some(left), Some(right)) => {
            std::ptr::eq(left, right)
                || (left.content == right.content && left.attributes == right.attributes)
        }
        _ => false,
    }
}
