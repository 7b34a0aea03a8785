//! pactree: a resolver in memory, or bound to a file, which it syncs at each commit.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pactree::ops::{PactOperation, PactOperationEnvelope, SourceActor};
use pactree::provider_thread::ProviderThreadOptions;
use pactree::resolver::PactResolver;
use pactree::selector::{PactTreeNode, select};
use pactree::store::materialize_branch_value;
use pactree::trace::BoundaryKind;
use serde_json::{Value, json};

use crate::common::{Run, read, text};

const ROOT: &str = r#"{"id": "root", "nodeType": "root", "children": []}"#;
const BRANCH: &str = "main";

fn envelope(source: SourceActor) -> PactOperationEnvelope {
    PactOperationEnvelope {
        branch_id: BRANCH.to_owned(),
        source,
        source_id: None,
        host_timestamp_ns: None,
        idempotency_key: None,
        aux: BTreeMap::new(),
    }
}

fn say(role: &str, text: &str) -> PactOperation {
    let source = if role == "user" { SourceActor::User } else { SourceActor::Assistant };
    PactOperation::AddMessage {
        envelope: envelope(source),
        role: role.to_owned(),
        text: Some(text.to_owned()),
        content_ref: None,
    }
}

fn operations(line: &Value) -> Vec<PactOperation> {
    if line.get("result").is_some() {
        let id = text(line, "id").to_owned();
        let parameters = serde_json::from_str(text(line, "arguments")).unwrap_or(Value::Null);
        return vec![
            say("assistant", text(line, "say")),
            PactOperation::ToolCallStarted {
                envelope: envelope(SourceActor::Assistant),
                tool_call_id: id.clone(),
                tool_name: text(line, "name").to_owned(),
                parameters,
                parent_message_id: None,
            },
            PactOperation::ToolCallCompleted {
                envelope: envelope(SourceActor::Host),
                tool_call_id: id,
                result_text: Some(text(line, "result").to_owned()),
                result_ref: None,
            },
        ];
    }
    let mut said = vec![say("user", text(line, "user"))];
    if line.get("assistant").is_some() {
        said.push(say("assistant", text(line, "assistant")));
    }
    said
}

fn step(resolver: &mut PactResolver, operations: Vec<PactOperation>) -> Result<(), String> {
    let outcome = resolver.submit(operations)?;
    if let Some(rejected) = outcome.rejected.first() {
        return Err(rejected.reason.clone());
    }
    match resolver.commit_staged(BRANCH, BoundaryKind::Response)? {
        Some(_) => Ok(()),
        None => Err("nothing was committed".to_owned()),
    }
}

/// The texts of a tree, wherever they stand.
fn texts(value: &Value) -> (usize, usize) {
    fn walk<'a>(node: &'a Value, found: &mut Vec<&'a str>) {
        if let Some(text) =
            node.get("content").and_then(Value::as_str).filter(|text| !text.is_empty())
        {
            found.push(text);
        }
        for child in node.get("children").and_then(Value::as_array).into_iter().flatten() {
            walk(child, found);
        }
    }
    let mut found = Vec::new();
    walk(value, &mut found);
    read(found.into_iter())
}

fn state(resolver: &PactResolver, revision: Option<u64>) -> Result<Value, String> {
    let store = resolver.root_store();
    let branch = store.branches.get(BRANCH).ok_or("the branch is there")?;
    let revision = revision.unwrap_or(branch.head_revision);
    materialize_branch_value(store, branch, Some(revision))
}

pub fn follow(mut run: Run) -> Result<(), Box<dyn std::error::Error>> {
    let path = PathBuf::from(format!("{}/peer.pact", run.folder));
    let is_file = run.system == "pactree-file";
    let open = || -> Result<PactResolver, String> {
        let _ = std::fs::remove_file(&path);
        let mut resolver = PactResolver::new(ROOT, Some(BRANCH))?;
        if is_file {
            resolver.bind_file(path.clone());
        }
        Ok(resolver)
    };
    let mut warm = open()?;
    for line in run.lines().take(5) {
        step(&mut warm, operations(&line))?;
    }
    drop(warm);
    let mut resolver = open()?;
    run.began();
    for line in run.lines() {
        let new = operations(&line);
        run.step(|| step(&mut resolver, new))?;
    }
    run.ended();
    run.field("versions", json!({"pactree": "0.0.1"}));
    run.field("settings", json!(if is_file { "one fsync per commit" } else { "memory" }));
    let before = u64::from(run.is_agent);
    let half = run.length as u64 / 2 + before;
    run.kept("", texts(&state(&resolver, None)?));
    let middle = run.measure("middle", || state(&resolver, Some(half)).map(|tree| texts(&tree)))?;
    run.kept("middle_", middle);
    let tree = state(&resolver, None)?;
    let tree = PactTreeNode::from_value(&tree, &mut 0)?;
    let found =
        run.measure("select", || select(&tree, "{role='user'}").map(|found| found.len()))?;
    run.field("selected", json!(found));
    let options = ProviderThreadOptions {
        include_partial_tool_calls: false,
        fail_on_orphan_tool_calls: false,
    };
    let rendered = run.measure("render", || {
        resolver
            .build_provider_thread(BRANCH, None, &options)
            .map(|thread| thread.to_string().len())
            .map_err(|error| error.reason)
    });
    match rendered {
        Ok(rendered) => run.field("rendered", json!(rendered)),
        Err(reason) => run.skip(&format!("refused: {reason}"), &["render"]),
    }
    run.skip("no list of commits", &["page", "history"]);
    run.skip("no diff", &["diff"]);
    drop(resolver);
    if is_file {
        run.field("bytes", json!(std::fs::metadata(&path)?.len()));
        let open = || PactResolver::open_file(path.clone());
        run.measure("open", || state(&open()?, None).map(|tree| texts(&tree)))?;
        run.measure("middle_cold", || state(&open()?, Some(half)).map(|tree| texts(&tree)))?;
        std::fs::remove_file(&path)?;
    } else {
        run.skip("in memory only", &["bytes", "open", "middle_cold"]);
    }
    run.print();
    Ok(())
}
