//! A long text in pieces of whole lines, so that a log of any length can be read with a few megabytes of memory.

use std::fs::File;
use std::io::{self, Read};

use contextree_import::without_byte_order_mark;

use crate::error::Failure;

/// How long a stretch is, unless its last line is longer.
const STRETCH: usize = 4 << 20;
/// How many lines the first stretch has at least, if there are so many: what a text is is told by these.
const FIRST_LINES: usize = 3;

/// A file, or standard input, that is read piece by piece.
pub(crate) struct Stretches {
    reader: Box<dyn Read>,
    place: String,
    /// How long it is, if that is known.
    length: Option<u64>,
    /// What was read and not given out.
    waiting: Vec<u8>,
    ended: bool,
    /// How many bytes were given out.
    done: u64,
}

impl Stretches {
    /// Opens a file; `-` is standard input.
    pub(crate) fn open(name: &str) -> Result<Stretches, Failure> {
        if name == "-" {
            return Ok(Self::new(Box::new(io::stdin().lock()), "standard input", None));
        }
        let failed = |error| Failure::io(name, &error);
        let file = File::open(name).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        // Pipes and devices have no length that means anything.
        let length = metadata.is_file().then_some(metadata.len());
        Ok(Self::new(Box::new(file), name, length))
    }

    fn new(reader: Box<dyn Read>, place: &str, length: Option<u64>) -> Stretches {
        let place = place.to_owned();
        Stretches { reader, place, length, waiting: Vec::new(), ended: false, done: 0 }
    }

    /// Returns the name of the file, for people.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Returns how long the whole is, if that is known.
    pub(crate) fn length(&self) -> Option<u64> {
        self.length
    }

    /// Returns how many bytes were given out.
    pub(crate) fn done(&self) -> u64 {
        self.done
    }

    /// Returns the next stretch of whole lines; it is empty at the end. The first has enough lines to tell what the text is.
    pub(crate) fn next(&mut self) -> Result<Vec<u8>, Failure> {
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

    /// Returns the given stretch with everything behind it.
    pub(crate) fn whole(mut self, first: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let mut text = first;
        text.append(&mut self.waiting);
        let read = self.reader.read_to_end(&mut text);
        read.map_err(|error| Failure::io(&self.place, &error))?;
        Ok(text)
    }

    /// Reads a stretch more.
    fn fill(&mut self) -> Result<(), Failure> {
        let mut some = self.reader.by_ref().take(STRETCH as u64);
        let read = some.read_to_end(&mut self.waiting);
        self.ended = read.map_err(|error| Failure::io(&self.place, &error))? < STRETCH;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretches(text: Vec<u8>) -> Vec<Vec<u8>> {
        let mut stretches = Stretches::new(Box::new(io::Cursor::new(text)), "a test", None);
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
    fn the_first_stretch_is_enough_to_tell_what_the_text_is() {
        let long = [vec![b'x'; 3 * STRETCH], vec![b'\n']].concat();
        let text = [long.clone(), b"{}\n{}\n".to_vec(), long].concat();
        let breaks = stretches(text)[0].iter().filter(|byte| **byte == b'\n').count();
        assert!(breaks >= FIRST_LINES, "{breaks} lines");
    }
}
