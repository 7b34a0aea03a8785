//! Reading with a bound: a stream that does not end is an error, not all of the memory.

use std::io::Read;

use crate::Error;

/// How many bytes of a stream are read into memory at once: standard input, a pipe, one line of a log.
pub const MOST_OF_A_STREAM: u64 = 512 << 20;

/// How many bytes of a file are read into memory at once; no document is longer.
pub const MOST_OF_A_FILE: u64 = 4 << 30;

/// Reads everything to the end, if that is at most `most` bytes.
///
/// # Errors
///
/// If it cannot be read, or `E_LIMIT` if it is longer.
pub fn read_within(name: &str, reader: impl Read, most: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    append_within(name, reader, &mut bytes, most)?;
    Ok(bytes)
}

/// Reads everything to the end after what is there already, if all is at most `most` bytes.
pub(crate) fn append_within(
    name: &str,
    reader: impl Read,
    bytes: &mut Vec<u8>,
    most: u64,
) -> Result<(), Error> {
    let left = most.saturating_sub(bytes.len() as u64);
    let read = reader.take(left.saturating_add(1)).read_to_end(bytes);
    read.map_err(|error| Error::io(name, error))?;
    check(name, bytes.len(), most)
}

/// Fails if a document of this size is larger than what is read at once.
pub(crate) fn check(name: &str, bytes: usize, most: u64) -> Result<(), Error> {
    if bytes as u64 <= most {
        return Ok(());
    }
    let message = format!("{name}: more than {} MiB cannot be read at once", most >> 20);
    Err(Error::new("E_LIMIT", message)
        .with_detail("place", name)
        .with_detail("limit", "document_bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_does_not_end_is_an_error() {
        assert_eq!(read_within("x", &b"12345"[..], 5).unwrap(), b"12345");
        assert_eq!(read_within("x", &b"123456"[..], 5).unwrap_err().code().as_str(), "E_LIMIT");
        let endless = std::io::repeat(b'y');
        assert_eq!(read_within("x", endless, 100_000).unwrap_err().code().as_str(), "E_LIMIT");
    }
}
