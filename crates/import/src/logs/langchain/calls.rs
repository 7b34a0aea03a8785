//! Reads LangChain tool calls. One call may be recorded several times: in the content as its
//! provider wrote it, as a parsed call, as an invalid call, and in raw form. It becomes one block,
//! with the exact text of its arguments if that was kept.

use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::parts::names::{self, form};
use contextree_provider::read::{Fields, read_message, set};
use contextree_tree::{Content, NewNode};

/// The calls of a message that have no blocks yet.
pub(super) struct Calls {
    left: Vec<Call>,
}

struct Call {
    id: Option<Box<str>>,
    name: Value,
    arguments: Option<Value>,
    /// Its other fields.
    rest: Object,
}

impl Calls {
    /// Takes the calls out of a message. Calls in the provider's raw response are also left there.
    pub(super) fn take(fields: &mut Fields) -> Self {
        let mut left: Vec<Call> = Vec::new();
        let parsed = fields.take_list("tool_calls").unwrap_or_default();
        let invalid = fields.take_list("invalid_tool_calls").unwrap_or_default();
        for call in parsed.into_iter().chain(invalid) {
            let Ok(mut call) = Fields::of(call) else { continue };
            let id = call.take_text("id");
            let (name, arguments) = (call.take("name").unwrap_or_default(), call.take("args"));
            call.take("type");
            left.push(Call { id, name, arguments, rest: call.0 });
        }
        let more = fields.0.get("additional_kwargs");
        let raw = more.and_then(|it| it.get("tool_calls")).and_then(Value::as_array);
        for raw in raw.unwrap_or_default() {
            let id = raw.get("id").and_then(Value::as_str);
            let Some(function) = raw.get("function") else { continue };
            let exact = function.get("arguments").filter(|it| it.as_str().is_some()).cloned();
            match left.iter_mut().find(|call| call.id.as_deref() == id) {
                Some(call) => call.arguments = exact.or(call.arguments.take()),
                None => left.push(Call {
                    id: id.map(Box::from),
                    name: function.get("name").cloned().unwrap_or_default(),
                    arguments: exact,
                    rest: Object::new(),
                }),
            }
        }
        // The format before calls had ids.
        if let Some(function) = more.and_then(|it| it.get("function_call"))
            && left.is_empty()
            && let Some(name) = function.get("name")
        {
            let arguments = function.get("arguments").cloned();
            left.push(Call { id: None, name: name.clone(), arguments, rest: Object::new() });
        }
        Calls { left }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Reads a content block that is a call.
    pub(super) fn read_block(&mut self, block: &Value) -> Option<NewNode> {
        let text = |name: &str| block.get(name).and_then(Value::as_str);
        match text("type")? {
            "function_call" | "custom_tool_call" => {
                let mut item = Fields::of(block.clone()).ok()?;
                let index = item.take("index");
                let read = read_message(Provider::OpenAiResponses, Value::Object(item.0)).ok()?;
                self.claim(text("call_id"), text("name"));
                let mut node = read.into_nodes().pop()?;
                if let Some(index) = index {
                    super::note(&mut node, Object::from_iter([("index", index)]));
                }
                Some(node)
            }
            kind @ ("tool_use" | "tool_call" | "invalid_tool_call") => {
                let own = Call::of_block(block)?;
                let mut call = match self.claim(own.id.as_deref(), own.name.as_str()) {
                    // A parsed call is complete; a streamed block may not be.
                    Some(claimed) => Call { rest: own.rest, ..claimed },
                    None => own,
                };
                let extra = if kind == "tool_use" { call.take_extra() } else { Object::new() };
                let mut node = call.into_node();
                Fields(extra).keep(&mut node, names::EXTRA, Provider::Anthropic);
                Some(node)
            }
            _ => None,
        }
    }

    /// Returns the calls that no content block represents.
    pub(super) fn rest(self) -> impl Iterator<Item = NewNode> {
        self.left.into_iter().map(Call::into_node)
    }

    fn claim(&mut self, id: Option<&str>, name: Option<&str>) -> Option<Call> {
        let same =
            |call: &Call| call.id.as_deref() == id && (id.is_some() || call.name.as_str() == name);
        self.left.iter().position(same).map(|position| self.left.remove(position))
    }
}

impl Call {
    fn of_block(block: &Value) -> Option<Self> {
        let mut fields = Fields::of(block.clone()).ok()?;
        let name = fields.take("name").filter(|it| it.as_str().is_some())?;
        let id = fields.take_text("id");
        let arguments = fields.take("input").or_else(|| fields.take("args"));
        fields.take("type");
        fields.take("partial_json");
        Some(Call { id, name, arguments, rest: fields.0 })
    }

    /// Takes the fields that Anthropic needs back.
    fn take_extra(&mut self) -> Object {
        let names = ["cache_control", "caller"];
        names.into_iter().filter_map(|name| Some((name, self.rest.remove(name)?))).collect()
    }

    fn into_node(self) -> NewNode {
        let content = self.arguments.filter(|it| !it.is_null());
        let content = content.map_or(Content::Absent, Content::from);
        let mut node = NewNode { content, ..NewNode::default() }.kind("call");
        match self.id {
            Some(id) => set(&mut node, names::CALL_ID, Value::String(id)),
            None => set(&mut node, names::FORM, form::ANONYMOUS),
        }
        set(&mut node, names::NAME, self.name);
        super::note(&mut node, self.rest);
        node
    }
}
