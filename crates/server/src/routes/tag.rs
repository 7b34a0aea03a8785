//! Entity tags: what a response depends on, as a hash.

use axum::http::HeaderValue;
use contextree_app::catalog::{Command, Scope};
use contextree_app::{Address, Error, Workspace};
use contextree_json::Value;
use sha2::{Digest as _, Sha256};

/// Commands whose response is a function of the states that they are given, with the fields that name these.
const OF_STATES: [(&str, &[&str]); 4] =
    [("show", &["what"]), ("thread", &["at"]), ("node", &["at"]), ("rows", &["at", "against"])];

/// A response may be kept, but has to be asked for again.
pub(super) const REVALIDATE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Returns the tag of what a command returns; `None` if it depends on more than one context.
///
/// What a command returns of snapshots depends on the request and on their digests, unless something was redacted: later commits do
/// not change the tag. Everything else depends on the request and on the context, which changes only with its revision.
/// The time of its creation tells a context from one of the same name that was deleted.
pub(super) fn of(
    command: &Command,
    workspace: &Workspace,
    request: &Value,
) -> Result<Option<HeaderValue>, Error> {
    if command.scope != Scope::Context {
        return Ok(None);
    }
    let (row, stamp) = match addresses(command, request) {
        Some(addresses) => workspace.stamp_of_snapshots(&addresses)?,
        None => (workspace.row()?, None),
    };
    let Some(row) = row else { return Ok(None) };
    let mut hasher = Sha256::new();
    hasher.update(env!("CARGO_PKG_VERSION"));
    for part in [command.name, row.name.as_str(), workspace.edition().map_or("", |it| it.as_str())]
    {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.update(row.created_ns.to_le_bytes());
    match stamp {
        Some(stamp) => hasher.update(stamp),
        None => hasher.update(row.revision.to_le_bytes()),
    }
    hasher.update(request.to_canonical());
    let digest = hasher.finalize();
    let digits: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    // Weak: a compressed response has the same tag.
    Ok(HeaderValue::from_str(&format!("W/\"{digits}\"")).ok())
}

/// Returns the states that a request names, if what a command returns depends on nothing else.
fn addresses(command: &Command, request: &Value) -> Option<Vec<Address>> {
    let (_, fields) = OF_STATES.iter().find(|(name, _)| *name == command.name)?;
    let mut addresses = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        match request.get(field).and_then(Value::as_str) {
            // Only the first state is needed.
            None if index > 0 => {}
            named => match named?.parse().ok()? {
                // It changes with the revision.
                Address::Working => return None,
                address => addresses.push(address),
            },
        }
    }
    Some(addresses)
}

/// Returns whether a caller has what a tag stands for.
pub(super) fn matches(wanted: &HeaderValue, tag: &HeaderValue) -> bool {
    let (Ok(wanted), Ok(tag)) = (wanted.to_str(), tag.to_str()) else { return false };
    let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    wanted.split(',').any(|one| one.trim() == "*" || strong(one) == strong(tag))
}
