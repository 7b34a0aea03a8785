//! `ctx lint`: a request that somebody else wrote, checked before it is sent.

use contextree_import::{Format as LogFormat, detect, is_lines, without_byte_order_mark};
use contextree_json::{Value, lines, parse};
use contextree_provider::{Finding, Provider, Severity, lint_value};

use super::Call;
use super::render::{finding_value, finding_word, provider};
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::count;
use crate::source::read_bytes;

/// Check requests that are files: what their provider would refuse, and where
///
/// A file is a request, or a log with one on each line. Whose requests they are is found out by looking at them, or said with `--as`. Exits with 1 if one would be refused. For a context, see `ctx render --lint`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx lint request.json
  ctx lint requests.jsonl --as anthropic --json
  curl … | ctx lint -")]
pub(crate) struct Args {
    /// The file; `-` is standard input
    document: String,

    /// Whose request it is: openai-chat, openai-responses, anthropic, gemini
    #[arg(long = "as", value_name = "FORMAT", value_parser = provider)]
    format: Option<Provider>,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let place = if args.document == "-" { "standard input" } else { &args.document };
    let bytes = read_bytes(&args.document)?;
    let text = without_byte_order_mark(&bytes);
    let mut found = Vec::new();
    let mut requests = 0;
    for (line, text) in parts(text) {
        let at = match line {
            Some(line) => format!("{place}: line {line}"),
            None => place.to_owned(),
        };
        let request = parse(text).map_err(|error| {
            let message = match line {
                Some(_) => format!("{at}: {}", error.in_line()),
                None => format!("{at}: {error}"),
            };
            let failure = Failure::new(error.code(), message);
            failure.detail("place", place).hint("a request is a JSON object")
        })?;
        let provider = args.format.map_or_else(|| whose(&request, &at), Ok)?;
        requests += 1;
        found.extend(lint_value(&request, provider).into_iter().map(|finding| (line, finding)));
    }
    let refused = found.iter().any(|(_, finding)| finding.severity == Severity::Error);
    print(&found, requests, call);
    Ok(if refused { Exit::No } else { Exit::Ok })
}

/// Returns the requests of a text, with their lines where it has several.
fn parts(text: &[u8]) -> Vec<(Option<u64>, &[u8])> {
    if !is_lines(text) {
        return vec![(None, text)];
    }
    let numbered = lines(text).zip(1..).filter(|(line, _)| !line.trim_ascii().is_empty());
    numbered.map(|(line, number)| (Some(number), line)).collect()
}

fn whose(request: &Value, at: &str) -> Result<Provider, Failure> {
    let own = |format: LogFormat| {
        let name = format.name();
        Provider::ALL.into_iter().find(|provider| provider.name() == name)
    };
    detect(request).and_then(own).ok_or_else(|| {
        Failure::new("E_IMPORT_FORMAT", format!("{at}: no request of a known provider"))
            .hint("say whose it is with `--as`")
    })
}

fn print(found: &[(Option<u64>, Finding)], requests: usize, call: &mut Call<'_>) {
    if call.output.format() != Format::Human {
        let value = |(line, finding): &(Option<u64>, Finding)| {
            let mut value = finding_value(finding);
            if let Some(line) = line {
                value.insert("line", (*line).into());
            }
            Value::Object(value)
        };
        call.output.values(found.iter().map(value).collect());
        return;
    }
    if found.is_empty() {
        call.output.note(&format!("{}: nothing to find fault with", count(requests, "request")));
        return;
    }
    let mut table = Table::new(&["line", "", "code", "place", "what"]);
    for (line, finding) in found {
        let style = if finding.severity == Severity::Error { style::ERROR } else { style::WARNING };
        table.row(vec![
            line.map(|line| line.to_string()).unwrap_or_default(),
            paint(style, finding_word(finding.severity)),
            finding.code.to_owned(),
            finding.path.clone(),
            finding.message.clone(),
        ]);
    }
    let text = table.render(call.output.width());
    call.output.text(&text);
}
