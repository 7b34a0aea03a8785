//! Files that a command writes: whole or not at all, and readable by their owner only.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use tempfile::NamedTempFile;

/// Writes a file in place of the one that is there. Whatever happens meanwhile, the old file or the new one is complete: the bytes are
/// written under another name beside it, synced, and renamed.
///
/// A new file can be read and written by its owner only; one that is replaced keeps its permissions.
pub(crate) fn replace(name: &str, bytes: &[u8]) -> io::Result<()> {
    // A link stays a link: the file that it leads to is replaced.
    let path = match fs::canonicalize(name) {
        Ok(path) => path,
        Err(error) if error.kind() == io::ErrorKind::NotFound => std::path::absolute(name)?,
        Err(error) => return Err(error),
    };
    let before = match fs::metadata(&path) {
        // A device, a pipe or a terminal is written to, not replaced.
        Ok(before) if !before.is_file() => {
            return File::options().write(true).open(&path)?.write_all(bytes);
        }
        Ok(before) => Some(before.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let folder = path.parent().unwrap_or(Path::new("/"));
    // A missing folder is named as such, and not by the temporary file that could not be made in it.
    fs::metadata(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    if let Some(permissions) = before {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|error| error.error)?;
    // The new name has to be on the disk, too.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    #[test]
    fn a_new_file_is_private_and_a_replaced_one_keeps_its_mode_and_its_links() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("export.json");
        let name = path.to_str().unwrap();
        replace(name, b"one").unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let link = folder.path().join("newest.json");
        symlink("export.json", &link).unwrap();
        replace(link.to_str().unwrap(), b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(mode(&path), 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file is left");
    }

    #[test]
    fn a_file_that_cannot_be_replaced_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing").join("export.json");
        assert!(replace(path.to_str().unwrap(), b"x").is_err());
        replace("/dev/null", b"x").unwrap();
    }
}
