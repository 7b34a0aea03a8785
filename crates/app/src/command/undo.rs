//! `undo`, `redo`, `reset`, `discard` and `operations`: going back, and the log of what was done.

use contextree::store::{Operation as Stored, OperationKind, UndoError, Undone};
use contextree::{Cycle, SnapshotAddress};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workspace::{Access, Address};
use crate::{Advice, Control, Error, Workspace};

/// Undoes or redoes operations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UndoRequest {
    /// How many operations; 1 if it is absent.
    pub count: Option<u32>,
}

/// Makes a snapshot the newest one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResetRequest {
    /// The snapshot.
    pub to: Address,
}

/// What going back did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoResponse {
    /// The operations that were undone or redone, newest first.
    pub operations: Vec<OperationName>,
    /// The newest snapshot now; null if there is none.
    pub head: Option<u32>,
    /// The newest snapshot before.
    pub before: Option<u32>,
    /// The contexts that keep the commits which left the history, until `gc`.
    pub lines: Vec<String>,
}

/// An operation, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationName {
    /// Its number: the revision of the context that it made.
    pub operation: u64,
    /// The command.
    pub command: String,
}

/// Lists the operations of the context, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OperationsRequest {
    /// Returns at most this many.
    pub limit: Option<usize>,
}

/// The operation log of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationsResponse {
    /// The operations, newest first.
    pub operations: Vec<OperationRow>,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationRow {
    /// Its number: the revision of the context that it made.
    pub operation: u64,
    /// When, in nanoseconds since 1970.
    pub at_ns: i64,
    /// The command.
    pub command: String,
    /// `change`, `note` (nothing to undo), `undo`, `redo` or `redaction`.
    pub kind: String,
    /// The operation that it undid or redid.
    pub target: Option<u64>,
    /// The newest snapshot before it; null before the first commit.
    pub before: Option<u32>,
    /// The newest snapshot after it.
    pub after: Option<u32>,
    /// The context that keeps the commits which it took out of the history.
    pub line: Option<String>,
    /// Why it was done, for a redaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl From<&Stored> for OperationRow {
    fn from(stored: &Stored) -> Self {
        let (kind, target) = match stored.kind {
            OperationKind::Undo { operation } => ("undo", Some(operation.get())),
            OperationKind::Redo { operation } => ("redo", Some(operation.get())),
            OperationKind::Note => ("note", None),
            _ => ("change", None),
        };
        OperationRow {
            operation: stored.revision.get(),
            at_ns: stored.at_ns,
            command: stored.command.clone(),
            kind: kind.to_owned(),
            target,
            before: stored.before.map(Cycle::get),
            after: stored.after.map(Cycle::get),
            line: stored.line.clone(),
            reason: None,
        }
    }
}

/// Undoes the last operations of the context: it is as it was before them. What is undone can be redone, until something else is done.
///
/// # Errors
///
/// If there is nothing to undo, or a model call is running. If several operations are to be undone, those before the error stay undone.
pub fn undo(
    workspace: &Workspace,
    request: &UndoRequest,
    control: &Control<'_>,
) -> Result<UndoResponse, Error> {
    repeat(workspace, "undo", request, control, |session| session.undo())
}

/// Redoes what was undone last.
///
/// # Errors
///
/// If there is nothing to redo, or a model call is running.
pub fn redo(
    workspace: &Workspace,
    request: &UndoRequest,
    control: &Control<'_>,
) -> Result<UndoResponse, Error> {
    repeat(workspace, "redo", request, control, |session| session.redo())
}

/// Makes a snapshot the newest one. Later commits and the working state leave the context; `undo` brings them back.
///
/// # Errors
///
/// If there is no such snapshot, or a model call is running.
pub fn reset(
    workspace: &Workspace,
    request: &ResetRequest,
    control: &Control<'_>,
) -> Result<UndoResponse, Error> {
    let address: SnapshotAddress = match request.to {
        Address::Snapshot(address) => address,
        Address::Working => {
            return Err(Error::usage("`reset` needs a snapshot, not the working state")
                .with_hint("`discard` removes what is not committed"));
        }
    };
    repeat(workspace, "reset", &UndoRequest::default(), control, |session| session.reset(address))
}

/// Removes what is not committed; `undo` brings it back.
///
/// # Errors
///
/// If a model call is running.
pub fn discard(workspace: &Workspace, control: &Control<'_>) -> Result<UndoResponse, Error> {
    repeat(workspace, "discard", &UndoRequest::default(), control, |session| session.discard())
}

fn repeat(
    workspace: &Workspace,
    command: &'static str,
    request: &UndoRequest,
    control: &Control<'_>,
    mut act: impl FnMut(&mut contextree::Session) -> Result<Undone, UndoError>,
) -> Result<UndoResponse, Error> {
    let _span = workspace.span(command);
    let store = workspace.store(Access::Write)?;
    let mut session = workspace.session(&store)?;
    session.set_command(command);
    let head = |session: &contextree::Session| session.row().head.map(|head| head.cycle.get());
    let before = head(&session);
    let mut response =
        UndoResponse { operations: Vec::new(), head: before, before, lines: Vec::new() };
    for _ in 0..request.count.unwrap_or(1) {
        control.check()?;
        let undone = act(&mut session).map_err(|error| explain(error, &session))?;
        let names = undone
            .operations
            .into_iter()
            .map(|(revision, command)| OperationName { operation: revision.get(), command });
        response.operations.extend(names);
        response.lines.extend(undone.line);
        response.head = undone.head.map(Cycle::get);
    }
    Ok(response)
}

/// Says so if the operation log ends because the last step was a redaction.
fn explain(error: UndoError, session: &contextree::Session) -> Error {
    let is_nothing = matches!(error, UndoError::Nothing { redo: false, .. });
    let last = session.row().revision;
    let redactions = if is_nothing { session.redactions() } else { Ok(Vec::new()) };
    match redactions.is_ok_and(|found| found.iter().any(|redaction| redaction.revision == last)) {
        true => Error::new(error.code(), "the last step was a redaction, which cannot be undone")
            .with_advice(Advice::ListSnapshots),
        false => error.into(),
    }
}

/// Lists what was done to the context, newest first: the last 200 operations since `gc`, and all redactions.
///
/// # Errors
///
/// If the context does not exist, or the log cannot be read.
pub fn operations(
    workspace: &Workspace,
    request: &OperationsRequest,
    control: &Control<'_>,
) -> Result<OperationsResponse, Error> {
    let _span = workspace.span("operations");
    control.check()?;
    let store = workspace.store(Access::Read)?;
    let reader = store.reader(workspace.context())?;
    let mut operations: Vec<OperationRow> = reader.operations()?.iter().map(Into::into).collect();
    operations.extend(reader.redactions()?.into_iter().map(|redaction| OperationRow {
        operation: redaction.revision.get(),
        at_ns: redaction.at_ns,
        command: "redact".to_owned(),
        kind: "redaction".to_owned(),
        target: None,
        before: None,
        after: None,
        line: None,
        reason: Some(redaction.reason),
    }));
    operations.sort_by_key(|row| std::cmp::Reverse(row.operation));
    operations.truncate(control.most_of_list(request.limit));
    control.check_list(operations.len())?;
    Ok(OperationsResponse { operations })
}

impl From<UndoError> for Error {
    fn from(error: UndoError) -> Self {
        let failure = Error::new(error.code(), error.to_string());
        match error {
            UndoError::Read(error) => error.into(),
            UndoError::Nothing { unknown: true, .. } => failure
                .with_hint("`reset` returns to any snapshot")
                .with_advice(Advice::ListSnapshots),
            UndoError::Calling(_) => failure.with_advice(Advice::ListAttempts),
            _ => failure,
        }
    }
}
