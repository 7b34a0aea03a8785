//! `ctx cache`: how much of each request a provider can read from its cache, and what broke it.

use contextree::Region;
use contextree_cache::{
    CacheRules, Evidence, Follower, History, Prompt, Rendered, Step, breakpoints,
};
use contextree_json::{Object, Value};
use contextree_provider::{Provider, RequestRenderer};
use contextree_tokens::Tokenizer;

use super::Call;
use super::render::{Settings, provider};
use super::tokens::tokenizer;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::one_line;
use crate::source::Source;

/// Report how much of the prompt a provider can read from its cache, and what broke it
///
/// Every snapshot is rendered as a request and compared with the one before: how far they are the same byte for byte, which node comes
/// first behind that, what was done to it, and how to avoid it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx cache --as anthropic --model claude-sonnet-5
  ctx cache --as openai-chat --model gpt-5 -n 10
  ctx cache --as anthropic --model claude-opus-5 --breakpoints     where to set them")]
pub(crate) struct Args {
    /// The format: openai-chat, openai-responses, anthropic, gemini
    #[arg(long = "as", value_name = "FORMAT", value_parser = provider)]
    format: Provider,

    #[command(flatten)]
    settings: Settings,

    /// What counts tokens [default: the model, or gpt-5]
    #[arg(long, value_name = "NAME", value_parser = tokenizer)]
    tokenizer: Option<Tokenizer>,

    /// Only the newest N snapshots
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,

    /// Say where to set breakpoints in the newest request
    #[arg(long)]
    breakpoints: bool,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let mut source = Source::open(call)?;
    let mut snapshots = source.newest_snapshots(args.limit.unwrap_or(usize::MAX))?;
    snapshots.reverse();
    let (Some(first), Some(last)) = (snapshots.first(), snapshots.last()) else {
        return Err(Failure::new("E_SNAPSHOT_NOT_FOUND", "there is no snapshot yet")
            .hint("`ctx commit` makes the first"));
    };
    let reports = source.reports(first.cycle(), last.cycle())?;
    let model = args.settings.model.as_deref();
    let tokenizer = args
        .tokenizer
        .or_else(|| model.and_then(|model| Tokenizer::named(model).ok()))
        .map_or_else(|| Tokenizer::named("gpt-5"), Ok)
        .map_err(|error| Failure::usage(error.to_string()))?;
    let rules = rules(args.format, model);
    let mut renderer = RequestRenderer::new(args.format, args.settings.options()?);
    let mut follower = Follower::new(tokenizer, rules);
    let mut requests: Vec<(u32, contextree_provider::Rendered)> = Vec::new();
    for (index, snapshot) in snapshots.iter().enumerate() {
        let rendered = renderer.render(snapshot.tree()).map_err(|error| {
            Failure::new(error.code(), format!("@c{}: {error}", snapshot.cycle()))
                .hint(error.hint())
        })?;
        let before =
            index.checked_sub(1).and_then(|before| snapshots.get(before)).unwrap_or(snapshot);
        let mut evidence = Evidence::new(before.view(), snapshot.view());
        if let Some(report) = reports.get(&snapshot.cycle()) {
            evidence = evidence.with_report(report);
        }
        follower.follow(&request(rendered)?, &evidence);
        // Only the newest two are needed again.
        requests.push((snapshot.cycle(), rendered.clone()));
        if requests.len() > 2 {
            requests.remove(0);
        }
    }
    let history = follower.finish();
    let cycles: Vec<u32> = snapshots.iter().map(contextree::Snapshot::cycle).collect();
    let marks = match args.breakpoints {
        true => marks(&requests, last, tokenizer, &rules)?,
        false => Vec::new(),
    };
    if call.output.format() == Format::Human {
        human(&history, &cycles, &marks, tokenizer, args, call);
    } else {
        call.output.value(&to_value(&history, &cycles, &marks, tokenizer, &rules));
    }
    Ok(Exit::Ok)
}

fn rules(format: Provider, model: Option<&str>) -> CacheRules {
    let model = model.unwrap_or_default();
    match format {
        Provider::Anthropic => CacheRules::anthropic(model),
        Provider::Gemini => CacheRules::gemini(model),
        _ => CacheRules::openai(model),
    }
}

fn request(rendered: &contextree_provider::Rendered) -> Result<Rendered<'_>, Failure> {
    let spans = rendered.spans.iter().map(|span| (span.start, span.end, &*span.node));
    Rendered::new(&rendered.bytes, spans)
        .map_err(|error| Failure::new("E_INTERNAL", error.to_string()))
}

fn marks(
    requests: &[(u32, contextree_provider::Rendered)],
    newest: &contextree::Snapshot,
    tokenizer: Tokenizer,
    rules: &CacheRules,
) -> Result<Vec<contextree_cache::Breakpoint>, Failure> {
    let Some((_, last)) = requests.last() else { return Ok(Vec::new()) };
    let before = match requests {
        [(_, before), _] => Some(Prompt::measure(request(before)?, tokenizer)),
        _ => None,
    };
    let prompt = Prompt::measure(request(last)?, tokenizer);
    let is_system =
        |node: &str| newest.view().get(node).is_some_and(|node| node.region() == Some(Region::Sys));
    let fixed = last.spans.iter().take_while(|span| is_system(&span.node)).count();
    Ok(breakpoints(&prompt, fixed, before.as_ref(), rules))
}

fn human(
    history: &History,
    cycles: &[u32],
    marks: &[contextree_cache::Breakpoint],
    tokenizer: Tokenizer,
    args: &Args,
    call: &mut Call<'_>,
) {
    let titles = ["snapshot", "tokens", "cached", "share", "first change", "what"];
    let mut table = Table::new(&titles).right(1).right(2).right(3);
    for (step, cycle) in history.steps.iter().zip(cycles) {
        let share = (step.cached * 100).checked_div(step.tokens).unwrap_or(0);
        let broken = step.report.as_ref().and_then(|report| report.broken.as_ref());
        let (node, what) = match (broken, &step.report) {
            (Some(broken), _) => {
                let node = broken.node.clone().unwrap_or_else(|| "(envelope)".to_owned());
                (node, format!("{}, {} tokens lost", broken.cause, broken.tokens_lost))
            }
            (None, Some(_)) => (String::new(), "it only grew".to_owned()),
            (None, None) => (String::new(), "the first request".to_owned()),
        };
        table.row(vec![
            paint(style::TITLE, format!("@c{cycle}")),
            step.tokens.to_string(),
            step.cached.to_string(),
            format!("{share} %"),
            paint(style::ID, one_line(&node)),
            what,
        ]);
    }
    let mut text = table.render(call.output.width());
    let per_mille = history.per_mille();
    text.push_str(&format!(
        "\n{}.{} % of all input tokens can be read from the cache ({} of {})\n",
        per_mille / 10,
        per_mille % 10,
        history.cached,
        history.tokens,
    ));
    if args.breakpoints {
        text.push('\n');
        if marks.is_empty() {
            text.push_str("no breakpoint is worth setting: the provider finds the prefix itself, or it is too short\n");
        }
        for mark in marks {
            text.push_str(&format!(
                "breakpoint on {} behind {} tokens ({})\n",
                paint(style::ID, one_line(&mark.node)),
                mark.tokens,
                mark.purpose.word()
            ));
        }
    }
    let advice = history.steps.iter().rev().find_map(|step| step.report.as_ref()?.broken.as_ref());
    call.output.text(&text);
    if let Some(broken) = advice {
        call.output.note(&format!("hint: {}", broken.cause.advice()));
    }
    call.output.note(&paint(style::DIM, format!("{}, counted by {tokenizer}", args.format)));
}

fn to_value(
    history: &History,
    cycles: &[u32],
    marks: &[contextree_cache::Breakpoint],
    tokenizer: Tokenizer,
    rules: &CacheRules,
) -> Value {
    let step = |(step, cycle): (&Step, &u32)| {
        let mut object = Object::from_iter([
            ("cycle", Value::from(*cycle)),
            ("tokens", step.tokens.into()),
            ("cached", step.cached.into()),
        ]);
        if let Some(report) = &step.report {
            object.insert("bytes", report.bytes.total.into());
            object.insert("prefix_bytes", report.bytes.prefix.into());
            object.insert("prefix_tokens", report.tokens.prefix.into());
            if let Some(broken) = &report.broken {
                let entries = [
                    ("offset", Value::from(broken.offset)),
                    ("node", broken.node.as_deref().map_or(Value::Null, Value::from)),
                    ("cause", broken.cause.word().into()),
                    ("reason", broken.section.reason().into()),
                    ("tokens_lost", broken.tokens_lost.into()),
                    ("advice", broken.cause.advice().into()),
                ];
                object.insert("broken", Object::from_iter(entries).into());
            }
        }
        Value::Object(object)
    };
    let mark = |mark: &contextree_cache::Breakpoint| {
        Value::Object(Object::from_iter([
            ("node", Value::from(mark.node.as_str())),
            ("offset", mark.offset.into()),
            ("tokens", mark.tokens.into()),
            ("purpose", mark.purpose.word().into()),
        ]))
    };
    Value::Object(Object::from_iter([
        ("tokens", Value::from(history.tokens)),
        ("cached", history.cached.into()),
        ("per_mille", history.per_mille().into()),
        ("tokenizer", tokenizer.name().into()),
        ("exact", tokenizer.is_exact().into()),
        ("rules", rules.name.into()),
        ("steps", Value::Array(history.steps.iter().zip(cycles).map(step).collect())),
        ("breakpoints", Value::Array(marks.iter().map(mark).collect())),
    ]))
}
