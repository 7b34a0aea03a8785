//! Logs that are lists of messages: LangChain.

use std::collections::BTreeMap;

use contextree_json::Value;

use super::langchain::read_message;
use super::{Entry, Log};
use crate::import::{Fields, ImportErrorKind, Incoming, Session, Shape, digests};

/// Reads messages, and lists of them.
pub(crate) struct Messages;

/// Reads an entry that is a single message, as every entry is that has no list.
pub(super) fn read_ahead(value: Value) -> Entry {
    match &value {
        Value::Array(_) => Entry::Value(value),
        Value::Object(object) if object.get("messages").is_some_and(is_list) => Entry::Value(value),
        _ => read_message(value).into(),
    }
}

impl Log for Messages {
    fn entry(
        &mut self,
        value: Value,
        session: &mut Session,
        _skipped: &mut BTreeMap<String, u64>,
    ) -> Result<(), ImportErrorKind> {
        let list = match value {
            Value::Array(list) => list,
            Value::Object(object) if object.get("messages").is_some_and(is_list) => {
                Fields(object).take_list("messages").unwrap_or_default()
            }
            message => return session.single(read_message(message)?),
        };
        let digests = digests(&list);
        let known = session.known(&digests);
        let read = |(index, message): (usize, Value)| {
            read_message(message).map_err(|shape| shape.within(&format!("[{index}]")))
        };
        let messages: Vec<Incoming> =
            list.into_iter().enumerate().map(read).collect::<Result<_, Shape>>()?;
        session.begin_request(digests)?;
        messages.into_iter().skip(known).try_for_each(|message| session.single(message))
    }
}

fn is_list(value: &Value) -> bool {
    value.as_array().is_some()
}
