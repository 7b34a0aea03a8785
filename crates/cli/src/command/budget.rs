//! `ctx budget`: a budget in tokens that is stored with the context.

use clap::Subcommand;
use contextree_app::command::budget::{self, BudgetResponse, SetBudgetRequest};
use contextree_app::wire::Document;

use super::Call;
use crate::args::parse_size;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::source::document;

/// Limit the tokens of every request: set, show, unset
///
/// A budget that is stored with a context applies to every call and commit that names no other, whichever program makes it. `ctx help budget`
/// has all keys of a budget file.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx budget set --max-tokens 20k
  ctx budget set budget.toml
  ctx budget show
  ctx budget unset")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Set(Set),
    Show(Show),
    Unset(Unset),
}

/// Store a budget with the context, in place of its policy
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx budget set --max-tokens 20k
  ctx budget set --max-tokens 100k --clear-at-least 20k --keep-turns 4
  ctx budget set --max-tokens 100k --keep-results 3     clear old results before anything is pruned
  ctx budget set budget.toml")]
struct Set {
    /// The budget as TOML or JSON; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "max_tokens", conflicts_with_all = ["max_tokens", "clear_at_least", "keep_turns", "keep_results", "summary_tokens", "exclude"])]
    budget: Option<String>,

    /// At most N tokens in a request: 8000, 20k
    #[arg(long, value_name = "N", value_parser = parse_size)]
    max_tokens: Option<u64>,

    /// If anything is pruned, prune at least N tokens
    #[arg(long, value_name = "N", value_parser = parse_size)]
    clear_at_least: Option<u64>,

    /// The newest K turns are not pruned [default: 1]
    #[arg(long, value_name = "K")]
    keep_turns: Option<u64>,

    /// Clear tool results before anything is pruned, except for the newest K: a placeholder takes their place
    #[arg(long, value_name = "K")]
    keep_results: Option<u64>,

    /// Keep N tokens free for a summary of what is pruned (see `ctx request --summarize-with`)
    #[arg(long, value_name = "N", value_parser = parse_size)]
    summary_tokens: Option<u64>,

    /// A selector whose matches are never pruned; may be given more than once
    #[arg(long, value_name = "SELECTOR")]
    exclude: Vec<String>,
}

/// Print the budget of the context as a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx budget show > budget.toml")]
struct Show {}

/// Remove the budget of the context
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx budget unset")]
struct Unset {}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    match &args.action {
        Action::Set(args) => {
            let budget = match &args.budget {
                Some(file) => document(file)?,
                None => Document::new("the options", written(args)),
            };
            let request = SetBudgetRequest { budget };
            let done = call.read(|workspace, control| budget::set(workspace, &request, control))?;
            let note = match done.replaced {
                true => "stored, in place of the context's budget or policy",
                false => "stored; it applies to every call and commit of the context",
            };
            print(&done, note, call);
            note_undo(&done, call);
        }
        Action::Show(_) => {
            let done = call.read(budget::show_budget)?;
            let note = match (&done.budget, done.has_policy) {
                (Some(_), _) => "",
                (None, true) => "no budget; the context has a policy",
                (None, false) => "no budget; `ctx budget set --max-tokens 20k` stores one",
            };
            print(&done, note, call);
        }
        Action::Unset(_) => {
            let done = call.read(budget::unset)?;
            let note = match done.replaced {
                true => "removed",
                false => "there was no budget",
            };
            print(&done, note, call);
            note_undo(&done, call);
        }
    }
    Ok(Exit::Ok)
}

/// Returns a budget file with what the options say.
fn written(args: &Set) -> String {
    let numbers = [
        ("max_tokens", args.max_tokens),
        ("clear_at_least", args.clear_at_least),
        ("keep_turns", args.keep_turns),
        ("keep_results", args.keep_results),
        ("summary_tokens", args.summary_tokens),
    ];
    let numbers = numbers.into_iter().filter_map(|(key, value)| Some((key, value?)));
    let mut text: String = numbers.map(|(key, value)| format!("{key} = {value}\n")).collect();
    if !args.exclude.is_empty() {
        let selectors: Vec<String> = args
            .exclude
            .iter()
            .map(|selector| contextree::json::Value::from(selector.as_str()).to_canonical())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect();
        text.push_str(&format!("exclude = [{}]\n", selectors.join(", ")));
    }
    text
}

fn print(done: &BudgetResponse, note: &str, call: &mut Call<'_>) {
    if call.output.format() != Format::Human {
        call.output.form(done);
        return;
    }
    if let Some(budget) = &done.budget {
        call.output.text(budget);
    }
    if !note.is_empty() {
        call.output.note(note);
    }
}

/// Says how to get back a budget that is replaced or removed.
fn note_undo(done: &BudgetResponse, call: &mut Call<'_>) {
    if done.replaced && call.output.format() == Format::Human {
        call.output.note(super::UNDO);
    }
}
