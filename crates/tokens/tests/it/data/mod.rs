//! Compares the checked-in files in `data/` with the sources from which they are made.
//!
//! With `CONTEXTREE_UPDATE` set, the test writes the files instead of comparing them: `cargo xtask
//! tokens --write`.
#![expect(clippy::disallowed_methods, reason = "the switch is an environment variable")]

mod classes;
mod vocabularies;

use std::path::Path;

#[test]
fn data_files_equal_their_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let update = std::env::var("CONTEXTREE_UPDATE").is_ok();
    let classes = ("classes.bin", classes::table().unwrap());
    for (name, expected) in vocabularies::all().unwrap().into_iter().chain([classes]) {
        let path = folder.join(name);
        if update {
            std::fs::write(&path, &expected).unwrap();
        }
        let actual = std::fs::read(&path).unwrap();
        assert!(actual == expected, "{name} is out of date: run `cargo xtask tokens --write`");
    }
}
