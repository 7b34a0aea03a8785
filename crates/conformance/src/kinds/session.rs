//! Checks the kind `session`: a series of operations and commits, with expectations for each and
//! for the result.

use contextree::engine::Reference;
use contextree::{
    CommitOptions, Context, NodeRef, Op, Outcome, Policy, Profile, Snapshot, SnapshotAddress,
    TreeRef,
};
use contextree_app::wire;
use contextree_json::{Object, Value, parse};

use super::Got;
use super::calls;
use super::commit::report_value;
use super::documents::profile;
use super::language;
use crate::case::{Case, Edition};
use crate::document::{header, ids, options, texts, thread_value};

pub(super) fn session(case: &Case, edition: Edition) -> Result<Got, String> {
    let context = match case.field("document") {
        Value::Null => Context::with_options(options(edition)),
        document => {
            let (text, profile) = (document.to_canonical(), profile(case.field("profile"))?);
            Context::import_snapshot(&text, profile, options(edition))
                .map_err(|error| format!("import: {error}"))?
        }
    };
    let mut session = Session { context, handles: vec![] };
    let steps = case.field("steps").as_array().ok_or("`steps` is not a list")?;
    let mut results = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let result = session.step(step).map_err(|why| format!("step {}: {why}", index + 1))?;
        results.push(Value::Object(result));
    }
    let context = &session.context;
    let tree = context.working();
    let mut got = Got::from_iter([("steps", Value::Array(results))]);
    for (key, wanted) in case.expect() {
        let found = match key {
            "thread_ids" => thread_value(&contextree::thread(tree))?.1,
            "thread" => thread_value(&contextree::thread(tree))?.0,
            "headers" => {
                headers(tree, wanted.as_object().ok_or("`headers` is not an object")?, edition)
            }
            "children" => children(tree, wanted.as_object().ok_or("`children` is not an object")?),
            "absent" => {
                let named = wanted.as_array().unwrap_or_default().iter().filter_map(Value::as_str);
                texts(named.filter(|id| tree.get(id).is_none()))
            }
            "snapshots" => {
                let cycles = context.history().iter().map(|snapshot| snapshot.cycle().get().into());
                Value::Array(cycles.collect())
            }
            "diff" => diff(context, wanted)?,
            "strict" => strict(context, edition),
            "attempts" => calls::attempts(context),
            "export_sha256" => {
                let export = context.newest().map(Snapshot::export).unwrap_or_default();
                contextree::Hash::of(&export).to_string().into()
            }
            _ => continue,
        };
        got.insert(key, found);
    }
    Ok(got)
}

/// Returns true if every snapshot is accepted by a strict import, otherwise the first refusal.
fn strict(context: &Context, edition: Edition) -> Value {
    for snapshot in context.history().iter() {
        let text = snapshot.export();
        if let Err(error) = Context::import_snapshot(&text, Profile::Strict, options(edition)) {
            return Value::from(format!("@c{}: {error}", snapshot.cycle()));
        }
    }
    Value::from(true)
}

struct Session {
    context: Context,
    handles: Vec<(String, Reference)>,
}

impl Session {
    fn step(&mut self, step: &Value) -> Result<Object, String> {
        let wanted = step.get("expect").and_then(Value::as_object);
        let before = self.context.export_working();
        let got = match self.carry_out(step) {
            Ok(got) => got,
            Err(Refused::Engine(refused)) => {
                if self.context.export_working() != before {
                    return Err("the refused operation changed the tree".to_owned());
                }
                if wanted.is_none() {
                    let refused = Value::Object(refused).to_canonical();
                    return Err(format!("refused: {}", String::from_utf8_lossy(&refused)));
                }
                refused
            }
            Err(Refused::Case(why)) => return Err(why),
        };
        for (key, wanted) in wanted.into_iter().flat_map(Object::iter) {
            if got.get(key) != Some(wanted) {
                let got = Value::Object(got).to_canonical();
                let (wanted, got) = (wanted.to_canonical(), String::from_utf8_lossy(&got));
                let wanted = String::from_utf8_lossy(&wanted);
                return Err(format!("`{key}`: expected {wanted}, got {got}"));
            }
        }
        Ok(got)
    }

    /// Returns the operation of a step such as `{"op":"add","parent":"^ah","offset":1,"node":{…}}`.
    fn op(&mut self, step: &Value) -> Result<Op, Refused> {
        let op = wire::Op::from_value(step).map_err(|error| Refused::Case(error.to_string()))?;
        op.resolve(&mut self.context, None).map_err(|error| Refused::Case(error.to_string()))
    }

    fn carry_out(&mut self, step: &Value) -> Result<Object, Refused> {
        let name = step.get("op").and_then(Value::as_str).unwrap_or_default();
        let node = || step.get("node").and_then(Value::as_str).unwrap_or_default();
        match name {
            "commit" => {
                let policy = policy_of(step)?;
                let options = CommitOptions { policy: policy.as_ref(), ..CommitOptions::default() };
                match self.context.commit_with(&options) {
                    Ok(report) => Ok(report_value(&report)),
                    Err(error) => Err(Refused::engine(error.code(), "", "")),
                }
            }
            "reopen" => {
                let context = std::mem::replace(&mut self.context, Context::new());
                self.context = calls::reopened(context).map_err(Refused::Case)?;
                Ok(Object::new())
            }
            "begin" | "attach" | "complete" | "cancel" | "fail" => {
                let policy = policy_of(step)?;
                calls::carry_out(&mut self.context, step, policy.as_ref())
                    .map_err(|error| Refused::engine(error.code().as_str(), "", ""))
            }
            "retain" => {
                let handle = self.context.retain(node()).map_err(|error| Refused::op(&error))?;
                self.handles.push((node().to_owned(), handle));
                Ok(Object::new())
            }
            "release" => {
                self.handles.retain(|(id, _)| id != node());
                Ok(Object::new())
            }
            "batch" => {
                let steps = step.get("steps").and_then(Value::as_array).unwrap_or_default();
                let ops = steps.iter().map(|step| self.op(step)).collect::<Result<_, _>>()?;
                match self.context.batch(ops) {
                    Ok(_) => Ok(Object::new()),
                    Err(batch) => Err(Refused::op(&batch.error)),
                }
            }
            _ => {
                let op = self.op(step)?;
                let outcome = self.context.apply(op).map_err(|error| Refused::op(&error))?;
                Ok(outcome_value(outcome))
            }
        }
    }
}

fn policy_of(step: &Value) -> Result<Option<Policy>, Refused> {
    let policy = step.get("policy").map(Policy::from_value).transpose();
    policy.map_err(|error| Refused::Case(error.to_string()))
}

enum Refused {
    /// The engine refused the operation, as a case may expect.
    Engine(Object),
    /// The case is invalid.
    Case(String),
}

impl Refused {
    fn engine(code: &str, reason: &str, place: &str) -> Refused {
        Refused::Engine(Object::from_iter([
            ("error", Value::from(code)),
            ("reason", Value::from(reason)),
            ("place", Value::from(place)),
        ]))
    }

    fn op(error: &contextree::OpError) -> Refused {
        Refused::engine(error.code(), error.reason(), error.place())
    }
}

fn outcome_value(outcome: Outcome) -> Object {
    let optional = |id: Option<String>| id.map_or(Value::Null, Value::from);
    match outcome {
        Outcome::Added { id, core } => {
            Object::from_iter([("id", Value::from(id)), ("core", optional(core))])
        }
        Outcome::Moved { renamed, core } => {
            let renamed = renamed.into_iter().map(|(old, new)| texts([old, new]));
            let renamed: Vec<Value> = renamed.collect();
            Object::from_iter([("renamed", Value::Array(renamed)), ("core", optional(core))])
        }
        Outcome::Removed(gone) => Object::from_iter([("removed", texts(gone))]),
        _ => Object::new(),
    }
}

/// Returns the requested headers, by node; `derived.depth` is the depth that is shown with it.
pub(super) fn headers(tree: TreeRef<'_>, wanted: &Object, edition: Edition) -> Value {
    let found = wanted.iter().map(|(id, names)| {
        let found = match (tree.resolve(id), names.as_object()) {
            (Some(node), Some(names)) => {
                let found = names.keys().map(|name| match name {
                    "derived.depth" => (name, depth(node, edition)),
                    name => (name, header(node, name)),
                });
                Value::Object(found.collect::<Object>())
            }
            _ => Value::Null,
        };
        (id, found)
    });
    Value::Object(found.collect::<Object>())
}

fn depth(node: NodeRef<'_>, edition: Edition) -> Value {
    wire::Node::new(node, language(edition)).derived.depth.map_or(Value::Null, Value::from)
}

fn children(tree: TreeRef<'_>, wanted: &Object) -> Value {
    let found = wanted
        .keys()
        .map(|id| (id, tree.resolve(id).map_or(Value::Null, |parent| ids(parent.children()))));
    Value::Object(found.collect::<Object>())
}

/// Returns `{"from":"@t-1","to":"@t0","added":…,"removed":…,"changed":…}`.
fn diff(context: &Context, wanted: &Value) -> Result<Value, String> {
    let address = |name: &str| {
        let text =
            wanted.get(name).and_then(Value::as_str).ok_or("a diff needs `from` and `to`")?;
        text.parse::<SnapshotAddress>().map_err(|error| error.to_string())
    };
    let diff = context
        .diff(address("from")?, address("to")?)
        .map_err(|error| error.to_string())?
        .to_json();
    let mut found = match parse(diff.as_bytes()) {
        Ok(Value::Object(found)) => found,
        other => return Err(format!("the diff is not an object: {other:?}")),
    };
    for name in ["from", "to"] {
        found.insert(name, wanted.get(name).cloned().unwrap_or_default());
    }
    Ok(found.into())
}
