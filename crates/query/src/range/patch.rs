//! JSON patches (RFC 6902) from one value to another.
//!
//! Objects are compared key by key. Lists are compared as sequences: equal elements stay, and
//! replaced elements are compared with each other, so that a change deep inside one is a change
//! deep inside the patch. The patch uses only `add`, `remove` and `replace`.

use contextree_json::{MAX_VALUE_DEPTH, Object, Value};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// One operation of a patch.
#[derive(Clone, Debug, PartialEq)]
pub enum PatchOp {
    /// Adds a value at a path; in a list, inserts it before the element there.
    Add {
        /// The path, a JSON pointer.
        path: String,
        /// The value.
        value: Value,
    },
    /// Removes a value.
    Remove {
        /// The path.
        path: String,
    },
    /// Replaces a value.
    Replace {
        /// The path; empty for the whole document.
        path: String,
        /// The value.
        value: Value,
    },
}

impl PatchOp {
    /// Returns the operation as JSON.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut object = Object::new();
        let (op, path, value) = match self {
            Self::Add { path, value } => ("add", path, Some(value)),
            Self::Remove { path } => ("remove", path, None),
            Self::Replace { path, value } => ("replace", path, Some(value)),
        };
        object.insert("op", op.into());
        object.insert("path", path.as_str().into());
        if let Some(value) = value {
            object.insert("value", value.clone());
        }
        object.into()
    }
}

/// Returns a patch that turns `before` into `after`; empty if they are equal.
#[must_use]
pub fn json_patch(before: &Value, after: &Value) -> Vec<PatchOp> {
    let mut ops = Vec::new();
    compare(before, after, "", 0, &mut ops);
    ops
}

/// The recursion is bounded by `depth`; deeper values are replaced whole.
fn compare(before: &Value, after: &Value, path: &str, depth: usize, ops: &mut Vec<PatchOp>) {
    match (before, after) {
        _ if before == after => {}
        (Value::Object(before), Value::Object(after)) if depth < MAX_VALUE_DEPTH => {
            objects(before, after, path, depth, ops);
        }
        (Value::Array(before), Value::Array(after)) if depth < MAX_VALUE_DEPTH => {
            lists(before, after, path, depth, ops);
        }
        _ => ops.push(PatchOp::Replace { path: path.to_owned(), value: after.clone() }),
    }
}

fn objects(before: &Object, after: &Object, path: &str, depth: usize, ops: &mut Vec<PatchOp>) {
    for (key, _) in before.iter().filter(|(key, _)| !after.contains_key(key)) {
        ops.push(PatchOp::Remove { path: pointer(path, key) });
    }
    for (key, value) in after.iter() {
        match before.get(key) {
            None => ops.push(PatchOp::Add { path: pointer(path, key), value: value.clone() }),
            Some(old) => {
                let below = pointer(path, key);
                compare(old, value, &below, depth + 1, ops);
            }
        }
    }
}

fn lists(before: &[Value], after: &[Value], path: &str, depth: usize, ops: &mut Vec<PatchOp>) {
    // The index of the next element in the list as patched so far.
    let mut place = 0;
    for op in capture_diff_slices(Algorithm::Myers, before, after) {
        let (old, new) = match op {
            DiffOp::Equal { len, .. } => {
                place += len;
                continue;
            }
            DiffOp::Delete { old_index, old_len, .. } => (old_index..old_index + old_len, 0..0),
            DiffOp::Insert { new_index, new_len, .. } => (0..0, new_index..new_index + new_len),
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                (old_index..old_index + old_len, new_index..new_index + new_len)
            }
        };
        let (old, new) = (&before[old], &after[new]);
        let shared = old.len().min(new.len());
        for (old, new) in old.iter().zip(new) {
            let below = pointer(path, &place.to_string());
            compare(old, new, &below, depth + 1, ops);
            place += 1;
        }
        for _ in &old[shared..] {
            ops.push(PatchOp::Remove { path: pointer(path, &place.to_string()) });
        }
        for value in &new[shared..] {
            ops.push(PatchOp::Add {
                path: pointer(path, &place.to_string()),
                value: value.clone(),
            });
            place += 1;
        }
    }
}

fn pointer(path: &str, token: &str) -> String {
    format!("{path}/{}", token.replace('~', "~0").replace('/', "~1"))
}
