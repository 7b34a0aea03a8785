//! Judges a folder of logs: imports each one, and compares contexts and cache reports with an
//! independent reading of the files.
//!
//! ```text
//! file ─oracle→ pieces, bills, requests ┐
//!                                       ├─ compare → Verdict: one line per claim, with its bar
//! file ─import→ context ─cache→ report  ┘
//! ```

mod content;
mod exact;
mod files;
mod log;
mod oracle;
mod piece;
mod verdict;

use std::fs;
use std::path::Path;

use contextree_store::{Store, StoreOptions};
use tempfile::TempDir;

use oracle::Kind;
pub(crate) use verdict::Verdict;

/// Judges all logs of a folder.
///
/// # Errors
///
/// If a file cannot be read, or no store can be created.
pub(crate) fn judge(folder: &Path) -> Result<Verdict, Box<dyn std::error::Error>> {
    let mut verdict = Verdict::default();
    let place = TempDir::new()?;
    let file = |name: &str| place.path().join(name);
    let open = |name: &str| {
        let url = format!("sqlite:{}", file(name).display());
        Store::open_with(&url, StoreOptions::deterministic())
    };
    let (sessions, others) = (open("sessions.db")?, open("others.db")?);
    for (index, path) in files::logs(folder)?.iter().enumerate() {
        let text = files::read(path)?;
        let reading = oracle::read(&text);
        let is_session = matches!(reading.kind, Kind::ClaudeCode | Kind::Codex);
        let store = if is_session { &sessions } else { &others };
        let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
        let judged = log::judge(store, &format!("log-{index}"), &text, &reading);
        if is_session && judged.is_ok() {
            verdict.log_bytes += text.len() as u64;
        }
        verdict.add(&name, reading.kind, judged);
    }
    drop(sessions);
    for name in ["sessions.db", "sessions.db-wal"] {
        verdict.store_bytes += fs::metadata(file(name)).map_or(0, |file| file.len());
    }
    Ok(verdict)
}
