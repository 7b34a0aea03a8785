//! The program of a user: `examples/agent`, with a manifest of its own and `contextree` as its only dependency.

use std::path::Path;
use std::process::Command;

/// Builds the example, and runs it twice in an empty folder: the second run opens the store of the first and adds a turn.
pub(crate) fn run(root: &Path) -> Result<String, String> {
    let target = root.join("target/example");
    let manifest = root.join("examples/agent/Cargo.toml");
    let build = Command::new("cargo")
        .args(["build", "--quiet", "--manifest-path"])
        .arg(&manifest)
        .env("CARGO_TARGET_DIR", &target)
        .status()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !build.success() {
        return Err("examples/agent does not build".to_owned());
    }
    let folder = target.join("run");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let program = target.join("debug").join(format!("agent{}", std::env::consts::EXE_SUFFIX));
    for turns in 1..=2 {
        let output = Command::new(&program)
            .current_dir(&folder)
            .output()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let questions = text.matches("Will it rain in Oslo?").count();
        if !output.status.success() || questions != turns {
            let problem = String::from_utf8_lossy(&output.stderr);
            return Err(format!("run {turns} of examples/agent printed `{text}`; {problem}"));
        }
    }
    Ok("examples/agent builds and runs".to_owned())
}
