//! What to do next, in the words of this program.

use contextree::import::Format;
use contextree_app::{Advice, Hint};

use crate::output::text::argument;

/// Returns a hint as text.
pub(super) fn text(hint: &Hint) -> String {
    match hint {
        Hint::Text(text) => text.clone(),
        Hint::Advice(advice) => words(advice),
    }
}

fn words(advice: &Advice) -> String {
    let fixed = match advice {
        Advice::ListSnapshots => "`ctx log` lists the snapshots",
        Advice::FirstCommit => "`ctx commit` creates the first snapshot",
        Advice::ExportWorking => "`ctx export @` writes the working state",
        Advice::SelectorHelp => "`ctx help selectors` shows every form with an example",
        Advice::ShowTree => "`ctx show` draws the tree with all ids",
        Advice::ListContexts => "`ctx contexts` lists the contexts",
        Advice::NewStore => "`ctx new` creates one here; `ctx quickstart` shows what it can do",
        Advice::OtherStore => {
            "`--store sqlite:PATH` opens another one, `-f FILE` reads a file instead"
        }
        Advice::Salvage => {
            "`ctx verify` finds all damage; `ctx export --salvage` writes the intact snapshots"
        }
        Advice::RestoreBackup => {
            "`ctx --store sqlite:new.db restore BACKUP` brings back a backup; without one, `sqlite3 FILE .recover` saves the rows that can be read"
        }
        Advice::ExportHistory => "`ctx export --history` writes a context of any store",
        Advice::ImportDocument => "`ctx import FILE` stores it as a context, which can be changed",
        Advice::ExportDocument => "`ctx export` writes snapshots, `ctx export --history` histories",
        Advice::ReadFixture => {
            "`ctx show -f FILE` shows it; `ctx export -f FILE --history` turns it into a history"
        }
        Advice::KeepGoing => "`--keep-going` skips bad lines, and lists them",
        Advice::NameMessages => {
            "name the provider with `--from`: openai-chat, openai-responses, anthropic or gemini"
        }
        Advice::NameProvider => "name the provider with `--as`",
        Advice::ListAttempts => "`ctx attempt list` lists the attempts",
        Advice::StartAttempt => "`ctx attempt start --provider NAME --model NAME` starts one",
        _ => return phrase(advice),
    };
    fixed.to_owned()
}

/// Returns advice that names something.
fn phrase(advice: &Advice) -> String {
    match advice {
        Advice::ListFormats => {
            let formats = Format::ALL.into_iter().filter(|format| *format != Format::Auto);
            let names: Vec<&str> = formats.map(Format::name).collect();
            format!("`--from FORMAT` forces one of {}", names.join(", "))
        }
        Advice::Explain(selector) => {
            format!("`ctx explain \"{selector}\"` shows what each step matches")
        }
        Advice::FindEverywhere(id) => {
            format!("`ctx select \"@* {{ id='{id}' }}\"` looks for it in every snapshot")
        }
        Advice::DiffSince(cycle) => format!("`ctx diff {cycle}` shows what changed since"),
        Advice::DiffStates(range) => format!("`ctx diff {range}` shows what changed"),
        Advice::SelectRange(selector) => {
            format!("`ctx select '{selector}'` prints what changed in it")
        }
        Advice::TwoStates(command) => {
            format!("write `ctx {command} A..B`, or `ctx {command} A B`")
        }
        Advice::ShowContext(name) => {
            format!("`ctx -c {} status` shows it; `ctx new NAME` creates another", argument(name))
        }
        Advice::ImportElsewhere(name) => {
            format!(
                "`ctx -c NEW import FILE` imports into a new context; `ctx -c {} append FILE` adds messages to this one",
                argument(name)
            )
        }
        Advice::SimilarContext(name) => format!("did you mean `-c {}`?", argument(name)),
        Advice::OnlyContext(name) => format!("there is one context: `-c {}`", argument(name)),
        Advice::NewContext(name) => format!("`ctx new {}` creates it", argument(name)),
        Advice::Convert(program) => format!("`{program} FILE | ctx import -` reads it"),
        Advice::NameAttempt(id) => format!("name one: `ctx attempt finish {id}`"),
        // Advice that this program has no words for is left to `--help`.
        _ => "`ctx help` lists the commands".to_owned(),
    }
}
