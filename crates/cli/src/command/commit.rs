//! `ctx commit`: expire, prune, seal, snapshot.

pub(super) mod budget;

use std::collections::BTreeMap;

use contextree::json::{Value, parse};
use contextree::{Code, Policy, Region};
use contextree_app::command::commit::{self, CommitRequest};

use super::Call;
use crate::args::parse_size;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::source::{ChangeOptions, read_bytes};
use crate::view::report;

/// Seal the turn in progress and add a snapshot
///
/// In this order: nodes whose ttl is 0 expire, empty groups are removed, what is over a limit is pruned (lowest priority first, then
/// oldest; a tool call and its result together), and the turn is sealed. The report says what was removed and why; `--verbose` lists every
/// pruned node. Exits with 1 if a limit could not be met.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx commit
  ctx commit --max-bytes 8000 --protect 2     prune older turns down to 8000 bytes of content
  ctx commit --policy policy.json --dry-run   what would be removed, and why
  ctx commit --max-tokens 20k --verbose       counted as the model does
  ctx commit --budget budget.toml
  ctx commit --max-turns 20 --json")]
pub(crate) struct Args {
    /// At most N bytes of content in the whole tree: 8000, 10k, 1.5M
    #[arg(long, value_name = "N", value_parser = parse_size)]
    max_bytes: Option<u64>,

    /// At most N blocks in the whole tree
    #[arg(long, value_name = "N", value_parser = parse_size)]
    max_nodes: Option<u64>,

    /// At most N turns, the new one included; older ones are pruned whole
    #[arg(long, value_name = "N")]
    max_turns: Option<u64>,

    /// At most N bytes of content in one region (^sys, ^seq, ^ah)
    #[arg(long, value_name = "REGION=N", value_parser = region_limit)]
    max_region: Vec<(Region, u64)>,

    /// The newest K turns are not pruned [default: 1]
    #[arg(long, value_name = "K")]
    protect: Option<u64>,

    /// A budget in tokens, as TOML or JSON: max_tokens, keep_turns, exclude … (see `ctx help budget`)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["policy", "max_bytes", "max_nodes", "max_turns", "max_region", "protect"])]
    budget: Option<String>,

    /// At most N tokens in a request: 8000, 20k
    #[arg(long, value_name = "N", value_parser = parse_size, conflicts_with_all = ["budget", "policy", "max_bytes", "max_nodes", "max_turns", "max_region", "protect"])]
    max_tokens: Option<u64>,

    /// A pruning policy as JSON: {"protect_turns":1,"limits":[{"limit":"total","measure":"bytes","max":8000}]}
    #[arg(long, value_name = "FILE")]
    policy: Option<String>,

    /// Ignore the context's own policy
    #[arg(long)]
    no_policy: bool,

    /// List every node that was pruned, and why
    #[arg(long)]
    verbose: bool,

    #[command(flatten)]
    change: ChangeOptions,
}

fn region_limit(text: &str) -> Result<(Region, u64), String> {
    let (word, number) = text.split_once('=').ok_or("write REGION=N, for example ^sys=2000")?;
    let region = Region::from_word(word).ok_or(format!("`{word}` is not ^sys, ^seq or ^ah"))?;
    Ok((region, parse_size(number)?))
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let regions = args.max_region.iter().map(|(region, max)| (region.word().to_owned(), *max));
    let request = CommitRequest {
        policy: args.policy.as_deref().map(read_policy).transpose()?,
        no_policy: args.no_policy,
        max_bytes: args.max_bytes,
        max_nodes: args.max_nodes,
        max_turns: args.max_turns,
        max_region: regions.collect::<BTreeMap<_, _>>(),
        protect: args.protect,
        budget: budget::given(args.budget.as_deref(), args.max_tokens)?,
        change: args.change.to_change(),
    };
    let done = call
        .read(|workspace, control| commit::commit(workspace, &request, control))
        .map_err(|error| in_file(error, args))?;
    let exit = if done.report.unmet.is_empty() { Exit::Ok } else { Exit::No };
    if call.output.format() != Format::Human {
        call.output.value(&budget::to_value(&done));
        return Ok(exit);
    }
    let policy = done.policy.as_ref().and_then(|policy| Policy::from_value(policy).ok());
    let text = match &done.budget {
        Some(budget) => budget::draw(budget, &done.report, args.verbose),
        None => report::draw(&done.report, policy.as_ref(), args.verbose),
    };
    call.output.folded(&text);
    for warning in &done.report.warnings {
        call.output.warning(warning);
    }
    if let Some(budget) = &done.budget {
        budget::notes(budget, done.policy_ignored, call);
    }
    if args.change.dry_run {
        call.output.note("nothing was committed (--dry-run)");
    } else if !done.report.pruned.is_empty() {
        // Old turns may be among it.
        call.output.note(super::UNDO);
    }
    Ok(exit)
}

/// Names the file of a policy that is invalid.
fn in_file(error: Failure, args: &Args) -> Failure {
    match &args.policy {
        Some(file) if error.code() == Code::PolicyInvalid => error.in_file(file),
        _ => error,
    }
}

/// Reads a policy from a file.
pub(super) fn read_policy(file: &str) -> Result<Value, Failure> {
    parse(&read_bytes(file)?)
        .map_err(|error| {
            Failure::new(error.code(), format!("{file}: {error}"))
                .with_hint("a policy is JSON: {\"limits\":[{\"limit\":\"total\",\"measure\":\"bytes\",\"max\":8000}]}")
                .with_hint("a budget may be TOML: `--budget FILE`")
        })
}
