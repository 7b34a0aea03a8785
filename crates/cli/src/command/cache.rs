//! `ctx cache`: how much of each request a provider can read from its prompt cache, and what broke the prefix.

mod view;

use contextree::provider::Provider;
use contextree_app::command::cache::{self, CacheRequest};
use contextree_app::wire::Word;
use contextree_app::{Address, Range};

use super::Call;
use super::render::{Settings, provider};
use crate::args::{parse_address, parse_range};
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::source::document;

/// Report how much of the prompt a provider can read from its cache, and what broke it
///
/// Renders every snapshot as a request and compares it with the one before: how long their common prefix is, which node is the first
/// after it, what was done to that node, and how to avoid it. With two states, or `A..B`: only these two. With one: from that snapshot
/// to the working state, the request about to be sent. Assumes that breakpoints are set as `--breakpoints` advises, and that nothing in
/// the cache expires.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx cache --as anthropic --model claude-sonnet-5
  ctx cache --as openai-chat -n 10           the model is that of the imported request
  ctx cache @t0 --as anthropic               what the request about to be sent can reuse
  ctx cache @c3..@c9 --as openai-responses --json
  ctx cache --as anthropic --model claude-opus-5 --breakpoints     where to set them")]
pub(crate) struct Args {
    /// The first state, or both as `A..B` [default: all snapshots]
    #[arg(value_parser = parse_range, conflicts_with = "limit")]
    from: Option<Range>,

    /// The second state [default: the working state]
    #[arg(value_parser = parse_address)]
    to: Option<Address>,

    /// The format: openai-chat, openai-responses, anthropic, gemini
    #[arg(long = "as", value_name = "FORMAT", value_parser = provider)]
    format: Provider,

    #[command(flatten)]
    settings: Settings,

    /// What counts tokens [default: the model of the request, or an estimate for the format]
    #[arg(long, value_name = "NAME")]
    tokenizer: Option<String>,

    /// Only the newest N snapshots
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,

    /// Print where to set breakpoints in the newest request
    #[arg(long)]
    breakpoints: bool,

    /// The budget that commits were made under: its rules are named where one pruned something
    #[arg(long, value_name = "FILE")]
    budget: Option<String>,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = CacheRequest {
        from: args.from,
        to: args.to,
        format: Word(args.format),
        settings: args.settings.read()?,
        tokenizer: args.tokenizer.clone(),
        limit: args.limit,
        breakpoints: args.breakpoints,
        budget: args.budget.as_deref().map(document).transpose()?,
    };
    let found = call.read(|workspace, control| cache::cache(workspace, &request, control))?;
    for label in &found.skipped {
        call.output.note(&format!("{label} has no message, and so no request"));
    }
    match call.output.format() {
        Format::Human => view::human(&found, args.breakpoints, args.format, call),
        Format::Json => call.output.form(&found),
        Format::JsonLines => {
            call.output.forms(&found.steps);
            call.output.forms(&found.breakpoints);
        }
    }
    Ok(Exit::Ok)
}
