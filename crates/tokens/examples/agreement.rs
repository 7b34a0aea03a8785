//! Writes the vocabularies, ten thousand texts and their tokens to a folder, which `cargo xtask
//! test` compares with PyPI `tiktoken`.
#![expect(clippy::print_stdout, reason = "the program's output")]

use std::fmt::Write as _;
use std::path::Path;

use contextree_tokens::Encoding;

#[path = "../tests/it/texts.rs"]
mod texts;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("a folder is needed")?;
    let folder = Path::new(&folder);
    let texts = texts::texts(10_000);
    // One text per line, in hexadecimal, so that nothing needs escaping.
    std::fs::write(
        folder.join("texts.hex"),
        texts.iter().map(|text| hex(text.as_bytes())).collect::<String>(),
    )?;
    let encodings =
        [Encoding::O200kBase, Encoding::Cl100kBase, Encoding::P50kBase, Encoding::R50kBase];
    for encoding in encodings {
        let vocabulary: String =
            encoding.vocabulary().map(|(rank, token)| format!("{rank} {}", hex(token))).collect();
        std::fs::write(folder.join(format!("{encoding}.vocabulary")), vocabulary)?;
        let mut tokens = String::new();
        for text in &texts {
            let ranks: Vec<String> =
                encoding.encode(text).iter().map(|rank| rank.to_string()).collect();
            writeln!(tokens, "{}", ranks.join(" "))?;
        }
        std::fs::write(folder.join(format!("{encoding}.tokens")), tokens)?;
    }
    println!("{} texts in {} encodings", texts.len(), encodings.len());
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    let mut line: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    line.push('\n');
    line
}
