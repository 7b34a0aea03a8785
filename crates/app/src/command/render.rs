//! `render`: a state as the request of a provider.

use std::collections::BTreeMap;

use contextree::cache::{Outlook, Prompt, Rendered as Measured, breakpoints};
use contextree::calls::{Request, order_of, tokenizer_of};
use contextree::provider::{
    KeyOrder, Provider, RenderOptions, Rendered, Span, lint, render as render_tree,
};
use contextree::{AttemptStatus, CommitOptions, Cycle, Hash, SnapshotAddress};
use contextree_json::{Object, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cache::rules;
use crate::wire::{AnyObject, Attempt, Finding, Loss, Severity, Word, Words};
use crate::workspace::{Access, Address, State};
use crate::{Control, Error, Workspace};

/// What a state is rendered as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The provider-neutral thread.
    Thread,
    /// The request of a provider.
    Provider(Provider),
}

impl Words for Target {
    const NAME: &'static str = "format";

    fn words() -> Vec<(Self, &'static str)> {
        let providers = Provider::words().into_iter();
        let providers = providers.map(|(provider, word)| (Target::Provider(provider), word));
        providers.chain([(Target::Thread, "thread")]).collect()
    }
}

/// Renders a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenderRequest {
    /// The state; the newest snapshot if it is absent.
    #[serde(default)]
    pub at: Option<Address>,
    /// What to render it as.
    pub format: Word<Target>,
    /// Fields of the request that are not content: `model`, `max_tokens` …
    #[serde(default)]
    #[schemars(with = "AnyObject")]
    pub settings: Object,
    /// Sets the breakpoints of the prompt cache that `cache` advises, and no others.
    #[serde(default)]
    pub breakpoints: bool,
    /// Returns where the nodes are in the request.
    #[serde(default)]
    pub spans: bool,
}

/// A rendered state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenderResponse {
    /// The exact bytes of the request.
    pub request: String,
    /// The hash of the bytes, as an attempt records it.
    pub hash: String,
    /// Where the nodes are in the request, if that was asked for, in the order of the bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<RequestSpan>,
    /// What the provider would refuse or misread.
    pub findings: Vec<Finding>,
    /// What the request cannot express.
    pub losses: Vec<Loss>,
    /// False if the provider would refuse the request.
    pub accepted: bool,
}

/// The bytes of a node in a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestSpan {
    /// The node.
    pub node: String,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// Where that is in the request, as a JSON path.
    pub path: String,
}

impl RequestSpan {
    fn new(span: &Span, provider: Provider) -> Self {
        let path = span.slot.path(provider);
        RequestSpan { node: span.node.to_string(), start: span.start, end: span.end, path }
    }
}

/// Renders a state as a request; the working state as it would be sent now. The bytes are stable, so that a provider can read what was sent before from its cache.
///
/// # Errors
///
/// If the state does not exist, has no message, or a setting is in the way of the content.
pub fn render(
    workspace: &Workspace,
    request: &RenderRequest,
    control: &Control<'_>,
) -> Result<RenderResponse, Error> {
    let _span = workspace.span("render");
    control.check()?;
    let mut reader = workspace.read()?;
    let state = match request.at {
        Some(address) => reader.state(address)?,
        None => reader.newest()?,
    };
    let Target::Provider(provider) = request.format.0 else {
        let thread = contextree::thread(state.tree());
        let hash = Hash::of(&thread).to_string();
        let (request, spans) = (super::ascii(thread), Vec::new());
        let (findings, losses) = (Vec::new(), Vec::new());
        return Ok(RenderResponse { request, hash, spans, findings, losses, accepted: true });
    };
    let mut options =
        RenderOptions { settings: request.settings.clone(), ..RenderOptions::default() };
    let state = match state.cycle() {
        None => {
            sendable(workspace, &Request { provider, options: options.clone() }, state, control)?
        }
        Some(_) => state,
    };
    if request.breakpoints {
        let before = match state.cycle() {
            Some(cycle) => {
                let before = SnapshotAddress::from(cycle.previous());
                reader.state(Address::Snapshot(before))
            }
            None => reader.newest(),
        };
        // There is none before the first request.
        let last = before.ok();
        options.marks = Some(marks(provider, &options, &state, last.as_ref())?);
    }
    let mut rendered = render_state(&state, provider, &options)?;
    let findings: Vec<Finding> = lint(&rendered).iter().map(Finding::from).collect();
    if let Some(cycle) = state.cycle()
        && let Some(order) = logged_order(workspace, request, provider, cycle)?
    {
        (rendered.bytes, rendered.spans) = order.apply(&rendered);
    }
    Ok(RenderResponse {
        accepted: !findings.iter().any(|finding| finding.severity == Severity::Error),
        losses: rendered.losses.iter().map(Loss::from).collect(),
        hash: Hash::of(&rendered.bytes).to_string(),
        spans: match request.spans {
            true => rendered.spans.iter().map(|it| RequestSpan::new(it, provider)).collect(),
            false => Vec::new(),
        },
        request: super::ascii(rendered.bytes),
        findings,
    })
}

/// Returns the order of keys in the request of a cycle, if that request is in a log, for the same provider, and nothing is added to it.
fn logged_order(
    workspace: &Workspace,
    asked: &RenderRequest,
    provider: Provider,
    cycle: Cycle,
) -> Result<Option<KeyOrder>, Error> {
    if workspace.is_document() || asked.breakpoints || !asked.settings.is_empty() {
        return Ok(None);
    }
    let store = workspace.store(Access::Read)?;
    let session = workspace.session(&store)?;
    let mut attempts = session.attempts()?.iter().rev();
    let is_of = |it: &&contextree::Attempt| {
        it.cycle_id == cycle
            && it.status == AttemptStatus::Completed
            && it.provider == provider.name()
    };
    Ok(attempts.find(is_of).and_then(order_of))
}

/// Returns the working state as it would be sent now: after expiry and pruning under the context's own policy or budget. While a call is running,
/// and for a document, it is the working state as it is.
fn sendable(
    workspace: &Workspace,
    asked: &Request,
    state: State,
    control: &Control<'_>,
) -> Result<State, Error> {
    if workspace.is_document() {
        return Ok(state);
    }
    let store = workspace.store(Access::Read)?;
    let session = workspace.session(&store)?;
    if session.running()?.is_some() {
        return Ok(state);
    }
    let context = session.fork_working()?;
    let limits = control.query_limits(None);
    let snapshot = asked.committed(
        &context,
        &CommitOptions { limits: Some(&limits), ..CommitOptions::default() },
    )?;
    Ok(State::to_be_sent(snapshot))
}

/// Returns the request that was sent in a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SentRequest {
    /// The snapshot; the newest if it is absent.
    pub at: Option<Address>,
    /// Returns where the nodes are in the request.
    pub spans: bool,
}

/// A request that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SentResponse {
    /// The attempt: the model, the times, the usage.
    pub attempt: Attempt,
    /// The exact bytes that were sent.
    pub request: String,
    /// The hash of the bytes. If the attempt has one, it is the same.
    pub hash: String,
    /// What keeps the bytes from being those that were sent: `request_not_in_log` for a log that has no requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Where the nodes are in the request, if that was asked for, in the order of the bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<RequestSpan>,
}

/// Returns the request that was sent in the cycle of a snapshot, byte for byte. A log that was imported may have messages only; then the request
/// is made of what it has, and a finding says so.
///
/// # Errors
///
/// If the snapshot does not exist or was committed without a model call.
pub fn sent(
    workspace: &Workspace,
    request: &SentRequest,
    control: &Control<'_>,
) -> Result<SentResponse, Error> {
    let _span = workspace.span("sent");
    control.check()?;
    let address = match request.at {
        None => SnapshotAddress::Back(0),
        Some(Address::Snapshot(address)) => address,
        Some(Address::Working) => return Err(Error::usage("the working state was not sent")),
    };
    if workspace.is_document() {
        let hint = "`render` with a format renders its snapshots; a store records what was sent";
        return Err(Error::usage("a document does not record model calls").with_hint(hint));
    }
    let store = workspace.store(Access::Read)?;
    let session = workspace.session(&store)?;
    let sent = contextree::calls::sent(&session, address)?;
    let spans = match request.spans {
        true => sent.spans.iter().map(|it| RequestSpan::new(it, sent.provider)).collect(),
        false => Vec::new(),
    };
    let is_known = sent.attempt.input.is_some() || order_of(&sent.attempt).is_some();
    let findings = if is_known { Vec::new() } else { vec![not_in_log()] };
    let (attempt, hash) = (Attempt::from(&sent.attempt), sent.hash.to_string());
    Ok(SentResponse { attempt, request: super::ascii(sent.bytes), hash, findings, spans })
}

/// Returns the finding for a request that no log has.
fn not_in_log() -> Finding {
    Finding {
        code: "request_not_in_log".to_owned(),
        severity: Severity::Warning,
        message: "the log has no requests, only messages: what was sent had more, such as system text, tools and settings".to_owned(),
        node: None,
        path: String::new(),
        line: None,
    }
}

fn render_state(
    state: &State,
    provider: Provider,
    options: &RenderOptions,
) -> Result<Rendered, Error> {
    render_tree(state.tree(), provider, options)
        .map_err(|error| Error::new(error.code(), error.to_string()).with_hint(error.hint()))
}

/// Returns the marks that make a provider cache the beginning of the next request.
fn marks(
    provider: Provider,
    options: &RenderOptions,
    state: &State,
    last: Option<&State>,
) -> Result<BTreeMap<String, Object>, Error> {
    let Some(field) = provider.breakpoint_field() else { return Ok(BTreeMap::new()) };
    let options = RenderOptions { marks: Some(BTreeMap::new()), ..options.clone() };
    let rendered = render_state(state, provider, &options)?;
    let last = last.and_then(|last| render_state(last, provider, &options).ok());
    let model = Measured::from(&rendered).model();
    let (tokenizer, rules) =
        (tokenizer_of(provider, model.as_deref()), rules(provider, model.as_deref()));
    let measure = |rendered| Prompt::measure(Measured::from(rendered), tokenizer);
    let (prompt, last) = (measure(&rendered), last.as_ref().map(measure));
    let outlook = Outlook::of(&prompt, state.tree(), last.as_ref());
    let advised = breakpoints(&prompt, &outlook, &rules);
    let mark = match provider {
        Provider::Anthropic => Object::from_iter([("type", Value::from("ephemeral"))]),
        _ => Object::from_iter([("mode", Value::from("explicit"))]),
    };
    let set = advised.into_iter().filter(|it| !it.automatic);
    Ok(set.map(|it| (it.node, Object::from_iter([(field, Value::Object(mark.clone()))]))).collect())
}
