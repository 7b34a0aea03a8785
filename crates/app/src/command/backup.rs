//! `backup` and `restore`: copies of a store in a file.

use std::path::Path;

use contextree::store::Store;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workspace::Access;
use crate::{Advice, Control, Error, Progress, Workspace};

/// Copies the store into a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackupRequest {
    /// The file to write.
    pub path: String,
}

/// Creates the store from a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreRequest {
    /// The backup.
    pub path: String,
}

/// A copied store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackupResponse {
    /// The file that was written.
    pub path: String,
    /// Its size.
    pub bytes: u64,
}

/// Copies the store into a file, while others read and write.
///
/// # Errors
///
/// If the store is damaged, the file to write exists, or its folder does not.
pub fn backup(
    workspace: &Workspace,
    request: &BackupRequest,
    control: &Control<'_>,
) -> Result<BackupResponse, Error> {
    let _span = workspace.span("backup");
    let store = workspace.store(Access::Read)?;
    let whole = store.whole()?;
    // After the rights: whether a file exists is not for everyone to know.
    check_target(&request.path)?;
    let progress = &mut |done, of| pages(control, done, of);
    whole.backup(Path::new(&request.path), progress)?;
    response(&request.path)
}

/// Creates the store from a backup. A file must not exist yet; a schema on a server must not have any contexts.
///
/// # Errors
///
/// If the backup is not a store or is damaged, or the store exists.
pub fn restore(
    workspace: &Workspace,
    request: &RestoreRequest,
    control: &Control<'_>,
) -> Result<BackupResponse, Error> {
    let _span = workspace.span("restore");
    if workspace.tenant().is_some() {
        return Err(Error::new(
            "E_FORBIDDEN",
            "restoring a backup needs access to the whole store",
        )
        .with_hint("`ctx export --history` and `ctx import` copy a single context"));
    }
    let found =
        std::fs::metadata(&request.path).map_err(|error| Error::io(&request.path, error))?;
    let from = Path::new(&request.path);
    let Some(path) = workspace.sqlite_path() else {
        let url = workspace.url().to_string();
        if !url.starts_with("postgres") {
            return Err(not_a_file(workspace));
        }
        let progress = &mut |done, of| pages(control, done, of);
        workspace.store(Access::Create)?.whole()?.restore_into(from, progress)?;
        return Ok(BackupResponse { path: url, bytes: found.len() });
    };
    let to = Path::new(path);
    Store::restore(from, to, &mut |done, of| pages(control, done, of))?;
    response(path)
}

/// Refuses a path at which no file can be made, before anything is copied: the caller named it, so the store did not fail.
fn check_target(path: &str) -> Result<(), Error> {
    let wrong = |message: String| Error::usage(message).with_detail("path", path);
    let target = std::path::absolute(path).map_err(|error| wrong(format!("`{path}`: {error}")))?;
    // The copy is made beside its name; see `Sqlite::backup`.
    for suffix in ["", "-wal", "-journal", ".partial-journal"] {
        let taken = format!("{}{suffix}", target.display());
        let exists = Path::new(&taken).try_exists();
        if exists.map_err(|error| wrong(format!("`{taken}`: {error}")))? {
            let message = format!("there is a file `{taken}` already");
            return Err(Error::new("E_STORE_EXISTS", message).with_detail("path", path));
        }
    }
    match target.parent().is_some_and(Path::is_dir) {
        true => Ok(()),
        false => Err(wrong(format!("there is no folder for `{}`", target.display()))
            .with_hint("create the folder first")),
    }
}

fn pages(control: &Control<'_>, done: u64, of: u64) {
    control.at(Progress { task: "copying", unit: "pages", done, of: Some(of) });
}

fn response(path: &str) -> Result<BackupResponse, Error> {
    let bytes = std::fs::metadata(path).map_err(|error| Error::io(path, error))?.len();
    Ok(BackupResponse { path: path.to_owned(), bytes })
}

fn not_a_file(workspace: &Workspace) -> Error {
    Error::usage(format!("the store `{}` is not a file", workspace.url()))
        .with_advice(Advice::ExportHistory)
}
