//! The file of all results, with one section for each command that measures. The page is written
//! from it.

use std::fs;
use std::path::{Path, PathBuf};

use contextree_json::{Object, Value, parse};

/// The results, and the folder for pages and pictures.
#[derive(Debug)]
pub(crate) struct Results {
    folder: PathBuf,
    all: Object,
}

impl Results {
    /// Reads earlier results. Quick or partial runs have a file of their own and never change the
    /// documents.
    pub(crate) fn open(root: &Path, target: &Path, is_whole: bool) -> Result<Results, String> {
        let folder = if is_whole { root.join("docs") } else { target.join("bench") };
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let all = match fs::read(folder.join(FILE)) {
            Ok(text) => match parse(&text) {
                Ok(Value::Object(all)) => all,
                _ => return Err(format!("{FILE} is not a results file")),
            },
            Err(_) => Object::new(),
        };
        Ok(Results { folder, all })
    }

    /// Returns a section.
    pub(crate) fn section(&self, name: &str) -> Option<&Value> {
        self.all.get(name)
    }

    /// Replaces a section, and writes the file.
    pub(crate) fn set(&mut self, name: &str, value: Value) -> Result<(), String> {
        self.all.insert(name, value);
        let mut text = String::new();
        pretty(&mut text, &Value::Object(self.all.clone()), 0);
        text.push('\n');
        self.write(FILE, &text)
    }

    /// Writes a document next to the file.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.folder.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    }
}

const FILE: &str = "performance.json";

/// Writes a value without nested ones on one line.
fn pretty(out: &mut String, value: &Value, indent: usize) {
    let is_flat = |value: &Value| match value {
        Value::Array(items) => {
            items.iter().all(|item| !matches!(item, Value::Array(_) | Value::Object(_)))
        }
        Value::Object(fields) => {
            fields.iter().all(|(_, item)| !matches!(item, Value::Array(_) | Value::Object(_)))
        }
        _ => true,
    };
    let line = |out: &mut String, indent: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', indent));
    };
    let compact = |value: &Value| String::from_utf8_lossy(&value.to_canonical()).into_owned();
    match value {
        Value::Array(items) if !is_flat(value) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                line(out, indent + 1);
                pretty(out, item, indent + 1);
            }
            line(out, indent);
            out.push(']');
        }
        Value::Object(fields) if !is_flat(value) => {
            out.push('{');
            for (index, (name, item)) in fields.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                line(out, indent + 1);
                out.push_str(&compact(&Value::from(name)));
                out.push_str(": ");
                pretty(out, item, indent + 1);
            }
            line(out, indent);
            out.push('}');
        }
        flat => out.push_str(&compact(flat)),
    }
}
