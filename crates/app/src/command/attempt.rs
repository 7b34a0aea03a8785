//! `attempt`: calls to a model, recorded beside the history.

use contextree::Context;
use contextree::engine::{AttemptStart, AttemptStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::{Attempt, Document};
use crate::workspace::Change;
use crate::{Advice, Control, Error, Workspace};

/// Starts an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartRequest {
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The parameters; only their hash is kept.
    #[serde(default)]
    pub params: String,
    /// The exact bytes that are sent, of which only the digest is kept; the thread of the working state if they are absent.
    #[serde(default)]
    pub input: Option<Document>,
    /// How to change the context.
    #[serde(default)]
    pub change: Change,
}

/// Ends an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndRequest {
    /// The attempt; the one that is running if it is absent.
    #[serde(default)]
    pub id: Option<String>,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// How to change the context.
    #[serde(default)]
    pub change: Change,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AttemptOutcome {
    /// The model answered.
    Completed {
        /// Tokens sent and received, if they are known.
        #[serde(default)]
        tokens: Option<(u64, u64)>,
    },
    /// The call failed.
    Error {
        /// Why.
        error: String,
    },
    /// The call was canceled.
    Canceled,
}

/// An attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttemptResponse {
    /// The attempt.
    pub attempt: Attempt,
}

/// All attempts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListResponse {
    /// The attempts, oldest first.
    pub attempts: Vec<Attempt>,
}

/// Starts an attempt.
///
/// # Errors
///
/// If the context cannot be changed.
pub fn start(
    workspace: &Workspace,
    request: &StartRequest,
    control: &Control<'_>,
) -> Result<AttemptResponse, Error> {
    let _span = workspace.span("attempt start");
    control.check()?;
    let attempt = workspace.change("attempt start", &request.change, |context| {
        let thread = contextree::thread(context.working());
        let input = request.input.as_ref().map(|input| input.text.as_slice());
        Ok(Attempt::from(context.start_attempt(AttemptStart {
            provider: &request.provider,
            model: &request.model,
            params: request.params.as_bytes(),
            input: input.unwrap_or(&thread),
        })))
    })?;
    Ok(AttemptResponse { attempt })
}

/// Ends an attempt.
///
/// # Errors
///
/// If the attempt does not exist or has ended, or none is named and not exactly one is running.
pub fn end(
    workspace: &Workspace,
    request: &EndRequest,
    control: &Control<'_>,
) -> Result<AttemptResponse, Error> {
    let _span = workspace.span("attempt end");
    control.check()?;
    let (status, tokens) = match &request.outcome {
        AttemptOutcome::Completed { tokens } => (AttemptStatus::Completed, *tokens),
        AttemptOutcome::Error { error } => (AttemptStatus::Error(error.clone()), None),
        AttemptOutcome::Canceled => (AttemptStatus::Canceled, None),
    };
    let attempt = workspace.change("attempt end", &request.change, |context| {
        let id = match &request.id {
            Some(id) => id.clone(),
            None => running(context)?,
        };
        let ended = context.end_attempt(&id, status.clone(), tokens);
        ended.map(Attempt::from).map_err(|error| {
            Error::new(error.code(), error.to_string())
                .with_detail("attempt", id.as_str())
                .with_advice(Advice::ListAttempts)
        })
    })?;
    Ok(AttemptResponse { attempt })
}

fn running(context: &Context) -> Result<String, Error> {
    let running =
        context.attempts().iter().filter(|attempt| attempt.status == AttemptStatus::Running);
    let ids: Vec<&str> = running.map(|attempt| attempt.attempt_id.as_str()).collect();
    match ids.as_slice() {
        [only] => Ok((*only).to_owned()),
        [] => Err(Error::new("E_ATTEMPT_NOT_FOUND", "no attempt is running")
            .with_advice(Advice::StartAttempt)),
        several => {
            Err(Error::usage(format!("several attempts are running: {}", several.join(", ")))
                .with_advice(Advice::NameAttempt(several[0].to_owned())))
        }
    }
}

/// Lists the attempts. Documents have none.
///
/// # Errors
///
/// If the context cannot be read.
pub fn list(workspace: &Workspace, control: &Control<'_>) -> Result<ListResponse, Error> {
    let _span = workspace.span("attempt list");
    control.check()?;
    let reader = workspace.read()?;
    let attempts = match reader.stored() {
        Some(stored) => {
            let attempts = stored.attempts()?;
            control.check_results(attempts.len())?;
            attempts.iter().map(Attempt::from).collect()
        }
        None => Vec::new(),
    };
    Ok(ListResponse { attempts })
}
