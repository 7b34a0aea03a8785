//! Sessions at a shell, written down in Markdown and played again.
//!
//! A block ```` ```console ```` has commands (`$ …`, continued by lines that begin with `> `), each followed by what it prints on both
//! streams, and by `[exit 3]` if it ends with another code than 0. Every command runs in a shell of its own, so pipes and redirections mean
//! what they mean; all commands of a file share one folder. No command may print a line that would be read as a command. With
//! `CONTEXTREE_UPDATE` set, what was printed is written into the file instead of compared.
//!
//! Why not one of the crates for this: their commands have no pipes, no redirections and no standard input, and a tutorial needs
//! all three.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::data;

/// True if files are to be written instead of compared.
#[expect(clippy::disallowed_methods, reason = "a test is an edge, too")]
pub(crate) fn updates() -> bool {
    std::env::var("CONTEXTREE_UPDATE").is_ok()
}

/// A folder of one's own, gone at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ctx-{}-{number}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).expect("the target directory can be written");
        data::write(&folder);
        Folder(folder)
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Runs a command and returns what it prints on both streams, and its exit code.
    pub(crate) fn run(&self, command: &str) -> (String, i32) {
        let program = Path::new(env!("CARGO_BIN_EXE_ctx"));
        let beside = program.parent().expect("a program stands in a folder").display().to_string();
        let output = Command::new("sh")
            .arg("-c")
            // One stream for both, in the order in which they were written.
            .arg(format!("exec 2>&1\n{command}"))
            .current_dir(&self.0)
            .env_clear()
            .env("PATH", format!("{beside}:/usr/local/bin:/usr/bin:/bin"))
            .env("LC_ALL", "C.UTF-8")
            .env("CONTEXTREE_NOW", data::NOW.to_string())
            .stdin(Stdio::null())
            .output()
            .expect("there is a shell");
        // Where the test runs is nobody's business.
        let here = self.0.display().to_string();
        let text = String::from_utf8_lossy(&output.stdout).replace(&here, "/home/me");
        (text, output.status.code().unwrap_or(-1))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed lies in the target directory, where it hurts nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Plays a file.
pub(crate) fn play(file: &Path) {
    let text = fs::read_to_string(file).expect("the transcript can be read");
    let folder = Folder::new();
    let played = replay(&text, &folder);
    if updates() {
        fs::write(file, played).expect("the transcript can be written");
    } else {
        compare(&file.display().to_string(), &text, &played);
    }
}

/// Fails with the first place where two texts differ.
pub(crate) fn compare(name: &str, written: &str, now: &str) {
    if written == now {
        return;
    }
    let mut lines = written.lines().zip(now.lines()).enumerate();
    let (number, left, right) = match lines.find(|(_, (left, right))| left != right) {
        Some((index, (left, right))) => (index + 1, left, right),
        None => (written.lines().count().min(now.lines().count()) + 1, "", ""),
    };
    panic!(
        "{name}, line {number}:\n  written: {left}\n  now:     {right}\nif the new text is right, run `cargo xtask cli`"
    );
}

/// Returns the text with what its commands print now.
fn replay(text: &str, folder: &Folder) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if line.trim_end() != "```console" {
            continue;
        }
        while let Some(line) = lines.next() {
            if line.trim_end() == "```" {
                out.push_str("```\n");
                break;
            }
            let Some(first) = line.strip_prefix("$ ") else { continue };
            let mut command = first.to_owned();
            out.push_str(line);
            out.push('\n');
            while let Some(more) = lines.next_if(|line| line.starts_with("> ")) {
                command.push('\n');
                command.push_str(&more[2..]);
                out.push_str(more);
                out.push('\n');
            }
            let (printed, code) = folder.run(&command);
            let is_command = |line: &str| line.starts_with("$ ") || line.starts_with("```");
            assert!(
                !printed.lines().any(is_command),
                "`{command}` prints what would be read as a command: indent it with `| sed 's/^/  /'`"
            );
            out.push_str(&printed);
            if !printed.is_empty() && !printed.ends_with('\n') {
                out.push('\n');
            }
            if code != 0 {
                out.push_str(&format!("[exit {code}]\n"));
            }
        }
    }
    out
}
