//! What to send, and to whom.

use contextree_canon::Hash;
use contextree_engine::{CallStart, CommitOptions, Context, Preview, Snapshot};
use contextree_json::Value;
use contextree_provider::{Provider, RenderOptions};
use contextree_store::Session;

use super::call::Call;
use super::kept::Kept;
use crate::error::{Code, Error, Result};

/// A request to a model: the provider, the model, and the settings besides the conversation.
///
/// It can be used for any number of calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The provider.
    pub provider: Provider,
    /// The settings, the model among them, and the marks of the prompt cache.
    pub options: RenderOptions,
}

impl Request {
    /// Returns a request to a model.
    #[must_use]
    pub fn new(provider: Provider, model: impl Into<String>) -> Self {
        Request { provider, options: RenderOptions::for_model(model) }
    }

    /// Sets a field of the request that is not content: `max_tokens`, `temperature`.
    #[must_use]
    pub fn setting(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.options = self.options.setting(name, value);
        self
    }

    /// Begins a call in one durable step. The working state is committed ahead under the context's own policy or budget, and the rendering of
    /// that snapshot is the request; nothing is sealed before the call is completed.
    ///
    /// # Errors
    ///
    /// If a call is running, there is nothing to send, the commit would fail, or the store cannot be written.
    pub fn begin(&self, session: &mut Session) -> Result<Call> {
        self.begin_with(session, &CommitOptions::default())
    }

    /// Like [`Request::begin`], but under another policy.
    ///
    /// # Errors
    ///
    /// See [`Request::begin`].
    pub fn begin_with(&self, session: &mut Session, options: &CommitOptions<'_>) -> Result<Call> {
        session.update(|context| self.begin_in(context, options))
    }

    /// Like [`Request::begin`], but under a budget instead of the context's own policy.
    ///
    /// # Errors
    ///
    /// See [`Request::begin`].
    #[cfg(feature = "tokens")]
    pub fn begin_under(
        &self,
        session: &mut Session,
        budget: &contextree_budget::Budget,
    ) -> Result<Call> {
        let keeper = self.keeper(budget.clone());
        self.begin_with(session, &keeper.options())
    }

    /// Begins a call of a context in memory, for programs that store contexts themselves.
    ///
    /// # Errors
    ///
    /// See [`Request::begin`].
    pub fn begin_in(&self, context: &mut Context, options: &CommitOptions<'_>) -> Result<Call> {
        let mut kept = Kept::take(context, self);
        let measures = self.measures(context, options);
        let options = CommitOptions { measures: &measures, ..*options };
        let begun = context.begin_call(&options, |preview| {
            let rendering = kept.render(&preview.snapshot)?;
            let start = CallStart {
                provider: self.provider.name().to_owned(),
                model: rendering.model.clone().unwrap_or_default(),
                params: Hash::of(&Value::Object(self.options.settings.clone()).to_canonical()),
                input: Some(rendering.hash),
                serves: None,
                options: self.options.to_text(self.provider),
            };
            let (report, snapshot) = (preview.report.clone(), preview.snapshot.clone());
            Ok::<_, Error>((start, (rendering, report, snapshot)))
        });
        let call = begun.map(|(rendering, report, snapshot)| {
            let attempt = context.running_call().map(|call| call.attempt.attempt_id.clone());
            kept.call(attempt.unwrap_or_default(), rendering, report, snapshot)
        });
        context.set_cached(kept);
        call
    }

    /// Returns what would be sent now, without beginning a call: the working state after expiry and pruning.
    ///
    /// # Errors
    ///
    /// If there is nothing to send, or the commit would fail.
    pub fn preview(&self, context: &Context, options: &CommitOptions<'_>) -> Result<Call> {
        let Preview { report, snapshot, .. } = self.commit_ahead(context, options)?;
        let mut kept = Kept::new(self);
        let rendering = kept.render(&snapshot)?;
        Ok(kept.call(String::new(), rendering, report, snapshot))
    }

    /// Returns the snapshot that would be sent now. Unlike [`Request::preview`], it may have nothing to send.
    ///
    /// # Errors
    ///
    /// If the commit would fail.
    pub fn committed(&self, context: &Context, options: &CommitOptions<'_>) -> Result<Snapshot> {
        Ok(self.commit_ahead(context, options)?.snapshot)
    }

    pub(super) fn commit_ahead(
        &self,
        context: &Context,
        options: &CommitOptions<'_>,
    ) -> Result<Preview> {
        let measures = self.measures(context, options);
        Ok(context.preview(&CommitOptions { measures: &measures, ..*options })?)
    }

    #[cfg(not(feature = "tokens"))]
    fn measures(
        &self,
        _: &Context,
        options: &CommitOptions<'_>,
    ) -> Vec<contextree_engine::BoundMeasure> {
        options.measures.to_vec()
    }

    /// Reads what [`RenderOptions::to_text`] wrote.
    pub(super) fn from_text(text: &str) -> Result<Self> {
        match RenderOptions::from_text(text) {
            Some((provider, options)) => Ok(Request { provider, options }),
            None => {
                let message = "the options of a stored request cannot be read";
                Err(Error::new(Code::StoreCorrupt, message))
            }
        }
    }
}
