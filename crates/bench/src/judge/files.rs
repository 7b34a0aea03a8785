//! Finds the logs of a folder, and reads them; compressed ones, too.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

/// How the names of logs end, besides `.gz`.
const ENDINGS: [&str; 4] = ["json", "jsonl", "ndjson", "traj"];

/// Returns the logs of a folder and of the folders in it, by name.
pub(super) fn logs(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                waiting.push(path);
            } else if is_log(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn is_log(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// Returns the text of a log.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = fs::read(path)?;
    if path.extension().is_none_or(|ending| ending != "gz") {
        return Ok(bytes);
    }
    let mut text = Vec::new();
    MultiGzDecoder::new(&*bytes).read_to_end(&mut text)?;
    Ok(text)
}
