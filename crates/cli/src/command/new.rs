//! `ctx new`: an empty context, and the store for it.

use contextree::Vocabulary;
use contextree_store::ContextSettings;

use super::Call;
use super::commit::read_policy;
use super::contexts::row_value;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::source::{Access, Home};

/// Make an empty context, and the store if there is none
///
/// The settings are kept with the context. A policy is used by every commit that does not say otherwise.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx new                                  the context `main` in contextree.db
  ctx new travel --policy budget.json
  ctx new old-agent --edition 0.1          with the words mt, mc, cb
  ctx --store sqlite:/var/lib/agents.db new travel")]
pub(crate) struct Args {
    /// Its name [default: that of -c]
    name: Option<String>,

    /// The words for nodes that are made: segment (seg, cont, block) or message (mt, mc, cb)
    /// [default: message for editions 0.1 and 0.2, segment for 0.3]
    #[arg(long, value_name = "WORDS", value_parser = vocabulary)]
    vocabulary: Option<Vocabulary>,

    /// A pruning policy as JSON, for every commit
    #[arg(long, value_name = "FILE")]
    policy: Option<String>,
}

fn vocabulary(text: &str) -> Result<Vocabulary, String> {
    match text {
        "segment" => Ok(Vocabulary::Segment),
        "message" => Ok(Vocabulary::Message),
        _ => Err(format!("`{text}` is neither `segment` nor `message`")),
    }
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let name = args.name.as_deref().unwrap_or(&call.global.context);
    let edition = call.global.edition.unwrap_or_default();
    let usual = match edition {
        contextree::Edition::V0_3 => Vocabulary::Segment,
        _ => Vocabulary::Message,
    };
    let mut settings = ContextSettings {
        edition,
        vocabulary: args.vocabulary.unwrap_or(usual),
        ..ContextSettings::default()
    };
    if let Some(file) = &args.policy {
        settings.policy = Some(read_policy(file)?);
    }
    let home = Home::open(call.global, call.environment, Access::Create)?;
    let session = home.store.create(name, &settings)?;
    if call.output.format() != Format::Human {
        call.output.value(&row_value(session.row()));
        return Ok(Exit::Ok);
    }
    call.output.text(&format!("{name}\n"));
    let flag = if name == "main" { String::new() } else { format!("-c {name} ") };
    call.output.note(&format!(
        "an empty context in {}; go on with `ctx {flag}add --role user 'Hello'`",
        call.global.store
    ));
    Ok(Exit::Ok)
}
