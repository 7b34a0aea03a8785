//! `ctx import`: a document becomes a context.

use clap::ValueEnum;
use contextree::{Context, ContextOptions, Profile};
use contextree_json::{Value, parse};
use contextree_store::ContextSettings;

use super::Call;
use super::contexts::row_value;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::text::count;
use crate::source::{Access, Home, Kind, read_bytes};

/// Make a context of a document: a snapshot, a history, or a list of messages
///
/// The context must not exist yet. Documents of other programs are read leniently; `--strict` takes only what this one could have
/// written itself.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx import history.jsonl                      into the context `main`
  ctx -c old import snapshot.json --strict
  ctx -c chat import messages.json              [{\"role\":\"user\",\"content\":\"Hello\"},…]
  ctx export --history | ctx --store sqlite:copy.db import -")]
pub(crate) struct Args {
    /// The file; `-` is standard input
    document: String,

    /// What it is
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    from: From,

    /// Take only documents with every required header
    #[arg(long)]
    strict: bool,

    /// Read and check it, and store nothing
    #[arg(long)]
    dry_run: bool,
}

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum From {
    /// Look at it
    Auto,
    /// A snapshot, as `ctx export` writes it
    Snapshot,
    /// A history, as `ctx export --history` writes it
    History,
    /// A list of messages with role and content
    Flat,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let place = if args.document == "-" { "standard input" } else { &args.document };
    let text = read_bytes(&args.document)?;
    let context = read(args, place, &text, call)?;
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

fn read(args: &Args, place: &str, text: &[u8], call: &Call<'_>) -> Result<Context, Failure> {
    let profile = if args.strict { Profile::Strict } else { Profile::Lenient };
    let from = match args.from {
        From::Auto if begins_with(text, b'[') => From::Flat,
        From::Auto => match Kind::of(place, text)? {
            Kind::Snapshot => From::Snapshot,
            Kind::History => From::History,
            Kind::Fixture => {
                return Err(Failure::usage(format!("{place} is a fixture, which can only be read"))
                    .hint("`ctx show -f FILE` looks at it; `ctx export -f FILE --history` makes a history of it"));
            }
        },
        given => given,
    };
    match from {
        From::Snapshot => Context::import_snapshot(text, profile, ContextOptions::default())
            .map_err(|error| Failure::document(place, &error)),
        From::History => Context::import_history(text, profile, ContextOptions::default())
            .map_err(|error| Failure::history(place, &error)),
        From::Auto | From::Flat => flat(place, text, call),
    }
}

fn begins_with(text: &[u8], first: u8) -> bool {
    text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&first)
}

/// A list of messages, or one message per line. The last turn is left in progress.
fn flat(place: &str, text: &[u8], call: &Call<'_>) -> Result<Context, Failure> {
    let messages = if begins_with(text, b'[') {
        match parse(text) {
            Ok(Value::Array(messages)) => messages,
            Ok(_) => Vec::new(),
            Err(error) => return Err(Failure::new(error.code(), format!("{place}: {error}"))),
        }
    } else {
        let lines = crate::source::objects(place, text)?;
        lines.into_iter().map(|(_, object)| Value::Object(object)).collect()
    };
    let clock = crate::source::instant(call.environment.now);
    let options = ContextOptions { clock: Some(clock), ..ContextOptions::default() };
    let mut context = Context::with_options(options);
    context.import_flat_log(&messages).map_err(|error| {
        Failure::new(error.code(), format!("{place}: {error}"))
            .hint("each message is {\"role\":…,\"content\":…}, with `id` and `kind` if you like")
    })?;
    Ok(context)
}
