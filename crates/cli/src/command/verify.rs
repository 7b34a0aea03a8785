//! `ctx verify`: every digest, worked out again.

use contextree_json::{Object, Value};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::progress::Progress;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::source::{Access, Home};

/// Check everything that is stored; exits with 1 if something is damaged
///
/// Every snapshot of every context is read and its digest worked out again. What is damaged is named; everything before it, and what
/// follows the next checkpoint, can be saved with `ctx export --salvage`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx verify
  ctx verify --json | jq '.contexts[]|select(.problem)'")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let home = Home::open(call.global, call.environment, Access::Read)?;
    let progress = Progress::new(call.environment, "checking", "snapshots");
    let found = home.store.verify(&mut |done, of| progress.at(done, of))?;
    drop(progress);
    let exit = if found.is_clean() { Exit::Ok } else { Exit::No };
    if call.output.format() != Format::Human {
        let contexts = found.contexts.iter().map(|check| {
            let mut object = Object::from_iter([
                ("name", Value::from(check.name.as_str())),
                ("sound", Value::from(check.sound)),
            ]);
            if let Some((record, message)) = &check.problem {
                let entries = [
                    ("record", Value::from(record.as_str())),
                    ("message", message.as_str().into()),
                ];
                object.insert("problem", Object::from_iter(entries).into());
            }
            Value::Object(object)
        });
        let faults = found.engine.iter().map(|fault| Value::from(fault.as_str()));
        call.output.value(&Value::Object(Object::from_iter([
            ("clean", Value::from(found.is_clean())),
            ("contexts", Value::Array(contexts.collect())),
            ("engine", Value::Array(faults.collect())),
        ])));
        return Ok(exit);
    }
    let mut table = Table::new(&["context", "sound", "result"]).right(1);
    for check in &found.contexts {
        let result = match &check.problem {
            None => "all snapshots are what was written".to_owned(),
            Some((record, message)) => format!("{record}: {message}"),
        };
        table.row(vec![paint(style::ID, &check.name), check.sound.to_string(), result]);
    }
    let mut text = table.render(None);
    for fault in &found.engine {
        text.push_str(&format!("{} {fault}\n", paint(style::ERROR, "engine:")));
    }
    call.output.text(&text);
    if exit == Exit::No {
        call.output.note("`ctx -c NAME export --salvage` writes every snapshot that is sound");
    }
    Ok(exit)
}
