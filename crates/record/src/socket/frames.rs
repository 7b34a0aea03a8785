//! Reads the messages out of the frames of a WebSocket (RFC 6455).

/// The longest message that is read. A longer one is passed on, and not recorded.
const LONGEST: usize = 256 << 20;

/// The frames of one direction.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// Bytes of a frame that is not complete.
    rest: Vec<u8>,
    /// The parts of a message whose last frame has not arrived.
    message: Vec<u8>,
    is_text: bool,
    /// Nothing is read any more: what arrived is not understood.
    is_lost: bool,
}

struct Frame {
    is_last: bool,
    code: u8,
    start: usize,
    length: usize,
    mask: Option<[u8; 4]>,
}

impl Messages {
    /// Takes bytes, and returns the text messages that are complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        if self.is_lost {
            return found;
        }
        self.rest.extend_from_slice(bytes);
        let mut at = 0;
        while let Some(frame) = head(&self.rest[at..]) {
            if frame.length > LONGEST || self.message.len() > LONGEST {
                self.is_lost = true;
                break;
            }
            let end = at + frame.start + frame.length;
            let Some(payload) = self.rest.get(at + frame.start..end) else { break };
            // Control frames may be between the frames of a message.
            if frame.code < 8 {
                if frame.code != 0 {
                    self.is_text = frame.code == 1;
                    self.message.clear();
                }
                let from = self.message.len();
                self.message.extend_from_slice(payload);
                if let Some(mask) = frame.mask {
                    let masked = self.message[from..].iter_mut().zip(mask.iter().cycle());
                    masked.for_each(|(byte, mask)| *byte ^= mask);
                }
                if frame.is_last && self.is_text {
                    found.push(std::mem::take(&mut self.message));
                }
            }
            at = end;
        }
        self.rest.drain(..at);
        found
    }
}

/// Reads the head of a frame; `None` if it is not complete.
fn head(bytes: &[u8]) -> Option<Frame> {
    let (first, second) = (*bytes.first()?, *bytes.get(1)?);
    let (length, mut start) = match second & 0x7f {
        126 => (u64::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?)), 4),
        127 => (u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?), 10),
        short => (u64::from(short), 2),
    };
    let mask = match second & 0x80 != 0 {
        true => {
            start += 4;
            Some(bytes.get(start - 4..start)?.try_into().ok()?)
        }
        false => None,
    };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    Some(Frame { is_last: first & 0x80 != 0, code: first & 0x0f, start, length, mask })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(is_last: bool, code: u8, payload: &[u8], mask: Option<[u8; 4]>) -> Vec<u8> {
        let mut out = vec![u8::from(is_last) << 7 | code];
        let masked = u8::from(mask.is_some()) << 7;
        match u8::try_from(payload.len()) {
            Ok(short) if short < 126 => out.push(masked | short),
            _ => {
                out.push(masked | 126);
                out.extend((payload.len() as u16).to_be_bytes());
            }
        }
        out.extend(mask.into_iter().flatten());
        let keys = mask.unwrap_or_default();
        out.extend(payload.iter().zip(keys.iter().cycle()).map(|(byte, key)| byte ^ key));
        out
    }

    #[test]
    fn messages_are_read_from_pieces_of_any_size() {
        let long = "x".repeat(300);
        let mut bytes = frame(true, 1, b"one", Some([1, 2, 3, 4]));
        bytes.extend(frame(false, 1, b"tw", None));
        bytes.extend(frame(true, 9, b"ping", None));
        bytes.extend(frame(true, 0, b"o", None));
        bytes.extend(frame(true, 2, b"binary", None));
        bytes.extend(frame(true, 1, long.as_bytes(), Some([9, 8, 7, 6])));
        for size in [1, 2, 5, bytes.len()] {
            let mut messages = Messages::default();
            let found: Vec<_> = bytes.chunks(size).flat_map(|piece| messages.push(piece)).collect();
            assert_eq!(found, [b"one".to_vec(), b"two".to_vec(), long.clone().into_bytes()]);
        }
    }
}
