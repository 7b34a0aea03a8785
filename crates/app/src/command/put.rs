//! `put`: operations, a commit and side records in one durable step.

use contextree::query::QueryLimits;
use contextree::store::Side;
use contextree::{Class, CommitOptions, Context, Region};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::apply::{Applied, carry_out};
use crate::wire::{Bytes, Head, Op, Report};
use crate::workspace::Access;
use crate::{Control, Error, Workspace};

/// The longest kind, in bytes.
const LONGEST_KIND: usize = 64;
/// The longest key, in bytes.
const LONGEST_KEY: usize = 1_024;

/// Changes a context and its side records, all or none of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PutRequest {
    /// Operations on the working state: `{"op":"add","parent":"^ah","node":{"role":"user","content":"Hello"}}`.
    pub operations: Vec<Op>,
    /// Commits before the operations, if the turn in progress has a block: what is added begins the next turn.
    pub commit_before: bool,
    /// Commits after the operations, under the policy of the context.
    pub commit: bool,
    /// Side records to write, delete or compare.
    pub records: Vec<RecordChange>,
    /// Changes the context only if it is at this revision. The error is `E_CONFLICT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_revision: Option<u64>,
    /// Changes the context only if its newest snapshot is that of this commit (0: there is none). The error is `E_CONFLICT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_head: Option<u32>,
    /// Creates the context if it does not exist.
    pub create: bool,
}

/// A change of a side record: a new value, a deletion, or only a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RecordChange {
    /// The kind: the program that keeps the record, and what for, such as `langgraph.checkpoint`.
    pub kind: String,
    /// The key; unique within the context and the kind.
    pub key: String,
    /// The new value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Bytes>,
    /// Deletes the record. It need not exist.
    pub delete: bool,
    /// The value that the record must have before the step; otherwise nothing is changed, and the error is `E_CONFLICT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<Bytes>,
    /// The record must not exist before the step; otherwise nothing is changed, and the error is `E_CONFLICT`.
    pub absent: bool,
    /// Keeps the value of a record that exists.
    pub keep: bool,
}

/// What a step did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PutResponse {
    /// The revision after the step.
    pub revision: u64,
    /// The newest snapshot after the step; null before the first commit.
    pub head: Option<Head>,
    /// One for each operation, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applied: Vec<Applied>,
    /// What the commit before the operations did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_before: Option<Report>,
    /// What the commit did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
}

/// Carries out operations, commits and changes side records in one durable step: all or none of it.
///
/// # Errors
///
/// `E_CONFLICT` if a record, the revision or the newest snapshot is not what the request expects; `E_RECORD` for an invalid kind or key;
/// those of operations and commits. Nothing has changed then.
pub fn put(
    workspace: &Workspace,
    request: &PutRequest,
    control: &Control<'_>,
) -> Result<PutResponse, Error> {
    let _span = workspace.span("put");
    control.check()?;
    for record in &request.records {
        check_record(record)?;
    }
    let store = workspace.store(if request.create { Access::Create } else { Access::Write })?;
    let mut session = match request.create {
        true => store.session_or_new(workspace.context(), workspace.edition())?,
        false => workspace.session(&store)?,
    };
    let limits = control.query_limits(None);
    let mut applied = Vec::new();
    let (mut before, mut report) = (None, None);
    session.update_side(|context, side| {
        // Conditions come first: an operation on a state that the caller has not seen would fail for the wrong reason.
        check_state(request, side)?;
        request.records.iter().try_for_each(|record| check_condition(record, side))?;
        applied.clear();
        // Decided here, on the newest state: what the caller has seen may have been committed by another process since.
        before = match request.commit_before && has_open_turn(context) {
            true => Some(commit(context, &limits)?),
            false => None,
        };
        for (index, op) in request.operations.iter().enumerate() {
            control.check()?;
            let done = carry_out(op, context, workspace.edition(), &limits);
            applied.push(done.map_err(|error| error.with_detail("operation", index as u64))?);
        }
        if request.commit {
            report = Some(commit(context, &limits)?);
        }
        request.records.iter().try_for_each(|record| change(record, side))
    })?;
    let row = crate::wire::ContextRow::from(session.row());
    Ok(PutResponse {
        revision: row.revision,
        head: row.head,
        applied,
        report_before: before,
        report,
    })
}

fn commit(context: &mut Context, limits: &QueryLimits) -> Result<Report, Error> {
    let options = CommitOptions { limits: Some(limits), ..CommitOptions::default() };
    let committed = context.commit_with(&options);
    Ok(Report::from(&committed.map_err(|error| Error::commit(&error))?))
}

/// Returns whether the turn in progress has a block.
fn has_open_turn(context: &Context) -> bool {
    let turn = context.working().region(Region::Head);
    turn.subtree().any(|(_, node)| node.class() == Class::Block)
}

/// Refuses names that a store cannot keep, and kinds of the engine's own records.
fn check_record(record: &RecordChange) -> Result<(), Error> {
    check_names(&record.kind, &record.key)?;
    let RecordChange { kind, key, value, delete, expect, absent, .. } = record;
    let wrong = if value.is_some() && *delete {
        format!("the record `{kind}/{key}` is both written and deleted")
    } else if expect.is_some() && *absent {
        format!("the record `{kind}/{key}` cannot be absent and have a value")
    } else {
        return Ok(());
    };
    Err(Error::new("E_RECORD", wrong).with_detail("kind", kind.as_str()))
}

/// Refuses kinds and keys that a store cannot keep, and kinds of the engine's own records.
pub(super) fn check_names(kind: &str, key: &str) -> Result<(), Error> {
    check_kind(kind)?;
    let wrong = if key.len() > LONGEST_KEY {
        format!("the key of a record `{kind}` is longer than {LONGEST_KEY} bytes")
    } else if key.contains('\0') {
        format!("a key of a record `{kind}` contains a zero character")
    } else {
        return Ok(());
    };
    Err(Error::new("E_RECORD", wrong).with_detail("kind", kind))
}

/// Refuses kinds that a store cannot keep, and those of the engine's own records.
pub(super) fn check_kind(kind: &str) -> Result<(), Error> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if kind.contains('.') && kind.len() <= LONGEST_KIND && kind.bytes().all(is_name) {
        return Ok(());
    }
    Err(Error::new("E_RECORD", format!("`{kind}` is not a valid kind of side records"))
        .with_detail("kind", kind)
        .with_hint(
            "name the program and the purpose, with letters, digits and `-`: `my-agent.cursor`",
        ))
}

fn check_state(request: &PutRequest, side: &Side<'_>) -> Result<(), Error> {
    let row = side.row();
    let revision = row.revision.get();
    if let Some(expected) = request.if_revision.filter(|expected| *expected != revision) {
        let message = format!("the context is at revision {revision}, not {expected}");
        return Err(Error::new("E_CONFLICT", message).with_detail("revision", revision));
    }
    let head = row.head.map_or(0, |head| head.cycle.get());
    if let Some(expected) = request.if_head.filter(|expected| *expected != head) {
        let message = format!("the newest snapshot is @c{head}, not @c{expected}");
        return Err(Error::new("E_CONFLICT", message).with_detail("head", head));
    }
    Ok(())
}

/// Compares a record with what the request expects of it.
fn check_condition(record: &RecordChange, side: &mut Side<'_>) -> Result<(), Error> {
    let RecordChange { kind, key, expect, absent, .. } = record;
    if expect.is_none() && !absent {
        return Ok(());
    }
    let found = side.get(kind, key)?;
    if found.as_deref() == expect.as_ref().map(|it| &it.0[..]) {
        return Ok(());
    }
    let message = match found {
        Some(_) => format!("the record `{kind}/{key}` has another value"),
        None => format!("there is no record `{kind}/{key}`"),
    };
    Err(Error::new("E_CONFLICT", message)
        .with_detail("kind", kind.as_str())
        .with_detail("key", key.as_str()))
}

fn change(record: &RecordChange, side: &mut Side<'_>) -> Result<(), Error> {
    let RecordChange { kind, key, value, delete, keep, .. } = record;
    if *keep && side.get(kind, key)?.is_some() {
        return Ok(());
    }
    match value {
        Some(Bytes(value)) => side.put(kind, key, value.clone()),
        None if *delete => side.delete(kind, key),
        None => {}
    }
    Ok(())
}
