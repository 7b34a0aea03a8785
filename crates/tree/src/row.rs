//! One version of one node.

use std::sync::{Arc, OnceLock};

use crate::body::Body;
use crate::class::{Class, Region};
use crate::cycle::Cycle;
use crate::list::{Children, Summary};
use crate::policy_entry::PolicyEntry;
use crate::scalar::Scalar;

/// The number of a row: identifies one version of a node within a context and its forks.
///
/// Numbers below [`TreeRef::common_versions`](crate::TreeRef::common_versions) denote the same row in both trees. They are not
/// [`NodeKey`]s: a node keeps its key and gets a new row with every change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct RowNumber(pub(crate) u32);

impl RowNumber {
    /// No row, or no previous version.
    pub(crate) const NONE: RowNumber = RowNumber(u32::MAX);
    /// The row of the root. Every log begins with the root and the regions, which never get another
    /// row.
    pub(crate) const ROOT: RowNumber = RowNumber(0);

    /// Returns the row of a region.
    #[must_use]
    pub const fn of_region(region: Region) -> Self {
        RowNumber(1 + region as u32)
    }

    /// Returns the number of the row at an index, counted from the first row.
    pub(crate) fn from_index(index: usize) -> Self {
        RowNumber(u32::try_from(index).expect("row numbers are 32 bits"))
    }

    /// Returns the index of the row, counted from the first row.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the number of the row that is `rows` rows after this one.
    #[inline]
    pub(crate) fn plus(self, rows: u32) -> Self {
        RowNumber(self.0 + rows)
    }

    /// Returns how many rows this one is after another, which must not be later.
    #[inline]
    pub(crate) fn since(self, first: RowNumber) -> u32 {
        self.0 - first.0
    }

    /// Like [`RowNumber::since`], but returns `None` if the other row is later.
    #[inline]
    pub(crate) fn checked_since(self, first: RowNumber) -> Option<u32> {
        self.0.checked_sub(first.0)
    }

    /// Returns the rows from this one to the last before `end`.
    #[inline]
    pub(crate) fn up_to(self, end: RowNumber) -> impl DoubleEndedIterator<Item = RowNumber> {
        (self.0..end.0).map(RowNumber)
    }
}

/// The number of a node: identifies it within a context and its forks, independent of its version.
///
/// A type of its own, because a node has many rows: a row number in its place would silently read
/// another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct NodeKey(pub(crate) u32);

impl NodeKey {
    /// No node: the parent of the root, and the node of an unused row.
    pub(crate) const NONE: NodeKey = NodeKey(u32::MAX);
}

/// Never expires.
pub(crate) const NEVER: u32 = u32::MAX;
/// No symbol: role or kind is absent.
pub(crate) const NO_SYMBOL: u32 = u32::MAX;

/// Bits of [`Row::flags`].
pub(crate) mod flag {
    /// A tombstone: the node is removed from this version on.
    pub(crate) const DEAD: u32 = 1;
    /// `removable` is true.
    pub(crate) const REMOVABLE: u32 = 1 << 1;
    /// `pinned` is true.
    pub(crate) const PINNED: u32 = 1 << 2;
    /// The offset column holds the bits of a float.
    pub(crate) const OFFSET_FLOAT: u32 = 1 << 3;
    /// The priority column holds the bits of a float.
    pub(crate) const PRIORITY_FLOAT: u32 = 1 << 4;
    /// The class, three bits.
    pub(crate) const CLASS_SHIFT: u32 = 5;
    /// The node carries `data_refs`.
    pub(crate) const REFERS: u32 = 1 << 8;
    /// The node has a key.
    pub(crate) const KEYED: u32 = 1 << 9;
    /// The document had this header: ten bits from here on, see `Header`.
    pub(crate) const PRESENT_SHIFT: u32 = 16;
}

/// Headers (and `children`) that a lenient import may find missing. Nodes created by the engine
/// have them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// `id`.
    Id,
    /// `nodeType`.
    NodeType,
    /// `offset`.
    Offset,
    /// `ttl`.
    Ttl,
    /// `priority`.
    Priority,
    /// `cycle`.
    Cycle,
    /// `created_at_ns`.
    CreatedAtNs,
    /// `created_at_iso`.
    CreatedAtIso,
    /// `creation_index`.
    CreationIndex,
    /// `children`: present on every container that the engine creates and on no block.
    Children,
}

impl Header {
    /// The nine required headers, in the order of the specification.
    pub const REQUIRED: [Header; 9] = [
        Header::Id,
        Header::NodeType,
        Header::Offset,
        Header::Ttl,
        Header::Priority,
        Header::Cycle,
        Header::CreatedAtNs,
        Header::CreatedAtIso,
        Header::CreationIndex,
    ];

    /// Returns the header's name in documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Header::Id => "id",
            Header::NodeType => "nodeType",
            Header::Offset => "offset",
            Header::Ttl => "ttl",
            Header::Priority => "priority",
            Header::Cycle => "cycle",
            Header::CreatedAtNs => "created_at_ns",
            Header::CreatedAtIso => "created_at_iso",
            Header::CreationIndex => "creation_index",
            Header::Children => "children",
        }
    }

    pub(crate) fn bit(self) -> u32 {
        1 << (flag::PRESENT_SHIFT + self as u32)
    }
}

/// A set of required headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderSet(u16);

impl HeaderSet {
    /// Returns the headers of [`Header::REQUIRED`] whose bits are set, the first being the lowest.
    /// Other bits are ignored.
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        HeaderSet(bits as u16 & 0x1ff)
    }

    /// Returns the headers, in the order of the specification.
    pub fn iter(self) -> impl Iterator<Item = Header> {
        Header::REQUIRED.into_iter().filter(move |header| self.0 >> *header as u32 & 1 == 1)
    }
}

impl FromIterator<Header> for HeaderSet {
    fn from_iter<I: IntoIterator<Item = Header>>(headers: I) -> Self {
        let bits = headers.into_iter().fold(0, |bits, header| bits | 1 << header as u32);
        HeaderSet::from_bits(bits)
    }
}

/// The flags of all nine required headers.
pub(crate) const ALL_REQUIRED: u32 = 0x1ff << flag::PRESENT_SHIFT;

/// One version of one node. Rows are immutable once they are in the log.
///
/// Fields that are read on the way to other nodes are last and adjacent: in a large tree none of
/// them is in the cache.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Row {
    pub(crate) offset: i64,
    pub(crate) priority: i64,
    pub(crate) created_at_ns: i64,
    pub(crate) body: Option<Arc<Body>>,
    /// Pin and priority that were given after the node was sealed. Few nodes have any.
    pub(crate) policy: Option<Box<PolicyEntry>>,
    pub(crate) node_type: u32,
    pub(crate) role: u32,
    pub(crate) kind: u32,
    pub(crate) cycle: Cycle,
    pub(crate) creation_index: u32,
    /// The row of the previous version, from an earlier commit.
    pub(crate) previous: RowNumber,
    /// Skip pointer to an earlier version: the one whose number has the lowest set bit cleared.
    pub(crate) jump: RowNumber,
    /// The version number of the node, from 0.
    pub(crate) version: u32,
    /// The parent's node number.
    pub(crate) parent: NodeKey,
    /// The node's number; its id is `ids.name(node)`.
    pub(crate) node: NodeKey,
    pub(crate) flags: u32,
    /// The commit at which the node expires; [`NEVER`] for ttl null. Stored as an absolute number,
    /// so that a commit need not touch nodes whose ttl merely decreases.
    pub(crate) expires: u32,
    pub(crate) children: Children,
    /// The summary of the node and everything below it.
    pub(crate) summary: Summary,
    /// The Merkle digest of the node and everything below it, once computed.
    pub(crate) digest: OnceLock<[u8; 32]>,
    /// The key as a symbol. [`NO_SYMBOL`] if there is none, and until the row is in the log.
    pub(crate) key: u32,
}

impl Row {
    /// Returns a row of a node with default fields.
    pub(crate) fn new(node: NodeKey, node_type: u32, class: Class) -> Self {
        Row {
            node,
            parent: NodeKey::NONE,
            node_type,
            role: NO_SYMBOL,
            kind: NO_SYMBOL,
            flags: (class as u32) << flag::CLASS_SHIFT,
            offset: 0,
            priority: 0,
            created_at_ns: 0,
            cycle: Cycle::ZERO,
            creation_index: 0,
            expires: NEVER,
            previous: RowNumber::NONE,
            jump: RowNumber::NONE,
            version: 0,
            summary: Summary::EMPTY,
            children: Children::EMPTY,
            body: None,
            policy: None,
            key: NO_SYMBOL,
            digest: OnceLock::new(),
        }
    }

    /// Returns a row of no node: an unused slot in the log.
    pub(crate) fn void() -> Self {
        let mut row = Row::new(NodeKey::NONE, 0, Class::Block);
        row.set(flag::DEAD, true);
        row
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.has(flag::DEAD)
    }

    pub(crate) fn has(&self, bit: u32) -> bool {
        self.flags & bit != 0
    }

    pub(crate) fn set(&mut self, bit: u32, on: bool) {
        if on {
            self.flags |= bit;
        } else {
            self.flags &= !bit;
        }
    }

    /// Marks a header as present with the value of its column, and drops the text that an import
    /// kept for it.
    pub(crate) fn settle(&mut self, header: Header) {
        self.set(header.bit(), true);
        self.drop_attribute(header.name());
    }

    /// Removes an attribute.
    pub(crate) fn drop_attribute(&mut self, name: &str) {
        if let Some(body) = &self.body
            && body.attributes.contains_key(name)
        {
            let mut attributes = body.attributes.clone();
            attributes.remove(name);
            self.body = Some(Arc::new(Body::new(body.content.clone(), attributes)));
        }
    }

    /// Sets the flags derived from attributes.
    pub(crate) fn note_attributes(&mut self, body: &Body) {
        self.set(flag::REFERS, body.attributes.contains_key("data_refs"));
        self.set(flag::KEYED, body.attributes.contains_key("key"));
        self.key = NO_SYMBOL;
    }

    pub(crate) fn class(&self) -> Class {
        match self.flags >> flag::CLASS_SHIFT & 0b111 {
            0 => Class::Root,
            1 => Class::Region,
            2 => Class::Turn,
            3 => Class::Container,
            _ => Class::Block,
        }
    }

    pub(crate) fn offset(&self) -> Scalar {
        scalar(self.offset, self.has(flag::OFFSET_FLOAT))
    }

    pub(crate) fn set_offset(&mut self, offset: Scalar) {
        self.offset = bits(offset);
        self.set(flag::OFFSET_FLOAT, matches!(offset, Scalar::Float(_)));
    }

    pub(crate) fn priority(&self) -> Scalar {
        scalar(self.priority, self.has(flag::PRIORITY_FLOAT))
    }

    pub(crate) fn set_priority(&mut self, priority: Scalar) {
        self.priority = bits(priority);
        self.set(flag::PRIORITY_FLOAT, matches!(priority, Scalar::Float(_)));
    }

    pub(crate) fn set_policy(&mut self, entry: PolicyEntry) {
        self.policy = (!entry.is_empty()).then(|| Box::new(entry));
    }

    /// Recomputes the summary from the row itself and the summary of its children.
    pub(crate) fn summarize(&mut self, below: Summary) {
        let mut own = Summary { expires: self.expires, marks: 0 };
        if self.has(flag::REFERS) {
            own.marks |= Summary::REFERS;
        }
        if self.has(flag::REMOVABLE) && self.class() == Class::Container && self.children.is_empty()
        {
            own.marks |= Summary::EMPTY_REMOVABLE;
        }
        own.marks |= Summary::of_symbol(self.node_type);
        for symbol in [self.role, self.kind] {
            if symbol != NO_SYMBOL {
                own.marks |= Summary::of_symbol(symbol);
            }
        }
        if self.has(flag::KEYED) {
            own.marks |= Summary::KEY;
        }
        if self.class() == Class::Turn {
            own.marks |= Summary::TURN;
        }
        if below.marks & Summary::TURN != 0 {
            own.marks |= Summary::ABOVE_TURN;
        }
        self.summary = own.and(below);
    }
}

fn scalar(column: i64, is_float: bool) -> Scalar {
    if is_float {
        Scalar::Float(f64::from_bits(column.cast_unsigned()))
    } else {
        Scalar::Int(column)
    }
}

fn bits(scalar: Scalar) -> i64 {
    match scalar {
        Scalar::Int(value) => value,
        Scalar::Float(value) => value.to_bits().cast_signed(),
    }
}
