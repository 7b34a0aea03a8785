//! `ctx cache`: how much of each request a provider can read from its cache, and what broke it.

mod view;

use std::collections::BTreeMap;

use contextree::{CommitReport, Snapshot, TreeRef};
use contextree_cache::{Breakpoint, CacheRules, Evidence, Follower, Rendered, Step};
use contextree_provider::{Provider, RenderError, RenderOptions, RequestRenderer, render};
use contextree_tokens::Tokenizer;

use super::Call;
use super::commit::budget;
use super::render::{Settings, provider};
use super::tokens::tokenizer;
use crate::args::{parse_address, parse_range};
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::source::{Address, Range, Source, State};

/// Report how much of the prompt a provider can read from its cache, and what broke it
///
/// Every snapshot is rendered as a request and compared with the one before: how far they are the same, which node comes first behind that,
/// what was done to it, and how to avoid it. With two states, or `A..B`: only these two. With one: from that snapshot to the working state, the
/// request about to be sent. Assumed is that breakpoints are set as `--breakpoints` says, and that nothing in the cache runs out.
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

    /// Say where to set breakpoints in the newest request
    #[arg(long)]
    breakpoints: bool,

    /// The budget that commits were made under: its rules are named where one took something
    #[arg(long, value_name = "FILE")]
    budget: Option<String>,
}

/// What was found.
struct Found {
    /// One for each request, oldest first.
    rows: Vec<Row>,
    /// Where to set breakpoints in the last request.
    marks: Vec<Breakpoint>,
    /// Snapshots that there is no request for.
    skipped: Vec<String>,
}

struct Row {
    /// How the state is called.
    label: String,
    /// The number of its commit; nothing for the working state.
    cycle: Option<u32>,
    step: Step,
}

/// How requests are counted and cached.
struct Terms {
    tokenizer: Tokenizer,
    rules: CacheRules,
    model: Option<String>,
    /// What the limits of a policy are called.
    names: Vec<String>,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let source = Source::open(call)?;
    // What is marked is no part of what is cached.
    let options = RenderOptions { marks: Some(BTreeMap::new()), ..args.settings.options()? };
    let names = match &args.budget {
        None => Vec::new(),
        Some(file) => budget::rule_names(&budget::read(file, source.edition())?),
    };
    let (found, terms) = match args.from {
        None => history(args, &options, names, &source)?,
        Some(from) => pair(args, from, &options, names, &source)?,
    };
    for label in &found.skipped {
        call.output.note(&format!("{label} has no message, and no request"));
    }
    if call.output.format() == Format::Human {
        view::human(&found, &terms, args.breakpoints, args.format, call);
    } else {
        view::values(&found, &terms, args.breakpoints, call);
    }
    Ok(Exit::Ok)
}

/// All snapshots, or the newest.
fn history(
    args: &Args,
    options: &RenderOptions,
    names: Vec<String>,
    source: &Source,
) -> Result<(Found, Terms), Failure> {
    let limit = args.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    // One more: the first row has something before it, too.
    let mut snapshots = source.newest_snapshots(limit.saturating_add(1))?;
    snapshots.reverse();
    let (Some(first), Some(last)) = (snapshots.first(), snapshots.last()) else {
        return Err(Failure::new("E_SNAPSHOT_NOT_FOUND", "there is no snapshot yet")
            .hint("`ctx commit` makes the first"));
    };
    let reports = source.reports(first.cycle(), last.cycle())?;
    let views = snapshots.iter().rev().map(Snapshot::view);
    let terms = terms(args, options, names, views)?;
    let mut renderer = RequestRenderer::new(args.format, options.clone());
    let mut follower = Follower::new(terms.tokenizer, terms.rules);
    let mut found = Found { rows: Vec::new(), marks: Vec::new(), skipped: Vec::new() };
    let mut before: Option<&Snapshot> = None;
    for (index, snapshot) in snapshots.iter().enumerate() {
        let label = format!("@c{}", snapshot.cycle());
        let rendered = match renderer.render(snapshot.tree()) {
            Ok(rendered) => rendered,
            Err(RenderError::Empty) => {
                found.skipped.push(label);
                continue;
            }
            Err(error) => return Err(no_request(&error, &label)),
        };
        let older = before.unwrap_or(snapshot);
        let between = between(&reports, older.cycle(), snapshot.cycle());
        let evidence = Evidence::new(older.view(), snapshot.view())
            .with_reports(&between)
            .with_rules(&terms.names);
        let step = follower.follow(&Rendered::from(rendered), &evidence).clone();
        // The one before the first that was asked for.
        if index > 0 || snapshots.len() <= limit {
            found.rows.push(Row { label, cycle: Some(snapshot.cycle()), step });
        }
        before = Some(snapshot);
    }
    found.marks = follower.finish().breakpoints;
    Ok((found, terms))
}

/// Two states, the older one first.
fn pair(
    args: &Args,
    from: Range,
    options: &RenderOptions,
    names: Vec<String>,
    source: &Source,
) -> Result<(Found, Terms), Failure> {
    let to = match (from.to, args.to) {
        (Some(_), Some(_)) => {
            return Err(Failure::usage("three states are given, two can be compared")
                .hint("write `ctx cache A..B`, or `ctx cache A B`"));
        }
        (to, other) => to.or(other).unwrap_or(Address::Working),
    };
    let (left, right) = (source.state(from.from)?, source.state(to)?);
    let age = |state: &State| state.cycle().unwrap_or(u32::MAX);
    let (older, newer) = if age(&left) <= age(&right) { (left, right) } else { (right, left) };
    let terms = terms(args, options, names, [newer.tree(), older.tree()])?;
    let reports = match (older.cycle(), newer.cycle()) {
        (Some(older), Some(newer)) => source.reports(older, newer)?,
        _ => BTreeMap::new(),
    };
    let between = between(&reports, 0, u32::MAX);
    let mut follower = Follower::new(terms.tokenizer, terms.rules);
    let mut found = Found { rows: Vec::new(), marks: Vec::new(), skipped: Vec::new() };
    for state in [&older, &newer] {
        let rendered = render(state.tree(), args.format, options)
            .map_err(|error| no_request(&error, &state.label))?;
        let evidence = Evidence::new(older.tree(), state.tree())
            .with_reports(&between)
            .with_rules(&terms.names);
        let step = follower.follow(&Rendered::from(&rendered), &evidence).clone();
        found.rows.push(Row { label: state.label.clone(), cycle: state.cycle(), step });
    }
    found.marks = follower.finish().breakpoints;
    Ok((found, terms))
}

fn between(reports: &BTreeMap<u32, CommitReport>, older: u32, newer: u32) -> Vec<&CommitReport> {
    let after = older.saturating_add(1).min(newer);
    reports.range(after..=newer).map(|(_, report)| report).collect()
}

fn no_request(error: &RenderError, label: &str) -> Failure {
    Failure::new(error.code(), format!("{label}: {error}")).hint(error.hint())
}

/// Decides how to count, by the newest request that there is.
fn terms<'t>(
    args: &Args,
    options: &RenderOptions,
    names: Vec<String>,
    trees: impl IntoIterator<Item = TreeRef<'t>>,
) -> Result<Terms, Failure> {
    let newest = trees.into_iter().find_map(|tree| render(tree, args.format, options).ok());
    let model = newest.and_then(|request| Rendered::from(&request).model());
    let tokenizer = match &args.tokenizer {
        Some(name) => tokenizer(name)?,
        None => counted_by(args.format, model.as_deref()),
    };
    let rules = rules(args.format, model.as_deref());
    Ok(Terms { tokenizer, rules, model, names })
}

/// Returns the rules of a provider's cache for a model.
pub(super) fn rules(format: Provider, model: Option<&str>) -> CacheRules {
    let name = model.unwrap_or_default();
    match format {
        Provider::Anthropic => CacheRules::anthropic(name),
        Provider::Gemini => CacheRules::gemini(name),
        _ => CacheRules::openai(name),
    }
}

/// Returns what counts requests for a model.
pub(super) fn counted_by(format: Provider, model: Option<&str>) -> Tokenizer {
    match model {
        Some(model) => Tokenizer::named(model).unwrap_or_else(|_| usual(format, true)),
        None => usual(format, false),
    }
}

/// Returns what counts requests of a format if nobody knows how their model counts.
fn usual(format: Provider, is_other: bool) -> Tokenizer {
    use contextree_tokens::Estimate;
    match format {
        Provider::Anthropic => Tokenizer::Estimate(Estimate::CLAUDE_5),
        Provider::Gemini => Tokenizer::Estimate(Estimate::GEMINI),
        // Many others take requests in the format of OpenAI.
        _ if is_other => Tokenizer::Estimate(Estimate::OTHER),
        _ => Tokenizer::default(),
    }
}
