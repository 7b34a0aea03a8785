//! `ctx lint`: requests that another program wrote, checked before they are sent.

use contextree::provider::Provider;
use contextree_app::Control;
use contextree_app::command::lint::{self, LintRequest, LintResponse};
use contextree_app::wire::{Severity, Word};

use super::Call;
use super::render::{finding_word, provider};
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::count;
use crate::source::document;

/// Check requests that are files: what their provider would refuse, and where
///
/// A file is a request, a list of messages, or a log with one of them on each line. Detects the provider; `--as` overrides it. Exits with 1
/// if a request would be refused. For a context, see `ctx render --lint`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx lint request.json
  ctx lint messages.json                        [{\"role\":\"user\",\"content\":\"Hello\"},…]
  ctx lint requests.jsonl --as anthropic --json
  curl … | ctx lint -")]
pub(crate) struct Args {
    /// The file; `-` is standard input
    document: String,

    /// The provider: openai-chat, openai-responses, anthropic, gemini
    #[arg(long = "as", value_name = "FORMAT", value_parser = provider)]
    format: Option<Provider>,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request =
        LintRequest { document: document(&args.document)?, format: args.format.map(Word) };
    let found = lint::lint(&request, &Control::default())?;
    print(&found, call);
    Ok(if found.accepted { Exit::Ok } else { Exit::No })
}

fn print(found: &LintResponse, call: &mut Call<'_>) {
    if call.output.format() != Format::Human {
        call.output.forms(&found.findings);
        return;
    }
    if found.findings.is_empty() {
        call.output.note(&format!("{}: no findings", count(found.requests, "request")));
        return;
    }
    let mut table = Table::new(&["line", "", "code", "place", "what"]);
    for finding in &found.findings {
        let style = if finding.severity == Severity::Error { style::ERROR } else { style::WARNING };
        table.row(vec![
            finding.line.map(|line| line.to_string()).unwrap_or_default(),
            paint(style, finding_word(finding.severity)),
            finding.code.clone(),
            finding.path.clone(),
            finding.message.clone(),
        ]);
    }
    let text = table.render(call.output.width());
    call.output.text(&text);
}
