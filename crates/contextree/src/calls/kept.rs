//! The last request of a context, kept so that the next one can continue from it.

use contextree_canon::{Hash, PrefixHasher};
use contextree_engine::{Cached, CommitReport, Context, Snapshot};
use contextree_provider::{Loss, Provider, RequestRenderer, Span};

use super::call::Call;
use super::request::Request;
use crate::error::Result;

/// The last request of a context. If the conversation only grew, only what is new is rendered, hashed and linted.
pub(super) struct Kept {
    request: Request,
    renderer: RequestRenderer,
    hasher: PrefixHasher,
}

/// A snapshot as a request.
pub(super) struct Rendering {
    pub(super) bytes: Vec<u8>,
    pub(super) hash: Hash,
    /// The model, if the request names one.
    pub(super) model: Option<String>,
    pub(super) losses: Vec<Loss>,
}

impl Cached for Kept {
    fn bytes(&self) -> usize {
        self.renderer.bytes() + self.hasher.bytes()
    }
}

impl Kept {
    /// Starts with nothing.
    pub(super) fn new(request: &Request) -> Self {
        let renderer = RequestRenderer::new(request.provider, request.options.clone());
        Kept { request: request.clone(), renderer, hasher: PrefixHasher::default() }
    }

    /// Takes what a context keeps, if its last request was like this one.
    pub(super) fn take(context: &mut Context, request: &Request) -> Self {
        let kept = context.take_cached::<Kept>().filter(|kept| kept.request == *request);
        kept.unwrap_or_else(|| Kept::new(request))
    }

    /// Renders a snapshot.
    ///
    /// # Errors
    ///
    /// If there is nothing to send, or a setting has the name of a field that the tree determines.
    pub(super) fn render(&mut self, snapshot: &Snapshot) -> Result<Rendering> {
        let rendered = self.renderer.render(snapshot.tree())?;
        let (bytes, losses) = (rendered.bytes.clone(), rendered.losses.clone());
        let hash = self.hasher.hash(&bytes, self.renderer.kept());
        let model = self.renderer.model().map(str::to_owned);
        Ok(Rendering { bytes, hash, model, losses })
    }

    /// Returns where the nodes of a snapshot are in its request.
    ///
    /// # Errors
    ///
    /// Like [`Kept::render`].
    pub(super) fn spans(&mut self, snapshot: &Snapshot) -> Result<Vec<Span>> {
        Ok(self.renderer.render(snapshot.tree())?.spans.clone())
    }

    /// Returns the provider.
    pub(super) fn provider(&self) -> Provider {
        self.request.provider
    }

    /// Returns the call whose request is the last rendering.
    pub(super) fn call(
        &mut self,
        attempt: String,
        rendering: Rendering,
        report: CommitReport,
        snapshot: Snapshot,
    ) -> Call {
        let Rendering { bytes, hash, losses, .. } = rendering;
        let (provider, findings) = (self.request.provider, self.renderer.lint());
        Call { attempt, provider, bytes, hash, report, losses, findings, snapshot }
    }
}
