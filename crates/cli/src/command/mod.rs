//! One file per command: its options, its request, and how the response is printed.

pub(crate) mod add;
pub(crate) mod append;
pub(crate) mod apply;
pub(crate) mod attempt;
pub(crate) mod backup;
pub(crate) mod budget;
pub(crate) mod cache;
pub(crate) mod call;
pub(crate) mod canon;
pub(crate) mod commit;
pub(crate) mod completions;
mod confirm;
pub(crate) mod conformance;
pub(crate) mod contexts;
pub(crate) mod delete;
pub(crate) mod diff;
pub(crate) mod edit;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod fork;
pub(crate) mod gc;
pub(crate) mod hash;
pub(crate) mod help;
pub(crate) mod import;
mod input;
pub(crate) mod lint;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod move_;
pub(crate) mod new;
pub(crate) mod pin;
pub(crate) mod quickstart;
pub(crate) mod recall;
pub(crate) mod record;
pub(crate) mod redact;
pub(crate) mod remove;
pub(crate) mod rename;
pub(crate) mod render;
pub(crate) mod select;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod status;
mod summarizer;
pub(crate) mod switch;
pub(crate) mod thread;
pub(crate) mod tokens;
pub(crate) mod ui;
pub(crate) mod undo;
pub(crate) mod verify;

use crate::args::{Cli, Command, Global};
use crate::environment::Environment;
use crate::error::{Exit, Failure};
use crate::output::text::count;
use crate::output::{Format, Output};
use crate::source::ChangeOptions;

/// How to undo what a command did.
pub(crate) const UNDO: &str = "undo with `ctx undo`";

/// What commands say that nothing takes back.
pub(crate) const FINAL: &str = "this cannot be undone; `ctx restore` brings back a backup";

/// What a command is given besides its own options.
pub(crate) struct Call<'c> {
    /// The options that every command has.
    pub(crate) global: &'c Global,
    /// The surroundings.
    pub(crate) environment: &'c Environment,
    /// Where to print.
    pub(crate) output: &'c mut Output,
}

/// Runs a command.
pub(crate) fn run(
    cli: &Cli,
    environment: &Environment,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut call = Call { global: &cli.global, environment, output };
    match &cli.command {
        Command::Quickstart(args) => quickstart::run(args, &mut call),
        Command::New(args) => new::run(args, &mut call),
        Command::Contexts(args) => contexts::run(args, &mut call),
        Command::Switch(args) => switch::run(args, &mut call),
        Command::Fork(args) => fork::run(args, &mut call),
        Command::Rename(args) => rename::run(args, &mut call),
        Command::Delete(args) => delete::run(args, &mut call),
        Command::Add(args) => add::run(args, &mut call),
        Command::Append(args) => append::run(args, &mut call),
        Command::Apply(args) => apply::run(args, &mut call),
        Command::Edit(args) => edit::run(args, &mut call),
        Command::Remove(args) => remove::run(args, &mut call),
        Command::Redact(args) => redact::run(args, &mut call),
        Command::Move(args) => move_::run(args, &mut call),
        Command::Pin(args) => pin::run(args, &mut call),
        Command::Unpin(args) => pin::run_unpin(args, &mut call),
        Command::Undo(args) => undo::run_undo(args, &mut call),
        Command::Redo(args) => undo::run_redo(args, &mut call),
        Command::Discard(args) => undo::run_discard(args, &mut call),
        Command::Reset(args) => undo::run_reset(args, &mut call),
        Command::Operations(args) => undo::run_operations(args, &mut call),
        Command::Commit(args) => commit::run(args, &mut call),
        Command::Recall(args) => recall::run(args, &mut call),
        Command::Budget(args) => budget::run(args, &mut call),
        Command::Request(args) => call::run_request(args, &mut call),
        Command::Answer(args) => call::run_answer(args, &mut call),
        Command::Cancel(args) => call::run_cancel(args, &mut call),
        Command::Attempt(args) => attempt::run(args, &mut call),
        Command::Render(args) => render::run(args, &mut call),
        Command::Lint(args) => lint::run(args, &mut call),
        Command::Tokens(args) => tokens::run(args, &mut call),
        Command::Cache(args) => cache::run(args, &mut call),
        Command::Import(args) => import::run(args, &mut call),
        Command::Ui(args) => ui::run(args, &mut call),
        Command::Serve(args) => serve::run(args, &mut call),
        Command::Record(args) => record::run(args, &mut call),
        Command::Mcp(args) => mcp::run(args, &mut call),
        Command::Backup(args) => backup::run(args, &mut call),
        Command::Restore(args) => backup::run_restore(args, &mut call),
        Command::Verify(args) => verify::run(args, &mut call),
        Command::Gc(args) => gc::run(args, &mut call),
        Command::Status(args) => status::run(args, &mut call),
        Command::Show(args) => show::run(args, &mut call),
        Command::Select(args) => select::run(args, &mut call),
        Command::Diff(args) => diff::run(args, &mut call),
        Command::Log(args) => log::run(args, &mut call),
        Command::Explain(args) => explain::run(args, &mut call),
        Command::Export(args) => export::run(args, &mut call),
        Command::Thread(args) => thread::run(args, &mut call),
        Command::Hash(args) => hash::run(args, &mut call),
        Command::Canon(args) => canon::run(args, &mut call),
        Command::Conformance(args) => conformance::run(args, &mut call),
        Command::Completions(args) => completions::run(args, &mut call),
        Command::Man(args) => man::run(args, &mut call),
        Command::Help(args) => help::run(args, &mut call),
    }
}

/// Prints the ids that a change was about; `response` is the answer for programs.
fn output_ids<T: serde::Serialize>(
    response: &T,
    ids: &[String],
    change: &ChangeOptions,
    word: &str,
    call: &mut Call<'_>,
) {
    if call.output.format() != Format::Human {
        call.output.form(response);
        return;
    }
    call.output.words(ids);
    if change.dry_run {
        let text = format!("{} would be {word} (--dry-run)", count(ids.len(), "node"));
        call.output.note(&text);
    }
}
