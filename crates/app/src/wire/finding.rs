//! What a provider would refuse, and what it does not get.

use std::fmt;

use contextree::provider;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The provider refuses the request.
    Error,
    /// The provider accepts it, and may not do what was meant.
    Warning,
    /// Something in the tree does not reach the provider.
    Loss,
}

/// Something in a request that its provider would refuse or misread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// The stable code.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// The message.
    pub message: String,
    /// The node that the part comes from, if it comes from one.
    pub node: Option<String>,
    /// Where it is in the request, as a JSON path.
    pub path: String,
    /// The line of the log, where there are several requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

impl From<&provider::Finding> for Finding {
    fn from(finding: &provider::Finding) -> Self {
        let is_error = finding.severity == provider::Severity::Error;
        Finding {
            code: finding.code.to_owned(),
            severity: if is_error { Severity::Error } else { Severity::Warning },
            message: finding.message.clone(),
            node: finding.node.clone(),
            path: finding.path.clone(),
            line: None,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)?;
        if !self.path.is_empty() {
            write!(formatter, " at `{}`", self.path)?;
        }
        match &self.node {
            Some(node) => write!(formatter, " (node `{node}`)"),
            None => Ok(()),
        }
    }
}

/// Something in the tree that the request of a provider cannot express.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loss {
    /// The stable code.
    pub code: String,
    /// Always `loss`.
    pub severity: Severity,
    /// What is lost.
    pub message: String,
    /// The node.
    pub node: String,
    /// More about it: names of fields, a media type.
    pub detail: String,
}

impl From<&provider::Loss> for Loss {
    fn from(loss: &provider::Loss) -> Self {
        Loss {
            code: loss.kind.code().to_owned(),
            severity: Severity::Loss,
            message: loss.kind.meaning().to_owned(),
            node: loss.node.clone(),
            detail: loss.detail.clone(),
        }
    }
}
