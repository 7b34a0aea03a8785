//! `ctx import`: a document becomes a context.

use std::path::Path;

use contextree::{Context, ContextOptions, Profile};
use contextree_import::{
    Format as LogFormat, ImportError, ImportErrorKind, ImportOptions, ImportReport, Importer,
    is_lines,
};
use contextree_json::{Object, ParseErrorKind, Value};
use contextree_store::ContextSettings;

use super::Call;
use super::contexts::row_value;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::progress::Progress;
use crate::output::text::count;
use crate::source::{Access, Home, Kind, Stretches};

/// Make a context of a document: a snapshot, a history, a provider's request, or the log of another agent
///
/// The context must not exist yet. What a document is is found out by looking at it, or said with `--from`. Documents of other programs are read leniently; `--strict` takes only what this one could have
/// written itself.
///
/// A log of requests, each of which repeats the conversation, becomes a history of its turns; a request that does not continue the one before it takes its place. Exits with 1 if lines were bad and `--keep-going` passed
/// over them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx import history.jsonl                      into the context `main`
  ctx -c old import snapshot.json --strict
  ctx -c chat import messages.json              [{\"role\":\"user\",\"content\":\"Hello\"},…]
  ctx -c log import session.jsonl --from claude-code --keep-going
  ctx import ~/.claude/projects/*/*.jsonl       one context for each, named after its file
  ctx export --history | ctx --store sqlite:copy.db import -")]
pub(crate) struct Args {
    /// The file; `-` is standard input. Of several, each becomes a context that is named after its file
    #[arg(required = true, value_name = "DOCUMENT")]
    documents: Vec<String>,

    /// What it is: auto, snapshot, history, openai-chat, openai-responses, anthropic, gemini, langchain, sharegpt, claude-code,
    /// codex, otel, flat
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = from)]
    from: From,

    /// Go on behind a bad line of a log, or a bad file of several; they are listed, and the exit code is 1
    #[arg(long)]
    keep_going: bool,

    /// Leave the last turn of a log in progress instead of committing it
    #[arg(long)]
    open: bool,

    /// Take only documents with every required header
    #[arg(long)]
    strict: bool,

    /// Read and check it, and store nothing
    #[arg(long)]
    dry_run: bool,
}

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Auto,
    Snapshot,
    History,
    Log(LogFormat),
}

fn from(text: &str) -> Result<From, String> {
    match text {
        "auto" => Ok(From::Auto),
        "snapshot" => Ok(From::Snapshot),
        "history" => Ok(From::History),
        _ => text.parse().map(From::Log).map_err(|_| {
            let names = LogFormat::ALL.map(LogFormat::name).join(", ");
            format!("unknown format `{text}`; there are snapshot, history, {names}")
        }),
    }
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    if let [document] = &*args.documents {
        let name = call.global.context.clone();
        let (exit, row) = import(args, document, &name, call)?;
        if let Some(row) = row {
            call.output.value(&row);
        }
        return Ok(exit);
    }
    let mut rows = Vec::new();
    let mut all = Exit::Ok;
    for document in &args.documents {
        let name = name_of(document)?;
        match import(args, document, &name, call) {
            Ok((exit, row)) => {
                rows.extend(row);
                if exit != Exit::Ok {
                    all = exit;
                }
            }
            Err(failure) if args.keep_going => {
                call.output.failure(&failure);
                all = Exit::No;
            }
            Err(failure) => return Err(failure),
        }
    }
    if call.output.format() != Format::Human {
        call.output.values(rows);
    }
    Ok(all)
}

/// Returns the name of the context that a file becomes.
fn name_of(document: &str) -> Result<String, Failure> {
    let stem = Path::new(document).file_stem().and_then(|stem| stem.to_str());
    stem.filter(|stem| *stem != "-").map(str::to_owned).ok_or_else(|| {
        Failure::usage("standard input has no name, which each of several documents needs")
            .hint("import it alone, with `ctx -c NAME import -`")
    })
}

/// Imports one document; returns what to tell programs.
fn import(
    args: &Args,
    document: &str,
    name: &str,
    call: &mut Call<'_>,
) -> Result<(Exit, Option<Value>), Failure> {
    let text = Stretches::open(document)?;
    let place = text.place().to_owned();
    let (context, report) = read(args, &place, text, call)?;
    let edition = call.global.edition.unwrap_or_default();
    let settings = ContextSettings { edition, ..ContextSettings::default() };
    let (snapshots, nodes) = (context.history().len(), context.working().node_count());
    let what = format!("{} and {}", count(snapshots, "snapshot"), count(nodes, "node"));
    let exit = match &report {
        Some(report) if !report.errors.is_empty() => Exit::No,
        _ => Exit::Ok,
    };
    let human = call.output.format() == Format::Human;
    if args.dry_run {
        // The name is looked at, too, if there is a store.
        if let Ok(home) = Home::open(call.global, call.environment, Access::Read)
            && home.store.find(name)?.is_some()
        {
            return Err(contextree_store::StoreError::Exists { context: name.to_owned() }.into());
        }
        if human {
            tell(report.as_ref(), &place, call);
            call.output.note(&format!("{what} would be imported into `{name}` (--dry-run)"));
            return Ok((exit, None));
        }
        let row = Object::from_iter([("name", Value::from(name))]);
        return Ok((exit, Some(with_report(row, report.as_ref()))));
    }
    let home = Home::open(call.global, call.environment, Access::Create)?;
    let storing = Progress::waiting(call.environment, "storing");
    let session = home.store.adopt(name, context, &settings)?;
    drop(storing);
    if human {
        call.output.text(&format!("{name}\n"));
        tell(report.as_ref(), &place, call);
        call.output.note(&format!("{what} from {place}"));
        return Ok((exit, None));
    }
    let row = match row_value(session.row()) {
        Value::Object(row) => row,
        _ => Object::new(),
    };
    Ok((exit, Some(with_report(row, report.as_ref()))))
}

/// Tells people what became of a log.
fn tell(report: Option<&ImportReport>, place: &str, call: &mut Call<'_>) {
    let Some(report) = report else { return };
    for error in &report.errors {
        call.output.warning(&format!("{place}: {error}"));
    }
    for (kind, number) in &report.skipped {
        let entries = if *number == 1 { "entry" } else { "entries" };
        call.output.note(&format!("{number} {entries} of the type `{kind}` left out"));
    }
    if report.conversations > 1 {
        let text = "each took the place of the one before it, and the history has them all";
        call.output.note(&format!("{} conversations: {text}", report.conversations));
    }
    if let Some(format) = report.format {
        call.output.note(&format!("{} messages, read as {format}", report.messages));
    }
}

/// Adds what became of a log, for programs.
fn with_report(mut row: Object, report: Option<&ImportReport>) -> Value {
    let Some(report) = report else { return Value::Object(row) };
    let error = |error: &ImportError| {
        Value::Object(Object::from_iter([
            ("code", Value::from(error.code())),
            ("line", error.line.map_or(Value::Null, Value::from)),
            ("message", error.to_string().into()),
        ]))
    };
    let skipped = report.skipped.iter().map(|(kind, number)| (&**kind, Value::from(*number)));
    let imported = Object::from_iter([
        ("format", report.format.map_or(Value::Null, |format| Value::from(format.name()))),
        ("lines", report.lines.into()),
        ("messages", report.messages.into()),
        ("turns", report.commits.into()),
        ("conversations", report.conversations.into()),
        ("left_out", Value::Object(skipped.collect())),
        ("bad_lines", Value::Array(report.errors.iter().map(error).collect())),
    ]);
    row.insert("import", Value::Object(imported));
    Value::Object(row)
}

/// A context, and what became of a log if it was one.
type Read = (Context, Option<ImportReport>);

fn read(
    args: &Args,
    place: &str,
    mut text: Stretches,
    call: &mut Call<'_>,
) -> Result<Read, Failure> {
    let profile = if args.strict { Profile::Strict } else { Profile::Lenient };
    let first = text.next()?;
    check_encoding(place, &first)?;
    let from = match args.from {
        From::Auto => match Kind::of(place, &first) {
            Ok(Kind::Snapshot) => From::Snapshot,
            Ok(Kind::History) => From::History,
            Ok(Kind::Fixture) => {
                return Err(Failure::usage(format!("{place} is a fixture, which can only be read"))
                    .hint("`ctx show -f FILE` looks at it; `ctx export -f FILE --history` makes a history of it"));
            }
            Err(_) => From::Log(LogFormat::Auto),
        },
        given => given,
    };
    match from {
        From::Snapshot => {
            Context::import_snapshot(&text.whole(first)?, profile, ContextOptions::default())
                .map(|context| (context, None))
                .map_err(|error| Failure::document(place, &error))
        }
        From::Auto | From::History => {
            Context::import_history(&text.whole(first)?, profile, ContextOptions::default())
                .map(|context| (context, None))
                .map_err(|error| Failure::history(place, &error))
        }
        From::Log(format) => log(args, format, place, first, text, call),
    }
}

/// Refuses what no parser could read, and says what to do with it.
fn check_encoding(place: &str, text: &[u8]) -> Result<(), Failure> {
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(Failure::new("E_IMPORT_EMPTY", format!("{place} is empty")));
    }
    let known: [(&[u8], &str, &str); 4] = [
        (b"\x1f\x8b", "compressed by gzip", "`gzip -dc FILE | ctx import -` reads it"),
        (b"\x28\xb5\x2f\xfd", "compressed by zstd", "`zstd -dc FILE | ctx import -` reads it"),
        (b"\xff\xfe", "in UTF-16", "`iconv -f UTF-16 -t UTF-8 FILE | ctx import -` reads it"),
        (b"\xfe\xff", "in UTF-16", "`iconv -f UTF-16 -t UTF-8 FILE | ctx import -` reads it"),
    ];
    match known.into_iter().find(|(start, ..)| text.starts_with(start)) {
        Some((_, what, hint)) => {
            Err(Failure::new("E_JSON_INVALID", format!("{place} is {what}")).hint(hint))
        }
        None => Ok(()),
    }
}

/// Reads a request or a log of another program, line by line where it has lines.
fn log(
    args: &Args,
    format: LogFormat,
    place: &str,
    first: Vec<u8>,
    mut text: Stretches,
    call: &mut Call<'_>,
) -> Result<Read, Failure> {
    let clock = crate::source::instant(call.environment.now);
    let edition = call.global.edition.unwrap_or_default();
    let options = ContextOptions { clock: Some(clock), edition, ..ContextOptions::default() };
    let how = ImportOptions { keep_going: args.keep_going, commit_last: !args.open };
    let mut importer = Importer::into_context(Context::with_options(options), format, how);
    let fail = |error: &ImportError, at_end: bool| failure(place, error, at_end);
    if is_lines(&first) {
        let progress = Progress::of_bytes(call.environment, "importing", text.length());
        let mut stretch = first;
        while !stretch.is_empty() {
            // A log whose writer was killed ends in the middle of a line.
            let cut_off = !stretch.ends_with(b"\n");
            importer.lines(&stretch).map_err(|error| fail(&error, cut_off))?;
            // A file that grows meanwhile is read to its end.
            progress.at(text.done(), text.length().unwrap_or_default().max(text.done()));
            stretch = text.next()?;
        }
    } else {
        importer.document(&text.whole(first)?).map_err(|error| fail(&error, false))?;
    }
    let finishing = Progress::waiting(call.environment, "putting turns together");
    let imported = importer.finish().map_err(|error| fail(&error, false))?;
    drop(finishing);
    Ok((imported.context, Some(imported.report)))
}

/// Says why a log was not imported, and what to do about it.
fn failure(place: &str, error: &ImportError, cut_off: bool) -> Failure {
    let mut failure = Failure::new(error.code(), format!("{place}: {error}"));
    if let Some(line) = error.line {
        failure = failure.detail("line", line);
        let ends = matches!(&error.kind, ImportErrorKind::Json(error)
            if matches!(error.kind(), ParseErrorKind::UnexpectedEnd { .. }));
        if !matches!(error.kind, ImportErrorKind::UnknownFormat { .. }) {
            failure = failure.hint(if ends && cut_off {
                "the log may end in the middle of a line: `--keep-going` imports what is before it"
            } else {
                "`--keep-going` goes on behind bad lines, and lists them"
            });
        }
    }
    match error.hint() {
        Some(hint) => failure.hint(hint).hint("`ctx import --help` lists the formats of --from"),
        None => failure,
    }
}
