//! `ctx explain`: how a selector is read and answered.

use contextree_app::command::explain::{self, ExplainRequest};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};

/// Explain how a selector is read, what is looked up, and what each step matches
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx explain '@t0 ^seq .seg:depth(1-3) .block[role=user]'
  ctx explain --edition 0.1 '.cb:summary'      the same text in another edition
  ctx explain '#hero' --json")]
pub(crate) struct Args {
    /// The selector
    selector: String,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = ExplainRequest { selector: args.selector.clone() };
    let found = call.read(|workspace, control| explain::explain(workspace, &request, control))?;
    if call.output.format() != Format::Human {
        call.output.form(&found.explanation);
        return Ok(Exit::Ok);
    }
    let mut out = String::new();
    for line in found.text.lines() {
        // The first eleven columns are labels.
        let at = line.char_indices().nth(11).map_or(line.len(), |(at, _)| at);
        let (label, rest) = line.split_at(at);
        out.push_str(&format!("{}{rest}\n", paint(style::DIM, label)));
    }
    call.output.folded(&out);
    Ok(Exit::Ok)
}
