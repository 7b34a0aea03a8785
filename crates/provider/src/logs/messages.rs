//! Logs that are lists of messages: LangChain.

use std::collections::BTreeMap;

use contextree_engine::NewNode;
use contextree_json::Value;

use super::Log;
use super::langchain::read_message;
use crate::import::{Fields, ImportErrorKind, Incoming, Session, Shape, digests};
use crate::parts::Role;
use crate::requests::numbered;

/// Reads messages, and lists of them.
#[derive(Default)]
pub(crate) struct Messages {
    /// Messages of the system before any other.
    leading: Vec<NewNode>,
}

impl Messages {
    fn add(&mut self, message: Incoming, session: &mut Session) -> Result<(), ImportErrorKind> {
        if message.role == Role::System && session.messages == 0 {
            let number = self.leading.len() as u64;
            self.leading.extend(numbered(message.parts, number));
            return session.system(self.leading.clone());
        }
        session.message(message)
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
            message => {
                let message = read_message(message)?;
                return self.add(message, session);
            }
        };
        let digests = digests(&list);
        let known = session.known(&digests);
        let read = |(index, message): (usize, Value)| {
            read_message(message).map_err(|shape| shape.within(&format!("[{index}]")))
        };
        let messages: Vec<Incoming> =
            list.into_iter().enumerate().map(read).collect::<Result<_, Shape>>()?;
        session.begin_request(digests)?;
        messages.into_iter().skip(known).try_for_each(|message| self.add(message, session))
    }
}

fn is_list(value: &Value) -> bool {
    value.as_array().is_some()
}
