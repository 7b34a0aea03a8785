//! Writes what the counters read: vocabularies in rank order, and the class of every character.
//!
//! A vocabulary is the length of every token, one byte each, and then all tokens without a gap; before them, the number of tokens as
//! four bytes. A rank that belongs to no ordinary token has length 0.
#![expect(
    clippy::disallowed_methods,
    reason = "a build script is told by its environment where to write"
)]

mod classes;
mod vocabularies;

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build");
    let folder = PathBuf::from(std::env::var("OUT_DIR")?);
    for (name, bytes) in vocabularies::all()? {
        std::fs::write(folder.join(name), bytes)?;
    }
    std::fs::write(folder.join("classes.bin"), classes::table()?)?;
    Ok(())
}
