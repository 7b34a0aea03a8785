//! `export`: a state or the whole history, as a document that can be read again.

use contextree::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workspace::{Access, Address};
use crate::{Advice, Control, Error, Workspace};

/// Exports a state or the history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExportRequest {
    /// The state; the newest snapshot if it is absent.
    pub at: Option<Address>,
    /// What to export.
    pub what: ExportWhat,
}

/// What to export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExportWhat {
    /// One state.
    #[default]
    State,
    /// The whole history as JSON Lines: a snapshot, then what each commit changed.
    History,
    /// Every intact snapshot of a damaged context, as a history.
    Salvage,
}

/// An exported document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportResponse {
    /// The document: canonical JSON, or JSON Lines.
    pub document: String,
    /// For a salvage: the number of intact snapshots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intact: Option<u64>,
}

/// Exports a state or the history. The same snapshot always gives the same bytes. A snapshot carries its digest, and a history ends with a
/// line that counts the others, so that an import refuses a copy that was changed or cut off.
///
/// # Errors
///
/// If the state does not exist, or there is no snapshot yet.
pub fn export(
    workspace: &Workspace,
    request: &ExportRequest,
    control: &Control<'_>,
) -> Result<ExportResponse, Error> {
    let _span = workspace.span("export");
    control.check()?;
    let mut intact = None;
    let bytes = match request.what {
        ExportWhat::State => {
            let mut reader = workspace.read()?;
            let state = match request.at {
                Some(address) => reader.state(address)?,
                None => reader.newest()?,
            };
            control.check_results(state.tree().node_count())?;
            state.copy()
        }
        ExportWhat::History => {
            let mut reader = workspace.read()?;
            control.check_results(reader.snapshot_count())?;
            let history = reader.export_history()?.ok_or_else(|| {
                Error::new("E_SNAPSHOT_NOT_FOUND", "there is no snapshot yet")
                    .with_advice(Advice::FirstCommit)
                    .with_advice(Advice::ExportWorking)
            })?;
            Context::complete_history(history)
        }
        ExportWhat::Salvage => {
            let store = workspace.store(Access::Read)?;
            let mut bytes = Vec::new();
            let name = workspace.context();
            if let Ok(Some(row)) = store.find(name) {
                control.check_results(usize::try_from(row.snapshots).unwrap_or(usize::MAX))?;
            }
            let salvaged = store.for_context(name)?.salvage(name, &mut bytes);
            intact = Some(salvaged.map_err(|error| store.explain(error))?);
            Context::complete_history(bytes)
        }
    };
    Ok(ExportResponse { document: super::ascii(bytes), intact })
}
