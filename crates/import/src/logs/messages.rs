//! Reads logs that are lists of messages: LangChain.

use std::collections::BTreeMap;

use contextree_json::Value;
use contextree_provider::read::Incoming;

use super::langchain::{read_message, take_messages};
use super::{Entry, Log};
use crate::error::ImportErrorKind;
use crate::fingerprint::fingerprints;
use crate::session::Session;

/// Reads messages and lists of messages.
pub(crate) struct Messages;

/// Reads an entry ahead if it is a single message, that is, if it has no list. Entries that remove
/// a message are left unread, to be counted later.
pub(super) fn read_ahead(value: Value) -> Entry {
    match take_messages(value) {
        Ok(list) => Entry::Value(Value::Array(list)),
        Err(message) => match read_message(message) {
            Ok(Some(message)) => Entry::Message(message),
            Ok(None) => Entry::Value(removal()),
            Err(shape) => Entry::Bad(shape),
        },
    }
}

impl Log for Messages {
    fn entry(
        &mut self,
        value: Value,
        session: &mut Session,
        skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        let mut removed = || *skipped.entry("remove".to_owned()).or_default() += 1;
        let list = match take_messages(value) {
            Ok(list) => list,
            Err(message) => match read_message(message)? {
                Some(message) => return session.single(message),
                None => {
                    removed();
                    return Ok(());
                }
            },
        };
        let fingerprints = fingerprints(&list);
        let known = session.known(&fingerprints);
        let mut messages: Vec<Option<Incoming>> = Vec::with_capacity(list.len());
        for (index, message) in list.into_iter().enumerate() {
            let read = read_message(message);
            messages.push(read.map_err(|shape| shape.within(&format!("[{index}]")))?);
        }
        session.begin_request(fingerprints)?;
        for message in messages.into_iter().skip(known) {
            match message {
                Some(message) => session.single(message)?,
                None => removed(),
            }
        }
        Ok(())
    }
}

/// Returns an entry that is read as the removal of a message.
fn removal() -> Value {
    let fields = [("type", Value::from("remove")), ("content", Value::from(""))];
    Value::Object(fields.into_iter().collect())
}
