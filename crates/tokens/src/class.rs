//! Classifies characters as the patterns of the encodings do.

/// 4352 block numbers, followed by blocks of 256 classes each. Written by `cargo xtask tokens
/// --write`.
static TABLE: &[u8] = include_bytes!("../data/classes.bin");
const BLOCKS: usize = 0x11_0000 / 256;

/// The class of a character. The numbers equal those in `tests/it/data/classes.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Anything else: punctuation, symbols, control characters.
    Other = 0,
    /// An upper-case or title-case letter.
    Upper = 1,
    /// A lower-case letter.
    Lower = 2,
    /// A letter without case.
    Caseless = 3,
    /// A combining mark.
    Mark = 4,
    /// A number.
    Number = 5,
    /// Whitespace that does not end a line.
    Space = 6,
    /// A carriage return or a line feed.
    Newline = 7,
}

const ALL: [Class; 8] = [
    Class::Other,
    Class::Upper,
    Class::Lower,
    Class::Caseless,
    Class::Mark,
    Class::Number,
    Class::Space,
    Class::Newline,
];

/// The classes of ASCII characters; `Other` for the remaining bytes.
static ASCII: [Class; 256] = ascii();

const fn ascii() -> [Class; 256] {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'A'..=b'Z' => Class::Upper,
            b'a'..=b'z' => Class::Lower,
            b'0'..=b'9' => Class::Number,
            b'\r' | b'\n' => Class::Newline,
            b' ' | b'\t' | 0x0b | 0x0c => Class::Space,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
}

impl Class {
    /// Returns whether this is a letter.
    #[inline]
    pub(crate) fn is_letter(self) -> bool {
        matches!(self, Class::Upper | Class::Lower | Class::Caseless)
    }

    /// Returns whether this is neither a letter, nor a number, nor whitespace.
    #[inline]
    pub(crate) fn is_other(self) -> bool {
        matches!(self, Class::Other | Class::Mark)
    }
}

/// Returns the class of the character at an offset, and the offset of the next one; `None` at the
/// end.
#[inline]
pub(crate) fn class_at(text: &str, at: usize) -> Option<(Class, usize)> {
    let first = *text.as_bytes().get(at)?;
    if first < 0x80 {
        return Some((ASCII[first as usize], at + 1));
    }
    let character = text.get(at..)?.chars().next()?;
    Some((class_of(character), at + character.len_utf8()))
}

fn class_of(character: char) -> Class {
    let code = character as usize;
    let block = TABLE[code >> 8] as usize;
    ALL[TABLE[BLOCKS + block * 256 + (code & 0xff)] as usize]
}

#[cfg(test)]
mod tests {
    use super::{ASCII, Class, class_of};

    #[test]
    fn the_short_table_and_the_long_one_agree() {
        for byte in 0..128_u8 {
            assert_eq!(ASCII[byte as usize], class_of(char::from(byte)), "byte {byte}");
        }
    }

    #[test]
    fn characters_of_many_scripts_have_their_class() {
        let check = |characters: &str, expected| {
            for character in characters.chars() {
                assert_eq!(class_of(character), expected, "{character:?}");
            }
        };
        check("ÄÉЖΩǅ", Class::Upper);
        check("äéжωſ", Class::Lower);
        check("中あアا한ªʰ", Class::Caseless);
        check("\u{301}\u{93f}\u{20dd}", Class::Mark);
        check("٣४Ⅷ½", Class::Number);
        check("\u{a0}\u{2003}\u{3000}\u{85}\u{2028}", Class::Space);
        check("—“😀€\u{200d}\u{feff}", Class::Other);
    }
}
