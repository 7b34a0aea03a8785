//! `ctx attempt`: calls to a model, recorded beside the history.

use clap::Subcommand;
use contextree_app::command::attempt::{
    self, AttemptOutcome, AttemptResponse, EndRequest, StartRequest,
};
use contextree_app::command::call::{self, AttachRequest};
use contextree_app::wire::AttemptStatus;

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::{ago, one_line, word};
use crate::source::{ChangeOptions, document};

/// Record calls to a model: start, finish, fail, cancel, attach, list
///
/// Attempts are not part of the history and change no snapshot. `ctx attempt start` keeps only the digest of
/// what is sent; `ctx request` keeps the request itself.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx attempt start --provider anthropic --model claude
  ctx attempt finish --tokens-in 812 --tokens-out 40
  ctx attempt list")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Start(Start),
    Finish(Finish),
    Fail(Fail),
    Cancel(Cancel),
    Attach(Attach),
    List(List),
}

/// Start an attempt; prints its id
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx attempt start --provider openai --model gpt-5
  ctx attempt start --provider openai --model gpt-5 --params '{\"temperature\":0}' --input request.json")]
struct Start {
    /// The provider
    #[arg(long)]
    provider: String,

    /// The model
    #[arg(long)]
    model: String,

    /// The parameters; only their hash is kept
    #[arg(long, default_value = "", hide_default_value = true)]
    params: String,

    /// The exact bytes that are sent, from a file or `-` [default: the thread of the working state]; only their digest is kept
    #[arg(long, value_name = "FILE")]
    input: Option<String>,

    #[command(flatten)]
    change: ChangeOptions,
}

/// The model answered
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx attempt finish --tokens-in 812 --tokens-out 40
  ctx attempt finish attempt:3.1")]
struct Finish {
    /// The attempt [default: the one that is running]
    id: Option<String>,

    /// Tokens that were sent
    #[arg(long, value_name = "N", requires = "tokens_out")]
    tokens_in: Option<u64>,

    /// Tokens that were received
    #[arg(long, value_name = "N", requires = "tokens_in")]
    tokens_out: Option<u64>,

    #[command(flatten)]
    change: ChangeOptions,
}

/// The call failed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx attempt fail --error '429 too many requests'")]
struct Fail {
    /// The attempt [default: the one that is running]
    id: Option<String>,

    /// Why
    #[arg(long)]
    error: String,

    #[command(flatten)]
    change: ChangeOptions,
}

/// The call was canceled
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx attempt cancel")]
struct Cancel {
    /// The attempt [default: the one that is running]
    id: Option<String>,

    #[command(flatten)]
    change: ChangeOptions,
}

/// Keep what has arrived of an answer with a call that is running
///
/// It replaces what was kept before, stays there if the call is canceled or fails, and is never part of a request.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx attempt attach stream.txt
  ctx attempt attach stream.txt --attempt attempt:3.1")]
struct Attach {
    /// What has arrived so far, as text or as the body of a stream; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    partial: String,

    /// The attempt [default: the one that is running]
    #[arg(long, value_name = "ID")]
    attempt: Option<String>,

    #[command(flatten)]
    change: ChangeOptions,
}

/// List the attempts, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx attempt list
  ctx attempt list --jsonl | jq 'select(.status==\"error\")'")]
struct List {}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let done = match &args.action {
        Action::List(_) => return list(call),
        Action::Start(start) => self::start(start, call)?,
        Action::Finish(finish) => {
            let tokens = finish.tokens_in.zip(finish.tokens_out);
            end(finish.id.as_ref(), AttemptOutcome::Completed { tokens }, finish.change, call)?
        }
        Action::Fail(fail) => {
            let outcome = AttemptOutcome::Error { error: fail.error.clone() };
            end(fail.id.as_ref(), outcome, fail.change, call)?
        }
        Action::Cancel(cancel) => {
            end(cancel.id.as_ref(), AttemptOutcome::Canceled, cancel.change, call)?
        }
        Action::Attach(attach) => {
            let request = AttachRequest {
                id: attach.attempt.clone(),
                partial: document(&attach.partial)?,
                change: attach.change.to_change(),
            };
            call.read(|workspace, control| call::attach(workspace, &request, control))?
        }
    };
    match call.output.format() {
        Format::Human => call.output.words([&done.attempt.attempt_id]),
        _ => call.output.form(&done.attempt),
    }
    Ok(Exit::Ok)
}

fn start(start: &Start, call: &Call<'_>) -> Result<AttemptResponse, Failure> {
    let request = StartRequest {
        provider: start.provider.clone(),
        model: start.model.clone(),
        params: start.params.clone(),
        input: start.input.as_deref().map(document).transpose()?,
        change: start.change.to_change(),
    };
    call.read(|workspace, control| attempt::start(workspace, &request, control))
}

fn end(
    id: Option<&String>,
    outcome: AttemptOutcome,
    change: ChangeOptions,
    call: &Call<'_>,
) -> Result<AttemptResponse, Failure> {
    let request = EndRequest { id: id.cloned(), outcome, change: change.to_change() };
    call.read(|workspace, control| attempt::end(workspace, &request, control))
}

fn list(call: &mut Call<'_>) -> Result<Exit, Failure> {
    let attempts = call.read(attempt::list)?.attempts;
    if call.output.format() != Format::Human {
        call.output.forms(&attempts);
        return Ok(Exit::Ok);
    }
    if attempts.is_empty() {
        call.output.note("there is no attempt yet");
        return Ok(Exit::Ok);
    }
    let titles = ["attempt", "for", "status", "started", "provider", "model", "in", "out", "error"];
    let mut table = Table::new(&titles).right(6).right(7).spare(&[4, 3, 1]);
    for attempt in &attempts {
        let number =
            |tokens: Option<u64>| tokens.map(|number| number.to_string()).unwrap_or_default();
        let style = match attempt.status {
            AttemptStatus::Running => style::TTL,
            AttemptStatus::Completed => style::ADDED,
            AttemptStatus::Canceled => style::DIM,
            AttemptStatus::Error => style::REMOVED,
        };
        table.row(vec![
            paint(style::ID, word(&attempt.attempt_id)),
            format!("@c{}", attempt.cycle_id),
            paint(style, attempt.status.word()),
            ago(attempt.started_at, call.environment.now),
            one_line(&attempt.provider),
            one_line(&attempt.model),
            number(attempt.token_in),
            number(attempt.token_out),
            attempt.error.as_deref().map(one_line).unwrap_or_default(),
        ]);
    }
    let text = table.render(call.output.width());
    call.output.text(&text);
    Ok(Exit::Ok)
}
