//! `ctx import`: a document becomes a context.

use contextree::{Context, ContextOptions, Profile};
use contextree_provider::{Format as LogFormat, ImportError, ImportOptions, Importer, is_lines};
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
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx import history.jsonl                      into the context `main`
  ctx -c old import snapshot.json --strict
  ctx -c chat import messages.json              [{\"role\":\"user\",\"content\":\"Hello\"},…]
  ctx -c log import session.jsonl --from claude-code --keep-going
  ctx export --history | ctx --store sqlite:copy.db import -")]
pub(crate) struct Args {
    /// The file; `-` is standard input
    document: String,

    /// What it is: auto, snapshot, history, openai-chat, openai-responses, anthropic, gemini, langchain, sharegpt, claude-code,
    /// codex, otel, flat
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = from)]
    from: From,

    /// Go on behind a bad line of a log; they are listed at the end
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
    let text = Stretches::open(&args.document)?;
    let place = text.place().to_owned();
    let context = read(args, &place, text, call)?;
    let edition = call.global.edition.unwrap_or_default();
    let settings = ContextSettings { edition, ..ContextSettings::default() };
    let (snapshots, nodes) = (context.history().len(), context.working().node_count());
    let name = &call.global.context;
    let what = format!("{} and {}", count(snapshots, "snapshot"), count(nodes, "node"));
    if args.dry_run {
        // The name is looked at, too, if there is a store.
        if let Ok(home) = Home::open(call.global, call.environment, Access::Read)
            && home.store.find(name)?.is_some()
        {
            return Err(contextree_store::StoreError::Exists { context: name.clone() }.into());
        }
        call.output.note(&format!("{what} would be imported into `{name}` (--dry-run)"));
        return Ok(Exit::Ok);
    }
    let home = Home::open(call.global, call.environment, Access::Create)?;
    let session = home.store.adopt(name, context, &settings)?;
    if call.output.format() == Format::Human {
        call.output.text(&format!("{name}\n"));
        call.output.note(&format!("{what} from {place}"));
    } else {
        call.output.value(&row_value(session.row()));
    }
    Ok(Exit::Ok)
}

fn read(
    args: &Args,
    place: &str,
    mut text: Stretches,
    call: &mut Call<'_>,
) -> Result<Context, Failure> {
    let profile = if args.strict { Profile::Strict } else { Profile::Lenient };
    let first = text.next()?;
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
                .map_err(|error| Failure::document(place, &error))
        }
        From::Auto | From::History => {
            Context::import_history(&text.whole(first)?, profile, ContextOptions::default())
                .map_err(|error| Failure::history(place, &error))
        }
        From::Log(format) => log(args, format, place, first, text, call),
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
) -> Result<Context, Failure> {
    let clock = crate::source::instant(call.environment.now);
    let edition = call.global.edition.unwrap_or_default();
    let options = ContextOptions { clock: Some(clock), edition, ..ContextOptions::default() };
    let fail = |error: &ImportError| {
        let failure = Failure::new(error.code(), format!("{place}: {error}"));
        let failure = match error.line {
            Some(line) => failure
                .detail("line", line)
                .hint("`--keep-going` goes on behind bad lines, and lists them"),
            None => failure,
        };
        match error.hint() {
            Some(hint) => {
                failure.hint(hint).hint("`ctx import --help` lists the formats of --from")
            }
            None => failure,
        }
    };
    let how = ImportOptions { keep_going: args.keep_going, commit_last: !args.open };
    let mut importer = Importer::into_context(Context::with_options(options), format, how);
    if is_lines(&first) {
        let progress = Progress::of_bytes(call.environment, "importing", text.length());
        let mut stretch = first;
        while !stretch.is_empty() {
            importer.lines(&stretch).map_err(|error| fail(&error))?;
            // A file that grows meanwhile is read to its end.
            progress.at(text.done(), text.length().unwrap_or_default().max(text.done()));
            stretch = text.next()?;
        }
    } else {
        importer.document(&text.whole(first)?).map_err(|error| fail(&error))?;
    }
    let imported = importer.finish().map_err(|error| fail(&error))?;
    let report = &imported.report;
    for error in &report.errors {
        call.output.warning(&format!("{place}: {error}"));
    }
    for (kind, number) in &report.skipped {
        call.output.note(&format!("{number} entries of the type `{kind}` are no messages"));
    }
    if let Some(format) = report.format {
        call.output.note(&format!("{} messages, read as {format}", report.messages));
    }
    Ok(imported.context)
}
