//! Reads logs that are lists of messages, or runs with such lists: LangChain.

use contextree_json::Value;
use contextree_provider::read::{Incoming, Role};

use super::langchain::{Run, call_of, is_run, read_message, read_runs, take_messages};
use super::{Entry, Log};
use crate::error::ImportErrorKind;
use crate::fingerprint::fingerprint;
use crate::session::{CallInfo, Listed, Session};

/// Reads messages, lists of messages, and runs.
#[derive(Clone, Debug)]
pub(crate) struct Messages;

/// Reads an entry ahead if it is a single message, that is, if it has no list. Entries that remove
/// a message are left unread, to be counted later.
pub(super) fn read_ahead(value: Value) -> Entry {
    if is_run(&value) {
        return Entry::Value(value);
    }
    match take_messages(value) {
        Ok(list) => Entry::Value(Value::Array(list)),
        Err(message) => match read_message(message) {
            Ok(Some(message)) => Entry::Message { message, time: None },
            Ok(None) => Entry::Value(removal()),
            Err(shape) => Entry::Bad(shape.into()),
        },
    }
}

impl Log for Messages {
    fn entry(&mut self, value: Value, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        if is_run(&value) {
            // Read everything before adding anything.
            return read_runs(value)?.into_iter().try_for_each(|run| add_run(run, session));
        }
        let list = match take_messages(value) {
            Ok(list) => list,
            Err(message) => match read_message(message)? {
                Some(message) => return single(message, session),
                None => {
                    session.state.skip("remove");
                    return Ok(());
                }
            },
        };
        let (messages, removed) = read_list(list)?;
        (0..removed).for_each(|_| session.state.skip("remove"));
        let messages = lead(messages, session)?;
        session.conversation(messages, call_of)
    }

    fn take(&mut self, entry: Entry, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        match entry {
            Entry::Message { message, .. } => single(message, session),
            Entry::Value(value) => self.entry(value, session),
            Entry::Bad(kind) => Err(kind),
            Entry::Claude(_) => unreachable!("only the reader of its format reads it ahead"),
        }
    }
}

/// Adds a message of a log of single messages.
fn single(message: Incoming, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
    if message.role != Role::Assistant {
        return session.single(message);
    }
    let call = call_of(&message);
    session.message_of(message, call)
}

/// Reads messages, and counts those that only remove another one.
fn read_list(list: Vec<Value>) -> Result<(Vec<Listed>, u64), ImportErrorKind> {
    let (mut messages, mut removed) = (Vec::with_capacity(list.len()), 0);
    for (index, message) in list.into_iter().enumerate() {
        let own = fingerprint(&message);
        let read = read_message(message);
        match read.map_err(|shape| shape.within(&format!("[{index}]")))? {
            Some(message) => messages.push((own, message)),
            None => removed += 1,
        }
    }
    Ok((messages, removed))
}

/// Puts the system messages that come first into `^sys`, and returns the others.
fn lead(
    mut messages: Vec<Listed>,
    session: &mut Session<'_>,
) -> Result<Vec<Listed>, ImportErrorKind> {
    let leading = messages.iter().take_while(|(_, it)| it.role == Role::System).count();
    let mut system = Vec::new();
    for (_, message) in messages.drain(..leading) {
        let number = system.len() as u64;
        system.extend(crate::session::numbered(message.into_nodes(), number));
    }
    session.system(system)?;
    Ok(messages)
}

/// Adds a run: a call, and its answer.
fn add_run(run: Run, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
    session.state.at(run.started_at);
    let (messages, _) = read_list(run.messages)?;
    let messages = lead(messages, session)?;
    session.sent(messages)?;
    if let Some(why) = run.error {
        let status = contextree_engine::AttemptStatus::Error(why);
        return session.failed_call(status, run.ended_at);
    }
    let answer = match run.answer {
        Some(answer) => Some((fingerprint(&answer), read_message(answer)?)),
        None => None,
    };
    let Some((own, Some(answer))) = answer else {
        return session.begin_call(CallInfo { model: run.model, ..CallInfo::default() });
    };
    let mut call = call_of(&answer);
    call.model = call.model.or(run.model);
    call.ended_at = run.ended_at;
    session.message_of(answer, call)?;
    session.recognize(own);
    Ok(())
}

/// Returns an entry that is read as the removal of a message.
fn removal() -> Value {
    let fields = [("type", Value::from("remove")), ("content", Value::from(""))];
    Value::Object(fields.into_iter().collect())
}
