//! Checks kinds about whole trees: the thread and diffs.

use contextree::canon::thread::ThreadRenderer;
use contextree::{Context, Hash, Profile, SnapshotAddress};
use contextree_json::{Object, Value, parse};

use super::{Check, DiffSelector, Got};
use crate::case::{Case, Edition};
use crate::document::{options, snapshot, thread_value, through};

pub(super) fn thread(case: &Case, edition: Edition) -> Result<Got, String> {
    let context = snapshot(case.field("tree"), edition)?;
    let snapshot = context.newest().ok_or("the import left no snapshot")?;
    let bytes = snapshot.thread();
    if ThreadRenderer::new().render(snapshot.tree()) != bytes {
        return Err("the incremental renderer gives different bytes".to_owned());
    }
    let (thread, ids) = thread_value(&bytes)?;
    Ok(Got::from_iter([
        ("thread", thread),
        ("ids", ids),
        ("sha256", Value::from(Hash::of(&bytes).to_string())),
        ("compact", Value::from(String::from_utf8(bytes).map_err(|error| error.to_string())?)),
    ]))
}

/// Returns the check of diffs; without a selector language, it does not run cases that need one.
pub(crate) fn diff(selector: Option<Box<dyn DiffSelector>>) -> impl Check {
    DiffCheck { selector }
}

struct DiffCheck {
    selector: Option<Box<dyn DiffSelector>>,
}

impl Check for DiffCheck {
    fn misses(&self, case: &Case) -> Option<String> {
        let needed = !case.field("selector").is_null() && self.selector.is_none();
        needed.then(|| "diff(selector)".to_owned())
    }

    fn check(&self, case: &Case, edition: Edition) -> Result<Got, String> {
        let context = history(&[case.field("older"), case.field("newer")], edition)?;
        let (older, newer) = (SnapshotAddress::Back(1), SnapshotAddress::Back(0));
        let find = |address| context.snapshot(address).map_err(|error| error.to_string());
        let diff = match (case.field("selector").as_str(), &self.selector) {
            (Some(text), Some(selector)) => {
                selector.diff(find(older)?, find(newer)?, text, edition)?
            }
            (Some(_), None) => return Err("there is no selector language".to_owned()),
            (None, _) => {
                let diff = context.diff(older, newer).map_err(|error| error.to_string())?;
                let swapped = context.diff(newer, older).map_err(|error| error.to_string())?;
                if diff != swapped {
                    return Err("the direction depends on the order of arguments".to_owned());
                }
                diff
            }
        };
        let text = diff.to_json();
        match parse(text.as_bytes()).map_err(|error| error.to_string())? {
            Value::Object(got) if got.keys().eq(case.expect().keys()) => Ok(got),
            other => Err(format!("unexpected shape: {other:?}")),
        }
    }
}

/// Returns a context with these trees as its history, oldest first, numbered from 1.
fn history(trees: &[&Value], edition: Edition) -> Result<Context, String> {
    let mut lines = Vec::new();
    for (index, tree) in trees.iter().enumerate() {
        let mut envelope: Object = tree.as_object().ok_or("a tree is not an object")?.clone();
        envelope.insert("cycle", Value::from(index as u64 + 1));
        lines.extend(Value::Object(envelope).to_canonical());
        lines.push(b'\n');
    }
    Context::import_history(&lines, Profile::Lenient, options(edition))
        .map_err(|error| format!("import: {error}"))
        .and_then(through)
}
