//! A long text in pieces of whole lines, so that a log of any length can be read with a few megabytes of memory.

use std::io::Read;

use contextree::import::without_byte_order_mark;

use super::bounded::{MOST_OF_A_FILE, MOST_OF_A_STREAM, append_within, check};
use crate::Error;

/// How long a stretch is, unless its last line is longer.
const STRETCH: usize = 4 << 20;
/// The least number of lines in the first stretch, if the text has them: enough to detect the format.
const FIRST_LINES: usize = 3;

/// A text that is read while it is imported: a file, a stream, the body of a request.
pub struct Source<'s> {
    /// Its name, for messages.
    pub name: String,
    /// Its length in bytes, if that is known; for progress only.
    pub length: Option<u64>,
    /// The bytes.
    pub reader: Box<dyn Read + 's>,
}

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, length) = (&self.name, self.length);
        formatter.debug_struct("Source").field("name", name).field("length", &length).finish()
    }
}

/// A text that is read piece by piece.
pub(crate) struct Stretches<'s> {
    source: Source<'s>,
    /// What was read and not given out.
    waiting: Vec<u8>,
    ended: bool,
    /// How many bytes were given out.
    done: u64,
}

impl<'s> Stretches<'s> {
    /// Reads a text from its beginning.
    pub(crate) fn new(source: Source<'s>) -> Stretches<'s> {
        Stretches { source, waiting: Vec::new(), ended: false, done: 0 }
    }

    /// Returns the length of the whole text, if that is known.
    pub(crate) fn length(&self) -> Option<u64> {
        self.source.length
    }

    /// Returns how many bytes were given out.
    pub(crate) fn done(&self) -> u64 {
        self.done
    }

    /// Returns the next stretch of whole lines; it is empty at the end. The first has enough lines to detect the format.
    pub(crate) fn next(&mut self) -> Result<Vec<u8>, Error> {
        let lines = if self.done == 0 { FIRST_LINES } else { 1 };
        let mut counted = 0;
        let mut breaks = 0;
        loop {
            breaks += memchr::memchr_iter(b'\n', &self.waiting[counted..]).count();
            counted = self.waiting.len();
            if self.ended || (counted >= STRETCH && breaks >= lines) {
                break;
            }
            self.fill()?;
        }
        let end = match self.ended {
            true => counted,
            false => memchr::memrchr(b'\n', &self.waiting).map_or(counted, |end| end + 1),
        };
        let rest = self.waiting.split_off(end);
        let mut stretch = std::mem::replace(&mut self.waiting, rest);
        if self.done == 0 {
            stretch.drain(..stretch.len() - without_byte_order_mark(&stretch).len());
        }
        self.done += end as u64;
        Ok(stretch)
    }

    /// Returns the given stretch with everything after it.
    pub(crate) fn whole(&mut self, first: Vec<u8>) -> Result<Vec<u8>, Error> {
        let mut text = first;
        text.append(&mut self.waiting);
        let most = if self.source.length.is_some() { MOST_OF_A_FILE } else { MOST_OF_A_STREAM };
        append_within(&self.source.name, &mut self.source.reader, &mut text, most)?;
        Ok(text)
    }

    /// Returns the next whole lines, at most `most` bytes. They are empty if there is no further line break; the text may have grown when
    /// this is called again.
    pub(crate) fn whole_lines(&mut self, most: usize) -> Result<Vec<u8>, Error> {
        loop {
            self.fill()?;
            if self.done == 0 {
                let mark = self.waiting.len() - without_byte_order_mark(&self.waiting).len();
                self.waiting.drain(..mark);
            }
            if let Some(end) = memchr::memrchr(b'\n', &self.waiting) {
                let end = (end + 1).min(most);
                let rest = self.waiting.split_off(end);
                self.done += end as u64;
                return Ok(std::mem::replace(&mut self.waiting, rest));
            }
            if self.ended {
                return Ok(Vec::new());
            }
        }
    }

    /// Returns what follows the whole lines.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.waiting
    }

    /// Reads one more stretch.
    fn fill(&mut self) -> Result<(), Error> {
        let mut some = self.source.reader.by_ref().take(STRETCH as u64);
        let read = some.read_to_end(&mut self.waiting);
        self.ended = read.map_err(|error| Error::io(&self.source.name, error))? < STRETCH;
        // A line that does not end.
        check(&self.source.name, self.waiting.len(), MOST_OF_A_STREAM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretches(text: Vec<u8>) -> Vec<Vec<u8>> {
        let reader = Box::new(std::io::Cursor::new(text));
        let source = Source { name: "a test".to_owned(), length: None, reader };
        let mut stretches = Stretches::new(source);
        let mut found = Vec::new();
        loop {
            let next = stretches.next().expect("memory can be read");
            if next.is_empty() {
                return found;
            }
            found.push(next);
        }
    }

    #[test]
    fn lines_are_whole_and_nothing_is_lost() {
        let line = |length: usize| [vec![b'x'; length], vec![b'\n']].concat();
        let mut open_end = line(STRETCH);
        open_end.extend_from_slice(b"no line break");
        let texts = [
            vec![],
            b"a\nb".to_vec(),
            line(3 * STRETCH),
            [line(STRETCH - 1), line(0), line(5)].concat(),
            [line(2 * STRETCH), line(1), line(2 * STRETCH), line(7), line(STRETCH)].concat(),
            vec![b'\n'; 2 * STRETCH],
            open_end,
        ];
        for text in texts {
            let found = stretches(text.clone());
            assert!(found.concat() == text, "{} bytes", text.len());
            let (_, before) = found.split_last().unwrap_or((const { &Vec::new() }, &[]));
            assert!(before.iter().all(|stretch| stretch.ends_with(b"\n")), "lines are whole");
        }
    }

    #[test]
    fn the_first_stretch_has_enough_lines_to_detect_the_format() {
        let long = [vec![b'x'; 3 * STRETCH], vec![b'\n']].concat();
        let text = [long.clone(), b"{}\n{}\n".to_vec(), long].concat();
        let breaks = stretches(text)[0].iter().filter(|byte| **byte == b'\n').count();
        assert!(breaks >= FIRST_LINES, "{breaks} lines");
    }
}
