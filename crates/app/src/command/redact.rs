//! `redact`: replaces content by a marker, in every snapshot.

use contextree::store::{ATTRIBUTE, NODE, ReadError, Redacted, Redaction};
use contextree::{Content, NodeRef, SelectOptions, SnapshotAddress};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workspace::{Access, is_name, targets};
use crate::{Advice, Control, Error, Workspace};

/// Replaces content by a marker, in every snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedactRequest {
    /// The id of a node, or a selector; with a time, such as `@*`, it looks into snapshots.
    pub target: String,
    /// Who redacts, and why. It is kept, and is part of the marker.
    #[serde(default)]
    pub reason: Option<String>,
    /// Reports what would be redacted and changes nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// Redacted content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedactResponse {
    /// The nodes that were named.
    pub nodes: Vec<String>,
    /// How many different contents they had in all snapshots.
    pub contents: usize,
    /// How many stored copies were replaced, or would be.
    pub copies: u64,
    /// The contexts that had one of the contents.
    pub contexts: Vec<String>,
    /// All nodes that had one of the contents, in any context: `NODE in CONTEXT`. The context is the one that stored the node; forks share it.
    pub everywhere: Vec<String>,
    /// What contains one of the texts and is not changed: `the node ID in CONTEXT`, whose content is longer than the text, `the attribute NAME in
    /// CONTEXT`, `the side record KIND KEY in CONTEXT`.
    pub elsewhere: Vec<String>,
}

impl RedactResponse {
    /// Returns the response for named nodes with this many contents.
    fn new(nodes: Vec<String>, contents: usize, found: Redacted) -> RedactResponse {
        let place = |(context, kind, key): (String, String, String)| match kind.as_str() {
            NODE => format!("the node `{key}` in `{context}`"),
            ATTRIBUTE => format!("the attribute `{key}` in `{context}`"),
            kind => format!("the side record `{kind} {key}` in `{context}`"),
        };
        let node = |(context, id): (String, String)| format!("`{id}` in `{context}`");
        RedactResponse {
            nodes,
            contents,
            copies: found.copies,
            contexts: found.contexts,
            everywhere: found.nodes.into_iter().map(node).collect(),
            elsewhere: found.elsewhere.into_iter().map(place).collect(),
        }
    }
}

/// Replaces the content of nodes by a marker, in every snapshot and in the working state, and wherever else the store has the same content.
/// Hashes and digests stay as they are, so the history can still be verified. It cannot be undone. Longer contents with the text stay, and so do
/// attributes, because digests cover their values: those that contain the text are named. A dry run counts the same over the whole store.
///
/// # Errors
///
/// If no node matches, none of them has content that is not redacted yet, a model call with the content is running, or the caller does not know all contexts of the store.
pub fn redact(
    workspace: &Workspace,
    request: &RedactRequest,
    control: &Control<'_>,
) -> Result<RedactResponse, Error> {
    let _span = workspace.span("redact");
    control.check()?;
    let store = workspace.store(if request.dry_run { Access::Read } else { Access::Write })?;
    let session = workspace.session(&store)?;
    let working = session.fork_working()?;
    let text = request.target.as_str();
    let limits = control.query_limits(None);
    let nodes = if text.starts_with('@') {
        let options = SelectOptions { limits: Some(limits), ..SelectOptions::default() };
        let edition = session.settings().edition;
        let answer = session.select_with(text, edition, &options).map_err(|error| match error {
            ReadError::Query(error) => Error::query(&error, text),
            error => error.into(),
        })?;
        let found = answer.nodes().ok_or_else(|| {
            Error::usage("a range cannot be redacted").with_hint("`@*` looks into every snapshot")
        })?;
        found.ids().iter().map(ToString::to_string).collect()
    } else {
        match targets(&working, text, workspace.edition(), &limits) {
            // It may be in a snapshot only.
            Err(_) if is_name(text) => vec![text.to_owned()],
            found => found?,
        }
    };
    let mut contents: Vec<Content> = Vec::new();
    let (mut is_there, mut is_redacted) = (false, false);
    let mut collect = |node: Option<NodeRef<'_>>| {
        is_there |= node.is_some();
        let Some(body) = node.and_then(|node| node.body()) else { return };
        is_redacted |= body.redacted_hash().is_some();
        let is_open = body.redacted_hash().is_none() && body.content != Content::Absent;
        if is_open && !contents.contains(&body.content) {
            contents.push(body.content.clone());
        }
    };
    for id in &nodes {
        collect(working.working().get(id));
    }
    for back in 0..session.row().snapshots {
        control.check()?;
        let snapshot = session.snapshot(SnapshotAddress::Back(back))?;
        for id in &nodes {
            collect(snapshot.view().get(id));
        }
    }
    if contents.is_empty() {
        return Err(without_content(text, is_there, is_redacted));
    }
    drop(session);
    let reason = request.reason.as_deref().unwrap_or_default();
    let marker = match reason {
        "" => "[redacted]".to_owned(),
        reason => format!("[redacted: {reason}]"),
    };
    let redaction = Redaction { contents: &contents, marker: &marker, reason };
    let store = store.whole()?;
    let found = match request.dry_run {
        true => store.find_redactable(&redaction)?,
        false => store.redact(&redaction)?,
    };
    Ok(RedactResponse::new(nodes, contents.len(), found))
}

/// Returns why there is no content to redact: no snapshot has the node, it was redacted before, or it never had any.
fn without_content(text: &str, is_there: bool, is_redacted: bool) -> Error {
    let (code, message) = match (is_there, is_redacted) {
        (false, _) if is_name(text) => {
            ("E_NODE_NOT_FOUND", format!("there is no node `{text}` in any snapshot"))
        }
        (false, _) => ("E_NO_MATCH", format!("`{text}` matches no node")),
        (true, true) => ("E_NO_MATCH", format!("`{text}` is redacted already")),
        (true, false) => ("E_NO_MATCH", format!("`{text}` has no content to redact")),
    };
    let detail = if code == "E_NO_MATCH" { "selector" } else { "place" };
    Error::new(code, message).with_detail(detail, text).with_advice(Advice::ShowTree)
}
