//! Checks the format with a reader in another language, which must compute the same digests.

use std::fs;
use std::path::Path;
use std::process::Command;

use contextree_testkit::drive::Driver;
use contextree_testkit::generate::Session;
use contextree_testkit::model::Model;

/// Passes random histories to `docs/examples/digest.py` and compares the digests of the whole
/// histories.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let folder = root.join("target/format");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let sessions = 40;
    for seed in 0..sessions {
        let (lines, digest) = history(seed);
        let file = folder.join("history.jsonl");
        fs::write(&file, lines).map_err(|error| format!("{}: {error}", file.display()))?;
        let output = Command::new("python3")
            .arg(root.join("docs/examples/digest.py"))
            .arg(&file)
            .output()
            .map_err(|error| format!("python3 is needed to check the format: {error}"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let last = said.lines().rfind(|line| line.starts_with("history "));
        if !last.is_some_and(|line| line.contains(&digest)) {
            let complaint = String::from_utf8_lossy(&output.stderr);
            return Err(format!(
                "session {seed}: digest {digest}, but Python computes {last:?} {complaint}"
            ));
        }
    }
    Ok(format!("{sessions} histories have the same digest in Python"))
}

/// Returns a random history as lines, and its digest.
fn history(seed: u64) -> (Vec<u8>, String) {
    let (mut session, mut model, mut driver) = (Session::new(seed), Model::new(), Driver::new());
    while let Some(step) = session.next_step(&model) {
        // Refusals are part of a session; the model only determines the next step.
        let _ = (model.apply(&step), driver.step(&step));
    }
    (driver.context.export_history(), driver.context.history_digest().to_string())
}
