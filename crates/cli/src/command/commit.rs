//! `ctx commit`: expire, prune, seal, snapshot.

pub(super) mod budget;

use contextree::{CommitOptions, Limit, MeasureName, Policy, Region};
use contextree_json::parse;

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::source::{Access, Change, Home, read_bytes};
use crate::view::report;

/// Seal the turn in progress and leave one more snapshot
///
/// In this order: what has run out expires, groups that became empty go, what is over a limit is pruned (lowest priority first, then
/// oldest; a tool call and its result together), and the turn is sealed. The report names every node that went, and why.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx commit
  ctx commit --max-bytes 8000 --protect 2     prune older turns down to 8000 bytes of content
  ctx commit --policy budget.json --dry-run   what would go, and why
  ctx commit --budget budget.toml             max_tokens = 8000, counted as the model does
  ctx commit --max-turns 20 --json")]
pub(crate) struct Args {
    /// At most so many bytes of content in the whole tree
    #[arg(long, value_name = "N")]
    max_bytes: Option<u64>,

    /// At most so many blocks in the whole tree
    #[arg(long, value_name = "N")]
    max_nodes: Option<u64>,

    /// At most so many turns, the new one included; older ones go whole
    #[arg(long, value_name = "N")]
    max_turns: Option<u64>,

    /// At most so many bytes of content in one region (^sys, ^seq, ^ah)
    #[arg(long, value_name = "REGION=N", value_parser = region_limit)]
    max_region: Vec<(Region, u64)>,

    /// The newest K turns are not pruned [default: 1]
    #[arg(long, value_name = "K")]
    protect: Option<u64>,

    /// A budget in tokens, as TOML or JSON: tokenizer, max_tokens, keep_turns, exclude … Exits with 1 if it cannot be kept
    #[arg(long, value_name = "FILE", conflicts_with_all = ["policy", "max_bytes", "max_nodes", "max_turns", "max_region", "protect"])]
    budget: Option<String>,

    /// A pruning policy as JSON: {"protect_turns":1,"limits":[{"limit":"total","measure":"bytes","max":8000}]}
    #[arg(long, value_name = "FILE")]
    policy: Option<String>,

    /// Leave the context's own policy aside
    #[arg(long)]
    no_policy: bool,

    #[command(flatten)]
    change: Change,
}

fn region_limit(text: &str) -> Result<(Region, u64), String> {
    let (word, number) = text.split_once('=').ok_or("write REGION=N, for example ^sys=2000")?;
    let region = Region::from_word(word).ok_or(format!("`{word}` is none of ^sys, ^seq, ^ah"))?;
    let number = number.parse().map_err(|_| format!("`{number}` is no number"))?;
    Ok((region, number))
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    if let Some(file) = &args.budget {
        return budget::run(file, &args.change, call);
    }
    let policy = policy(args, call)?;
    let options = CommitOptions {
        policy: policy.as_ref(),
        without_policy: policy.is_none(),
        ..CommitOptions::default()
    };
    let report = args.change.make(call, |context| {
        context.commit_with(&options).map_err(|error| Failure::commit(&error))
    })?;
    if call.output.format() != Format::Human {
        call.output.value(&report::to_value(&report));
        return Ok(Exit::Ok);
    }
    let text = report::draw(&report, policy.as_ref());
    call.output.text(&text);
    for warning in &report.warnings {
        call.output.warning(&warning.to_string());
    }
    if args.change.dry_run {
        call.output.note("nothing was committed (--dry-run)");
    }
    Ok(Exit::Ok)
}

/// The policy: from a file, from options, or the one that is kept with the context.
fn policy(args: &Args, call: &Call<'_>) -> Result<Option<Policy>, Failure> {
    let mut policy = match &args.policy {
        Some(file) => Some(read_policy(file)?),
        None if args.no_policy || call.global.file.is_some() => None,
        None => {
            let home = Home::open(call.global, call.environment, Access::Read)?;
            home.reader(call.global)?.settings().policy.clone()
        }
    };
    let bytes = MeasureName::Bytes;
    let mut limits = Vec::new();
    limits.extend(args.max_turns.map(Limit::Depth));
    for (region, max) in &args.max_region {
        limits.push(Limit::Region { region: *region, measure: bytes.clone(), max: *max });
    }
    limits.extend(args.max_bytes.map(|max| Limit::Total { measure: bytes.clone(), max }));
    limits.extend(args.max_nodes.map(|max| Limit::Total { measure: MeasureName::Nodes, max }));
    if !limits.is_empty() || args.protect.is_some() {
        let policy = policy.get_or_insert_with(Policy::default);
        policy.limits.extend(limits);
        policy.protect_turns = args.protect.unwrap_or(policy.protect_turns);
    }
    Ok(policy)
}

/// Reads a policy from a file.
pub(super) fn read_policy(file: &str) -> Result<Policy, Failure> {
    let value = parse(&read_bytes(file)?)
        .map_err(|error| Failure::new(error.code(), format!("{file}: {error}")))?;
    Policy::from_value(&value).map_err(|error| {
        Failure::new(error.code(), format!("{file}: {error}"))
            .detail("place", error.at.as_str())
            .hint("for example {\"limits\":[{\"limit\":\"total\",\"measure\":\"bytes\",\"max\":8000}]}")
    })
}
