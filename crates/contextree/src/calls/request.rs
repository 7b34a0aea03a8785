//! What to send, and to whom.

use contextree_canon::Hash;
use contextree_engine::{CallStart, CommitOptions, CommitReport, Context, Preview, Snapshot};
use contextree_json::{Value, parse};
use contextree_provider::{Provider, RenderOptions, Rendered, lint, render};
use contextree_store::Session;

use super::call::Call;
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

    /// Begins a call in one durable step. The working state is committed ahead under the context's own policy, and the rendering of
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

    /// Like [`Request::begin`], but under a budget.
    ///
    /// # Errors
    ///
    /// See [`Request::begin`].
    #[cfg(feature = "tokens")]
    pub fn begin_under(
        &self,
        session: &mut Session,
        budget: &contextree_budget::Keeper,
    ) -> Result<Call> {
        session.update(|context| {
            budget.install(context);
            let options =
                CommitOptions { policy: Some(budget.policy()), ..CommitOptions::default() };
            self.begin_in(context, &options)
        })
    }

    /// Begins a call of a context in memory, for programs that store contexts themselves.
    ///
    /// # Errors
    ///
    /// See [`Request::begin`].
    pub fn begin_in(&self, context: &mut Context, options: &CommitOptions<'_>) -> Result<Call> {
        let (rendered, report, snapshot) = context.begin_call(options, |preview| {
            let rendered = self.render(&preview.snapshot)?;
            let start = CallStart {
                provider: self.provider.name().to_owned(),
                model: self.model(&rendered),
                params: Hash::of(&Value::Object(self.options.settings.clone()).to_canonical()),
                input: Some(Hash::of(&rendered.bytes)),
                serves: None,
                options: self.options.to_text(self.provider),
            };
            let (report, snapshot) = (preview.report.clone(), preview.snapshot.clone());
            Ok::<_, Error>((start, (rendered, report, snapshot)))
        })?;
        let attempt = context.running_call().map(|call| call.attempt.attempt_id.clone());
        Ok(self.call(attempt.unwrap_or_default(), rendered, report, snapshot))
    }

    /// Returns what would be sent now, without beginning a call: the working state after expiry and pruning.
    ///
    /// # Errors
    ///
    /// If there is nothing to send, or the commit would fail.
    pub fn preview(&self, context: &Context, options: &CommitOptions<'_>) -> Result<Call> {
        let Preview { report, snapshot, .. } = context.preview(options)?;
        let rendered = self.render(&snapshot)?;
        Ok(self.call(String::new(), rendered, report, snapshot))
    }

    pub(super) fn render(&self, snapshot: &Snapshot) -> Result<Rendered> {
        Ok(render(snapshot.view(), self.provider, &self.options)?)
    }

    pub(super) fn call(
        &self,
        attempt: String,
        rendered: Rendered,
        report: CommitReport,
        snapshot: Snapshot,
    ) -> Call {
        Call {
            attempt,
            provider: self.provider,
            hash: Hash::of(&rendered.bytes),
            findings: lint(&rendered),
            bytes: rendered.bytes,
            losses: rendered.losses,
            report,
            snapshot,
        }
    }

    /// Returns the model: that of the options, or the one that the tree names.
    fn model(&self, rendered: &Rendered) -> String {
        let set = self.options.settings.get("model").and_then(Value::as_str).map(str::to_owned);
        let named = || parse(&rendered.bytes).ok()?.get("model")?.as_str().map(str::to_owned);
        set.or_else(named).unwrap_or_default()
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
