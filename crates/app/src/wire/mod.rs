//! The one JSON form of everything that a door exchanges with its callers.
//!
//! | file | forms |
//! |---|---|
//! | `op` | operations (`{"op":"add",…}`), places and new nodes, with a reader and a writer |
//! | `node` | nodes with their headers, content and place |
//! | `report` | what a commit did |
//! | `diff` | what changed between two states |
//! | `row` | contexts of a store |
//! | `finding` | what a provider would refuse, and what it does not get |
//! | `attempt` | calls to a model |
//! | `error` | why a command failed |
//! | `document` | texts that come with a request |
//! | `bytes` | bytes as base64 |
//! | `words` | values that are written as one of a list of words |
//! | `schema` | the JSON Schema of all of them: `schema.json` in this crate |
//!
//! The types derive serde's traits; `contextree-json` turns them into text, so that the same data is always the same bytes and
//! integers stay exact.

mod attempt;
mod bytes;
mod diff;
mod document;
mod error;
mod finding;
mod node;
mod op;
mod report;
mod row;
mod schema;
mod tools;
mod words;

pub use attempt::{Attempt, AttemptStatus};
pub use bytes::Bytes;
pub use diff::{Changed, Changes, Diff, FieldChange, ModifiedNode, Moved, ParentChange};
pub use document::Document;
pub use error::{Error, Failure};
pub use finding::{Finding, Loss, Severity};
pub use node::{Derived, Node, NodeClass};
pub use op::{NewNode, Op, OpError, Place, Zone};
pub use report::{Deferred, Operation, Pruned, Report, Unmet};
pub use row::{ContextRow, Head};
pub(crate) use schema::{AnyObject, AnyValue};
pub use schema::{schema, to_lines};
pub(crate) use tools::nodes;
pub use words::{UnknownWord, Word, Words};

use contextree_json::Value;
use serde::Serialize;

/// Returns the JSON of a form.
#[must_use]
pub fn to_value<T: Serialize + ?Sized>(form: &T) -> Value {
    contextree_json::to_value(form).unwrap_or_else(|error| {
        unreachable!("wire forms have string keys and finite numbers: {error}")
    })
}
