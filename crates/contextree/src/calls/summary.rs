//! Summaries of what a budget prunes.

use contextree_budget::{Budget, transcript};
use contextree_engine::{CommitOptions, Context, Summary};
use contextree_store::Session;

use super::call::Call;
use super::request::Request;
use crate::error::{Code, Error, Result};

/// What the next request no longer contains, for a summarizer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Removal {
    /// The nodes, in the order in which they are pruned.
    pub nodes: Vec<String>,
    /// A transcript of them, in the order of the conversation.
    pub transcript: String,
    /// The tokens that the summary may have: `summary_tokens` of the budget.
    pub summary_tokens: Option<u64>,
}

impl Request {
    /// Like [`Request::begin_under`], but with a summary in the place of what the budget prunes. `summarize` is called only if anything is
    /// pruned, and no lock is held meanwhile.
    ///
    /// # Errors
    ///
    /// See [`Request::begin`]; `E_SUMMARY_FAILED` if `summarize` fails or returns no text, `E_SUMMARY_TOO_LONG` if the request would be over
    /// the budget again, `E_SUMMARY_STALE` if the context was changed meanwhile and something else is pruned now. No call has begun then.
    pub fn begin_summarized<E: std::fmt::Display>(
        &self,
        session: &mut Session,
        budget: &Budget,
        summarize: impl FnOnce(&Removal) -> Result<String, E>,
    ) -> Result<Call> {
        let keeper = self.keeper(budget.clone());
        let removal = self.removal(&session.fork_working()?, &keeper.options())?;
        let summary = match removal {
            None => None,
            Some(removal) => {
                let summary_tokens = budget.summary_tokens;
                let removal = Removal { summary_tokens, ..removal };
                let text = summarize(&removal).map_err(|error| {
                    Error::new(Code::SummaryFailed, format!("the summarizer failed: {error}"))
                })?;
                if text.trim().is_empty() {
                    return Err(Error::new(Code::SummaryFailed, "the summary is empty"));
                }
                Some(Summary { text, of: removal.nodes })
            }
        };
        let options = CommitOptions { summary: summary.as_ref(), ..keeper.options() };
        self.begin_with(session, &options)
    }

    /// Returns what would be pruned if a call began now; `None` if nothing would.
    ///
    /// # Errors
    ///
    /// If the commit would fail.
    pub fn removal(
        &self,
        context: &Context,
        options: &CommitOptions<'_>,
    ) -> Result<Option<Removal>> {
        let report = self.commit_ahead(context, options)?.report;
        if report.pruned.is_empty() {
            return Ok(None);
        }
        Ok(Some(Removal {
            transcript: transcript(context.working(), &report),
            nodes: report.pruned.into_iter().map(|pruned| pruned.id).collect(),
            summary_tokens: None,
        }))
    }
}
