//! Documents to read: a snapshot, a history, or a fixture with several snapshots and a working state.
//!
//! Documents are read leniently: what is missing has its default, as in the vectors of the specification.

use contextree::query::{Moment, QueryError, Timeline};
use contextree::{Context, ContextOptions, Cycle, Profile, TreeRef};
use contextree_json::{Event, Object, ParseError, Reader, Value, lines, parse};

use crate::{Advice, Error};

/// The contents of a document.
#[derive(Debug)]
pub(crate) struct FileSource {
    /// The name of the document.
    pub(crate) place: String,
    /// The snapshots.
    pub(crate) history: Option<Context>,
    /// The working state, where the file has one of its own.
    working: Option<Context>,
}

/// The kind of a document, detected by its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One snapshot.
    Snapshot,
    /// Snapshots as lines.
    History,
    /// Several snapshots and a working state.
    Fixture,
}

impl FileSource {
    /// Returns the context that has the working state.
    pub(crate) fn context(&self) -> &Context {
        // Without a working state of its own, a file has that of its newest snapshot.
        self.working.as_ref().or(self.history.as_ref()).expect("a file without both is refused")
    }

    /// Reads a document; `place` is its name.
    pub(super) fn parse(place: &str, text: &[u8]) -> Result<FileSource, Error> {
        let source = |history, working| FileSource { place: place.to_owned(), history, working };
        let options = ContextOptions::default;
        match Kind::of(place, text)? {
            Kind::Snapshot => Context::import_snapshot(text, Profile::Lenient, options())
                .map(|history| source(Some(history), None))
                .map_err(|error| Error::document(place, &error)),
            Kind::History => Context::import_history(text, Profile::Lenient, options())
                .map(|history| source(Some(history), None))
                .map_err(|error| Error::history(place, &error)),
            Kind::Fixture => {
                let value = parse(text).map_err(|error| not_json(place, &error))?;
                let history = fixture_history(place, &value)?;
                let next = history.as_ref().map_or(Cycle::FIRST, Context::next_cycle);
                let working = match value.get("working") {
                    None | Some(Value::Null) => None,
                    Some(document) => Some(
                        Context::import_working(
                            &document.to_canonical(),
                            Profile::Lenient,
                            next,
                            options(),
                        )
                        .map_err(|error| Error::document(&format!("{place}: `working`"), &error))?,
                    ),
                };
                if history.is_none() && working.is_none() {
                    return Err(unknown_shape(place));
                }
                Ok(source(history, working))
            }
        }
    }
}

impl Timeline for FileSource {
    type Error = QueryError;

    fn snapshot_count(&self) -> usize {
        self.history.as_ref().map_or(0, |context| context.history().len())
    }

    fn snapshot(&self, position: usize) -> Result<Option<Moment<'_>>, QueryError> {
        match &self.history {
            Some(history) => Timeline::snapshot(history, position),
            None => Ok(None),
        }
    }

    fn working(&self) -> Result<Option<TreeRef<'_>>, QueryError> {
        Ok(Some(self.context().working()))
    }
}

/// The snapshots of a fixture, as a history of whole snapshots. A snapshot without a cycle follows the one before it.
fn fixture_history(place: &str, fixture: &Value) -> Result<Option<Context>, Error> {
    let documents = match fixture.get("snapshots") {
        None => return Ok(None),
        Some(Value::Array(documents)) if documents.is_empty() => return Ok(None),
        Some(Value::Array(documents)) => documents,
        Some(_) => {
            return Err(Error::new(
                "E_DOCUMENT_INVALID",
                format!("{place}: `snapshots` is not a list"),
            ));
        }
    };
    let mut lines = Vec::new();
    let mut next = 0;
    for document in documents {
        let mut document = document.as_object().cloned().unwrap_or_default();
        let cycle = document.get("cycle").and_then(Value::as_u64);
        if cycle.is_none() && documents.len() > 1 {
            document.insert("cycle", Value::from(next));
        }
        next = cycle.unwrap_or(next) + 1;
        lines.extend(Value::Object(document).to_canonical());
        lines.push(b'\n');
    }
    Context::import_history(&lines, Profile::Lenient, ContextOptions::default()).map(Some).map_err(
        |error| {
            let place = format!("{place}: `snapshots`[{}]", error.line - 1);
            Error::document(&place, &error.error)
        },
    )
}

impl Kind {
    /// Detects the kind of a document by the keys of its first object.
    pub(crate) fn of(place: &str, text: &[u8]) -> Result<Kind, Error> {
        match first_keys(text).map_err(|error| not_json(place, &error))? {
            Some(Kind::Snapshot) if is_lines(text) => Ok(Kind::History),
            Some(kind) => Ok(kind),
            None => Err(unknown_shape(place)),
        }
    }
}

fn first_keys(text: &[u8]) -> Result<Option<Kind>, ParseError> {
    let mut reader = Reader::new(text);
    reader.begin_object()?;
    while let Some(key) = reader.next_key()? {
        match &*key {
            "root" => return Ok(Some(Kind::Snapshot)),
            "snapshots" | "working" => return Ok(Some(Kind::Fixture)),
            // A history that begins in the middle: the reader of histories reports what is wrong with it.
            "nodes" | "removed" => return Ok(Some(Kind::History)),
            _ => {
                let depth = reader.depth();
                loop {
                    let event = reader.next()?;
                    if reader.depth() == depth && !matches!(event, Event::Key(_)) {
                        break;
                    }
                }
            }
        }
    }
    Ok(None)
}

/// True if the first line is a whole document and another follows.
fn is_lines(text: &[u8]) -> bool {
    let mut lines = lines(text).filter(|line| !line.iter().all(u8::is_ascii_whitespace));
    let (Some(first), Some(_)) = (lines.next(), lines.next()) else { return false };
    let mut reader = Reader::new(first);
    loop {
        match reader.next() {
            Ok(Event::End) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

fn not_json(place: &str, error: &ParseError) -> Error {
    Error::new(error.code(), format!("{place}: {error}"))
        .with_detail("place", place)
        .with_detail("line", error.line() as u64)
        .with_detail("column", error.column() as u64)
        .with_hint("a document is a snapshot, a history (JSON Lines) or a fixture")
        .with_advice(Advice::ExportDocument)
}

fn unknown_shape(place: &str) -> Error {
    let message = format!(
        "{place}: neither a snapshot (`root`), a history, nor a fixture (`snapshots`, `working`)"
    );
    Error::new("E_DOCUMENT_INVALID", message)
        .with_detail("place", place)
        .with_advice(Advice::ExportDocument)
}

/// Reads one JSON object per line, with the number of each line.
pub(crate) fn objects(place: &str, text: &[u8]) -> Result<Vec<(usize, Object)>, Error> {
    let mut found = Vec::new();
    for (index, line) in lines(text).enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let number = index + 1;
        let value = parse(line).map_err(|error| {
            let message = format!("{place}: line {number}: not JSON: {}", error.in_line());
            Error::new(error.code(), message)
                .with_detail("line", number as u64)
                .with_hint("write one JSON object per line")
        })?;
        match value {
            Value::Object(object) => found.push((number, object)),
            other => {
                let message = format!(
                    "{place}: line {number}: expected an object, found {}",
                    other.type_name()
                );
                return Err(Error::new("E_JSON_SHAPE", message)
                    .with_detail("line", number as u64)
                    .with_hint("write one JSON object per line"));
            }
        }
    }
    Ok(found)
}
