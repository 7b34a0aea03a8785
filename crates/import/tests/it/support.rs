//! Helpers shared by the tests of importing and rendering.

use std::path::PathBuf;

use contextree_import::{Format, ImportOptions, Imported, import};
use contextree_json::Value;
use contextree_provider::{Provider, RenderOptions, Rendered, render};

/// Returns the samples of a format by name.
pub(crate) fn samples(format: Format) -> Vec<(String, Vec<u8>)> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../import/tests/samples")
        .join(format.name());
    let mut samples: Vec<(String, Vec<u8>)> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.to_string_lossy().ends_with(".expected.json"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    samples.sort();
    assert!(!samples.is_empty(), "there are samples of {format}");
    samples
}

pub(crate) fn parse(text: &[u8]) -> Value {
    contextree_json::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn imported(text: &[u8], format: Format) -> Imported {
    import(text, format, ImportOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Renders the working state: what was sent last, and what was added since.
pub(crate) fn rendered(imported: &Imported, provider: Provider) -> Rendered {
    render(imported.context.working(), provider, &RenderOptions::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Panics with the first path at which two values differ.
pub(crate) fn assert_same(left: &Value, right: &Value, what: &str) {
    if let Some(difference) = difference(left, right, "") {
        panic!("{what}: {difference}");
    }
}

fn difference(left: &Value, right: &Value, at: &str) -> Option<String> {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let missing = right.keys().find(|key| !left.contains_key(key));
            let extra = left.keys().find(|key| !right.contains_key(key));
            if let Some(key) = missing {
                return Some(format!("`{at}.{key}` is missing"));
            }
            if let Some(key) = extra {
                return Some(format!("`{at}.{key}` should not be there"));
            }
            left.iter()
                .find_map(|(key, value)| difference(value, right.get(key)?, &format!("{at}.{key}")))
        }
        (Value::Array(left), Value::Array(right)) => {
            let pairs = left.iter().zip(right).enumerate();
            let found = pairs
                .filter_map(|(index, (left, right))| {
                    difference(left, right, &format!("{at}[{index}]"))
                })
                .next();
            let lengths = (left.len() != right.len())
                .then(|| format!("`{at}` has {} elements, not {}", left.len(), right.len()));
            found.or(lengths)
        }
        _ => (left != right).then(|| {
            let text = |value: &Value| String::from_utf8(value.to_canonical()).unwrap();
            format!("`{at}` is {}, not {}", text(left), text(right))
        }),
    }
}
