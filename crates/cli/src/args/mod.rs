//! Every option and command, as clap reads them.

mod global;
mod groups;
mod values;

use clap::{Parser, Subcommand};

pub(crate) use global::{ColorWhen, Global, NamedBy};
pub(crate) use groups::{GROUPS, WIDEST, root_template};
pub(crate) use values::{of_other_context, parse_address, parse_range, parse_size};

use crate::command;

/// Store what an agent's model sees: a versioned tree, with one snapshot for each call.
///
/// A context is a working state and a history of snapshots. Operations (`add`, `edit`, `remove` …) change the working
/// state; `request` begins a model call and `answer` completes it, which seals exactly what was sent as one more snapshot;
/// everything else only reads.
#[derive(Debug, Parser)]
#[command(
    name = "ctx",
    bin_name = "ctx",
    version,
    disable_help_subcommand = true,
    max_term_width = groups::WIDEST
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands, in the order of the help page.
#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one per run")]
pub(crate) enum Command {
    Quickstart(command::quickstart::Args),
    New(command::new::Args),
    Contexts(command::contexts::Args),
    Switch(command::switch::Args),
    Fork(command::fork::Args),
    Rename(command::rename::Args),
    Delete(command::delete::Args),
    Add(command::add::Args),
    Append(command::append::Args),
    Apply(command::apply::Args),
    Edit(command::edit::Args),
    Remove(command::remove::Args),
    Move(command::move_::Args),
    Redact(command::redact::Args),
    Pin(command::pin::Args),
    Unpin(command::pin::UnpinArgs),
    Undo(command::undo::UndoArgs),
    Redo(command::undo::RedoArgs),
    Discard(command::undo::DiscardArgs),
    Reset(command::undo::ResetArgs),
    Operations(command::undo::OperationsArgs),
    Recall(command::recall::Args),
    Request(command::call::RequestArgs),
    Answer(command::call::AnswerArgs),
    Cancel(command::call::CancelArgs),
    Commit(command::commit::Args),
    Budget(command::budget::Args),
    Attempt(command::attempt::Args),
    Status(command::status::Args),
    Show(command::show::Args),
    Select(command::select::Args),
    Diff(command::diff::Args),
    Log(command::log::Args),
    Explain(command::explain::Args),
    Import(command::import::Args),
    Export(command::export::Args),
    Render(command::render::Args),
    Lint(command::lint::Args),
    Tokens(command::tokens::Args),
    Cache(command::cache::Args),
    Thread(command::thread::Args),
    Ui(command::ui::Args),
    Serve(command::serve::Args),
    Record(command::record::Args),
    Mcp(command::mcp::Args),
    Backup(command::backup::Args),
    Restore(command::backup::RestoreArgs),
    Verify(command::verify::Args),
    Gc(command::gc::Args),
    Hash(command::hash::Args),
    Canon(command::canon::Args),
    Conformance(command::conformance::Args),
    Completions(command::completions::Args),
    Man(command::man::Args),
    Help(command::help::Args),
}
