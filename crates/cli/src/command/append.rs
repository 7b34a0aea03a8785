//! `ctx append`: messages as a provider writes them.

use contextree::provider::Provider;
use contextree_app::command::append::{self, AppendRequest};
use contextree_app::wire::Word;

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::text::{count, one_line};
use crate::source::{ChangeOptions, document};

/// Append messages as a provider writes them: a message, a list of messages, or a response
///
/// For agents that make their calls with an SDK of their own and want to keep what was said. Texts, thinking, tool calls, results and media
/// become nodes of the turn in progress, in one durable step; nothing is committed. JSON Lines and the body of a stream are read, too.
/// The provider is detected unless `--from` names it. A call that was begun with `ctx request` is completed by `ctx answer`, which
/// also records what was billed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx append --from anthropic response.json
  curl … | ctx append --from openai-chat
  echo '{\"role\":\"user\",\"content\":\"Will it rain?\"}' | ctx append
  ctx append messages.json --dry-run")]
pub(crate) struct Args {
    /// The file; `-` is standard input
    #[arg(default_value = "-", hide_default_value = true)]
    messages: String,

    /// The provider: openai-chat, openai-responses, anthropic or gemini [default: detected]
    #[arg(long, value_name = "PROVIDER", value_parser = provider)]
    from: Option<Word<Provider>>,

    #[command(flatten)]
    change: ChangeOptions,
}

fn provider(text: &str) -> Result<Word<Provider>, String> {
    text.parse().map_err(|error: contextree_app::wire::UnknownWord| error.to_string())
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = AppendRequest {
        messages: document(&args.messages)?,
        from: args.from,
        change: args.change.to_change(),
    };
    let done =
        call.on(&call.store(), |workspace, control| append::append(workspace, &request, control))?;
    for name in &done.skipped {
        call.output.warning(&format!("left out: `{name}` of the stream is unknown"));
    }
    if call.output.format() != Format::Human {
        call.output.form(&done);
        return Ok(Exit::Ok);
    }
    let lines = done.messages.iter().map(|one| format!("{} {}\n", one.role, one.nodes.join(" ")));
    let lines: String = lines.collect();
    call.output.text(&lines);
    for tool in &done.tool_calls {
        let text = format!("{}({})  {}", tool.name, one_line(&tool.arguments), tool.id);
        call.output.note(&text);
    }
    let number = count(done.messages.len(), "message");
    call.output.note(&match args.change.dry_run {
        true => format!("{number} could be appended (--dry-run)"),
        false => format!("{number} in one step"),
    });
    Ok(Exit::Ok)
}
