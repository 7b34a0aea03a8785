//! Checks the kind `import`: a document is read and written again, or refused.

use contextree::{Context, Profile};
use contextree_json::{Value, parse};

use super::Got;
use crate::case::{Case, Edition};
use crate::document::{ids, options, through};

pub(super) fn import(case: &Case, edition: Edition) -> Result<Got, String> {
    let profile = profile(case.field("profile"))?;
    let text = case.field("document").to_canonical();
    let context = match Context::import_snapshot(&text, profile, options(edition)) {
        Ok(context) => through(context)?,
        Err(error) => {
            return Ok(Got::from_iter([
                ("error", Value::from(error.code())),
                ("reason", Value::from(error.reason())),
            ]));
        }
    };
    let snapshot = context.newest().ok_or("the import left no snapshot")?;
    let exported = snapshot.export();
    let again = Context::import_snapshot(&exported, profile, options(edition))
        .map_err(|error| format!("the export is refused: {error}"))?;
    if again.newest().map(contextree::Snapshot::digest) != Some(snapshot.digest()) {
        return Err("the export has another digest".to_owned());
    }
    let all = snapshot.view().nodes().map(|(_, node)| node);
    Ok(Got::from_iter([
        ("ids", ids(all)),
        ("export", parse(&exported).map_err(|error| error.to_string())?),
    ]))
}

/// Reads the profile of a case; lenient if it names none.
pub(super) fn profile(value: &Value) -> Result<Profile, String> {
    match value.as_str() {
        None | Some("lenient") => Ok(Profile::Lenient),
        Some("strict") => Ok(Profile::Strict),
        Some(other) => Err(format!("unknown profile `{other}`")),
    }
}
