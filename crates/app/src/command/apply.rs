//! `apply`: a batch of operations in one durable step.

use contextree::query::QueryLimits;
use contextree::selector::closest;
use contextree::{Context, Edition, Outcome};
use contextree_json::{Object, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::{Document, Moved, Op};
use crate::workspace::{Change, objects};
use crate::{Control, Error, Workspace};

use super::add::{check_texts, set_usual_kind};

/// The keys that an operation may have.
const KEYS: [&str; 13] = [
    "op", "node", "parent", "offset", "cue", "turn", "zone", "at", "content", "set", "unset",
    "priority", "policy",
];

/// Carries out operations, all of them or none. A block of text gets the kind `text` unless another one is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplyRequest {
    /// Operations as JSON Lines: `{"op":"add","parent":"^ah","node":{"role":"user","content":"Hello"}}`.
    pub operations: Document,
    /// How to change the context.
    #[serde(default)]
    pub change: Change,
}

/// What the operations did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplyResponse {
    /// One for each operation, in order.
    pub applied: Vec<Applied>,
}

/// What one operation did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Applied {
    /// The name of the operation.
    pub op: String,
    /// The node.
    pub node: String,
    /// The id of the core that was created for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<String>,
    /// Nodes that were created again under new ids, because they were moved to another region.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<Moved>,
    /// Nodes that were removed, in document order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
}

/// Carries out operations in one durable step: all of them, or none.
///
/// # Errors
///
/// If a line is not an operation, or the rules refuse one; the error names the line, and nothing has changed.
pub fn apply(
    workspace: &Workspace,
    request: &ApplyRequest,
    control: &Control<'_>,
) -> Result<ApplyResponse, Error> {
    let _span = workspace.span("apply");
    control.check()?;
    let place = &request.operations.name;
    let mut operations = Vec::new();
    for (line, object) in objects(place, &request.operations.text)? {
        let mut op = read(object).map_err(|error| at_line(error, place, line))?;
        if let Op::Add { node, .. } = &mut op {
            check_texts(&node.0).map_err(|error| at_line(error, place, line))?;
            set_usual_kind(&mut node.0);
        }
        operations.push((line, op));
    }
    if operations.is_empty() {
        return Err(Error::usage(format!("{place} has no operations")).with_hint(
            "write one JSON object per line: `{\"op\":\"add\",\"node\":{\"content\":\"Hello\"}}`",
        ));
    }
    let limits = control.query_limits(None);
    let applied = workspace.change("apply", &request.change, |context| {
        let mut applied = Vec::new();
        for (line, op) in &operations {
            control.check()?;
            let done = carry_out(op, context, workspace.edition(), &limits);
            applied.push(done.map_err(|error| at_line(error, place, *line))?);
        }
        Ok(applied)
    })?;
    Ok(ApplyResponse { applied })
}

fn at_line(error: Error, place: &str, line: usize) -> Error {
    error.in_file(&format!("{place}: line {line}")).with_detail("line", line as u64)
}

/// Reads an operation. A key that no operation has is an error: it would be ignored otherwise.
fn read(object: Object) -> Result<Op, Error> {
    if let Some(other) = object.keys().find(|key| !KEYS.contains(key)) {
        let error = Error::new("E_JSON_SHAPE", format!("an operation has no key `{other}`"));
        return Err(match closest(other, &KEYS) {
            Some(near) => error.with_hint(format!("did you mean `{near}`?")),
            None => error.with_hint(format!("the keys are {}", KEYS.join(", "))),
        });
    }
    Op::from_value(&Value::Object(object)).map_err(|error| {
        Error::new("E_JSON_SHAPE", error.to_string()).with_hint(
            "an operation is `{\"op\":\"add\",\"node\":{…}}`, or edit, remove, move, pin, unpin, set_priority",
        )
    })
}

/// Carries out one operation.
pub(super) fn carry_out(
    op: &Op,
    context: &mut Context,
    edition: Option<Edition>,
    limits: &QueryLimits,
) -> Result<Applied, Error> {
    let op = op.clone().resolve_within(context, edition, limits)?;
    let name = op.name().to_owned();
    let node = match &op {
        contextree::Op::Edit { node, .. }
        | contextree::Op::Remove { node }
        | contextree::Op::Move { node, .. }
        | contextree::Op::SetPriority { node, .. }
        | contextree::Op::Pin { node }
        | contextree::Op::Unpin { node } => node.clone(),
        _ => String::new(),
    };
    let outcome = context.apply(op).map_err(|error| Error::refused(&error))?;
    let applied = Applied { op: name, node, ..Applied::default() };
    Ok(match outcome {
        Outcome::Added { id, core } => Applied { node: id, core, ..applied },
        Outcome::Moved { renamed, core } => {
            let renamed = renamed.into_iter().map(|(from, to)| Moved { from, to }).collect();
            Applied { renamed, core, ..applied }
        }
        Outcome::Removed(removed) => Applied { removed, ..applied },
        _ => applied,
    })
}
