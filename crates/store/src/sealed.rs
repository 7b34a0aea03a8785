//! JSON texts that carry a check of their own.

use contextree_json::{Object, Value, parse};

/// The name of the check: the CRC-32 of the text without it, in hexadecimal.
const CHECK: &str = "check";

fn check_of(object: &Object) -> String {
    format!("{:08x}", crc32fast::hash(&Value::Object(object.clone()).to_canonical()))
}

/// Returns an object as text, with its check.
pub(crate) fn seal(mut object: Object) -> String {
    object.remove(CHECK);
    let check = check_of(&object);
    object.insert(CHECK, Value::from(check.as_str()));
    String::from_utf8_lossy(&Value::Object(object).to_canonical()).into_owned()
}

/// Reads an object; `None` if it is not what was written.
pub(crate) fn open(text: &str) -> Option<Object> {
    let Ok(Value::Object(mut object)) = parse(text.as_bytes()) else { return None };
    let check = object.remove(CHECK)?;
    // The text itself, not only what it says: a blank that was damaged is damage, too.
    let same = seal(object.clone()) == text && check.as_str() == Some(&check_of(&object));
    same.then_some(object)
}
