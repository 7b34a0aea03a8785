//! `tokens`: how much of a model's window a state takes.

use std::sync::Arc;

use contextree::tokens::{By, Count, Group, TokenCounter, Tokenizer, breakdown, over_time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::known::Known;
use crate::wire::Word;
use crate::workspace::Address;
use crate::{Control, Error, Workspace};
use contextree::calls::tokenizer_of;

/// Counts tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TokensRequest {
    /// The state; the working state if it is absent.
    pub at: Option<Address>,
    /// The model, encoding or estimate that counts; the model that the context was called with if it is absent, and `gpt-5` if there is none.
    pub model: Option<String>,
    /// What to group by.
    pub by: Word<By>,
    /// Counts every snapshot, oldest first, instead of one state.
    pub over_time: bool,
    /// Counts only the text of blocks, without what a request adds around them.
    pub content: bool,
}

impl Default for TokensRequest {
    fn default() -> Self {
        TokensRequest {
            at: None,
            model: None,
            by: Word(By::Region),
            over_time: false,
            content: false,
        }
    }
}

/// Counted tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokensResponse {
    /// The state, or the counted snapshots.
    pub counts: Vec<TokenCount>,
    /// The name of the state; empty for all snapshots.
    pub state: String,
    /// What counted, for people: its name, and how far an estimate may be off.
    pub counted_by: String,
}

/// The tokens of one state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenCount {
    /// Tokens.
    pub tokens: u64,
    /// Of these, tokens of images and other data, which are estimated.
    pub media: u64,
    /// The number of blocks.
    pub blocks: u64,
    /// What is counted of a block: `request`, with what a request adds around it, or `content`.
    pub of: String,
    /// What counted.
    pub tokenizer: String,
    /// True if the count is exact.
    pub exact: bool,
    /// How far the counts may be off, in per cent.
    pub error_percent: u64,
    /// What the groups are.
    pub by: Word<By>,
    /// The groups.
    pub groups: Vec<TokenGroup>,
    /// The number of the snapshot's commit, if all snapshots are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<u32>,
}

/// The tokens of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenGroup {
    /// The name of the group; null for blocks without one.
    pub name: Option<String>,
    /// Tokens.
    pub tokens: u64,
    /// Of these, tokens of images and other data.
    pub media: u64,
    /// The number of blocks.
    pub blocks: u64,
}

impl From<&Group> for TokenGroup {
    fn from(group: &Group) -> Self {
        TokenGroup {
            name: group.name.as_deref().map(Into::into),
            tokens: group.count.tokens,
            media: group.count.media,
            blocks: group.count.blocks,
        }
    }
}

/// Counts tokens: of a state, or over time.
///
/// # Errors
///
/// If the model is not known, or the state does not exist.
pub fn tokens(
    workspace: &Workspace,
    request: &TokensRequest,
    control: &Control<'_>,
) -> Result<TokensResponse, Error> {
    let _span = workspace.span("tokens");
    let by = request.by.0;
    let mut reader = workspace.read()?;
    let state = reader.state(request.at.unwrap_or(Address::Working))?;
    let tokenizer = match &request.model {
        Some(name) => tokenizer(name)?,
        None => match Known::find(&mut reader, state.tree(), state.cycle())? {
            Some(known) => tokenizer_of(known.provider, known.model.as_deref()),
            None => Tokenizer::default(),
        },
    };
    let counter = match request.content {
        true => TokenCounter::new(tokenizer),
        false => TokenCounter::of_requests(tokenizer),
    };
    let counter = Arc::new(counter);
    let counted_by = name_of(&counter);
    if request.over_time {
        let snapshots = reader.newest_snapshots(usize::MAX, control)?;
        let trees = snapshots.iter().rev().map(contextree::Snapshot::tree);
        let mut counts = Vec::new();
        for moment in over_time(trees, &counter, by) {
            control.check()?;
            let cycle = Some(moment.cycle.get());
            counts.push(count(moment.total, &moment.groups, by, &counter, cycle));
        }
        return Ok(TokensResponse { counts, state: String::new(), counted_by });
    }
    control.check()?;
    let counted = breakdown(state.tree(), &counter);
    let count = count(counted.total, counted.by(by), by, &counter, None);
    Ok(TokensResponse { counts: vec![count], state: state.label, counted_by })
}

/// Names what counts, for people, and how far it may be off.
fn name_of(counter: &TokenCounter) -> String {
    let tokenizer = counter.tokenizer();
    match counter.counts_requests() {
        true => format!(
            "{} (estimate of a request, ±{} %)",
            tokenizer.name(),
            tokenizer.request_error_percent()
        ),
        false => tokenizer.to_string(),
    }
}

/// Returns the tokenizer of a model, an encoding or an estimate.
pub(super) fn tokenizer(name: &str) -> Result<Tokenizer, Error> {
    Tokenizer::named(name)
        .map_err(|error| Error::new(error.code(), error.to_string()).with_hint(error.hint()))
}

fn count(
    total: Count,
    groups: &[Group],
    by: By,
    counter: &TokenCounter,
    cycle: Option<u32>,
) -> TokenCount {
    let (tokenizer, is_request) = (counter.tokenizer(), counter.counts_requests());
    TokenCount {
        tokens: total.tokens,
        media: total.media,
        blocks: total.blocks,
        tokenizer: tokenizer.name().to_owned(),
        of: if is_request { "request" } else { "content" }.to_owned(),
        exact: tokenizer.is_exact() && total.media == 0 && !is_request,
        error_percent: match is_request {
            true => tokenizer.request_error_percent(),
            false => tokenizer.error_percent(),
        },
        by: Word(by),
        groups: groups.iter().map(TokenGroup::from).collect(),
        cycle,
    }
}
