//! Folders for the files of a trial, in memory where the system has such a place.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder that is removed with its value.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _kept: TempDir,
}

impl Default for Folder {
    fn default() -> Folder {
        Folder::new()
    }
}

impl Folder {
    /// Creates a folder.
    ///
    /// # Panics
    ///
    /// If none can be created.
    #[must_use]
    pub fn new() -> Folder {
        let memory = Path::new("/dev/shm");
        let kept = match TempDir::new_in(memory) {
            Ok(folder) => folder,
            Err(_) => TempDir::new().expect("a folder for a trial"),
        };
        let path = kept.path().canonicalize().expect("it was created");
        Folder { path, _kept: kept }
    }

    /// Returns its path, absolute and without symbolic links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a file in it.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns the URL of a store in it.
    #[must_use]
    pub fn url(&self, name: &str) -> String {
        format!("sqlite:{}", self.file(name).display())
    }
}
