//! `ctx cache`: what calls could read from the provider's prompt cache, what was billed, and why not more.

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

/// Report what calls could read from the provider's prompt cache, what was billed, and why not more
///
/// For each call of a model: what the rules of the provider's cache predict and, if its usage is known, what was billed; with the reason for
/// every miss: the node that changed, a pause that was longer than the lifetime of the cache, another model or setting, content that
/// moved, a request that is too short. Calls are those made with `ctx request` and those of imported logs; without any, every snapshot
/// counts as a call. What logs do not contain, such as system text and tools, is inferred from usage. With two states, or `A..B`: only these
/// two. With one: from that snapshot to the working state, the request about to be sent. Assumes that breakpoints are set as
/// `--breakpoints` advises.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx cache                                  all calls, for the provider and model that were called
  ctx cache -n 10 --prices prices.toml       the newest ten, and what they cost
  ctx cache --as anthropic --model claude-sonnet-5
  ctx cache @t0                              what the request about to be sent can reuse
  ctx cache @c3..@c9 --json
  ctx cache --breakpoints                    where to set them in the newest request")]
pub(crate) struct Args {
    /// The first state, or both as `A..B` [default: all calls]
    #[arg(value_parser = parse_range, conflicts_with = "limit")]
    from: Option<Range>,

    /// The second state [default: the working state]
    #[arg(value_parser = parse_address)]
    to: Option<Address>,

    /// The format: openai-chat, openai-responses, anthropic, gemini [default: that of the calls]
    #[arg(long = "as", value_name = "FORMAT", value_parser = provider)]
    format: Option<Provider>,

    #[command(flatten)]
    settings: Settings,

    /// What counts tokens [default: the model of the call, or an estimate for the format]
    #[arg(long, value_name = "NAME")]
    tokenizer: Option<String>,

    /// Only the newest N calls
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,

    /// Print where to set breakpoints in the newest request
    #[arg(long)]
    breakpoints: bool,

    /// The budget that commits were made under: its rules are named where one pruned something
    #[arg(long, value_name = "FILE")]
    budget: Option<String>,

    /// Prices of models, as TOML: print what calls cost
    #[arg(long, value_name = "FILE")]
    prices: Option<String>,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = CacheRequest {
        from: args.from,
        to: args.to,
        format: args.format.map(Word),
        settings: args.settings.read()?,
        tokenizer: args.tokenizer.clone(),
        limit: args.limit,
        breakpoints: args.breakpoints,
        budget: args.budget.as_deref().map(document).transpose()?,
        prices: args.prices.as_deref().map(document).transpose()?,
    };
    let found = call.read(|workspace, control| cache::cache(workspace, &request, control))?;
    for label in &found.skipped {
        call.output.note(&format!("{label} has no message, and so no request"));
    }
    match call.output.format() {
        Format::Human => view::human(&found, args.breakpoints, call),
        Format::Json => call.output.form(&found),
        Format::JsonLines => {
            call.output.forms(&found.calls);
            call.output.forms(&found.breakpoints);
        }
    }
    Ok(Exit::Ok)
}
