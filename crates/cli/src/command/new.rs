//! `ctx new`: an empty context, and the store for it.

use contextree::{Code, Vocabulary};
use contextree_app::command::new::{self, NewRequest};
use contextree_app::wire::Word;

use super::Call;
use super::commit::read_policy;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::text::argument;
use crate::source::document;

/// Create an empty context, and the store if there is none
///
/// The settings are stored with the context. A policy or a budget applies to every call and commit that does not name another one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx new                                  the context `main` in contextree.db
  ctx new travel --policy policy.json
  ctx new travel --budget budget.toml      limits the tokens of every request
  ctx new old-agent --edition 0.1          with the words mt, mc, cb
  ctx --store sqlite:/var/lib/agents.db new travel")]
pub(crate) struct Args {
    /// Its name [default: that of -c]
    name: Option<String>,

    /// The words for the types of new nodes: segment (seg, cont, block) or message (mt, mc, cb)
    /// [default: message for editions 0.1 and 0.2, segment for 0.3]
    #[arg(long, value_name = "WORDS", value_parser = vocabulary)]
    vocabulary: Option<Vocabulary>,

    /// A pruning policy as JSON, for every commit
    #[arg(long, value_name = "FILE", conflicts_with = "budget")]
    policy: Option<String>,

    /// A budget in tokens as TOML or JSON, for every call and commit
    #[arg(long, value_name = "FILE")]
    budget: Option<String>,
}

pub(super) fn vocabulary(text: &str) -> Result<Vocabulary, String> {
    match text {
        "segment" => Ok(Vocabulary::Segment),
        "message" => Ok(Vocabulary::Message),
        _ => Err(format!("`{text}` is neither `segment` nor `message`")),
    }
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = NewRequest {
        name: args.name.clone(),
        vocabulary: args.vocabulary.map(Word),
        policy: args.policy.as_deref().map(read_policy).transpose()?,
        budget: args.budget.as_deref().map(document).transpose()?,
    };
    let made = call
        .on(&call.store(), |workspace, control| new::new(workspace, &request, control))
        .map_err(|error| match &args.policy {
            Some(file) if error.code() == Code::PolicyInvalid => error.in_file(file),
            _ => error,
        })?;
    if call.output.format() != Format::Human {
        call.output.form(&made.context);
        return Ok(Exit::Ok);
    }
    let name = &made.context.name;
    call.output.words([name]);
    let flag = if name == "main" { String::new() } else { format!("-c {} ", argument(name)) };
    call.output.note(&format!(
        "an empty context in {}; go on with `ctx {flag}add --role user 'Hello'`",
        call.store().url()
    ));
    Ok(Exit::Ok)
}
