//! Messages in the manner of Chat Completions, as other programs write them: with fields of their
//! own, and calls in several shapes.
//!
//! | what | accepted |
//! |---|---|
//! | a call | `{"id":…,"function":{"name":…,"arguments":…}}`, `{"id":…,"name":…,"arguments":…}`, `function_call` |
//! | a result | the id of its call in `tool_call_id`, `id` or `tool_call_ids`; `error` or `is_error` |
//! | the user's own calls | kept, and never sent: the model does not see them |
//!
//! Fields that a provider would not accept are kept in `log:entry`.

use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::parts::names::{self, form};
use contextree_provider::read::{Fields, Incoming, Role, Shape, read_message, role_of, set};
use contextree_tree::{Content, NewNode};

use super::{foreign, note};

/// The fields that a provider knows, apart from calls.
const KNOWN: [&str; 5] = ["role", "content", "name", "refusal", "function_call"];

/// Reads a message. `format` owns the blocks that no provider understands.
pub(super) fn read(message: Value, format: &str) -> Result<Incoming, Shape> {
    let mut fields = Fields::of(message)?;
    let Some(word) = fields.text("role") else {
        return Err(Shape::new("a string").within("role"));
    };
    let role = role_of(word);
    let is_own = fields.text("requestor") == Some("user");
    if role == Role::Tool && is_own {
        return Ok(Incoming::new(Role::User, vec![foreign(format, Value::Object(fields.0))]));
    }
    let mut parts = match role {
        Role::Tool => vec![read_result(&mut fields)?],
        _ => read_said(&mut fields, role, format)?,
    };
    note(&mut parts[0], fields.0);
    Ok(Incoming::new(role, parts))
}

/// Returns what a log recorded about a message besides its content.
pub(super) fn entry_of(message: &Incoming) -> Option<&Object> {
    let first = message.parts.first()?;
    first.attributes.iter().find(|(name, _)| name == names::ENTRY)?.1.as_object()
}

/// Returns whether no provider understands any block of a message.
pub(super) fn is_foreign(message: &Incoming) -> bool {
    message.parts.iter().all(|part| part.kind.as_deref() == Some("foreign"))
}

fn read_result(fields: &mut Fields) -> Result<NewNode, Shape> {
    let first = |fields: &mut Fields| match fields.take_list("tool_call_ids")?.into_iter().next() {
        Some(Value::String(id)) => Some(id),
        _ => None,
    };
    let id = fields.take_text("tool_call_id").or_else(|| first(fields));
    let id = id.or_else(|| fields.take_text("id"));
    let is_error = ["error", "is_error"].into_iter().find_map(|name| {
        fields.0.get(name)?.as_bool()?;
        fields.take(name)?.as_bool()
    });
    let name = fields.take("name");
    let is_anonymous = id.is_none();
    let written = [
        ("role", fields.take("role")),
        ("tool_call_id", Some(id.map_or(Value::from("none"), Value::String))),
        ("content", fields.take("content")),
    ];
    let written = written.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let read = read_message(Provider::OpenAiChat, Value::Object(written.collect()))?;
    let mut nodes = read.into_nodes();
    let mut node = nodes.pop().ok_or_else(|| Shape::new("a message"))?;
    if is_anonymous {
        // Its call is found by name or by order.
        node.attributes.retain(|(name, _)| name != names::CALL_ID);
        set(&mut node, names::FORM, form::ANONYMOUS);
    }
    if let Some(name) = name.filter(|name| name.as_str().is_some()) {
        set(&mut node, names::NAME, name);
    }
    if is_error == Some(true) {
        set(&mut node, names::IS_ERROR, true);
    }
    Ok(node)
}

/// Reads text, media and calls; there is at least one block.
fn read_said(fields: &mut Fields, role: Role, format: &str) -> Result<Vec<NewNode>, Shape> {
    let calls = fields.take_filled("tool_calls").unwrap_or_default();
    let says = match fields.0.get("content") {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(list)) => !list.is_empty(),
        Some(_) => return Err(Shape::new("a string or a list").within("content")),
    };
    if !says && !calls.is_empty() {
        fields.take("content");
    }
    let mut parts = Vec::new();
    if says || calls.is_empty() {
        let known = KNOWN.into_iter().filter_map(|name| Some((name, fields.take(name)?)));
        let written: Object = known.collect();
        parts = read_message(Provider::OpenAiChat, Value::Object(written))?.into_nodes();
    } else {
        fields.take("role");
    }
    for (index, call) in calls.into_iter().enumerate() {
        let place = |shape: Shape| shape.within(&format!("tool_calls[{index}]"));
        parts.push(match role {
            Role::Assistant => read_call(call).map_err(place)?,
            // The simulated user of a benchmark calls tools, too.
            _ => foreign(format, call),
        });
    }
    Ok(parts)
}

/// Reads a call: its name and arguments are in the call itself, or in its `function`.
fn read_call(call: Value) -> Result<NewNode, Shape> {
    let mut fields = Fields::of(call)?;
    let mut inner = match ["function", "custom"].iter().find_map(|name| fields.take_object(name)) {
        Some(inner) => Fields(inner),
        None => std::mem::take(&mut fields),
    };
    let id = fields.take_text("id").or_else(|| inner.take_text("id"));
    let name = ["name", "tool_name"].iter().find_map(|name| inner.take_text(name));
    let name = name.ok_or_else(|| Shape::new("a string").within("name"))?;
    let arguments = ["arguments", "args", "input", "parameters"];
    let arguments = arguments.iter().find_map(|name| inner.take(name));
    let content = arguments.map_or(Content::Absent, Content::from);
    let mut node = NewNode { content, ..NewNode::default() }.kind("call");
    match id {
        Some(id) => set(&mut node, names::CALL_ID, Value::String(id)),
        None => set(&mut node, names::FORM, form::ANONYMOUS),
    }
    set(&mut node, names::NAME, Value::String(name));
    fields.merge(inner);
    fields.take("type");
    note(&mut node, fields.0);
    Ok(node)
}
