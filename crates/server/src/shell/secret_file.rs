//! Files that only their owner may read.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::Path;

use contextree_app::Error;
use tempfile::NamedTempFile;

use super::token::draw;

/// Returns the token in a file. If there is no file, draws a token and writes it there, readable for its owner only.
///
/// # Errors
///
/// If others can read the file, or it cannot be read or written.
pub fn token_in(path: &Path) -> Result<String, Error> {
    if !path.exists() {
        let token = draw()?;
        match write_new(path, &format!("{token}\n")) {
            Ok(()) => return Ok(token),
            // Another process started at the same time and was faster: its token is the one.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::io(&path.display().to_string(), error)),
        }
    }
    match read_secret(path)?.trim() {
        "" => Err(Error::usage(format!("{}: the file is empty", path.display()))),
        token => Ok(token.to_owned()),
    }
}

/// Returns the text of a file that others cannot read.
///
/// # Errors
///
/// If others can read it, or it cannot be read.
pub fn read_secret(path: &Path) -> Result<String, Error> {
    let name = path.display().to_string();
    let failed = |error| Error::io(&name, error);
    let mut file = File::open(path).map_err(failed)?;
    check_mode(&file, &name)?;
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

/// Writes a new file that only its owner may read.
///
/// # Errors
///
/// If it exists, or cannot be written.
pub fn write_secret(path: &Path, text: &str) -> Result<(), Error> {
    write_new(path, text).map_err(|error| Error::io(&path.display().to_string(), error))
}

/// Writes a file that must not exist. It appears with its whole text: no other process reads a part of it.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    // Readable for its owner only, from the first moment: a mode that is set later leaves a gap.
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

#[cfg(unix)]
fn check_mode(file: &File, name: &str) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = file.metadata().map_err(|error| Error::io(name, error))?.permissions().mode();
    match mode & 0o077 {
        0 => Ok(()),
        _ => Err(Error::usage(format!("{name}: others can read it (mode {:o})", mode & 0o777))
            .with_hint(format!("`chmod 600 {name}`"))),
    }
}

#[cfg(not(unix))]
fn check_mode(_: &File, _: &str) -> Result<(), Error> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::{read_secret, token_in, write_secret};

    #[test]
    fn a_token_is_drawn_once_and_kept_in_a_file_for_its_owner() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("below/token");
        let token = token_in(&path).expect("it is written");
        assert!(token.starts_with("ctx_") && token.len() > 60);
        assert_eq!(token_in(&path).expect("it is read"), token);
        assert!(write_secret(&path, "x").is_err(), "an existing file is never overwritten");
    }

    #[test]
    fn servers_that_start_at_once_have_the_same_token() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().expect("a directory");
            let path = folder.path().join("token");
            let start = Barrier::new(4);
            let first_start = || {
                start.wait();
                token_in(&path).expect("it is written or read")
            };
            let tokens = std::thread::scope(|scope| {
                [(); 4]
                    .map(|()| scope.spawn(first_start))
                    .map(|thread| thread.join().expect("it ends"))
            });
            assert!(tokens.iter().all(|token| *token == tokens[0]), "{tokens:?}");
            let left = std::fs::read_dir(folder.path()).expect("a directory").count();
            assert_eq!(left, 1, "nothing but the token is left");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("token");
        write_secret(&path, "ctx_secret").expect("it is written");
        let mode = std::fs::metadata(&path).expect("it exists").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("ours");
        let error = read_secret(&path).expect_err("others can read it");
        assert!(error.message().contains("others can read it"), "{error}");
    }
}
