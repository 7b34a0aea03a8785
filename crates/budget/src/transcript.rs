//! What a commit prunes, as text for a summarizer.

use std::collections::BTreeSet;

use contextree_canon::thread::{blocks, default_role};
use contextree_engine::CommitReport;
use contextree_tree::{Content, NodeRef, TreeRef};

/// Returns what a commit prunes as a transcript, in the order of the conversation: before each block, what it is in brackets.
///
/// ```text
/// [user]
/// Is the build green?
///
/// [assistant calls run, call_1]
/// {"command":"make"}
///
/// [result of call_1]
/// ok
/// ```
#[must_use]
pub fn transcript(working: TreeRef<'_>, report: &CommitReport) -> String {
    let pruned = report.pruned.iter();
    let gone: BTreeSet<&str> = pruned
        .flat_map(|pruned| std::iter::once(&pruned.id).chain(&pruned.along))
        .map(String::as_str)
        .collect();
    let mut text = String::new();
    for (region, block) in blocks(working).filter(|(_, block)| gone.contains(block.id())) {
        let role = block.role().unwrap_or(default_role(Some(region)));
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("[{}]\n", title(block, role)));
        match block.content() {
            Content::Text(content) => text.push_str(content),
            Content::Json(value) => text.push_str(&String::from_utf8_lossy(&value.to_canonical())),
            Content::Absent => {}
        }
        text.push('\n');
    }
    text
}

/// Returns what a block is: `user`, `assistant calls run, call_1`, `result of call_1`.
fn title(block: NodeRef<'_>, role: &str) -> String {
    let attribute = |name: &str| block.attribute(name).and_then(|value| value.as_str());
    let id = attribute("data_tool_call_id").or(attribute("data_call_id"));
    match (block.kind(), id) {
        (Some("call" | "tool_call" | "tool_use"), id) => {
            let name = attribute("data_name").unwrap_or("a tool");
            let id = id.map_or_else(String::new, |id| format!(", {id}"));
            format!("{role} calls {name}{id}")
        }
        (Some("result" | "tool_result"), Some(id)) => format!("result of {id}"),
        (Some("reasoning" | "thinking"), _) => format!("{role} thinks"),
        (Some("summary"), _) => "summary of earlier content".to_owned(),
        _ => role.to_owned(),
    }
}
