//! `ctx render`: a state as the request of a provider.

use contextree::json::{Object, Value};
use contextree::provider::{Provider, UnknownProvider};
use contextree_app::Address;
use contextree_app::command::render::{self, RenderRequest, RenderResponse, SentRequest, Target};
use contextree_app::wire::{self, Severity, Word};

use super::Call;
use super::input::{self, json};
use crate::args::parse_address;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::one_line;

/// Write a state as the request of a model provider, and check it
///
/// The bytes are exact and stable: what was sent before does not change, so that the provider can read it from its cache. What the
/// provider cannot express is printed as a warning. Exits with 1 if the provider would refuse the request.
///
/// The working state (`@`) is written as it would be sent now: after expiry, and pruned under the context's own budget or policy.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx render --as openai-chat --model gpt-5 > request.json
  ctx render @ --as anthropic --model claude-sonnet-5 --set-json max_tokens=1024
  ctx render --as anthropic --model claude-opus-5 --breakpoints     mark what is to be cached
  ctx render --as gemini --lint              only findings and losses
  ctx render @c12 --sent                     what call 12 was sent, byte for byte
  ctx render --as thread                     the same as ctx thread")]
pub(crate) struct Args {
    /// The state [default: the newest snapshot]
    #[arg(value_parser = parse_address)]
    at: Option<Address>,

    /// The format: openai-chat, openai-responses, anthropic, gemini, thread
    #[arg(long = "as", value_name = "FORMAT", value_parser = target, required_unless_present = "sent")]
    format: Option<Target>,

    /// Print the request that was sent in this cycle, byte for byte; with a warning if it was imported from a log that has no requests
    #[arg(long, conflicts_with_all = ["format", "model", "set", "set_json", "settings", "lint", "breakpoints", "strict"])]
    sent: bool,

    #[command(flatten)]
    settings: Settings,

    /// Print only the findings and losses, not the request
    #[arg(long)]
    lint: bool,

    /// Set the breakpoints of the prompt cache that `ctx cache --breakpoints` advises, and no others
    #[arg(long)]
    breakpoints: bool,

    /// Exit with 1 if anything in the tree is lost
    #[arg(long)]
    strict: bool,
}

/// The fields of a request besides the conversation.
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

    /// All fields of the request that are not content, as JSON
    #[arg(long, value_name = "JSON")]
    settings: Option<String>,
}

impl Settings {
    /// Returns the fields of the request that are not content.
    pub(super) fn read(&self) -> Result<Object, Failure> {
        let mut settings = match &self.settings {
            None => Object::new(),
            Some(text) => match json("--settings", text)? {
                Value::Object(settings) => settings,
                _ => return Err(Failure::usage("--settings is not a JSON object")),
            },
        };
        if let Some(model) = &self.model {
            settings.insert("model", model.as_str().into());
        }
        for (name, value) in input::object(&self.set, &self.set_json)? {
            settings.insert(&*name, value);
        }
        Ok(settings)
    }
}

fn target(text: &str) -> Result<Target, String> {
    match text {
        "thread" => Ok(Target::Thread),
        _ => provider(text).map(Target::Provider).map_err(|error| format!("{error}, `thread`")),
    }
}

/// Reads the name of a provider.
pub(super) fn provider(text: &str) -> Result<Provider, String> {
    text.parse().map_err(|error: UnknownProvider| error.to_string())
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let Some(format) = args.format else { return sent(args, call) };
    let request = RenderRequest {
        at: args.at,
        format: Word(format),
        settings: args.settings.read()?,
        breakpoints: args.breakpoints,
        spans: false,
    };
    let rendered = call.read(|workspace, control| render::render(workspace, &request, control))?;
    let lost = args.strict && !rendered.losses.is_empty();
    let exit = if !rendered.accepted || lost { Exit::No } else { Exit::Ok };
    if args.lint && format != Target::Thread {
        report(&rendered, request.format, call);
        return Ok(exit);
    }
    for loss in &rendered.losses {
        let detail =
            if loss.detail.is_empty() { String::new() } else { format!(" ({})", loss.detail) };
        call.output.warning(&format!("{}: {}{detail}", loss.node, loss.message));
    }
    for finding in &rendered.findings {
        let word = if finding.severity == Severity::Error { "it would be refused: " } else { "" };
        call.output.warning(&format!("{word}{finding}"));
    }
    call.output.bytes(rendered.request.as_bytes());
    Ok(exit)
}

fn sent(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = SentRequest { at: args.at, spans: false };
    let sent = call.read(|workspace, control| render::sent(workspace, &request, control))?;
    for finding in &sent.findings {
        call.output.warning(&format!("{}: {}", finding.code, finding.message));
    }
    match call.output.format() {
        Format::Human => call.output.bytes(sent.request.as_bytes()),
        _ => call.output.form(&sent),
    }
    Ok(Exit::Ok)
}

/// Returns the word for the severity of a finding.
pub(super) fn finding_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Loss => "loss",
    }
}

fn report(rendered: &RenderResponse, format: Word<Target>, call: &mut Call<'_>) {
    if call.output.format() != Format::Human {
        let losses = rendered.losses.iter().map(wire::to_value);
        let values: Vec<Value> =
            rendered.findings.iter().map(wire::to_value).chain(losses).collect();
        call.output.values(values);
        return;
    }
    if rendered.accepted {
        call.output.note(&format!("{format} would accept this request"));
    }
    if rendered.findings.is_empty() && rendered.losses.is_empty() {
        return;
    }
    let mut table = Table::new(&["", "code", "node", "place", "what"]);
    for finding in &rendered.findings {
        let style = if finding.severity == Severity::Error { style::ERROR } else { style::WARNING };
        table.row(vec![
            paint(style, finding_word(finding.severity)),
            finding.code.clone(),
            paint(style::ID, one_line(finding.node.as_deref().unwrap_or_default())),
            finding.path.clone(),
            finding.message.clone(),
        ]);
    }
    for loss in &rendered.losses {
        let detail = if loss.detail.is_empty() { "" } else { &*format!(" ({})", loss.detail) };
        table.row(vec![
            paint(style::WARNING, finding_word(loss.severity)),
            loss.code.clone(),
            paint(style::ID, one_line(&loss.node)),
            String::new(),
            one_line(&format!("{}{detail}", loss.message)),
        ]);
    }
    let text = table.render(call.output.width());
    call.output.text(&text);
}
