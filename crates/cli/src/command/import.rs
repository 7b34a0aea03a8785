//! `ctx import`: a document becomes a context.

mod follow;

use std::collections::BTreeMap;
use std::path::Path;

use contextree::Vocabulary;
use contextree::import::{Cycles, Format as LogFormat};
use contextree::json::{Object, Value};
use contextree_app::command::import::{self, DocumentKind, ImportRequest, ImportResponse};
use contextree_app::command::split::{self, SplitRequest};
use contextree_app::wire::{self, Word};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::text::count;
use crate::source::{open, place};

/// Create a context from a document: a snapshot, a history, a provider's request, or the log of another agent
///
/// Detects the format; `--from` overrides it. Documents of other programs are read leniently; `--strict` accepts only what this program could
/// have written.
///
/// A context that was imported from a log gets what is new when the log is imported again: each call is stored as one step. `--follow` continues
/// while another program writes the log. Any other context must not exist yet.
///
/// A log of requests, each of which repeats the conversation, becomes a history of its turns; a request that does not continue the one
/// before it replaces it, unless `--split` makes a context of each conversation. Exits with 1 if lines were bad and `--keep-going` skipped them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx import history.jsonl                      into the context `main`
  ctx -c old import snapshot.json --strict
  ctx -c chat import messages.json              [{\"role\":\"user\",\"content\":\"Hello\"},…]
  ctx -c log import session.jsonl --from claude-code --keep-going
  ctx import ~/.claude/projects/*/*.jsonl       one context for each, named after its file
  ctx -c train import rows.jsonl --split        train-0001, train-0002, … one for each conversation
  ctx -c log import session.jsonl --follow      and what is added to it, until Ctrl-C
  ctx export --history | ctx --store sqlite:copy.db import -")]
pub(crate) struct Args {
    /// The file; `-` is standard input. Each of several becomes a context that is named after its file
    #[arg(required = true, value_name = "DOCUMENT")]
    documents: Vec<String>,

    /// The format: auto, snapshot, history, openai-chat, openai-responses, anthropic, gemini, langchain, sharegpt, claude-code,
    /// codex, gemini-cli, pi, otel, swe-agent, plain-chat, flat
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = from)]
    from: DocumentKind,

    /// Go on after a bad line of a log, or a bad file of several; they are listed, and the exit code is 1
    #[arg(long)]
    keep_going: bool,

    /// What becomes a commit: each model `call`, or each user `turn`. Calls by default, turns for flat logs
    #[arg(long, value_name = "CYCLES", default_value = "auto", hide_default_value = true)]
    cycles: Cycles,

    /// Make a context of each conversation of the file: rows of a data set, simulations, sessions, requests that begin with the same message.
    /// They are named after the context or, with several files, their file: `main-0001`, `main-0002`, …
    #[arg(long, conflicts_with = "strict")]
    split: bool,

    /// With turns, leave the last one in progress instead of committing it
    #[arg(long)]
    open: bool,

    /// Go on importing while another program writes the log, until Ctrl-C. The last turn stays in progress
    #[arg(long, conflicts_with_all = ["dry_run", "strict", "split"])]
    follow: bool,

    /// Accept only documents with every required header
    #[arg(long)]
    strict: bool,

    /// Read and check it, and store nothing
    #[arg(long)]
    dry_run: bool,

    /// The words for new types: segment (seg, cont, block) or message (mt, mc, cb) [default: those of --edition, or of the
    /// document]
    #[arg(long, value_name = "WORDS", value_parser = super::new::vocabulary)]
    vocabulary: Option<Vocabulary>,
}

fn from(text: &str) -> Result<DocumentKind, String> {
    text.parse::<Word<DocumentKind>>().map(|kind| kind.0).map_err(|_| {
        let names = LogFormat::ALL.map(LogFormat::name).join(", ");
        format!("unknown format `{text}`; expected snapshot, history, {names}")
    })
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let is_one = args.documents.len() == 1;
    if args.follow {
        let [document] = &*args.documents else {
            return Err(Failure::usage("--follow needs a single log"));
        };
        let name = call.global.context.clone();
        return follow::run(document, &request(args), &name, call);
    }
    let mut rows = Vec::new();
    let mut all = Exit::Ok;
    for document in &args.documents {
        let name = if is_one { call.global.context.clone() } else { name_of(document)? };
        let done = match args.split {
            true => split(args, document, &name, call),
            false => import(args, document, &name, call),
        };
        match done {
            Ok((exit, new)) => {
                rows.extend(new);
                if exit != Exit::Ok {
                    all = exit;
                }
            }
            Err(failure) if args.keep_going && !is_one => {
                call.output.failure(&failure);
                all = Exit::No;
            }
            Err(failure) => return Err(failure),
        }
    }
    match &*rows {
        [row] if is_one && !args.split => call.output.value(row),
        _ if call.output.format() != Format::Human => call.output.values(rows),
        _ => {}
    }
    Ok(all)
}

/// Returns the name of the context that a file becomes.
fn name_of(document: &str) -> Result<String, Failure> {
    let stem = Path::new(document).file_stem().and_then(|stem| stem.to_str());
    stem.filter(|stem| *stem != "-").map(str::to_owned).ok_or_else(|| {
        Failure::usage("standard input has no name, which each of several documents needs")
            .with_hint("import it alone, with `ctx -c NAME import -`")
    })
}

fn request(args: &Args) -> ImportRequest {
    ImportRequest {
        from: Word(args.from),
        keep_going: args.keep_going,
        cycles: Word(args.cycles),
        open: args.open,
        strict: args.strict,
        dry_run: args.dry_run,
        vocabulary: args.vocabulary.map(Word),
    }
}

/// Returns a number with its word.
fn number(number: u64, word: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), word)
}

/// Imports one document; returns what to print for programs.
fn import(
    args: &Args,
    document: &str,
    name: &str,
    call: &mut Call<'_>,
) -> Result<(Exit, Vec<Value>), Failure> {
    let request = request(args);
    let source = open(document)?;
    let done = call.on(&call.store().with_context(name), |workspace, control| {
        import::import(workspace, &request, source, control)
    })?;
    for warning in &done.warnings {
        call.output.warning(&format!("{}: {warning}", place(document)));
    }
    let is_bad = done.import.as_ref().is_some_and(|report| !report.bad_lines.is_empty());
    let exit = if is_bad { Exit::No } else { Exit::Ok };
    if call.output.format() != Format::Human {
        return Ok((exit, vec![to_value(&done)]));
    }
    let place = place(document);
    let (snapshots, nodes) = (count(done.snapshots, "snapshot"), count(done.nodes, "node"));
    let what = format!("{snapshots} and {nodes}");
    if let Some(report) = done.import.as_ref().filter(|_| done.updated) {
        let added =
            format!("{} and {}", number(report.calls, "call"), number(report.messages, "message"));
        let is_new = report.calls + report.commits + report.messages > 0;
        call.output.words([name]);
        tell_findings(&report.findings, call);
        call.output.note(&match (is_new, args.dry_run) {
            (false, _) => format!("{place} has nothing new; {what}"),
            (true, false) => format!("{added} added from {place}; {what}"),
            (true, true) => format!("{added} would be added from {place} (--dry-run)"),
        });
    } else if args.dry_run {
        tell(&done, place, call);
        call.output.note(&format!("{what} would be imported into `{name}` (--dry-run)"));
    } else {
        call.output.words([name]);
        tell(&done, place, call);
        call.output.note(&format!("{what} from {place}"));
    }
    Ok((exit, Vec::new()))
}

/// Imports each conversation of a document; returns what to print for programs.
fn split(
    args: &Args,
    document: &str,
    name: &str,
    call: &mut Call<'_>,
) -> Result<(Exit, Vec<Value>), Failure> {
    let from = match args.from {
        DocumentKind::Auto => LogFormat::Auto,
        DocumentKind::Log(format) => format,
        DocumentKind::Snapshot | DocumentKind::History => {
            return Err(Failure::usage("a snapshot or a history is one conversation")
                .with_hint("leave out `--split`"));
        }
    };
    let request = SplitRequest {
        from: Word(from),
        keep_going: args.keep_going,
        cycles: Word(args.cycles),
        open: args.open,
        dry_run: args.dry_run,
    };
    let source = open(document)?;
    let done = call.on(&call.store().with_context(name), |workspace, control| {
        split::split(workspace, &request, source, control)
    })?;
    let exit = if done.bad_lines.is_empty() { Exit::Ok } else { Exit::No };
    let place = place(document);
    for bad in &done.bad_lines {
        call.output.warning(&format!("{place}: {}", bad.message));
    }
    if call.output.format() != Format::Human {
        return Ok((exit, done.contexts.iter().map(to_value).collect()));
    }
    if !args.dry_run {
        done.contexts.iter().for_each(|part| call.output.words([&*part.name]));
    }
    if done.empty > 0 {
        let conversations =
            count(usize::try_from(done.empty).unwrap_or(usize::MAX), "conversation");
        call.output.note(&format!("{conversations} without messages left out"));
    }
    let reports = done.contexts.iter().filter_map(|part| part.import.as_ref());
    let mut findings = BTreeMap::new();
    for (kind, number) in reports.clone().flat_map(|report| &report.findings) {
        *findings.entry(kind.clone()).or_default() += number;
    }
    tell_findings(&findings, call);
    let (messages, format) =
        reports.fold((0, None), |(sum, _), report| (sum + report.messages, report.format));
    if let Some(format) = format {
        call.output.note(&format!("{}, read as {format}", messages_of(messages)));
    }
    let what = count(done.contexts.len(), "conversation");
    match args.dry_run {
        true => call.output.note(&format!("{what} would be imported (--dry-run)")),
        false => call.output.note(&format!("{what} from {place}")),
    }
    Ok((exit, Vec::new()))
}

fn messages_of(number: u64) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), "message")
}

/// Prints what was read from a log, for people.
fn tell(done: &ImportResponse, place: &str, call: &mut Call<'_>) {
    let Some(report) = &done.import else { return };
    for bad in &report.bad_lines {
        call.output.warning(&format!("{place}: {}", bad.message));
    }
    for (kind, number) in &report.left_out {
        let entries = if *number == 1 { "entry" } else { "entries" };
        call.output.note(&format!("{number} {entries} of the type `{kind}` left out"));
    }
    tell_findings(&report.findings, call);
    if report.conversations > 1 {
        let text = "each replaced the one before it, and the history has them all";
        call.output.note(&format!("{} conversations: {text}", report.conversations));
        call.output.note("`--split` makes a context of each");
    }
    if let Some(format) = report.format {
        call.output.note(&format!("{}, read as {format}", messages_of(report.messages)));
    }
}

/// Prints what was noticed in a log, one line for each kind.
fn tell_findings(findings: &BTreeMap<String, u64>, call: &mut Call<'_>) {
    for (kind, number) in findings {
        call.output.note(&finding(kind, *number));
    }
}

/// Returns a finding as a sentence; `docs/providers.md` lists the kinds.
fn finding(kind: &str, many: u64) -> String {
    let history = "the history keeps what was before";
    match kind {
        "compaction" => format!("{}: {history}", number(many, "compaction")),
        "cleared" => format!("conversation cleared {}: {history}", number(many, "time")),
        "rewound" => format!("conversation rewound {}: {history}", number(many, "time")),
        "rewritten" => format!("past rewritten {}: {history}", number(many, "time")),
        "results_cleared" => {
            let times = number(many, "time");
            format!("old results left out of later requests {times}: the history keeps them")
        }
        "missing_parent" => {
            format!("{}: continued with the entry before", number(many, "missing parent"))
        }
        "time_backwards" => {
            format!("time runs backwards {}: stamps never decrease", number(many, "time"))
        }
        "foreign_block" => {
            format!("{} that no provider understands: kept as written", number(many, "block"))
        }
        "unfinished_line" => "the last line is incomplete, and was not imported yet".to_owned(),
        other => format!("{other}: {}", number(many, "time")),
    }
}

/// Returns the context with what was read, for programs.
fn to_value(done: &ImportResponse) -> Value {
    let mut row = match done.context.as_ref().map(wire::to_value) {
        Some(Value::Object(row)) => row,
        _ => Object::from_iter([("name", Value::from(done.name.as_str()))]),
    };
    if let Some(report) = &done.import {
        row.insert("import", wire::to_value(report));
    }
    row.into()
}
