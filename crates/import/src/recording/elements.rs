//! Where the elements of a list are in the text of a request.

use std::ops::Range;

use contextree_json::{Value, parse};

/// The list of a field of an object, as it is written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Elements {
    /// What is between the brackets.
    pub(super) inside: Range<usize>,
    /// The elements.
    pub(super) ranges: Vec<Range<usize>>,
}

impl Elements {
    /// Finds the list of a field. `None` if the text is not an object, or the field not a list.
    pub(super) fn of(text: &[u8], field: &str) -> Option<Elements> {
        let mut scan = Scan { text, at: 0 };
        scan.take(b'{')?;
        loop {
            let name = scan.value()?;
            scan.take(b':')?;
            if parse(&text[name]).ok()? == Value::from(field) {
                return scan.list();
            }
            scan.value()?;
            scan.take(b',')?;
        }
    }
}

/// Reads text that is known to be JSON.
struct Scan<'t> {
    text: &'t [u8],
    at: usize,
}

impl Scan<'_> {
    /// Returns the next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        Some(self.text[self.at])
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn list(&mut self) -> Option<Elements> {
        self.take(b'[')?;
        let (start, mut ranges) = (self.at, Vec::new());
        while self.peek()? != b']' {
            if !ranges.is_empty() {
                self.take(b',')?;
            }
            ranges.push(self.value()?);
        }
        Some(Elements { inside: start..self.at, ranges })
    }

    /// Passes a value, and returns where it is.
    fn value(&mut self) -> Option<Range<usize>> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'"' => self.string()?,
            b'{' | b'[' => {
                let mut depth = 0;
                loop {
                    match self.text.get(self.at)? {
                        b'"' => {
                            self.string()?;
                            continue;
                        }
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' => depth -= 1,
                        _ => {}
                    }
                    self.at += 1;
                    if depth == 0 {
                        break;
                    }
                }
            }
            _ => {
                let is_over = |byte: &u8| byte.is_ascii_whitespace() || b",:]}".contains(byte);
                while !self.text.get(self.at).is_none_or(is_over) {
                    self.at += 1;
                }
            }
        }
        (self.at > start).then_some(start..self.at)
    }

    fn string(&mut self) -> Option<()> {
        loop {
            self.at += 1;
            match self.text.get(self.at)? {
                b'\\' => self.at += 1,
                b'"' => break,
                _ => {}
            }
        }
        self.at += 1;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&[&str]>) {
        let found = Elements::of(text.as_bytes(), "messages");
        let found = found.map(|it| it.ranges.into_iter().map(|at| &text[at]).collect::<Vec<_>>());
        assert_eq!(found.as_deref(), expected, "{text}");
    }

    #[test]
    fn elements_are_found_as_they_are_written() {
        check(r#"{"messages":[]}"#, Some(&[]));
        check(
            r#" { "a" : [1, {"messages": [0]}], "messages" : [ {"b": "]\"}"} , 1.50,"x,\\" ,[ [] ],null ] , "z":1}"#,
            Some(&[r#"{"b": "]\"}"}"#, "1.50", r#""x,\\""#, "[ [] ]", "null"]),
        );
        check(r#"{"mess\u0061ges":[1]}"#, Some(&["1"]));
        for without in [r#"{"messages":"text"}"#, r#"{"a":1}"#, "{}", "[]", "", r#"{"messages":["#]
        {
            check(without, None);
        }
    }
}
