//! Attachments: what the program adds to a request besides messages. The log has their data, not the
//! text that was sent; they are imported as system text of their turn.

use contextree_json::{Object, Value};
use contextree_provider::parts::names;
use contextree_provider::read::{Fields, Incoming, Role, read_spoken, set};
use contextree_tree::NewNode;

use super::read::{Body, Entry};
use crate::error::ImportErrorKind;
use crate::logs::foreign;

/// What becomes of an attachment.
enum Kind {
    /// A prompt that was typed while the model was working.
    Prompt,
    /// Data that the model sees as text: the contents of these fields, or all of its data.
    Text(&'static [&'static str]),
    /// Output of a hook, which the model sees at the beginning of a session or of a prompt.
    Hook,
    /// Kept from the model.
    Hidden,
    /// Not known.
    Unknown,
}

fn kind_of(name: &str) -> Kind {
    match name {
        "queued_command" => Kind::Prompt,
        "hook_success" => Kind::Hook,
        "edited_text_file" => Kind::Text(&["filename", "snippet"]),
        "skill_listing" | "hook_additional_context" | "critical_system_reminder" => {
            Kind::Text(&["content"])
        }
        "agent_listing_delta" | "deferred_tools_delta" => Kind::Text(&["addedLines", "addedNames"]),
        "mcp_instructions_delta" => Kind::Text(&["addedBlocks", "addedNames"]),
        "directory" | "nested_memory" => Kind::Text(&["path", "content"]),
        "file"
        | "compact_file_reference"
        | "pdf_reference"
        | "selected_lines_in_ide"
        | "opened_file_in_ide"
        | "diagnostics"
        | "todo"
        | "todo_reminder"
        | "task_reminder"
        | "task_status"
        | "plan_mode"
        | "plan_mode_reentry"
        | "plan_mode_exit"
        | "auto_mode"
        | "auto_mode_exit"
        | "date_change"
        | "output_style"
        | "mcp_resource"
        | "agent_mention"
        | "relevant_memories"
        | "async_hook_response"
        | "hook_blocking_error"
        | "hook_stopped_continuation"
        | "token_usage"
        | "budget_usd"
        | "goal_status"
        | "invoked_skills"
        | "ultrathink_effort"
        | "compaction_reminder"
        | "verify_plan_reminder" => Kind::Text(&[]),
        "hook_system_message"
        | "hook_non_blocking_error"
        | "hook_cancelled"
        | "hook_error_during_execution"
        | "hook_permission_decision"
        | "command_permissions"
        | "edited_image_file"
        | "structured_output"
        | "already_read_file" => Kind::Hidden,
        _ => Kind::Unknown,
    }
}

/// Reads an attachment into its entry.
pub(super) fn read(fields: &mut Fields, entry: &mut Entry) -> Result<(), ImportErrorKind> {
    let Some(mut data) = fields.take_object("attachment").map(Fields) else { return Ok(()) };
    let name: Box<str> = data.text("type").unwrap_or("attachment").into();
    let mut message = match kind_of(&name) {
        Kind::Prompt => match prompt(&mut data)? {
            Some(message) => {
                entry.is_context = data.text("commandMode").is_some_and(|mode| mode != "prompt");
                message
            }
            None => Incoming::new(Role::System, vec![foreign("claude-code", whole(&data))]),
        },
        Kind::Text(names) => Incoming::new(Role::System, vec![text_of(&mut data, names)]),
        Kind::Hook if is_shown(&data) => {
            Incoming::new(Role::System, vec![text_of(&mut data, &["content"])])
        }
        Kind::Hook | Kind::Hidden => {
            entry.name = name;
            return Ok(());
        }
        Kind::Unknown => Incoming::new(Role::System, vec![foreign("claude-code", whole(&data))]),
    };
    let mut log = std::mem::take(&mut fields.0);
    if !data.0.is_empty() {
        log.insert("attachment", Value::Object(data.0));
    }
    if let Some(first) = message.parts.first_mut() {
        set(first, names::ENTRY, Value::Object(log));
    }
    entry.body = Body::Message(message);
    entry.may_end = message_is_prompt(entry);
    Ok(())
}

fn message_is_prompt(entry: &Entry) -> bool {
    matches!(&entry.body, Body::Message(message) if message.role == Role::User)
}

/// Reads a prompt: text, or blocks like those of a message.
fn prompt(data: &mut Fields) -> Result<Option<Incoming>, ImportErrorKind> {
    let Some(prompt @ (Value::String(_) | Value::Array(_))) = data.take("prompt") else {
        return Ok(None);
    };
    let message = Object::from_iter([("role", Value::from("user")), ("content", prompt)]);
    let read = read_spoken(&mut Fields(message));
    Ok(Some(read.map_err(|shape| shape.within("attachment"))?))
}

/// Returns whether the model sees the output of a hook.
fn is_shown(data: &Fields) -> bool {
    let event = data.text("hookEvent").unwrap_or_default();
    matches!(event, "SessionStart" | "UserPromptSubmit")
        && data.text("content").is_some_and(|content| !content.trim().is_empty())
}

/// Returns a block with the texts of these fields, or with all data if they have no text.
fn text_of(data: &mut Fields, names: &[&str]) -> NewNode {
    let mut texts: Vec<String> = Vec::new();
    for name in names {
        match data.0.get(name) {
            Some(Value::String(text)) => texts.push(text.to_string()),
            Some(Value::Array(list)) if list.iter().all(|it| it.as_str().is_some()) => {
                texts.extend(list.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            _ => continue,
        }
        data.take(name);
    }
    if texts.is_empty() {
        let all = std::mem::take(&mut data.0);
        return NewNode::json(Value::Object(all)).kind("text");
    }
    NewNode::text(texts.join("\n")).kind("text")
}

fn whole(data: &Fields) -> Value {
    Value::Object(data.0.clone())
}
