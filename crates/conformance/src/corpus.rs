//! Loads a directory of vector files.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use contextree_json::{Object, Value, parse};

use super::case::{Case, Edition};

/// All cases of a directory, file by file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corpus {
    /// The cases, sorted by the name of their file, then in file order.
    pub cases: Vec<Case>,
    /// The content of `schemas.json`, if it exists.
    pub schemas: Option<Object>,
}

/// A corpus that cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The file or directory.
    pub file: String,
    /// The problem.
    pub message: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.file, self.message)
    }
}

impl std::error::Error for LoadError {}

impl Corpus {
    /// Returns the corpus that is part of this crate.
    ///
    /// # Errors
    ///
    /// Never in practice: the tests of this crate load the same files.
    pub fn embedded() -> Result<Corpus, LoadError> {
        Corpus::from_files(crate::FILES)
    }

    /// Loads every `*.json` file of a directory that has cases. Integers are kept exactly.
    ///
    /// # Errors
    ///
    /// If a file is not JSON; a case lacks an id, a kind, editions or an expectation; an id is
    /// repeated; or a case refers to a case or a fixture that does not exist.
    pub fn load(directory: impl AsRef<Path>) -> Result<Corpus, LoadError> {
        let directory = directory.as_ref();
        let fail =
            |file: &Path, message: String| LoadError { file: file.display().to_string(), message };
        let entries =
            std::fs::read_dir(directory).map_err(|error| fail(directory, error.to_string()))?;
        let mut files = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| fail(directory, error.to_string()))?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                files.push(path);
            }
        }
        files.sort();
        let mut texts = Vec::new();
        for path in files {
            let text = std::fs::read(&path).map_err(|error| fail(&path, error.to_string()))?;
            texts.push((path.display().to_string(), text));
        }
        Corpus::from_files(texts.iter().map(|(path, text)| (path.as_str(), text.as_slice())))
    }

    /// Loads cases from files that were read already, given as path and text.
    ///
    /// # Errors
    ///
    /// In the same cases as [`Corpus::load`].
    pub fn from_files<'f>(
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    ) -> Result<Corpus, LoadError> {
        let fail = |file: &str, message: String| LoadError { file: file.to_owned(), message };
        let mut corpus = Corpus::default();
        for (path, text) in files {
            let value = parse(text).map_err(|error| fail(path, error.to_string()))?;
            let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
            corpus
                .take_file(&name.unwrap_or_default(), &value)
                .map_err(|message| fail(path, message))?;
        }
        corpus.resolve_twins().map_err(|message| fail("the corpus", message))?;
        Ok(corpus)
    }

    /// Returns the case with this id.
    #[must_use]
    pub fn case(&self, id: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.id == id)
    }

    fn take_file(&mut self, file: &str, value: &Value) -> Result<(), String> {
        // Other documents of the directory, such as the table of requirements, have no cases.
        let Some(cases) = value.get("cases").and_then(Value::as_array) else { return Ok(()) };
        if let Some(schemas) = value.get("schemas").and_then(Value::as_object) {
            self.schemas = Some(schemas.clone());
        }
        let fixtures = value.get("fixtures").and_then(Value::as_object);
        let area = value.get("area").and_then(Value::as_str).unwrap_or("other");
        for (index, case) in cases.iter().enumerate() {
            let case = read_case((file, area), case, fixtures)
                .map_err(|message| format!("case {}: {message}", index + 1))?;
            self.cases.push(case);
        }
        Ok(())
    }

    fn resolve_twins(&mut self) -> Result<(), String> {
        let mut by_id: BTreeMap<String, Case> = BTreeMap::new();
        for case in &self.cases {
            if by_id.insert(case.id.clone(), case.clone()).is_some() {
                return Err(format!("duplicate id `{}`", case.id));
            }
        }
        for case in &mut self.cases {
            if let Some(twin) = case.field("same_as").as_str().map(str::to_owned) {
                let twin = by_id.get(&twin).ok_or_else(|| {
                    format!("`{}` must equal `{twin}`, which does not exist", case.id)
                })?;
                case.same_as = Some(Box::new(twin.clone()));
            }
        }
        Ok(())
    }
}

fn read_case(
    (file, area): (&str, &str),
    case: &Value,
    fixtures: Option<&Object>,
) -> Result<Case, String> {
    let fields = case.as_object().ok_or("not an object")?.clone();
    let text = |name: &str| {
        let value = fields.get(name).and_then(Value::as_str);
        value.map(str::to_owned).ok_or_else(|| format!("`{name}` is not a string"))
    };
    let texts = |name: &str| -> Result<Vec<String>, String> {
        let list = fields.get(name).map_or(Some(&[][..]), Value::as_array);
        list.and_then(|list| list.iter().map(|item| item.as_str().map(str::to_owned)).collect())
            .ok_or_else(|| format!("`{name}` is not a list of strings"))
    };
    let editions = texts("editions")?
        .iter()
        .map(|name| Edition::from_name(name).ok_or_else(|| format!("unknown edition `{name}`")))
        .collect::<Result<Vec<_>, _>>()?;
    let expects_something =
        fields.get("expect").and_then(Value::as_object).is_some_and(|expect| !expect.is_empty());
    if editions.is_empty() || !expects_something {
        return Err("a case needs editions and an expectation".to_owned());
    }
    let fixture = match fields.get("fixture").and_then(Value::as_str) {
        None => None,
        Some(name) => {
            let fixture = fixtures.and_then(|fixtures| fixtures.get(name));
            Some(fixture.ok_or_else(|| format!("unknown fixture `{name}`"))?.clone())
        }
    };
    Ok(Case {
        id: text("id")?,
        file: file.to_owned(),
        area: area.to_owned(),
        kind: text("kind")?,
        status: text("status")?,
        editions,
        covers: texts("covers")?,
        same_as: None,
        fixture,
        fields,
    })
}
