//! Splits the body of a stream into events: server-sent events, or JSON objects one after the other.
//!
//! Gemini streams a JSON list of events unless it is asked for server-sent events; proxies log JSON Lines. The first byte
//! tells which of the two a body is.

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// JSON text.
    Event(Vec<u8>),
    /// `[DONE]`, with which OpenAI's chat streams end.
    Done,
}

/// Splits bytes that arrive in pieces of any size.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    mode: Mode,
    /// The current line of server-sent events, or the current JSON object.
    line: Vec<u8>,
    /// The data of the current event.
    data: Option<Vec<u8>>,
    /// The last byte was a carriage return: a line feed that follows belongs to the same line end.
    after_return: bool,
    /// The number of open braces and brackets of the current JSON object.
    depth: usize,
    in_string: bool,
    after_escape: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Unknown,
    Events,
    Json,
}

const MARK: &[u8] = b"\xef\xbb\xbf";

impl Frames {
    /// Adds bytes, and appends the events that are complete. Returns what was expected if the bytes are of neither form.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<Frame>) -> Result<(), &'static str> {
        for byte in bytes {
            match self.mode {
                Mode::Unknown => self.begin(*byte, out)?,
                Mode::Events => self.event_byte(*byte, out),
                Mode::Json => self.json_byte(*byte, out)?,
            }
        }
        Ok(())
    }

    /// Returns the event that is complete but for the empty line after it.
    pub(super) fn rest(&mut self) -> Option<Frame> {
        if self.mode != Mode::Events {
            return None;
        }
        let mut out = Vec::new();
        for _ in 0..2 {
            self.end_line(&mut out);
        }
        out.pop()
    }

    /// Decides the form by the first byte that is neither a space nor part of a byte order mark.
    fn begin(&mut self, byte: u8, out: &mut Vec<Frame>) -> Result<(), &'static str> {
        match byte {
            b'{' | b'[' => {
                self.mode = Mode::Json;
                self.json_byte(byte, out)
            }
            byte if byte.is_ascii_whitespace() || MARK.contains(&byte) => Ok(()),
            byte => {
                self.mode = Mode::Events;
                self.event_byte(byte, out);
                Ok(())
            }
        }
    }

    fn event_byte(&mut self, byte: u8, out: &mut Vec<Frame>) {
        let ends_before = std::mem::replace(&mut self.after_return, byte == b'\r');
        match byte {
            b'\n' if ends_before => {}
            b'\n' | b'\r' => self.end_line(out),
            byte => self.line.push(byte),
        }
    }

    fn end_line(&mut self, out: &mut Vec<Frame>) {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            match self.data.take() {
                Some(data) if data.trim_ascii() == b"[DONE]" => out.push(Frame::Done),
                Some(data) if !data.trim_ascii().is_empty() => out.push(Frame::Event(data)),
                _ => {}
            }
        } else if let Some(value) = line.strip_prefix(b"data:") {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            let data = self.data.get_or_insert_default();
            if !data.is_empty() {
                data.push(b'\n');
            }
            data.extend_from_slice(value);
        }
        // Comments and the other fields repeat what the data says, or are for reconnecting.
    }

    fn json_byte(&mut self, byte: u8, out: &mut Vec<Frame>) -> Result<(), &'static str> {
        if self.depth == 0 {
            match byte {
                b'{' => {}
                b'[' | b']' | b',' => return Ok(()),
                byte if byte.is_ascii_whitespace() => return Ok(()),
                _ => return Err("an object for each event"),
            }
        }
        self.line.push(byte);
        if self.in_string {
            let escaped = std::mem::replace(&mut self.after_escape, false);
            match byte {
                _ if escaped => {}
                b'\\' => self.after_escape = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return Ok(());
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth -= 1;
                if self.depth == 0 {
                    out.push(Frame::Event(std::mem::take(&mut self.line)));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, Frames};

    /// Checks that the events are the same in whichever pieces a body arrives.
    fn check(body: &str, expected: &[&str]) {
        for size in 1..=body.len() {
            let (mut frames, mut found) = (Frames::default(), Vec::new());
            for piece in body.as_bytes().chunks(size) {
                frames.push(piece, &mut found).expect("the body has a known form");
            }
            found.extend(frames.rest());
            let found: Vec<String> = found
                .iter()
                .map(|frame| match frame {
                    Frame::Event(text) => String::from_utf8_lossy(text).into_owned(),
                    Frame::Done => "done".to_owned(),
                })
                .collect();
            assert_eq!(found, expected, "{body:?} in pieces of {size}");
        }
    }

    #[test]
    fn server_sent_events_are_split_at_empty_lines() {
        check("event: a\ndata: {\"x\":1}\n\ndata: [DONE]\n\n", &["{\"x\":1}", "done"]);
        check("data:{}\r\n\r\n: a comment\r\nid: 7\r\ndata: {}\r\n\r\n", &["{}", "{}"]);
        check("data: {\ndata: }\n\n", &["{\n}"]);
        check("\u{feff}data: {}\r\rdata: {}\r\r", &["{}", "{}"]);
    }

    #[test]
    fn last_event_needs_no_empty_line() {
        check("data: {}\n\ndata: {\"x\":1}", &["{}", "{\"x\":1}"]);
        check("data: {}\n\ndata: {\"x\":1}\n", &["{}", "{\"x\":1}"]);
    }

    #[test]
    fn json_objects_are_split_as_lines_and_as_a_list() {
        check("{\"a\":\"}{\\\"\"}\n{\"b\":[1]}\n", &["{\"a\":\"}{\\\"\"}", "{\"b\":[1]}"]);
        check("[{\"a\":1},\r\n{\"b\":{}}\n]", &["{\"a\":1}", "{\"b\":{}}"]);
    }

    #[test]
    fn text_between_json_objects_is_refused() {
        let mut found = Vec::new();
        assert!(Frames::default().push(b"{} x", &mut found).is_err());
        assert_eq!(found, [Frame::Event(b"{}".to_vec())]);
    }
}
