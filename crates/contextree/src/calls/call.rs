//! A call that was begun, and requests that were sent.

use contextree_canon::Hash;
use contextree_engine::{Attempt, CommitReport, Snapshot, SnapshotAddress};
use contextree_provider::{
    Finding, KeyOrder, Loss, Provider, Rendered, Severity, Span, StreamCollector,
};
use contextree_store::{Reader, RunningCall, Session};

use super::answer::{Answered, complete, complete_collected};
use super::kept::{Kept, Rendering};
use super::request::Request;
use crate::error::{Code, Error, Result};

/// A call that was begun: send [`Call::bytes`], then complete, cancel or fail it.
///
/// It is stored as a running attempt. If the process ends before the answer arrives, [`Call::running`] returns it again.
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct Call {
    /// The id of the attempt. Empty for a preview.
    pub attempt: String,
    /// The provider.
    pub provider: Provider,
    /// The exact bytes to send, as JSON.
    pub bytes: Vec<u8>,
    /// The hash of the bytes.
    pub hash: Hash,
    /// What the commit expired and pruned.
    pub report: CommitReport,
    /// What the provider cannot express.
    pub losses: Vec<Loss>,
    /// What the provider would reject or may misread.
    pub findings: Vec<Finding>,
    /// The snapshot that completing the call adds to the history.
    pub snapshot: Snapshot,
}

impl Call {
    /// Returns the call that is running, with the same bytes as when it was begun, whether by this process, by another one, or before a crash.
    ///
    /// # Errors
    ///
    /// If the context cannot be read, or `E_REQUEST_CHANGED` if this version of Contextree renders the snapshot to other bytes.
    pub fn running(session: &Session) -> Result<Option<Call>> {
        let Some(RunningCall { attempt, snapshot, report, .. }) = session.running()? else {
            return Ok(None);
        };
        render_again(&attempt, snapshot, report).map(Some)
    }

    /// Returns true if the provider would reject the request.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// Completes the call with the response as the provider returned it; see [`complete`].
    ///
    /// # Errors
    ///
    /// See [`complete`].
    pub fn complete(&self, session: &mut Session, response: &[u8]) -> Result<Answered> {
        complete(session, &self.attempt, response)
    }

    /// Returns a collector for the events of a streamed answer. Feed it as they arrive, [attach](Call::attach) its text now and then,
    /// and complete the call with the document that it gives.
    #[must_use]
    pub fn collector(&self) -> StreamCollector {
        StreamCollector::new(self.provider)
    }

    /// Completes the call with a streamed answer; see [`Call::collector`].
    ///
    /// # Errors
    ///
    /// Like [`Call::complete`], and `E_ANSWER_INCOMPLETE` if the stream ended early.
    pub fn complete_stream(
        &self,
        session: &mut Session,
        collector: &StreamCollector,
    ) -> Result<Answered> {
        session.update(|context| complete_collected(context, &self.attempt, collector.clone()))
    }

    /// Cancels the call. Nothing is sealed: the working state can be edited again, and keeps what was added meanwhile.
    ///
    /// # Errors
    ///
    /// If the call has ended, or the store cannot be written.
    pub fn cancel(&self, session: &mut Session) -> Result<()> {
        Ok(session.cancel(&self.attempt)?)
    }

    /// Ends the call with an error. Nothing is sealed.
    ///
    /// # Errors
    ///
    /// If the call has ended, or the store cannot be written.
    pub fn fail(&self, session: &mut Session, why: &str) -> Result<()> {
        Ok(session.fail(&self.attempt, why)?)
    }

    /// Keeps what has arrived of a streamed answer with the attempt. It stays there if the call is canceled or fails.
    ///
    /// # Errors
    ///
    /// If the call has ended, the text is longer than 1 MiB, or the store cannot be written.
    pub fn attach(&self, session: &mut Session, partial: &str) -> Result<()> {
        Ok(session.attach_partial(&self.attempt, partial)?)
    }
}

/// A request that was sent, with its attempt.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sent {
    /// The attempt: when, to which model, the usage.
    pub attempt: Attempt,
    /// The exact bytes that were sent. If the call is known from a log, the request as far as the log has it.
    pub bytes: Vec<u8>,
    /// The hash of the bytes.
    pub hash: Hash,
    /// The provider whose format they have.
    pub provider: Provider,
    /// Where the nodes of the snapshot are in the bytes.
    pub spans: Vec<Span>,
    /// The snapshot from which they were rendered.
    pub snapshot: Snapshot,
}

/// Returns the request that was sent in the cycle of a snapshot, byte for byte.
///
/// # Errors
///
/// If there is no such snapshot, it was committed without a call, or `E_REQUEST_CHANGED` if this version of Contextree renders it to
/// other bytes, or content of it was redacted.
pub fn sent(reader: &Reader, address: SnapshotAddress) -> Result<Sent> {
    let snapshot = reader.snapshot(address)?;
    let digest = snapshot.digest();
    let is_of = |attempt: &&Attempt| {
        attempt.cycle_id == snapshot.cycle()
            && attempt.status == contextree_engine::AttemptStatus::Completed
            && attempt.request.as_ref().is_some_and(|request| request.snapshot == digest)
    };
    let Some(attempt) = reader.attempts()?.iter().rev().find(is_of).cloned() else {
        let message = format!("@c{} was committed without a call", snapshot.cycle());
        return Err(Error::new(Code::AttemptNotFound, message)
            .with_hint("render the snapshot with a provider and settings of your own"));
    };
    let (Rendering { bytes, hash, losses, .. }, mut kept) = rendered_again(&attempt, &snapshot)?;
    let (provider, spans) = (kept.provider(), kept.spans(&snapshot)?);
    let Some(order) = order_of(&attempt) else {
        return Ok(Sent { attempt, bytes, hash, provider, spans, snapshot });
    };
    let (bytes, spans) = order.apply(&Rendered { provider, bytes, spans, losses });
    let hash = Hash::of(&bytes);
    Ok(Sent { attempt, bytes, hash, provider, spans, snapshot })
}

/// Returns the order of keys in the request of a call that a log contains, if the log has the request.
#[must_use]
pub fn order_of(attempt: &Attempt) -> Option<KeyOrder> {
    let request = attempt.request.as_ref().filter(|_| attempt.input.is_none())?;
    KeyOrder::from_options(&request.options)
}

fn render_again(attempt: &Attempt, snapshot: Snapshot, report: CommitReport) -> Result<Call> {
    let (rendering, mut kept) = rendered_again(attempt, &snapshot)?;
    Ok(kept.call(attempt.attempt_id.clone(), rendering, report, snapshot))
}

/// Renders a snapshot as it was rendered for an attempt.
fn rendered_again(attempt: &Attempt, snapshot: &Snapshot) -> Result<(Rendering, Kept)> {
    let Some(stored) = &attempt.request else {
        let message = format!("the attempt `{}` has no request", attempt.attempt_id);
        return Err(Error::new(Code::AttemptNoRequest, message));
    };
    let mut kept = Kept::new(&Request::from_text(&stored.options)?);
    let rendering = kept.render(snapshot)?;
    // A log may lack the bytes; what it has is rendered as it is.
    if attempt.input.is_none_or(|input| rendering.hash == input) {
        return Ok((rendering, kept));
    }
    let mut nodes = snapshot.view().nodes().filter_map(|(_, node)| node.body());
    let (why, hint) = match nodes.any(|body| body.redacted_hash().is_some()) {
        true => (
            "had content that is redacted now",
            "render the snapshot with a provider: the marker is where the content was",
        ),
        false => (
            "renders to other bytes now",
            "it was begun by another version of Contextree; cancel the call, or complete it by its id",
        ),
    };
    let message = format!("the request of `{}` {why}", attempt.attempt_id);
    Err(Error::new(Code::RequestChanged, message).with_hint(hint))
}
