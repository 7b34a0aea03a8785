//! `explain`: how a selector is read and evaluated.

use contextree_json::{Value, from_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::AnyValue;
use crate::{Control, Error, Workspace};

/// Explains a selector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainRequest {
    /// The selector.
    pub selector: String,
}

/// How a selector is read and evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainResponse {
    /// The parts, for programs.
    pub explanation: Explanation,
    /// The same as text, for people.
    pub text: String,
}

/// How a selector is read and evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// The selector as it was written.
    pub query: String,
    /// The edition that it was read in.
    pub edition: String,
    /// The same selector in canonical text.
    pub canonical: String,
    /// The syntax tree.
    #[schemars(with = "AnyValue")]
    pub syntax: Value,
    /// Which trees are read.
    pub reads: String,
    /// What is done, in order.
    pub steps: Vec<ExplainedStep>,
    /// For a range: how snapshots are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<String>,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainedStep {
    /// What is done.
    pub action: String,
    /// The number of nodes that are left after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matched: Option<usize>,
}

/// Explains a selector. Costs an evaluation per step.
///
/// # Errors
///
/// If the selector is invalid or names a missing snapshot.
pub fn explain(
    workspace: &Workspace,
    request: &ExplainRequest,
    control: &Control<'_>,
) -> Result<ExplainResponse, Error> {
    let _span = workspace.span("explain");
    control.check()?;
    let found = workspace.read()?.explain(&request.selector, &control.query_limits(None))?;
    control.check()?;
    let explanation = from_value(found.to_value())
        .map_err(|error| Error::new("E_INTERNAL", format!("an explanation: {error}")))?;
    Ok(ExplainResponse { explanation, text: found.to_text() })
}
