//! `ctx request`, `ctx answer`, `ctx cancel`: what a script wraps around its HTTP client.

use contextree::provider::Provider;
use contextree_app::command::call::{
    self, AnswerRequest, AnswerResponse, BeginRequest, BeginResponse, CancelRequest,
    SummaryOfPruned,
};
use contextree_app::wire::{Severity, Word};

use super::Call;
use super::commit::budget;
use super::render::{Settings, provider};
use super::summarizer;
use crate::args::parse_size;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::text::{count, one_line};
use crate::source::{ChangeOptions, document};

/// Begin a model call and print the exact request to send
///
/// The working state is committed ahead, under the context's policy or a budget, and rendered for the provider. Nothing is sealed until
/// `ctx answer` completes the call; what is added meanwhile follows the answer. Exits with 1 if the request has an
/// error, so that the provider would refuse it, or a limit could not be met. For a warning it exits with 0: a missing `max_tokens` may be
/// added by the program that sends the request.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx request --as anthropic --model claude-opus-5 --set-json max_tokens=1024 > request.json
  ctx request --as openai-chat --model gpt-5 --max-tokens 20k
  ctx request --as openai-chat --model gpt-5 --max-tokens 20k --summarize-with 'llm -s \"Summarize this.\"'
  ctx request --as gemini --model gemini-3 --dry-run     what would be sent now
  ctx request --running                                  the request of the running call again")]
pub(crate) struct RequestArgs {
    /// The provider: openai-chat, openai-responses, anthropic, gemini
    #[arg(long = "as", value_name = "FORMAT", value_parser = provider, required_unless_present = "running")]
    format: Option<Provider>,

    #[command(flatten)]
    settings: Settings,

    /// A budget in tokens, as TOML or JSON, instead of the context's own (see `ctx help budget`)
    #[arg(long, value_name = "FILE", conflicts_with = "max_tokens")]
    budget: Option<String>,

    /// At most N tokens in the request, instead of the context's own budget: 8000, 20k
    #[arg(long, value_name = "N", value_parser = parse_size)]
    max_tokens: Option<u64>,

    /// If anything is pruned, run CMD in the shell and put the summary that it prints in the place of what is pruned. CMD reads a
    /// transcript of it from standard input; if it fails, no call begins
    #[arg(long, value_name = "CMD")]
    summarize_with: Option<String>,

    /// List every node that was pruned, and why
    #[arg(long)]
    verbose: bool,

    /// Print the request of the running call again, byte for byte
    #[arg(long, conflicts_with_all = ["format", "model", "set", "set_json", "settings", "budget", "max_tokens", "summarize_with", "dry_run", "if_head"])]
    running: bool,

    #[command(flatten)]
    change: ChangeOptions,
}

/// Complete the running call with the provider's response
///
/// In one durable step: the snapshot that was sent becomes part of the history, the usage is recorded, and the answer is the first
/// content of the next request.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx answer response.json
  curl $API --data-binary @request.json | ctx answer
  curl --no-buffer $API --data-binary @request.json | ctx answer       a request with \"stream\": true
  ctx answer response.json --json | jq .tool_calls")]
pub(crate) struct AnswerArgs {
    /// The response as the provider returned it, a document or a stream of events; `-` is standard input
    #[arg(default_value = "-", hide_default_value = true)]
    response: String,

    /// The attempt [default: the one that is running]
    #[arg(long, value_name = "ID")]
    attempt: Option<String>,

    #[command(flatten)]
    change: ChangeOptions,
}

/// End the running call without an answer
///
/// Nothing is sealed: the working state can be edited again and keeps what was added meanwhile, and a new call can begin.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx cancel
  ctx cancel --error '529 overloaded'
  ctx cancel --partial stream.txt        keep the text that arrived with the attempt")]
pub(crate) struct CancelArgs {
    /// The attempt [default: the one that is running]
    attempt: Option<String>,

    /// Record that the call failed, and why
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,

    /// What arrived of the answer, from a file or `-`: text, or the body of a stream; its text is kept with the attempt
    #[arg(long, value_name = "FILE")]
    partial: Option<String>,

    #[command(flatten)]
    change: ChangeOptions,
}

pub(crate) fn run_request(args: &RequestArgs, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let done = match args.format {
        Some(format) => {
            let mut request = BeginRequest {
                provider: Word(format),
                settings: args.settings.read()?,
                budget: budget::given(args.budget.as_deref(), args.max_tokens)?,
                summary: None,
                change: args.change.to_change(),
            };
            if let Some(command) = &args.summarize_with {
                request.summary = summarize(command, &request, call)?;
            }
            call.read(|workspace, control| call::request(workspace, &request, control))?
        }
        None => call.read(call::running)?,
    };
    let is_met = done.report.unmet.is_empty();
    let exit = if done.accepted && is_met { Exit::Ok } else { Exit::No };
    if call.output.format() != Format::Human {
        call.output.form(&done);
        return Ok(exit);
    }
    warn(&done, args.verbose, call);
    call.output.bytes(done.request.as_bytes());
    let text = match &done.attempt_id {
        Some(id) => format!("{id} is running; `ctx answer < response.json` completes it"),
        None => "no call was begun (--dry-run)".to_owned(),
    };
    call.output.note(&text);
    Ok(exit)
}

/// Asks a command for the summary of what a request would prune; `None` if it prunes nothing.
fn summarize(
    command: &str,
    request: &BeginRequest,
    call: &mut Call<'_>,
) -> Result<Option<SummaryOfPruned>, Failure> {
    let mut ahead = request.clone();
    ahead.change.dry_run = true;
    let done = call.read(|workspace, control| call::request(workspace, &ahead, control))?;
    let Some(transcript) = done.transcript else { return Ok(None) };
    let text = summarizer::run(command, &transcript)?;
    let of = done.report.pruned.into_iter().map(|pruned| pruned.id).collect();
    Ok(Some(SummaryOfPruned { text, of }))
}

/// Prints what is wrong with a request, and what was removed for it.
fn warn(done: &BeginResponse, verbose: bool, call: &Call<'_>) {
    for loss in &done.losses {
        call.output.warning(&format!("{}: {}", one_line(&loss.node), loss.message));
    }
    for finding in &done.findings {
        let is_error = finding.severity == Severity::Error;
        let word = if is_error { "the provider would refuse it: " } else { "" };
        call.output.warning(&format!("{word}{}", finding.message));
    }
    let (expired, pruned) = (done.report.expired.len(), done.report.pruned.len());
    let cleared = done.report.cleared.len();
    match &done.budget {
        Some(done) => {
            if pruned + cleared > 0 {
                call.output.say(&paint(style::DIM, &done.summary));
            }
            for cleared in done.cleared.iter().filter(|_| verbose) {
                let (node, tokens) = (&cleared.node, cleared.tokens);
                let text = format!("  ~ {node}  {tokens} tokens {}", cleared.reason);
                call.output.say(&paint(style::DIM, text));
            }
            for going in done.going.iter().filter(|_| verbose) {
                let text = format!("  - {}  {} tokens: {}", going.node, going.tokens, going.reason);
                call.output.say(&paint(style::DIM, text));
            }
            budget::unmet(done).for_each(|line| call.output.warning(&line));
        }
        None => {
            for unmet in &done.report.unmet {
                let number = unmet.limit + 1;
                call.output.warning(&format!(
                    "limit {number} of the policy is not met: {} left",
                    unmet.left
                ));
            }
        }
    }
    if let Some(summary) = &done.report.summary {
        let text = format!("the summary of what was removed is {}", one_line(summary));
        call.output.say(&paint(style::DIM, text));
    }
    if expired + pruned > 0 && (done.budget.is_none() || expired > 0) {
        let text = format!("{} expired, {} pruned", count(expired, "node"), count(pruned, "node"));
        call.output.say(&paint(style::DIM, text));
    }
}

pub(crate) fn run_answer(args: &AnswerArgs, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = AnswerRequest {
        id: args.attempt.clone(),
        response: document(&args.response)?,
        change: args.change.to_change(),
    };
    let done = call.read(|workspace, control| call::answer(workspace, &request, control))?;
    for part in &done.skipped {
        call.output.warning(&format!("unknown part of the stream, left out of the answer: {part}"));
    }
    if call.output.format() == Format::Human {
        let text = draw(&done);
        call.output.text(&text);
    } else {
        call.output.form(&done);
    }
    Ok(Exit::Ok)
}

fn draw(done: &AnswerResponse) -> String {
    let attempt = &done.attempt;
    let mut line = format!(
        "{}  {}",
        paint(style::TITLE, format!("@c{}", done.report.cycle)),
        attempt.attempt_id
    );
    if let Some(tokens) = attempt.token_in {
        line.push_str(&format!(", {tokens} tokens in"));
        if let Some(cached) = attempt.cache_read.filter(|_| tokens > 0) {
            line.push_str(&format!(" ({} % cached)", cached.saturating_mul(100) / tokens));
        }
    }
    if let Some(tokens) = attempt.token_out {
        line.push_str(&format!(", {tokens} out"));
    }
    if let Some(reason) = &attempt.stop_reason {
        line.push_str(&format!(", {}", one_line(reason)));
    }
    line.push('\n');
    for id in &done.nodes {
        line.push_str(&format!(
            "  {} {}\n",
            paint(style::ADDED, "+"),
            paint(style::ID, one_line(id))
        ));
    }
    for tool in &done.tool_calls {
        line.push_str(&format!(
            "  {}({})  {}\n",
            one_line(&tool.name),
            one_line(&tool.arguments),
            paint(style::DIM, one_line(&tool.id))
        ));
    }
    line
}

pub(crate) fn run_cancel(args: &CancelArgs, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = CancelRequest {
        id: args.attempt.clone(),
        error: args.error.clone(),
        partial: args.partial.as_deref().map(document).transpose()?,
        change: args.change.to_change(),
    };
    let done = call.read(|workspace, control| call::cancel(workspace, &request, control))?;
    match call.output.format() {
        Format::Human => call.output.words([&done.attempt.attempt_id]),
        _ => call.output.form(&done.attempt),
    }
    Ok(Exit::Ok)
}
