//! Numbers and texts as bytes, and the frame around them.

/// The version of the layout; the first byte of every frame.
pub(super) const VERSION: u8 = 1;

/// A record that cannot be read. Only this crate writes records, so it was damaged or written by a
/// newer version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (at byte {offset})")]
pub struct RecordError {
    /// The problem.
    pub message: String,
    /// The byte offset from the start of the frame.
    pub offset: usize,
}

pub(super) fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Zigzag encoding keeps small numbers of both signs short: 0, -1, 1, -2 … become 0, 1, 2, 3 ….
pub(super) fn zigzag(out: &mut Vec<u8>, number: i64) {
    varint(out, (number << 1 ^ number >> 63).cast_unsigned());
}

pub(super) fn bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Begins a frame.
pub(super) fn open_frame() -> Vec<u8> {
    vec![VERSION]
}

/// Ends a frame with the CRC-32 of everything before.
pub(super) fn close_frame(mut frame: Vec<u8>) -> Vec<u8> {
    let check = crc32fast::hash(&frame);
    frame.extend_from_slice(&check.to_le_bytes());
    frame
}

/// Reads a frame from its beginning.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    offset: usize,
}

impl<'a> Cursor<'a> {
    /// Checks a frame and returns a cursor over the bytes between its version and its checksum.
    pub(super) fn of_frame(frame: &'a [u8]) -> Result<Self, RecordError> {
        let fail = |message: String| RecordError { message, offset: 0 };
        let Some((text, check)) = frame.split_last_chunk::<4>() else {
            return Err(fail("the record is truncated".to_owned()));
        };
        if crc32fast::hash(text) != u32::from_le_bytes(*check) {
            return Err(fail("the checksum does not match".to_owned()));
        }
        match text.first() {
            Some(&VERSION) => Ok(Cursor { text, offset: 1 }),
            Some(version) => Err(fail(format!("unsupported record version {version}"))),
            None => Err(fail("the record is empty".to_owned())),
        }
    }

    pub(super) fn error(&self, message: impl Into<String>) -> RecordError {
        RecordError { message: message.into(), offset: self.offset }
    }

    pub(super) fn byte(&mut self) -> Result<u8, RecordError> {
        let byte = self.text.get(self.offset).copied();
        let byte = byte.ok_or_else(|| self.error("the record ends too early"))?;
        self.offset += 1;
        Ok(byte)
    }

    pub(super) fn varint(&mut self) -> Result<u64, RecordError> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.error("a number is too long"))
    }

    pub(super) fn zigzag(&mut self) -> Result<i64, RecordError> {
        let number = self.varint()?;
        Ok((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
    }

    pub(super) fn u32(&mut self) -> Result<u32, RecordError> {
        let number = self.varint()?;
        u32::try_from(number).map_err(|_| self.error("a number is too large"))
    }

    /// Reads a count of items of at least one byte each, so that a damaged count cannot reserve
    /// more memory than the record could fill.
    pub(super) fn count(&mut self) -> Result<usize, RecordError> {
        self.count_of(1)
    }

    /// Reads a count of items of at least `bytes` bytes each.
    pub(super) fn count_of(&mut self, bytes: usize) -> Result<usize, RecordError> {
        let count = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
        if count > (self.text.len() - self.offset) / bytes {
            return Err(self.error("a count is larger than the record"));
        }
        Ok(count)
    }

    pub(super) fn slice(&mut self, length: usize) -> Result<&'a [u8], RecordError> {
        let end = self.offset.checked_add(length).filter(|end| *end <= self.text.len());
        let end = end.ok_or_else(|| self.error("the record ends too early"))?;
        let slice = &self.text[self.offset..end];
        self.offset = end;
        Ok(slice)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], RecordError> {
        let slice = self.slice(N)?;
        slice.try_into().map_err(|_| self.error("the record ends too early"))
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], RecordError> {
        let length = self.count()?;
        self.slice(length)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, RecordError> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map_err(|_| self.error("a text is not UTF-8"))
    }

    pub(super) fn end(&self) -> Result<(), RecordError> {
        match self.offset == self.text.len() {
            true => Ok(()),
            false => Err(self.error("unexpected data after the end of the record")),
        }
    }
}
