//! Finds the programs of a PostgreSQL server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the programs on Debian and its derivatives, with one folder for each version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The folder with `initdb`, `postgres` and `pg_ctl`.
#[derive(Clone, Debug)]
pub struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// Finds the programs.
    ///
    /// # Errors
    ///
    /// If they are missing; the message has a hint how to install them.
    pub fn obtain() -> Result<Programs, String> {
        Programs::find().ok_or_else(|| {
            "no PostgreSQL server programs found; run `cargo xtask setup`, or set CONTEXTREE_TEST_POSTGRES to the URL \
             of a server"
                .to_owned()
        })
    }

    /// Finds the programs: next to `pg_config`, on the `PATH`, or in Debian's folder (the newest
    /// version).
    #[must_use]
    pub fn find() -> Option<Programs> {
        let told = Command::new("pg_config").arg("--bindir").output().ok().and_then(|output| {
            let text = String::from_utf8(output.stdout).ok()?;
            Some(PathBuf::from(text.trim()))
        });
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders: Vec<PathBuf> = told.into_iter().collect();
        folders.extend(std::env::split_paths(&path));
        folders.extend(versions(Path::new(DEBIAN)));
        folders.into_iter().find(|folder| complete(folder)).map(|folder| Programs { folder })
    }

    /// Returns the path of a program.
    #[must_use]
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// Returns the folders of the versions, newest first.
fn versions(folder: &Path) -> Vec<PathBuf> {
    let mut numbers: Vec<u32> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    numbers.sort_unstable();
    numbers.iter().rev().map(|number| folder.join(number.to_string()).join("bin")).collect()
}

/// Returns whether a folder has the server's programs; clients alone (`psql`) do not count.
fn complete(folder: &Path) -> bool {
    ["initdb", "postgres", "pg_ctl", "pg_isready"].iter().all(|name| folder.join(name).is_file())
}
