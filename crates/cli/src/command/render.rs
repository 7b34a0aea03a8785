//! `ctx render`: a state as the request of a provider.

use std::collections::BTreeMap;

use contextree::SnapshotAddress;
use contextree_cache::{Outlook, Prompt, breakpoints};
use contextree_json::{Object, Value};
use contextree_provider::{
    Finding, Loss, Provider, RenderOptions, Rendered, Severity, lint, render,
};

use super::Call;
use super::cache::{counted_by, rules};
use super::input::{self, json};
use crate::args::parse_address;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::one_line;
use crate::source::{Address, Source, State};

/// Write a state as the request of a model provider, and check it
///
/// The bytes are exact and stable: what was sent before stays as it was, so that the provider can read it from its cache. What the provider
/// cannot express is named as a warning. Exits with 1 if the provider would refuse the request.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx render --as openai-chat --model gpt-5 > request.json
  ctx render @ --as anthropic --model claude-sonnet-5 --set-json max_tokens=1024
  ctx render --as anthropic --model claude-opus-5 --breakpoints     mark what is to be cached
  ctx render --as gemini --lint              only what the provider would not like
  ctx render --as thread                     the same as ctx thread")]
pub(crate) struct Args {
    /// The state [default: the newest snapshot]
    #[arg(value_parser = parse_address)]
    at: Option<Address>,

    /// The format: openai-chat, openai-responses, anthropic, gemini, thread
    #[arg(long = "as", value_name = "FORMAT", value_parser = target)]
    format: Target,

    #[command(flatten)]
    settings: Settings,

    /// Print only what the provider would not like, and what it does not get
    #[arg(long)]
    lint: bool,

    /// Set the breakpoints of the prompt cache that `ctx cache --breakpoints` advises, and no others
    #[arg(long)]
    breakpoints: bool,

    /// Exit with 1 if anything of the tree does not reach the provider as it is
    #[arg(long)]
    strict: bool,
}

/// What a request says besides the conversation.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Settings {
    /// The model
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,

    /// A field of the request, as text
    #[arg(long, value_name = "NAME=TEXT")]
    set: Vec<String>,

    /// A field of the request, as JSON
    #[arg(long, value_name = "NAME=JSON")]
    set_json: Vec<String>,

    /// All fields of the request that are no content, as JSON
    #[arg(long, value_name = "JSON")]
    settings: Option<String>,
}

impl Settings {
    /// Puts the options together.
    pub(super) fn options(&self) -> Result<RenderOptions, Failure> {
        let mut settings = match &self.settings {
            None => Object::new(),
            Some(text) => match json("--settings", text)? {
                Value::Object(settings) => settings,
                _ => return Err(Failure::usage("--settings is no JSON object")),
            },
        };
        if let Some(model) = &self.model {
            settings.insert("model", model.as_str().into());
        }
        for (name, value) in
            input::texts(&self.set)?.into_iter().chain(input::values(&self.set_json)?)
        {
            settings.insert(name, value);
        }
        Ok(RenderOptions { settings, ..RenderOptions::default() })
    }
}

/// What to write.
#[derive(Clone, Copy, Debug)]
enum Target {
    Thread,
    Provider(Provider),
}

fn target(text: &str) -> Result<Target, String> {
    match text {
        "thread" => Ok(Target::Thread),
        _ => provider(text).map(Target::Provider).map_err(|error| format!("{error}, `thread`")),
    }
}

/// Reads the name of a provider.
pub(super) fn provider(text: &str) -> Result<Provider, String> {
    text.parse().map_err(|error: contextree_provider::UnknownProvider| error.to_string())
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let source = Source::open(call)?;
    let state = match args.at {
        Some(address) => source.state(address)?,
        None => source.newest()?,
    };
    let Target::Provider(provider) = args.format else {
        call.output.bytes(&contextree::thread(state.tree()));
        return Ok(Exit::Ok);
    };
    let mut options = args.settings.options()?;
    if args.breakpoints {
        let before = match state.cycle() {
            Some(cycle) => source.state(cycle_address(cycle.saturating_sub(1))),
            None => source.newest(),
        };
        // The first request has none before it.
        let last = before.ok();
        options.marks = Some(marks(provider, &options, &state, last.as_ref())?);
    }
    let rendered = request(&state, provider, &options)?;
    let findings = lint(&rendered);
    let refused = findings.iter().any(|finding| finding.severity == Severity::Error);
    let lost = args.strict && !rendered.losses.is_empty();
    let exit = if refused || lost { Exit::No } else { Exit::Ok };
    if args.lint {
        report(&findings, &rendered, call);
        return Ok(exit);
    }
    for loss in &rendered.losses {
        let detail =
            if loss.detail.is_empty() { String::new() } else { format!(" ({})", loss.detail) };
        call.output.warning(&format!("{}: {}{detail}", loss.node, loss.kind.meaning()));
    }
    for finding in &findings {
        let word = if finding.severity == Severity::Error { "it would be refused: " } else { "" };
        call.output.warning(&format!("{word}{finding}"));
    }
    call.output.bytes(&rendered.bytes);
    Ok(exit)
}

/// Returns the address of the snapshot that a commit left.
fn cycle_address(cycle: u32) -> Address {
    Address::Snapshot(SnapshotAddress::Cycle(cycle.into()))
}

fn request(
    state: &State,
    provider: Provider,
    options: &RenderOptions,
) -> Result<Rendered, Failure> {
    render(state.tree(), provider, options)
        .map_err(|error| Failure::new(error.code(), error.to_string()).hint(error.hint()))
}

/// Returns the marks that make a provider cache what the next request begins with.
fn marks(
    provider: Provider,
    options: &RenderOptions,
    state: &State,
    last: Option<&State>,
) -> Result<BTreeMap<String, Object>, Failure> {
    let Some(field) = provider.breakpoint_field() else { return Ok(BTreeMap::new()) };
    let options = RenderOptions { marks: Some(BTreeMap::new()), ..options.clone() };
    let rendered = request(state, provider, &options)?;
    let last = last.and_then(|last| request(last, provider, &options).ok());
    let model = contextree_cache::Rendered::from(&rendered).model();
    let (tokenizer, rules) =
        (counted_by(provider, model.as_deref()), rules(provider, model.as_deref()));
    let measure = |rendered| Prompt::measure(contextree_cache::Rendered::from(rendered), tokenizer);
    let (prompt, last) = (measure(&rendered), last.as_ref().map(measure));
    let outlook = Outlook::of(&prompt, state.tree(), last.as_ref());
    let advised = breakpoints(&prompt, &outlook, &rules);
    let mark = match provider {
        Provider::Anthropic => Object::from_iter([("type", Value::from("ephemeral"))]),
        _ => Object::from_iter([("mode", Value::from("explicit"))]),
    };
    let set = advised.into_iter().filter(|it| !it.automatic);
    Ok(set.map(|it| (it.node, Object::from_iter([(field, Value::Object(mark.clone()))]))).collect())
}

/// Returns the word for how bad a finding is.
pub(super) fn finding_word(severity: Severity) -> &'static str {
    if severity == Severity::Error { "error" } else { "warning" }
}

/// Returns a finding for programs.
pub(super) fn finding_value(finding: &Finding) -> Object {
    Object::from_iter([
        ("code", Value::from(finding.code)),
        ("severity", finding_word(finding.severity).into()),
        ("message", finding.message.as_str().into()),
        ("node", finding.node.as_deref().map_or(Value::Null, Value::from)),
        ("path", finding.path.as_str().into()),
    ])
}

fn loss_value(loss: &Loss) -> Object {
    Object::from_iter([
        ("code", Value::from(loss.kind.code())),
        ("severity", "loss".into()),
        ("message", loss.kind.meaning().into()),
        ("node", loss.node.as_str().into()),
        ("detail", loss.detail.as_str().into()),
    ])
}

fn report(findings: &[Finding], rendered: &Rendered, call: &mut Call<'_>) {
    if call.output.format() != Format::Human {
        let losses = rendered.losses.iter().map(loss_value);
        let values = findings.iter().map(finding_value).chain(losses).map(Value::Object);
        call.output.values(values.collect());
        return;
    }
    if !findings.iter().any(|finding| finding.severity == Severity::Error) {
        call.output.note(&format!("{} would take this request", rendered.provider));
    }
    if findings.is_empty() && rendered.losses.is_empty() {
        return;
    }
    let mut table = Table::new(&["", "code", "node", "place", "what"]);
    for finding in findings {
        let style = if finding.severity == Severity::Error { style::ERROR } else { style::WARNING };
        table.row(vec![
            paint(style, finding_word(finding.severity)),
            finding.code.to_owned(),
            paint(style::ID, one_line(finding.node.as_deref().unwrap_or_default())),
            finding.path.clone(),
            finding.message.clone(),
        ]);
    }
    for loss in &rendered.losses {
        let detail = if loss.detail.is_empty() { "" } else { &*format!(" ({})", loss.detail) };
        table.row(vec![
            paint(style::WARNING, "loss"),
            loss.kind.code().to_owned(),
            paint(style::ID, one_line(&loss.node)),
            String::new(),
            one_line(&format!("{}{detail}", loss.kind.meaning())),
        ]);
    }
    let text = table.render(call.output.width());
    call.output.text(&text);
}
