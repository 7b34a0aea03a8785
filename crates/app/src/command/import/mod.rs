//! `import`: a document becomes a context, and a log that has grown is continued.

mod follow;
mod grow;
mod position;

use std::collections::BTreeMap;
use std::sync::Arc;

use contextree::canon::history::SideLine;
use contextree::canon::is_version_1;
use contextree::engine::vocabulary_of;
use contextree::import::{
    Cycles, Format, ImportError, ImportErrorKind, ImportOptions, ImportReport as Imported,
    Importer, is_lines,
};
use contextree::store::{ContextSettings, Note, SideRecord, StoreError};
use contextree::{Code, Context, ContextOptions, Profile, Region, Vocabulary};
use contextree_json::{ParseErrorKind, lines, parse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::put::check_names;
use crate::wire::{Bytes, ContextRow, Word, Words};
use crate::workspace::{Access, Kind, Source, Stretches};
use crate::{Advice, Control, Error, Progress, Workspace};
use grow::Growth;
use position::{Position, Trace};

pub use follow::{Follower, follow};

/// What a document is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DocumentKind {
    /// Detected.
    #[default]
    Auto,
    /// A snapshot.
    Snapshot,
    /// A history.
    History,
    /// The request of a provider, or the log of an agent.
    Log(Format),
}

impl Words for Cycles {
    const NAME: &'static str = "cycles";

    fn words() -> Vec<(Self, &'static str)> {
        Cycles::ALL.into_iter().map(|cycles| (cycles, cycles.name())).collect()
    }
}

impl Words for DocumentKind {
    const NAME: &'static str = "format";

    fn words() -> Vec<(Self, &'static str)> {
        let own = [
            (DocumentKind::Auto, "auto"),
            (DocumentKind::Snapshot, "snapshot"),
            (DocumentKind::History, "history"),
        ];
        let logs = Format::words().into_iter().filter(|(format, _)| *format != Format::Auto);
        let logs = logs.map(|(format, word)| (DocumentKind::Log(format), word));
        own.into_iter().chain(logs).collect()
    }
}

/// Imports a document into the context of the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ImportRequest {
    /// What the document is.
    pub from: Word<DocumentKind>,
    /// Continues after a bad line of a log; bad lines are listed.
    pub keep_going: bool,
    /// What becomes a cycle: `call`, `turn`, or `auto` for the default of the format.
    pub cycles: Word<Cycles>,
    /// Where turns are cycles, leaves the last one in progress instead of committing it.
    pub open: bool,
    /// Accepts only documents with every required header.
    pub strict: bool,
    /// Reads and checks the document and stores nothing.
    pub dry_run: bool,
    /// The words for the types of new nodes. If it is absent: those of the edition that was asked for; otherwise those of the
    /// newest turn of a snapshot or history; otherwise `segment`.
    pub vocabulary: Option<Word<Vocabulary>>,
}

/// An imported document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportResponse {
    /// The name of the context.
    pub name: String,
    /// The context; absent for a dry run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextRow>,
    /// The number of its snapshots.
    pub snapshots: usize,
    /// The number of nodes of its working state.
    pub nodes: usize,
    /// Whether the context existed and got what is new in its log.
    #[serde(default)]
    pub updated: bool,
    /// What was read from a request or a log; of a log that has grown, what is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import: Option<ImportReport>,
    /// What the reader should know about the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What was read from a request or a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportReport {
    /// The format; null if the text had nothing to detect it by.
    pub format: Option<Word<Format>>,
    /// Lines that were read, empty ones included.
    pub lines: u64,
    /// Messages that were added.
    pub messages: u64,
    /// Commits.
    pub commits: u64,
    /// Model calls; each is a commit of what was sent, and an attempt.
    pub calls: u64,
    /// Conversations; more than one if a line did not continue the one before it.
    pub conversations: u64,
    /// Entries that are not messages, counted by their type.
    pub left_out: BTreeMap<String, u64>,
    /// What else was noticed, counted by name: `compaction`, `missing_parent`, `time_backwards`.
    pub findings: BTreeMap<String, u64>,
    /// Bad lines.
    pub bad_lines: Vec<BadLine>,
}

/// A bad line of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BadLine {
    /// The stable code.
    pub code: String,
    /// The line, if the error is in one.
    pub line: Option<u64>,
    /// The message.
    pub message: String,
}

impl From<&ImportError> for BadLine {
    fn from(error: &ImportError) -> Self {
        let (code, message) = (error.code().to_owned(), error.to_string());
        BadLine { code, line: error.line, message }
    }
}

impl From<&Imported> for ImportReport {
    fn from(report: &Imported) -> Self {
        ImportReport {
            format: report.format.map(Word),
            lines: report.lines,
            messages: report.messages,
            commits: report.commits,
            calls: report.calls,
            conversations: report.conversations,
            left_out: report.skipped.clone(),
            findings: report.findings.clone(),
            bad_lines: report.errors.iter().map(BadLine::from).collect(),
        }
    }
}

/// Imports a document into the context of the workspace. The store is created if it is a file that does not exist.
///
/// A context that was imported from a log gets what is new in the log, with one durable step per call. Otherwise the context must not exist
/// yet.
///
/// # Errors
///
/// If the document cannot be read, or the context exists and is not continued by it.
pub fn import(
    workspace: &Workspace,
    request: &ImportRequest,
    source: Source<'_>,
    control: &Control<'_>,
) -> Result<ImportResponse, Error> {
    let _span = workspace.span("import");
    if let Some(position) = imported(workspace, request)? {
        let mut growth = Growth::open(workspace, request, position, source, control)?;
        growth.read(control)?;
        growth.settle()?;
        return growth.response(workspace);
    }
    let place = source.name.clone();
    let mut warnings = Vec::new();
    let text = Stretches::new(source);
    let Read { context, report, trace, sides } =
        read(workspace, request, &place, text, &mut warnings, control)?;
    let mut response = ImportResponse {
        name: workspace.context().to_owned(),
        context: None,
        snapshots: context.history().len(),
        nodes: context.working().node_count(),
        updated: false,
        import: report.as_ref().map(ImportReport::from),
        warnings,
    };
    if request.dry_run {
        return Ok(response);
    }
    let edition = workspace.edition().unwrap_or_default();
    let vocabulary = vocabulary(workspace, request, Some(&context));
    let settings = ContextSettings { edition, vocabulary, ..ContextSettings::default() };
    let store = workspace.store(Access::Create)?;
    let store = store.for_new(&response.name)?;
    control.begin("storing");
    let position = report.and_then(|report| Position::of(request, &context, &report, trace));
    let session = match position {
        Some(position) => {
            position.write(|note| store.adopt_with(&response.name, context, &settings, [note]))?
        }
        None => {
            let notes = sides.iter().map(|side| {
                let SideRecord { kind, key, value } = side;
                Note { kind, key, value }
            });
            store.adopt_with(&response.name, context, &settings, notes)?
        }
    };
    response.context = Some(session.row().into());
    Ok(response)
}

/// Returns how much of a log the context has; `None` if the context does not exist.
///
/// # Errors
///
/// If the context exists, but was not imported from a log.
fn imported(workspace: &Workspace, request: &ImportRequest) -> Result<Option<Position>, Error> {
    let store = match workspace.store(Access::Read) {
        Err(error) if error.code() == Code::StoreNotFound => return Ok(None),
        store => store?,
    };
    let name = workspace.context();
    if store.find(name)?.is_none() {
        return Ok(None);
    }
    let is_log = matches!(request.from.0, DocumentKind::Auto | DocumentKind::Log(_));
    match Position::read(&store.reader(name)?)?.filter(|_| is_log) {
        Some(position) => Ok(Some(position)),
        None => {
            let error = StoreError::Exists { context: name.to_owned() };
            Err(Error::new(error.code(), error.to_string())
                .with_detail("context", name)
                .with_advice(Advice::ImportElsewhere(name.to_owned())))
        }
    }
}

/// A context, and what was read if the document was a log.
struct Read {
    context: Context,
    report: Option<Imported>,
    /// What was read, if it has lines.
    trace: Option<Trace>,
    /// Side records of programs, of a history.
    sides: Vec<SideRecord>,
}

impl From<Context> for Read {
    fn from(context: Context) -> Self {
        Read { context, report: None, trace: None, sides: Vec::new() }
    }
}

fn read(
    workspace: &Workspace,
    request: &ImportRequest,
    place: &str,
    mut text: Stretches<'_>,
    warnings: &mut Vec<String>,
    control: &Control<'_>,
) -> Result<Read, Error> {
    let profile = if request.strict { Profile::Strict } else { Profile::Lenient };
    let first = text.next()?;
    check_encoding(place, &first)?;
    let kind = match request.from.0 {
        DocumentKind::Auto => match Kind::of(place, &first) {
            Ok(Kind::Snapshot) => DocumentKind::Snapshot,
            Ok(Kind::History) => DocumentKind::History,
            Ok(Kind::Fixture) => {
                return Err(Error::usage(format!("{place} is a fixture, which can only be read"))
                    .with_advice(Advice::ReadFixture));
            }
            Err(_) => DocumentKind::Log(Format::Auto),
        },
        given => given,
    };
    match kind {
        DocumentKind::Snapshot => {
            let text = text.whole(first)?;
            warnings.extend(differences_of_version(&text));
            Context::import_snapshot(&text, profile, ContextOptions::default())
                .map(Read::from)
                .map_err(|error| Error::document(place, &error))
        }
        DocumentKind::Auto | DocumentKind::History => {
            let text = text.whole(first)?;
            warnings.extend(differences_of_version(&text));
            let (context, sides) =
                Context::import_history_and_sides(&text, profile, ContextOptions::default())
                    .map_err(|error| Error::history(place, &error))?;
            let sides = sides.into_iter().map(side_record).collect::<Result<_, Error>>()?;
            Ok(Read { sides, ..Read::from(context) })
        }
        DocumentKind::Log(format) => log(workspace, request, format, place, first, text, control),
    }
}

/// Returns the side record of a line.
fn side_record(line: SideLine) -> Result<SideRecord, Error> {
    let SideLine { kind, key, value } = line;
    check_names(&kind, &key)?;
    let Bytes(value) = Bytes::from_text(&value).map_err(|error| {
        let message = format!("the value of the record `{kind}/{key}` is not base64: {error}");
        Error::new("E_RECORD", message).with_detail("kind", kind.as_str())
    })?;
    Ok(SideRecord { kind, key, value })
}

/// Returns the words for the types of new nodes.
fn vocabulary(
    workspace: &Workspace,
    request: &ImportRequest,
    imported: Option<&Context>,
) -> Vocabulary {
    let asked = request.vocabulary.map(|words| words.0);
    let of_edition = || workspace.edition().map(vocabulary_of);
    let of_document = || {
        let turn = imported?.working().region(Region::Seq).children().last()?;
        let is_message = turn.node_type().split(':').next() == Some(Vocabulary::Message.turn());
        Some(if is_message { Vocabulary::Message } else { Vocabulary::Segment })
    };
    asked.or_else(of_edition).or_else(of_document).unwrap_or_default()
}

/// Returns what is different in a document of version 1, which is read as edition 0.3.
fn differences_of_version(text: &[u8]) -> Option<String> {
    let first = lines(text).next()?;
    // A snapshot may be printed on many lines.
    let document = parse(first).or_else(|_| parse(text)).ok()?;
    let version = document.get("spec_version")?.as_str()?.to_owned();
    is_version_1(&version).then(|| {
        format!(
            "the document is marked `{version}` and is read as edition 0.3: `@t0` is the newest snapshot, not the working state; \
             `role` and `kind` are headers, and part of threads and hashes; a flat log has `role`, not `tag`"
        )
    })
}

/// Refuses what no parser can read, with a hint how to convert it.
pub(super) fn check_encoding(place: &str, text: &[u8]) -> Result<(), Error> {
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(Error::new("E_IMPORT_EMPTY", format!("{place} is empty")));
    }
    let known: [(&[u8], &str, &'static str); 4] = [
        (b"\x1f\x8b", "compressed by gzip", "gzip -dc"),
        (b"\x28\xb5\x2f\xfd", "compressed by zstd", "zstd -dc"),
        (b"\xff\xfe", "in UTF-16", "iconv -f UTF-16 -t UTF-8"),
        (b"\xfe\xff", "in UTF-16", "iconv -f UTF-16 -t UTF-8"),
    ];
    match known.into_iter().find(|(start, ..)| text.starts_with(start)) {
        Some((_, what, program)) => Err(Error::new("E_JSON_INVALID", format!("{place} is {what}"))
            .with_advice(Advice::Convert(program))),
        None => Ok(()),
    }
}

/// Reads a request or a log of another program, line by line if it has lines.
fn log(
    workspace: &Workspace,
    request: &ImportRequest,
    format: Format,
    place: &str,
    first: Vec<u8>,
    mut text: Stretches<'_>,
    control: &Control<'_>,
) -> Result<Read, Error> {
    let clock = Some(Arc::clone(workspace.clock()));
    let edition = workspace.edition().unwrap_or_default();
    let vocabulary = vocabulary(workspace, request, None);
    let options = ContextOptions { clock, edition, vocabulary, ..ContextOptions::default() };
    let how = ImportOptions {
        keep_going: request.keep_going,
        cycles: request.cycles.0,
        commit_last: !request.open,
    };
    let mut importer = Importer::into_context(Context::with_options(options), format, how);
    let fail = |error: &ImportError| log_error(place, error);
    let mut trace = None;
    if is_lines(&first) {
        let mut stretch = first;
        while !stretch.is_empty() {
            control.check()?;
            // A log whose writer was killed, or still writes, ends in the middle of a line.
            let whole = memchr::memrchr(b'\n', &stretch).map_or(0, |at| at + 1);
            importer.lines(&stretch[..whole]).map_err(|error| fail(&error))?;
            importer.last_line(&stretch[whole..]).map_err(|error| fail(&error))?;
            trace.get_or_insert_with(Trace::default).add(&stretch);
            // A file that grows while it is read is read to its end.
            let (done, of) = (text.done(), text.length().map(|length| length.max(text.done())));
            control.at(Progress { task: "importing", unit: "bytes", done, of });
            stretch = text.next()?;
        }
    } else {
        let whole = text.whole(first)?;
        importer.document(&whole).map_err(|error| fail(&error))?;
        // The first line of a log is a document until there is another.
        trace = is_one_line(&whole).then(Trace::default);
    }
    control.check()?;
    control.begin("assembling turns");
    let imported = importer.finish().map_err(|error| fail(&error))?;
    Ok(Read { report: Some(imported.report), trace, ..Read::from(imported.context) })
}

/// Returns whether a text is a single line.
fn is_one_line(text: &[u8]) -> bool {
    lines(text).filter(|line| !line.iter().all(u8::is_ascii_whitespace)).take(2).count() == 1
}

/// Returns the error for a log that could not be imported.
pub(super) fn log_error(place: &str, error: &ImportError) -> Error {
    let mut failure = Error::new(error.code(), format!("{place}: {error}"));
    let is_text = !matches!(&error.kind, ImportErrorKind::Json(error)
        if *error.kind() == ParseErrorKind::InvalidUtf8);
    if !is_text {
        failure = failure.with_advice(Advice::Convert("iconv -f LATIN1 -t UTF-8"));
    }
    if let Some(line) = error.line {
        failure = failure.with_detail("line", line);
        if !matches!(error.kind, ImportErrorKind::UnknownFormat { .. }) {
            failure = failure.with_advice(Advice::KeepGoing);
        }
    }
    let is_empty = matches!(&error.kind, ImportErrorKind::Empty { .. });
    match error.hint() {
        // No format finds messages where there is nothing.
        Some(_) if is_empty && error.detected.is_none() => {
            failure.with_hint("a conversation has at least one message")
        }
        Some(hint) => failure.with_hint(hint).with_advice(Advice::ListFormats),
        None => failure,
    }
}
