//! A dense column of the fields that scans compare, so that the rows themselves need not be
//! fetched.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::class::Class;
use crate::row::Row;

/// The names of a node as numbers, its class, and the extent of its subtree in the log.
///
/// A slot is written by the branch that appends the row, before any tree contains the row. Readers
/// obtain their tree from that branch, so relaxed loads suffice.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    names: AtomicU64,
    rest: AtomicU64,
}

/// The content of a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Brief {
    /// Type and role.
    names: u64,
    /// Kind, class (three bits), span.
    rest: u64,
}

const CLASS_SHIFT: u32 = 29;
/// Larger subtrees are walked; for them the overhead is negligible.
const MAX_SPAN: u32 = (1 << CLASS_SHIFT) - 1;

impl Brief {
    pub(crate) fn of(row: &Row) -> Self {
        Brief {
            names: u64::from(row.node_type) << 32 | u64::from(row.role),
            rest: u64::from(row.kind) << 32 | (row.class() as u64) << CLASS_SHIFT,
        }
    }

    /// Returns the number of rows from this one on that form its subtree in document order; 0 if
    /// they are not contiguous.
    #[inline]
    pub(crate) fn span(self) -> u32 {
        (self.rest & u64::from(MAX_SPAN)) as u32
    }
}

impl Slot {
    pub(super) fn set(&self, brief: Brief) {
        self.names.store(brief.names, Ordering::Relaxed);
        self.rest.store(brief.rest, Ordering::Relaxed);
    }

    /// Sets the extent of the subtree; it must not be set before.
    pub(super) fn set_span(&self, span: u32) {
        if span <= MAX_SPAN {
            let rest = self.rest.load(Ordering::Relaxed);
            self.rest.store(rest | u64::from(span), Ordering::Relaxed);
        }
    }

    #[inline]
    pub(crate) fn get(&self) -> Brief {
        Brief { names: self.names.load(Ordering::Relaxed), rest: self.rest.load(Ordering::Relaxed) }
    }
}

/// What a scan looks for: the bits to compare, and their values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pattern {
    mask: Brief,
    value: Brief,
}

impl Pattern {
    pub(crate) fn with_class(mut self, class: Class) -> Self {
        self.mask.rest |= 0b111 << CLASS_SHIFT;
        self.value.rest |= (class as u64) << CLASS_SHIFT;
        self
    }

    pub(crate) fn with_type(mut self, symbol: u32) -> Self {
        self.mask.names |= u64::from(u32::MAX) << 32;
        self.value.names |= u64::from(symbol) << 32;
        self
    }

    pub(crate) fn with_role(mut self, symbol: u32) -> Self {
        self.mask.names |= u64::from(u32::MAX);
        self.value.names |= u64::from(symbol);
        self
    }

    pub(crate) fn with_kind(mut self, symbol: u32) -> Self {
        self.mask.rest |= u64::from(u32::MAX) << 32;
        self.value.rest |= u64::from(symbol) << 32;
        self
    }

    #[inline]
    pub(crate) fn admits(&self, brief: Brief) -> bool {
        (brief.names ^ self.value.names) & self.mask.names
            | (brief.rest ^ self.value.rest) & self.mask.rest
            == 0
    }
}
