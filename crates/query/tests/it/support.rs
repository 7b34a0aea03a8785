//! A timeline of plain trees, fixtures of the corpus, and a small random source.

use contextree_canon::{Limits, Profile, import, import_working};
use contextree_json::{Object, Value};
use contextree_query::{Moment, QueryError, Timeline};
pub(crate) use contextree_testkit::Rng as Random;
use contextree_tree::{Cycle, Draft, Tree, TreeRef};

/// Snapshots and a working state as plain trees.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) snapshots: Vec<(Cycle, Tree)>,
    pub(crate) working: Option<Draft>,
}

impl Timeline for History {
    type Error = QueryError;

    fn snapshot_count(&self) -> usize {
        self.snapshots.len()
    }

    fn snapshot(&self, position: usize) -> Result<Option<Moment<'_>>, QueryError> {
        let found = self.snapshots.get(position);
        Ok(found.map(|(cycle, tree)| Moment { cycle: *cycle, tree: tree.view() }))
    }

    fn working(&self) -> Result<Option<TreeRef<'_>>, QueryError> {
        Ok(self.working.as_ref().map(Draft::view))
    }
}

impl History {
    /// Loads a fixture of the corpus: a document, or a store of documents.
    pub(crate) fn load(fixture: &Value) -> Self {
        let documents = match fixture.get("snapshots") {
            Some(Value::Array(documents)) => documents.clone(),
            _ => vec![fixture.clone()],
        };
        let mut history = History::default();
        for document in &documents {
            let imported =
                import(&document.to_canonical(), Profile::Lenient, &Limits::default()).unwrap();
            history.snapshots.push((imported.cycle, imported.tree));
        }
        let next = history.snapshots.last().map_or(Cycle::FIRST, |(cycle, _)| cycle.next());
        // After an import the working state equals the newest snapshot, until it is changed.
        let working = fixture.get("working").or(documents.last()).unwrap();
        let text = working.to_canonical();
        history.working =
            Some(import_working(&text, Profile::Lenient, &Limits::default(), next).unwrap());
        history
    }
}

/// One case of the corpus.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) editions: Vec<contextree_selector::Edition>,
    pub(crate) fields: Object,
    pub(crate) fixture: Option<Value>,
}

impl Case {
    pub(crate) fn text(&self, name: &str) -> &str {
        self.fields.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn field(&self, name: &str) -> Value {
        self.fields.get(name).cloned().unwrap_or_default()
    }
}

/// Returns the cases of a file of the corpus.
pub(crate) fn cases(file: &str) -> Vec<Case> {
    let path = format!("{}/../conformance/corpus/{file}", env!("CARGO_MANIFEST_DIR"));
    let document = contextree_json::parse(&std::fs::read(path).unwrap()).unwrap();
    let fixtures = document.get("fixtures").cloned().unwrap_or_default();
    let cases = document.get("cases").unwrap().as_array().unwrap();
    let case = |case: &Value| {
        let text =
            |name: &str| case.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let editions = case.get("editions").unwrap().as_array().unwrap();
        Case {
            id: text("id"),
            kind: text("kind"),
            editions: editions.iter().map(|name| name.as_str().unwrap().parse().unwrap()).collect(),
            fixture: fixtures.get(&text("fixture")).cloned(),
            fields: case.as_object().unwrap().clone(),
        }
    };
    cases.iter().map(case).collect()
}

/// Returns whether `found` has everything that `expected` has: objects may have more, lists are
/// exact.
pub(crate) fn is_subset(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => expected
            .iter()
            .all(|(key, value)| found.get(key).is_some_and(|found| is_subset(value, found))),
        (Value::Array(expected), Value::Array(found)) => {
            expected.len() == found.len()
                && expected.iter().zip(found).all(|(expected, found)| is_subset(expected, found))
        }
        _ => expected == found,
    }
}
