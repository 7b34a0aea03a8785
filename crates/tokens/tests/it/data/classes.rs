//! Builds `classes.bin`: one class for every character, as a table of two stages (see
//! `data/README.md`).

use regex_syntax::hir::{Class, HirKind};

type Failure = Box<dyn std::error::Error>;

const CHARACTERS: usize = 0x11_0000;

/// The classes and their numbers, the same as in `src/class.rs`. Every other character has number
/// 0.
const CLASSES: [(&str, u8); 7] = [
    (r"[\p{Lu}\p{Lt}]", 1),
    (r"\p{Ll}", 2),
    (r"[\p{Lm}\p{Lo}]", 3),
    (r"\p{M}", 4),
    (r"\p{N}", 5),
    (r"\s", 6),
    (r"[\r\n]", 7),
];

/// Returns the bytes of the first stage, followed by those of the second.
pub(crate) fn table() -> Result<Vec<u8>, Failure> {
    let mut classes = vec![0_u8; CHARACTERS];
    for (pattern, number) in CLASSES {
        let hir = regex_syntax::parse(pattern)?;
        let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
            return Err(format!("{pattern} is not a class").into());
        };
        for range in class.ranges() {
            for slot in &mut classes[range.start() as usize..=range.end() as usize] {
                // A line break is also whitespace; no other classes overlap.
                if *slot != 0 && number != 7 {
                    return Err(format!("{pattern} overlaps another class").into());
                }
                *slot = number;
            }
        }
    }
    let mut stages: (Vec<u8>, Vec<&[u8]>) = (Vec::new(), Vec::new());
    for block in classes.chunks(256) {
        let index = stages.1.iter().position(|known| *known == block).unwrap_or_else(|| {
            stages.1.push(block);
            stages.1.len() - 1
        });
        stages.0.push(u8::try_from(index)?);
    }
    stages.1.into_iter().for_each(|block| stages.0.extend_from_slice(block));
    Ok(stages.0)
}
