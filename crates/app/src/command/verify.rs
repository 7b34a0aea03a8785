//! `verify`: every digest, computed again.

use contextree::store::ContextCheck;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workspace::Access;
use crate::{Control, Error, Progress, Workspace};

/// What a check of a store found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyResponse {
    /// True if nothing is damaged.
    pub clean: bool,
    /// By context, in the order of their names.
    pub contexts: Vec<CheckedContext>,
    /// Faults that the database reports.
    pub engine: Vec<String>,
}

/// A context that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckedContext {
    /// Its name.
    pub name: String,
    /// The number of intact snapshots.
    pub sound: u64,
    /// The first damaged record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// A damaged record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// Which record.
    pub record: String,
    /// What is wrong with it.
    pub message: String,
}

impl From<&ContextCheck> for CheckedContext {
    fn from(check: &ContextCheck) -> Self {
        let problem = check.problem.clone();
        CheckedContext {
            name: check.name.clone(),
            sound: check.sound,
            problem: problem.map(|(record, message)| Problem { record, message }),
        }
    }
}

/// Reads every snapshot of every context and computes its digest again.
///
/// # Errors
///
/// If the store cannot be read. Damage is not an error but part of the response.
pub fn verify(workspace: &Workspace, control: &Control<'_>) -> Result<VerifyResponse, Error> {
    let _span = workspace.span("verify");
    let store = workspace.store(Access::Read)?;
    let found = store.whole()?.verify(&mut |done, of| {
        control.at(Progress { task: "checking", unit: "snapshots", done, of: Some(of) });
    })?;
    control.check()?;
    Ok(VerifyResponse {
        clean: found.is_clean(),
        contexts: found.contexts.iter().map(CheckedContext::from).collect(),
        engine: found.engine,
    })
}
