//! Side records, as they are stored: each value carries a check.

use crate::error::{Result, StoreError};
use crate::rows::SideRecord;

/// Returns a value with its check: the CRC-32 of it, little-endian, before it.
pub(crate) fn seal(value: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(4 + value.len());
    sealed.extend_from_slice(&crc32fast::hash(value).to_le_bytes());
    sealed.extend_from_slice(value);
    sealed
}

/// Returns the value, or `None` if it is not what was written.
pub(crate) fn open(sealed: &[u8]) -> Option<&[u8]> {
    let (check, value) = sealed.split_first_chunk::<4>()?;
    (u32::from_le_bytes(*check) == crc32fast::hash(value)).then_some(value)
}

/// Checks a side record of any kind; returns its value.
pub(crate) fn check<'a>(context: &str, record: &'a SideRecord) -> Result<&'a [u8]> {
    open(&record.value).ok_or_else(|| damaged(context, &record.kind, &record.key))
}

pub(crate) fn damaged(context: &str, kind: &str, key: &str) -> StoreError {
    StoreError::Corrupt {
        record: format!("context {context}, side record {kind}/{key}"),
        message: "it is not what was written".to_owned(),
    }
}
