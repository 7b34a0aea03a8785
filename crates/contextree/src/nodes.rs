//! Nodes for what agents have: messages, tool calls and results, documents, images.
//!
//! Each function returns a [`NewNode`] with the role, kind and attributes by which every provider's request renders it. The
//! setters of [`NewNode`] add the rest: `user("Hi").id("greeting").priority(2)`.

use contextree_json::{Object, Value};
use contextree_tree::NewNode;

/// Returns a text by the developer. It is pinned: no budget prunes it.
///
/// Add it at [`Place::system`](crate::Place::system).
#[must_use]
pub fn system(text: impl AsRef<str>) -> NewNode {
    NewNode::text(text).role("system").kind("text").pinned(true)
}

/// Returns the definition of a tool that the model may call: its name, what it does, and the JSON Schema of its arguments. It is pinned.
///
/// Add it at [`Place::system`](crate::Place::system).
#[must_use]
pub fn tool(
    name: impl AsRef<str>,
    description: impl AsRef<str>,
    parameters: impl Into<Value>,
) -> NewNode {
    let name = name.as_ref();
    let definition = Object::from_iter([
        ("name", name.into()),
        ("description", description.as_ref().into()),
        ("parameters", parameters.into()),
    ]);
    NewNode::json(Value::Object(definition))
        .role("system")
        .kind("tool")
        .attribute("data_name", name)
        .pinned(true)
}

/// Returns a message by the user.
#[must_use]
pub fn user(text: impl AsRef<str>) -> NewNode {
    NewNode::text(text).role("user").kind("text")
}

/// Returns a message by the model.
#[must_use]
pub fn assistant(text: impl AsRef<str>) -> NewNode {
    NewNode::text(text).role("assistant").kind("text")
}

/// Returns a tool call by the model. `arguments` is the JSON text as the model wrote it, or a JSON value.
///
/// A call and its results have the same `id`, and are pruned together.
///
/// ```
/// use contextree::{json, tool_call};
///
/// let as_text = tool_call("call-1", "forecast", r#"{"city": "Oslo"}"#);
/// let as_json = tool_call("call-1", "forecast", json::parse(br#"{"city": "Oslo"}"#)?);
/// # Ok::<(), contextree::Error>(())
/// ```
#[must_use]
pub fn tool_call(
    id: impl Into<String>,
    name: impl Into<String>,
    arguments: impl Into<Value>,
) -> NewNode {
    NewNode::json(arguments.into())
        .role("assistant")
        .kind("call")
        .attribute("data_call_id", id.into())
        .attribute("data_name", name.into())
}

/// Returns the result of the tool call with this `id`: a text, or a JSON value.
///
/// `.attribute("data_is_error", true)` marks it as an error.
#[must_use]
pub fn tool_result(id: impl Into<String>, result: impl Into<Value>) -> NewNode {
    NewNode::json(result.into()).role("tool").kind("result").attribute("data_call_id", id.into())
}

/// Returns the text of a document that expires: `ttl` commits see it, `1` only the next one.
#[must_use]
pub fn document(text: impl AsRef<str>, ttl: i64) -> NewNode {
    NewNode::text(text).kind("document").mime("text/plain").ttl(ttl)
}

/// Returns an image by the user: its media type (`image/png`) and its bytes in base64.
#[must_use]
pub fn image(mime: impl Into<String>, base64: impl AsRef<str>) -> NewNode {
    NewNode::text(base64).role("user").kind("image").mime(mime).encoding("base64")
}
