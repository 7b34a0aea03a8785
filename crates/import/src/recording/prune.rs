//! Requests that are pruned before they are sent.
//!
//! ```text
//! request ─→ tree, as without a policy ─preview under the policy→ rendering
//!    │                                                               │
//!    └─ its text without the messages that were pruned ═ equal as JSON, otherwise it is refused
//! ```
//!
//! What is sent has the text of the agent wherever the tree has a message unchanged: the order of keys, the spelling of numbers. So it
//! begins with the same bytes as the requests before it, up to the first message that is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use contextree_engine::{BoundMeasure, CommitOptions, CommitReport, Context, Policy, Preview};
use contextree_json::{Object, Value, parse};
use contextree_provider::read::{Fields, Role};
use contextree_provider::{Provider, RenderOptions, Rendered, Severity, lint, lint_value, render};
use contextree_tree::TreeRef;

use super::left_out::{cleared_by, to_attribute};
use super::splice::{Sides, groups};
use super::{Begun, Outline, Recording, Sent, located};
use crate::error::{ImportError, ImportErrorKind};
use crate::fingerprint::Fingerprint;
use crate::session::{Placed, Session};

/// What a request may contain.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// What is pruned.
    pub policy: &'a Policy,
    /// How it measures.
    pub measures: &'a [BoundMeasure],
}

/// A call that was begun under limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limited<T> {
    /// The request is sent as it is: nothing is left out.
    Whole(
        /// The call.
        Begun,
        /// What the caller made of the commit.
        T,
    ),
    /// Another request is sent instead.
    Pruned(
        /// The call.
        Begun,
        /// The request.
        PrunedRequest,
        /// What the caller made of the commit.
        T,
    ),
    /// The request cannot be pruned exactly, for this reason. Context and recording are to be discarded, and the request is to be sent as
    /// it is.
    Refused(
        /// The reason.
        String,
    ),
}

/// A request that was pruned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrunedRequest {
    /// The request as JSON.
    pub text: Vec<u8>,
    /// The number of messages of the agent's request that it has not.
    pub left_out: usize,
}

impl Recording {
    /// Like [`Recording::begin`], but keeps the request to limits. `text` is the request as the agent wrote it. `look` sees the tree before
    /// the commit, its report, and the tree that is sent.
    ///
    /// What was pruned once stays so: the requests that follow are compared with those of the agent, and do without it.
    ///
    /// # Errors
    ///
    /// Like [`Recording::begin`], and if a selector of the policy is invalid.
    pub fn begin_limited<T>(
        &mut self,
        context: &mut Context,
        sent: Sent,
        text: &[u8],
        limits: Limits<'_>,
        look: impl FnOnce(TreeRef<'_>, &CommitReport, TreeRef<'_>) -> T,
    ) -> Result<Limited<T>, ImportError> {
        self.try_begin_limited(context, sent, text, limits, look).map_err(located)
    }

    fn try_begin_limited<T>(
        &mut self,
        context: &mut Context,
        sent: Sent,
        text: &[u8],
        limits: Limits<'_>,
        look: impl FnOnce(TreeRef<'_>, &CommitReport, TreeRef<'_>) -> T,
    ) -> Result<Limited<T>, ImportErrorKind> {
        let wanted = Value::Object(sent.request.clone());
        let Sent { request, model, started_at } = sent;
        self.state.reach = self.reach(context, &request);
        self.state.keeps_apart = true;
        self.bring(context, Fields(request), started_at)?;
        let drop = self.state.take_drop(context);
        let policy = self.policy(limits.policy, context.working());
        let options = CommitOptions {
            policy: Some(&policy),
            measures: limits.measures,
            drop: &drop,
            ..CommitOptions::default()
        };
        let preview = context.at_time(started_at, |context| context.preview(&options));
        let preview = preview.map_err(|error| ImportErrorKind::Commit(Box::new(error)))?;
        let looked = look(context.working(), &preview.report, preview.snapshot.view());
        if self.is_whole(&preview) {
            Session { context, state: &mut self.state }.left_out(None)?;
            let begun = self.begin_call(context, &options, model, started_at, &wanted)?;
            return Ok(Limited::Whole(begun, looked));
        }
        let refused = |why: &str| Ok(Limited::Refused(why.to_owned()));
        let Ok(rendered) =
            render(preview.snapshot.view(), self.provider, &RenderOptions::default())
        else {
            return refused("nothing would be left of it");
        };
        let value = rendered.value();
        let sides = Sides { own: &wanted, sent: &value, text };
        let Some(spliced) = self.splice(&preview, &rendered, &sides) else {
            return refused("its messages cannot be told apart");
        };
        if parse(&spliced.text).ok().as_ref() != Some(&value) {
            return refused("the snapshot would not render to what is sent");
        }
        if let Some(why) = new_error(&rendered, &wanted) {
            return Ok(Limited::Refused(format!("the provider would refuse what is left: {why}")));
        }
        Session { context, state: &mut self.state }.left_out(to_attribute(&spliced.left_out))?;
        let begun = self.begin_call(context, &options, model, started_at, &value)?;
        if !begun.is_exact {
            return refused("the snapshot would not render to what is sent");
        }
        let cleared = preview.report.cleared.iter();
        self.cleared = cleared.map(|it| (it.id.clone(), it.placeholder.clone())).collect();
        let request = PrunedRequest { text: spliced.text, left_out: spliced.gone };
        Ok(Limited::Pruned(begun, request, looked))
    }

    /// Notes that the results which the completed call cleared are placeholders now.
    pub(super) fn note_cleared(&mut self) {
        let cleared: BTreeMap<String, String> =
            std::mem::take(&mut self.cleared).into_iter().collect();
        if cleared.is_empty() {
            return;
        }
        for node in self.state.window.iter_mut().flat_map(|placed| &mut placed.nodes) {
            if let Some(placeholder) = cleared.get(node) {
                node.clone_from(placeholder);
            }
        }
    }

    /// Returns the position of the first message that the tree has not as the agent wrote it.
    pub(super) fn first_changed(&self, tree: TreeRef<'_>) -> Option<usize> {
        self.state.window.iter().position(|placed| !is_unchanged(placed, tree))
    }

    /// Returns how many messages a request may continue. If it rewrites its past, messages that were left out directly before that point
    /// are sent again: nothing that follows them is in a cache.
    fn reach(&mut self, context: &mut Context, request: &Object) -> Option<usize> {
        self.first_changed(context.working())?;
        let first_answer = Session { context, state: &mut self.state }.first_answer();
        let window = &self.state.window;
        let outline = Outline::of(self.provider, request).ok()?;
        let same = |(placed, message): &(&Placed, &Fingerprint)| {
            placed.seen.is_some_and(|seen| seen.fingerprint == **message)
        };
        let common = window.iter().zip(&outline.messages).take_while(same).count();
        if common >= first_answer {
            return None;
        }
        let tree = context.working();
        let is_there = |entries: &Range<usize>| {
            window[entries.start].nodes.iter().any(|id| tree.resolve(id).is_some())
        };
        let last = groups(&window[..common]).into_iter().rfind(is_there);
        Some(last.map_or(0, |entries| entries.end))
    }

    /// Returns the policy for a request: the first message stays if the provider refuses requests that begin with an answer.
    fn policy(&self, policy: &Policy, tree: TreeRef<'_>) -> Policy {
        let mut policy = policy.clone();
        if matches!(self.provider, Provider::Anthropic | Provider::Gemini) {
            let is_there =
                |placed: &&Placed| placed.nodes.iter().any(|id| tree.resolve(id).is_some());
            let first = self.state.window.iter().find(is_there);
            let first = first.filter(|placed| placed.role == Role::User);
            let nodes = first.map_or(&[][..], |placed| &placed.nodes);
            let plain = nodes.iter().filter(|id| !id.contains(['\'', '\\']));
            policy.exclude.extend(plain.map(|id| format!("[id='{id}']")));
        }
        policy
    }

    /// Returns whether a commit has every message as the agent wrote it.
    fn is_whole(&self, preview: &Preview) -> bool {
        preview.report.pruned.is_empty()
            && preview.report.cleared.is_empty()
            && self.first_changed(preview.snapshot.view()).is_none()
    }
}

/// Returns whether a tree has a message as the agent wrote it.
pub(super) fn is_unchanged(placed: &Placed, tree: TreeRef<'_>) -> bool {
    let is_there = |id: &String| tree.resolve(id).is_some_and(|node| cleared_by(node).is_none());
    placed.nodes.iter().all(is_there)
}

/// Returns an error of a rendered request that the agent's own request has not.
fn new_error(rendered: &Rendered, own: &Value) -> Option<String> {
    let is_error = |severity: Severity| severity == Severity::Error;
    let mut errors = lint(rendered).into_iter().filter(|it| is_error(it.severity)).peekable();
    errors.peek()?;
    let own = lint_value(own, rendered.provider);
    let own: BTreeSet<&str> =
        own.iter().filter(|it| is_error(it.severity)).map(|it| it.code).collect();
    errors.find(|it| !own.contains(it.code)).map(|it| it.message)
}
