//! What a budget makes of a request before it is sent.

use contextree::budget::{Budget, Forecast, Keeper};
use contextree::calls::Request;
use contextree_json::{Object, Value};

use super::NewCall;
use crate::command::budget::read_budget;
use crate::wire::Document;
use crate::{Error, Workspace};

/// The settings that a model reads like content and that a recorded tree has no blocks for.
const READ: [&str; 4] = ["response_format", "text", "output_format", "output_config"];

/// What a budget did to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receipt {
    /// What was removed before this call and why, in one sentence; `None` if nothing more than before earlier calls.
    pub summary: Option<String>,
    /// Tokens of the request without what earlier calls removed.
    pub tokens_before: u64,
    /// Tokens of the request that is sent.
    pub tokens_after: u64,
    /// The number of messages of the program's request that are not sent.
    pub left_out: usize,
    /// For each rule that could not be kept, because everything left is protected: its key, what it counts (the id of a turn, a region, or
    /// empty for the whole request), and what is left.
    pub missed: Vec<(&'static str, String, u64)>,
}

/// How a request is sent.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    /// The request to send instead.
    pub(super) send: Option<Vec<u8>>,
    pub(super) receipt: Option<Receipt>,
    /// Why the budget was not applied.
    pub(super) refused: Option<String>,
}

impl Receipt {
    pub(super) fn new(forecast: &Forecast, keeper: &Keeper) -> Receipt {
        let is_idle = forecast.going.is_empty() && forecast.clearing.is_empty();
        let missed = forecast.missed.iter();
        Receipt {
            summary: (!is_idle).then(|| forecast.summary(keeper.budget().max_tokens)),
            tokens_before: forecast.tokens_before,
            tokens_after: forecast.tokens_after,
            left_out: 0,
            missed: missed.map(|it| (it.rule.key(), it.scope.clone(), it.left)).collect(),
        }
    }

    /// Returns whether all rules are kept.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.missed.is_empty()
    }

    /// Returns the receipt for programs.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let missed = self.missed.iter().map(|(rule, scope, left)| {
            let fields = [
                ("rule", Value::from(*rule)),
                ("scope", Value::from(scope.as_str())),
                ("left", Value::from(*left)),
            ];
            Value::Object(Object::from_iter(fields))
        });
        Value::Object(Object::from_iter([
            ("summary", self.summary.as_deref().map_or(Value::Null, Value::from)),
            ("tokens_before", Value::from(self.tokens_before)),
            ("tokens_after", Value::from(self.tokens_after)),
            ("left_out", Value::from(self.left_out as u64)),
            ("kept", Value::from(self.is_kept())),
            ("missed", Value::Array(missed.collect())),
        ]))
    }
}

/// Reads a budget: a file in TOML or JSON, or a number of tokens such as `20k`.
///
/// # Errors
///
/// If it is not a budget.
pub fn budget_of(document: &Document, workspace: &Workspace) -> Result<Budget, Error> {
    read_budget(document, workspace.edition().unwrap_or_default())
}

/// Returns the keeper of a budget for a call.
pub(super) fn keeper_of(budget: &Budget, call: &NewCall) -> Keeper {
    let named = call.request.get("model").and_then(Value::as_str).map(str::to_owned);
    let model = named.or_else(|| call.model.clone()).unwrap_or_default();
    let settings = READ.into_iter().filter_map(|name| Some((name, call.request.get(name)?)));
    let request = settings.fold(Request::new(call.provider, model), |request, (name, value)| {
        request.setting(name, value.clone())
    });
    request.keeper(budget.clone())
}
