//! `ctx attempt`: calls to a model, recorded beside the history.

use clap::Subcommand;
use contextree::{Attempt, AttemptStart, AttemptStatus, Context};
use contextree_json::{Object, Value};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::{ago, one_line};
use crate::source::{Change, Source, read_bytes};

/// Record calls to a model: start, finish, fail, cancel, list
///
/// Attempts are no part of the history and change no snapshot. Of what is sent only the digest is kept.
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
    List(List),
}

/// Start an attempt; prints its id
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx attempt start --provider openai --model gpt-5
  ctx attempt start --provider openai --model gpt-5 --params '{\"temperature\":0}' --input request.json")]
struct Start {
    /// Who is asked
    #[arg(long)]
    provider: String,

    /// Which model
    #[arg(long)]
    model: String,

    /// The parameters; only their hash is kept
    #[arg(long, default_value = "", hide_default_value = true)]
    params: String,

    /// The exact bytes that are sent, from a file or `-` [default: the thread of the working state]; only their digest is kept
    #[arg(long, value_name = "FILE")]
    input: Option<String>,

    #[command(flatten)]
    change: Change,
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
    change: Change,
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
    change: Change,
}

/// The call was stopped
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx attempt cancel")]
struct Cancel {
    /// The attempt [default: the one that is running]
    id: Option<String>,

    #[command(flatten)]
    change: Change,
}

/// List the attempts, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx attempt list
  ctx attempt list --jsonl | jq 'select(.status==\"error\")'")]
struct List {}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let attempt = match &args.action {
        Action::List(_) => return list(call),
        Action::Start(start) => self::start(start, call)?,
        Action::Finish(finish) => {
            let tokens = finish.tokens_in.zip(finish.tokens_out);
            end(finish.id.as_deref(), &AttemptStatus::Completed, tokens, &finish.change, call)?
        }
        Action::Fail(fail) => {
            let status = AttemptStatus::Error(fail.error.clone());
            end(fail.id.as_deref(), &status, None, &fail.change, call)?
        }
        Action::Cancel(cancel) => {
            end(cancel.id.as_deref(), &AttemptStatus::Canceled, None, &cancel.change, call)?
        }
    };
    match call.output.format() {
        Format::Human => call.output.text(&format!("{}\n", attempt.attempt_id)),
        _ => call.output.value(&to_value(&attempt)),
    }
    Ok(Exit::Ok)
}

fn start(start: &Start, call: &Call<'_>) -> Result<Attempt, Failure> {
    let input = start.input.as_deref().map(read_bytes).transpose()?;
    start.change.make(call, |context| {
        let thread = contextree::thread(context.working());
        Ok(context
            .start_attempt(AttemptStart {
                provider: &start.provider,
                model: &start.model,
                params: start.params.as_bytes(),
                input: input.as_deref().unwrap_or(&thread),
            })
            .clone())
    })
}

fn end(
    id: Option<&str>,
    status: &AttemptStatus,
    tokens: Option<(u64, u64)>,
    change: &Change,
    call: &Call<'_>,
) -> Result<Attempt, Failure> {
    change.make(call, |context| {
        let id = match id {
            Some(id) => id.to_owned(),
            None => running(context)?,
        };
        context.end_attempt(&id, status.clone(), tokens).cloned().map_err(|error| {
            Failure::new(error.code(), error.to_string())
                .detail("attempt", id.as_str())
                .hint("`ctx attempt list` shows them all")
        })
    })
}

fn running(context: &Context) -> Result<String, Failure> {
    let is_running = |attempt: &&Attempt| attempt.status == AttemptStatus::Running;
    let ids: Vec<&str> = context
        .attempts()
        .iter()
        .filter(is_running)
        .map(|attempt| attempt.attempt_id.as_str())
        .collect();
    match ids.as_slice() {
        [only] => Ok((*only).to_owned()),
        [] => Err(Failure::new("E_ATTEMPT_NOT_FOUND", "no attempt is running")
            .hint("`ctx attempt start --provider NAME --model NAME` starts one")),
        several => {
            Err(Failure::usage(format!("several attempts are running: {}", several.join(", ")))
                .hint(format!("name one: `ctx attempt finish {}`", several[0])))
        }
    }
}

fn list(call: &mut Call<'_>) -> Result<Exit, Failure> {
    let source = Source::open(call)?;
    let attempts: Vec<Attempt> = match source.reader() {
        Some(reader) => reader.attempts()?.to_vec(),
        // Documents have no attempts.
        None => Vec::new(),
    };
    if call.output.format() != Format::Human {
        call.output.values(attempts.iter().map(to_value).collect());
        return Ok(Exit::Ok);
    }
    if attempts.is_empty() {
        call.output.note("there is no attempt yet");
        return Ok(Exit::Ok);
    }
    let titles = ["attempt", "for", "status", "started", "provider", "model", "in", "out", "error"];
    let mut table = Table::new(&titles).right(6).right(7);
    for attempt in &attempts {
        let number =
            |tokens: Option<u64>| tokens.map(|number| number.to_string()).unwrap_or_default();
        let (style, error) = match &attempt.status {
            AttemptStatus::Running => (style::TTL, String::new()),
            AttemptStatus::Completed => (style::ADDED, String::new()),
            AttemptStatus::Canceled => (style::DIM, String::new()),
            AttemptStatus::Error(why) => (style::REMOVED, one_line(why)),
        };
        table.row(vec![
            paint(style::ID, &attempt.attempt_id),
            format!("@c{}", attempt.cycle_id),
            paint(style, attempt.status.word()),
            ago(attempt.started_at, call.environment.now),
            one_line(&attempt.provider),
            one_line(&attempt.model),
            number(attempt.token_in),
            number(attempt.token_out),
            error,
        ]);
    }
    let text = table.render(call.output.width());
    call.output.text(&text);
    Ok(Exit::Ok)
}

/// The keys are those of the specification.
fn to_value(attempt: &Attempt) -> Value {
    let number = |number: Option<u64>| number.map_or(Value::Null, Value::from);
    let mut object = Object::from_iter([
        ("attempt_id", Value::from(attempt.attempt_id.as_str())),
        ("cycle_id", attempt.cycle_id.into()),
        ("status", attempt.status.word().into()),
        ("started_at", attempt.started_at.into()),
        ("ended_at", attempt.ended_at.map_or(Value::Null, Value::from)),
        ("provider", attempt.provider.as_str().into()),
        ("model", attempt.model.as_str().into()),
        ("params", attempt.params.to_string().into()),
        ("input", attempt.input.to_string().into()),
        ("token_in", number(attempt.token_in)),
        ("token_out", number(attempt.token_out)),
    ]);
    if let AttemptStatus::Error(why) = &attempt.status {
        object.insert("error", why.as_str().into());
    }
    object.into()
}
