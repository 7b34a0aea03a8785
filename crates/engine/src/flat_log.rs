//! Flat logs: lists of roles and contents, as most agents keep them.

use contextree_json::{Object, Value};
use contextree_tree::Content;

use crate::context::Context;
use crate::error::{CommitError, OpError};
use crate::op::{NewNode, Place};

/// Why a log was not imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlatLogError {
    /// A message is not an object with a string `role`.
    #[error("message {}: expected {expected}", .message + 1)]
    Shape {
        /// The index of the message, from 0.
        message: usize,
        /// What was expected.
        expected: &'static str,
    },
    /// A message was rejected.
    #[error("message {}: {error}", .message + 1)]
    Refused {
        /// The index of the message, from 0.
        message: usize,
        /// The reason.
        #[source]
        error: OpError,
    },
    /// A turn could not be committed.
    #[error(transparent)]
    Commit(
        /// The reason.
        CommitError,
    ),
}

impl FlatLogError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            FlatLogError::Shape { .. } => "E_DOCUMENT_INVALID",
            FlatLogError::Refused { error, .. } => error.code(),
            FlatLogError::Commit(error) => error.code(),
        }
    }
}

impl Context {
    /// Adds the messages of a log, `[{"role":…,"content":…}, …]`, in order.
    ///
    /// `system` messages are added to `^sys`, all others to the core of the head. A `user` message
    /// after an `assistant` message begins a new turn: the head is committed first. The last turn
    /// remains in the head, to be committed or continued. A message may have an `id` and a `kind`
    /// (default `text` if the content is text); its other fields are kept as `data_…`.
    ///
    /// # Errors
    ///
    /// The first invalid message. The shape of all messages is checked before the first is added;
    /// if one is rejected later (for example for a duplicate id), the messages before it remain.
    pub fn import_flat_log(&mut self, log: &[Value]) -> Result<(), FlatLogError> {
        let messages = log
            .iter()
            .enumerate()
            .map(|(index, message)| read_message(index, message))
            .collect::<Result<Vec<_>, _>>()?;
        let mut answered = false;
        for (index, (role, node)) in messages.into_iter().enumerate() {
            if role == "user" && answered {
                self.commit().map_err(FlatLogError::Commit)?;
                answered = false;
            }
            answered |= role == "assistant";
            let place = if role == "system" { Place::system() } else { Place::head() };
            self.add(place, node)
                .map_err(|error| FlatLogError::Refused { message: index, error })?;
        }
        Ok(())
    }
}

fn read_message(index: usize, message: &Value) -> Result<(String, NewNode), FlatLogError> {
    let shape = |expected| FlatLogError::Shape { message: index, expected };
    let fields: &Object = message.as_object().ok_or_else(|| shape("an object"))?;
    let role =
        fields.get("role").and_then(Value::as_str).ok_or_else(|| shape("a string `role`"))?;
    let mut node = NewNode::default().role(role);
    for (name, value) in fields {
        match (name, value) {
            ("role", _) => {}
            ("content", value) => {
                if value.as_str().is_some() && node.kind.is_none() {
                    node.kind = Some("text".into());
                }
                node.content = Content::from(value.clone());
            }
            ("id", Value::String(id)) => node.id = Some(id.to_string()),
            ("kind", Value::String(kind)) => node.kind = Some(kind.to_string()),
            ("id" | "kind", _) => return Err(shape("strings as `id` and `kind`")),
            (name, value) if name.starts_with("data_") || name.starts_with("content_") => {
                node.attributes.push((name.to_owned(), value.clone()));
            }
            (name, value) => node.attributes.push((format!("data_{name}"), value.clone())),
        }
    }
    Ok((role.to_owned(), node))
}
