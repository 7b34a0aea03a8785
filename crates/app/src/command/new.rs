//! `new`: an empty context, and the store for it.

use contextree::Vocabulary;
use contextree::engine::vocabulary_of;
use contextree::store::ContextSettings;
use contextree_json::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::read_budget;
use super::commit::read_policy;
use crate::wire::{AnyValue, ContextRow, Document, Word};
use crate::workspace::Access;
use crate::{Control, Error, Workspace};

/// Creates an empty context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewRequest {
    /// Its name; that of the workspace if it is absent.
    pub name: Option<String>,
    /// The words for the types of new nodes; `message` for editions 0.1 and 0.2, `segment` for 0.3 if it is absent.
    pub vocabulary: Option<Word<Vocabulary>>,
    /// A pruning policy for every commit that does not name another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyValue>")]
    pub policy: Option<Value>,
    /// A budget in tokens, as TOML or JSON, or a number of tokens such as `20k`, for every call and commit that does not name another one. It takes the place
    /// of a policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Document>,
}

/// A created context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewResponse {
    /// The context.
    pub context: ContextRow,
}

/// Creates an empty context, and the store if it is a file that does not exist.
///
/// # Errors
///
/// If the context exists, or the policy or the budget is invalid.
pub fn new(
    workspace: &Workspace,
    request: &NewRequest,
    control: &Control<'_>,
) -> Result<NewResponse, Error> {
    let _span = workspace.span("new");
    control.check()?;
    let name = request.name.as_deref().unwrap_or(workspace.context());
    let edition = workspace.edition().unwrap_or_default();
    let usual = vocabulary_of(edition);
    let mut settings = ContextSettings {
        edition,
        vocabulary: request.vocabulary.map_or(usual, |words| words.0),
        ..ContextSettings::default()
    };
    if let Some(policy) = &request.policy {
        settings.policy = Some(read_policy(policy)?);
    }
    if let Some(budget) = &request.budget {
        if request.policy.is_some() {
            return Err(Error::usage("a context has a policy or a budget, not both"));
        }
        settings.policy = Some(read_budget(budget, edition)?.policy());
    }
    let store = workspace.store(Access::Create)?;
    let session = store.for_new(name)?.create(name, &settings)?;
    Ok(NewResponse { context: session.row().into() })
}
