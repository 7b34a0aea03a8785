//! Runs sessions on the real engine.

use contextree::engine::{CallError, CallStart, Reference};
use contextree::json::Value;
use contextree::{
    CallOutcome, CommitError, CommitOptions, CommitReport, Content, Context, Edit, Hash, NewNode,
    Op, OpError, Outcome,
};

use crate::script::{Cue, Exclude, Limit, Measure, NodeSpec, Place, Policy, Refusal, Step, Zone};

/// The engine, with the handles that a session took.
#[derive(Debug, Default)]
pub struct Driver {
    /// The context.
    pub context: Context,
    handles: Vec<(String, Reference)>,
}

/// The effect of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Did {
    /// A node was added.
    Added(String),
    /// A node was moved; its old and new ids.
    Moved(Vec<(String, String)>),
    /// Any other effect.
    Done,
    /// A commit, or a call that was completed.
    Committed(Box<CommitReport>),
    /// A call has begun.
    Begun(Box<CommitReport>),
}

impl Driver {
    /// Creates a driver of an empty context.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs a step.
    ///
    /// # Errors
    ///
    /// If the engine refuses it.
    pub fn step(&mut self, step: &Step) -> Result<Did, Refusal> {
        match step {
            Step::Retain { node } => {
                let handle = self.context.retain(node).map_err(|error| refusal(&error))?;
                self.handles.push((node.clone(), handle));
                Ok(Did::Done)
            }
            Step::Release { node } => {
                if let Some(index) = self.handles.iter().position(|(id, _)| id == node) {
                    drop(self.handles.remove(index));
                }
                Ok(Did::Done)
            }
            Step::Batch(steps) => {
                let ops = steps.iter().map(op).collect();
                match self.context.batch(ops) {
                    Ok(_) => Ok(Did::Done),
                    Err(batch) => Err(refusal(&batch.error)),
                }
            }
            Step::Commit { policy: wanted } => {
                let wanted = wanted.as_ref().map(policy);
                let options = CommitOptions { policy: wanted.as_ref(), ..CommitOptions::default() };
                match self.context.commit_with(&options) {
                    Ok(report) => Ok(Did::Committed(Box::new(report))),
                    Err(error) => Err(commit_refusal(&error)),
                }
            }
            Step::Begin { policy: wanted } => {
                let wanted = wanted.as_ref().map(policy);
                let options = CommitOptions { policy: wanted.as_ref(), ..CommitOptions::default() };
                let begun = self.context.begin_call(&options, |request| -> Result<_, CallError> {
                    Ok((call_start(&request.snapshot.thread()), request.report.clone()))
                });
                begun
                    .map(|report| Did::Begun(Box::new(report)))
                    .map_err(|error| call_refusal(&error))
            }
            Step::Complete { answer } => {
                let answer = answer.iter().map(|spec| new_node(spec).into()).collect();
                let attempt = self.attempt();
                let done = self.context.complete_call(&attempt, answer, CallOutcome::default());
                done.map(|report| Did::Committed(Box::new(report)))
                    .map_err(|error| call_refusal(&error))
            }
            Step::Cancel => {
                let attempt = self.attempt();
                let done = self.context.cancel_call(&attempt).map(|_| Did::Done);
                done.map_err(|error| call_refusal(&error))
            }
            Step::Fail => {
                let attempt = self.attempt();
                let done = self.context.fail_call(&attempt, "overloaded").map(|_| Did::Done);
                done.map_err(|error| call_refusal(&error))
            }
            other => match self.context.apply(op(other)) {
                Ok(Outcome::Added { id, .. }) => Ok(Did::Added(id)),
                Ok(Outcome::Moved { renamed, .. }) => Ok(Did::Moved(renamed)),
                Ok(_) => Ok(Did::Done),
                Err(error) => Err(refusal(&error)),
            },
        }
    }
}

impl Driver {
    /// The attempt of the running call, or one that does not exist.
    fn attempt(&self) -> String {
        let running = self.context.running_call();
        running.map_or_else(|| "none".to_owned(), |call| call.attempt.attempt_id.clone())
    }
}

fn call_start(input: &[u8]) -> CallStart {
    CallStart {
        provider: "acme".to_owned(),
        model: "m-1".to_owned(),
        params: Hash::of(b"{}"),
        input: Some(Hash::of(input)),
        serves: None,
        options: "{}".to_owned(),
    }
}

fn call_refusal(error: &CallError) -> Refusal {
    match error {
        CallError::Answer(batch) => refusal(&batch.error),
        CallError::Commit(error) => commit_refusal(error),
        other => Refusal { code: other.code().into(), reason: String::new() },
    }
}

fn commit_refusal(error: &CommitError) -> Refusal {
    let reason = match error {
        CommitError::AttemptRunning { .. } => String::new(),
        other => other.to_string(),
    };
    Refusal { code: error.code().into(), reason }
}

fn refusal(error: &OpError) -> Refusal {
    Refusal { code: error.code().into(), reason: error.reason().into() }
}

/// Converts a step to an operation of the engine.
///
/// # Panics
///
/// If the step is not a single operation: a handle, a batch, a commit or a call.
#[must_use]
pub fn op(step: &Step) -> Op {
    match step {
        Step::Add { place: at, node } => Op::Add { place: place(at), node: new_node(node) },
        Step::Edit { node, content, set, unset } => Op::Edit {
            node: node.clone(),
            edit: Edit {
                content: content.clone().map(Content::from),
                set: set.clone(),
                unset: unset.clone(),
            },
        },
        Step::Remove { node } => Op::Remove { node: node.clone() },
        Step::Move { node, place: to } => Op::Move { node: node.clone(), place: place(to) },
        Step::SetPriority { node, priority, policy } => {
            Op::SetPriority { node: node.clone(), priority: *priority, policy: policy.clone() }
        }
        Step::Pin { node } => Op::Pin { node: node.clone() },
        Step::Unpin { node } => Op::Unpin { node: node.clone() },
        Step::Retain { .. }
        | Step::Release { .. }
        | Step::Batch(_)
        | Step::Commit { .. }
        | Step::Begin { .. }
        | Step::Complete { .. }
        | Step::Cancel
        | Step::Fail => {
            panic!("{step:?} is not a single operation")
        }
    }
}

fn place(place: &Place) -> contextree::Place {
    match place {
        Place::Into { parent, offset } => {
            contextree::Place::Into { parent: parent.clone(), offset: *offset }
        }
        Place::Zone { turn, zone } => {
            let zone = match zone {
                Zone::Pre => contextree::Zone::Pre,
                Zone::Core => contextree::Zone::Core,
                Zone::Post => contextree::Zone::Post,
            };
            contextree::Place::Zone { turn: turn.clone(), zone }
        }
        Place::Cue { parent, cue } => {
            let cue = match *cue {
                Cue::Start => contextree::engine::Cue::Start,
                Cue::End => contextree::engine::Cue::End,
                Cue::After(number) => contextree::engine::Cue::After(number),
                Cue::Before(number) => contextree::engine::Cue::Before(number),
            };
            contextree::Place::Cue { parent: parent.clone(), cue }
        }
    }
}

fn new_node(spec: &NodeSpec) -> NewNode {
    NewNode {
        id: spec.id.clone(),
        node_type: spec.node_type.clone(),
        ttl: spec.ttl,
        priority: spec.priority,
        role: spec.role.clone(),
        kind: spec.kind.clone(),
        key: spec.key.clone(),
        tags: spec.tags.clone(),
        provenance: spec.provenance.clone(),
        mime: None,
        encoding: None,
        content: spec.content.clone().map_or(Content::Absent, |content: Value| content.into()),
        removable: spec.removable,
        pinned: spec.pinned,
        attributes: spec.attributes.clone(),
    }
}

/// Converts a policy to one of the engine.
#[must_use]
pub fn policy(policy: &Policy) -> contextree::Policy {
    let measure = |measure: &Measure| match measure {
        Measure::Nodes => contextree::MeasureName::Nodes,
        Measure::Bytes => contextree::MeasureName::Bytes,
    };
    let limits = policy
        .limits
        .iter()
        .map(|limit| match limit {
            Limit::Remove(count) => contextree::Limit::Remove(*count),
            Limit::Total(counted, max) => {
                contextree::Limit::Total { measure: measure(counted), max: *max }
            }
            Limit::Region(word, counted, max) => contextree::Limit::Region {
                region: contextree::Region::from_word(word).expect("scripts name known regions"),
                measure: measure(counted),
                max: *max,
            },
            Limit::Turn(counted, max) => {
                contextree::Limit::Turn { measure: measure(counted), max: *max }
            }
            Limit::Depth(max) => contextree::Limit::Depth(*max),
            Limit::ClearAtLeast(counted, min) => {
                contextree::Limit::ClearAtLeast { measure: measure(counted), min: *min }
            }
        })
        .collect();
    let exclude = policy.exclude.iter().map(|exclude| match exclude {
        Exclude::Kind(kind) => format!(".block[kind='{kind}']"),
        Exclude::Id(id) => format!("*[id='{id}']"),
    });
    let removable = policy.removable.iter().map(|id| format!("*[id='{id}']"));
    contextree::Policy {
        protect_turns: policy.protect_turns,
        protect_user: policy.protect_user,
        limits,
        exclude: exclude.collect(),
        removable: removable.collect(),
        clear: policy.clear.map(contextree::Clear::all_but),
        reserve: policy.reserve,
    }
}
