//! Reads content blocks: LangChain's own, and those that it passes through from providers.

use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::parts::names::{self, form};
use contextree_provider::read::{Fields, from_url, read_message, read_part, set};
use contextree_tree::{Content, NewNode};

use crate::logs::{foreign, note};

pub(super) fn text_node(text: Box<str>) -> NewNode {
    NewNode { content: Content::Text(text), ..NewNode::default() }.kind("text")
}

/// Merges the parts of a reasoning summary that LangChain wrote as blocks with the same id.
pub(super) fn joined(blocks: Vec<Value>) -> Vec<Value> {
    let mut joined: Vec<Value> = Vec::with_capacity(blocks.len());
    for block in blocks {
        match joined.last_mut().filter(|last| is_same_reasoning(last, &block)) {
            Some(last) => join(last, block),
            None => joined.push(block),
        }
    }
    joined
}

fn is_same_reasoning(left: &Value, right: &Value) -> bool {
    let id = |block: &Value| block.get("id").and_then(Value::as_str).map(str::to_owned);
    let is_reasoning = |block: &Value| {
        block.get("type").and_then(Value::as_str) == Some("reasoning")
            && block.get("reasoning").is_some()
    };
    is_reasoning(left) && is_reasoning(right) && id(left).is_some() && id(left) == id(right)
}

fn join(last: &mut Value, block: Value) {
    let (Ok(mut left), Ok(mut right)) = (Fields::of(std::mem::take(last)), Fields::of(block))
    else {
        return;
    };
    let mut texts = match left.take("reasoning") {
        Some(Value::Array(texts)) => texts,
        text => text.into_iter().collect(),
    };
    texts.extend(right.take("reasoning"));
    right.merge(left);
    right.0.insert("reasoning", Value::Array(texts));
    *last = Value::Object(right.0);
}

/// Reads a block that is not a call. Other fields are kept: for its provider, if known, else as a
/// note.
pub(super) fn read(block: Value, provider: Option<Provider>) -> NewNode {
    let mut fields = match block {
        Value::String(text) => return text_node(text),
        Value::Object(object) => Fields(object),
        other => return foreign("langchain", other),
    };
    let has = |name: &str| fields.0.contains_key(name);
    let is_object = |name: &str| fields.0.get(name).is_some_and(|it| it.as_object().is_some());
    let kind: Box<str> = fields.text("type").unwrap_or_default().into();
    match &*kind {
        "text" | "output_text" if fields.text("text").is_some() => read_text(fields, provider),
        "image_url" => read_image_url(fields),
        "input_audio" | "refusal" => passed_on(fields, Provider::OpenAiChat),
        "file" if is_object("file") => passed_on(fields, Provider::OpenAiChat),
        "input_text" | "input_image" | "input_file" => passed_on(fields, Provider::OpenAiResponses),
        "thinking" | "redacted_thinking" => passed_on(fields, Provider::Anthropic),
        "image" | "document" | "search_result" if has("source") => {
            passed_on(fields, Provider::Anthropic)
        }
        "reasoning" => read_reasoning(fields, provider),
        "non_standard" if is_object("value") && provider.is_some() => {
            let value = fields.take("value").unwrap_or_default();
            fields.take("type");
            let mut node = read_own(value, provider);
            note(&mut node, fields.0);
            node
        }
        _ => media(&mut fields).unwrap_or_else(|| foreign("langchain", Value::Object(fields.0))),
    }
}

/// Reads a block as its provider would, without streaming fields.
fn passed_on(mut fields: Fields, provider: Provider) -> NewNode {
    let index = fields.take("index");
    let mut node = read_part(provider, Value::Object(fields.0));
    note(&mut node, index.map(|index| ("index", index)).into_iter().collect());
    node
}

fn read_text(mut fields: Fields, provider: Option<Provider>) -> NewNode {
    let mut node = text_node(fields.take_text("text").unwrap_or_default());
    fields.take("type");
    take_signature(&mut fields, &mut node, provider);
    let is_owned = |node: &NewNode| node.attributes.iter().any(|(name, _)| name == names::PROVIDER);
    if !is_owned(&node) && message_id(&fields.0).is_some() {
        let extra = take(&mut fields, &["annotations"]);
        extra.keep(&mut node, names::EXTRA, Provider::OpenAiResponses);
        // A Responses message is sent back only together with its id.
        let mut message = take(&mut fields, &["id", "status", "phase"]);
        message.0.insert("type", Value::from("message"));
        if !message.0.contains_key("status") {
            message.0.insert("status", Value::from("completed"));
        }
        message.keep(&mut node, names::MESSAGE_EXTRA, Provider::OpenAiResponses);
    }
    if !is_owned(&node) {
        let extra = take(&mut fields, &["cache_control", "citations"]);
        extra.keep(&mut node, names::EXTRA, Provider::Anthropic);
    }
    note(&mut node, fields.0);
    node
}

fn take(fields: &mut Fields, names: &[&str]) -> Fields {
    Fields(names.iter().filter_map(|name| Some((*name, fields.take(name)?))).collect())
}

/// Returns the id of the Responses message that a text belongs to.
fn message_id(block: &Object) -> Option<&str> {
    let annotations = block.get("annotations")?;
    annotations.as_array().filter(|_| !is_standard(annotations))?;
    block.get("id")?.as_str()
}

/// Returns whether a text continues the message of the text before it.
pub(super) fn goes_on(before: Option<&Value>, block: &Value) -> bool {
    let id = |block: &Value| message_id(block.as_object()?).map(str::to_owned);
    before.and_then(id).is_some_and(|before| id(block) == Some(before))
}

/// Marks a text as a continuation of the message of the text before it.
pub(super) fn joined_to_last(mut node: NewNode) -> NewNode {
    node.attributes.retain(|(name, _)| name != names::MESSAGE_EXTRA);
    set(&mut node, names::FORM, form::JOINED);
    node
}

/// Returns whether annotations are in LangChain's own format.
fn is_standard(annotations: &Value) -> bool {
    let kinds = annotations.as_array().unwrap_or_default().iter().map(|it| it.get("type"));
    let mut kinds = kinds.filter_map(|kind| kind?.as_str());
    kinds.any(|kind| matches!(kind, "citation" | "non_standard_annotation"))
}

fn read_image_url(mut fields: Fields) -> NewNode {
    let mut inner = match fields.take("image_url") {
        Some(Value::String(url)) => Fields(Object::from_iter([("url", Value::String(url))])),
        Some(Value::Object(object)) => Fields(object),
        other => {
            fields.0.insert("image_url", other.unwrap_or_default());
            return foreign("langchain", Value::Object(fields.0));
        }
    };
    let Some(url) = inner.take_text("url") else {
        fields.0.insert("image_url", Value::Object(inner.0));
        return foreign("langchain", Value::Object(fields.0));
    };
    let mut node = from_url("image", url);
    fields.take("type");
    if let Some(control) = fields.take("cache_control").filter(|_| inner.0.is_empty()) {
        let extra = Object::from_iter([("cache_control", control)]);
        Fields(extra).keep(&mut node, names::EXTRA, Provider::Anthropic);
    }
    inner.keep(&mut node, names::EXTRA, Provider::OpenAiChat);
    note(&mut node, fields.0);
    node
}

/// Reads reasoning: a Responses item, or a text that LangChain extracted from any provider's.
fn read_reasoning(mut fields: Fields, provider: Option<Provider>) -> NewNode {
    let texts = match fields.take("reasoning") {
        None => None,
        Some(Value::Array(texts)) => Some(texts),
        Some(text) => Some(vec![text]),
    };
    let is_item = fields.0.contains_key("summary") || fields.0.contains_key("encrypted_content");
    if is_item || (provider == Some(Provider::OpenAiResponses) && fields.text("id").is_some()) {
        return read_reasoning_item(fields, texts.unwrap_or_default());
    }
    let texts: Vec<&str> = texts.iter().flatten().filter_map(Value::as_str).collect();
    let mut node = NewNode::text(texts.join("\n\n")).kind("reasoning");
    fields.take("type");
    take_signature(&mut fields, &mut node, provider);
    note(&mut node, fields.0);
    node
}

fn read_reasoning_item(mut fields: Fields, texts: Vec<Value>) -> NewNode {
    let part = |text: Value| {
        Value::Object(Object::from_iter([("type", Value::from("summary_text")), ("text", text)]))
    };
    if fields.0.get("summary").is_none_or(Value::is_null) {
        let texts = texts.into_iter().filter(|it| it.as_str().is_some_and(|it| !it.is_empty()));
        fields.0.insert("summary", Value::Array(texts.map(part).collect()));
    }
    if let Some(mut extras) = fields.take_object("extras") {
        for name in ["encrypted_content", "content", "status"] {
            if let Some(value) = extras.remove(name) {
                fields.0.insert(name, value);
            }
        }
        if !extras.is_empty() {
            fields.0.insert("extras", Value::Object(extras));
        }
    }
    let rest: Object = ["index", "extras"]
        .into_iter()
        .filter_map(|name| Some((name, fields.take(name)?)))
        .collect();
    // The parts of a summary may contain streaming indexes.
    if let Some(summary) = fields.take_list("summary") {
        let plain = |part: Value| match Fields::of(part.clone()) {
            Ok(mut part) => {
                part.take("index");
                Value::Object(part.0)
            }
            Err(_) => part,
        };
        fields.0.insert("summary", Value::Array(summary.into_iter().map(plain).collect()));
    }
    let item = fields.0.into_iter().filter(|(_, value)| !value.is_null()).collect();
    let mut node = read_own(Value::Object(item), Some(Provider::OpenAiResponses));
    note(&mut node, rest);
    node
}

/// Reads a block that only a provider has.
fn read_own(value: Value, provider: Option<Provider>) -> NewNode {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    // These kinds would be mistaken for calls and results.
    let takes = !matches!(kind, "tool_use" | "tool_call" | "tool_result" | "tool" | "result");
    match provider {
        Some(Provider::Anthropic) if takes => read_part(Provider::Anthropic, value),
        Some(Provider::OpenAiResponses) if takes => {
            let read = read_message(Provider::OpenAiResponses, value.clone());
            let node = read.ok().and_then(|read| read.into_nodes().pop());
            node.unwrap_or_else(|| foreign("langchain", value))
        }
        _ => foreign("langchain", value),
    }
}

/// Takes a signature out of the extra fields; it is meaningful only with a provider.
fn take_signature(fields: &mut Fields, node: &mut NewNode, provider: Option<Provider>) {
    let Some(provider) = provider else { return };
    let Some(mut extras) = fields.take_object("extras") else { return };
    if let Some(signature) = extras.remove("signature") {
        set(node, names::SIGNATURE, signature);
        set(node, names::PROVIDER, provider.name());
    }
    if !extras.is_empty() {
        fields.0.insert("extras", Value::Object(extras));
    }
}

/// Reads media in LangChain's standard forms.
fn media(fields: &mut Fields) -> Option<NewNode> {
    let mime = fields.text("mime_type").unwrap_or_default().to_owned();
    let kind = match fields.text("type")? {
        kind @ ("image" | "audio") => kind.to_owned(),
        "file" | "text-plain" => "document".to_owned(),
        "media" => match mime.split('/').next() {
            Some(kind @ ("image" | "audio")) => kind.to_owned(),
            Some("text" | "application") => "document".to_owned(),
            _ => return None,
        },
        _ => return None,
    };
    let ways = [
        ("base64", Some("base64")),
        ("data", Some("base64")),
        ("url", Some("uri")),
        ("file_uri", Some("uri")),
        ("file_id", Some("file_id")),
        ("text", None),
    ];
    let is_there = |name: &str| fields.text(name).is_some();
    let (name, encoding) = ways.into_iter().find(|(name, _)| is_there(name))?;
    let content = Content::Text(fields.take_text(name)?);
    let mut node = NewNode { content, ..NewNode::default() }.kind(kind);
    node.encoding = encoding.map(str::to_owned);
    node.mime = (!mime.is_empty()).then_some(mime);
    for name in ["type", "mime_type", "source_type"] {
        fields.take(name);
    }
    if let Some(name) = take_file_name(fields) {
        set(&mut node, names::NAME, Value::String(name));
    }
    if let Some(control) = fields.take("cache_control") {
        let extra = Object::from_iter([("cache_control", control)]);
        Fields(extra).keep(&mut node, names::EXTRA, Provider::Anthropic);
    }
    note(&mut node, std::mem::take(&mut fields.0));
    Some(node)
}

fn take_file_name(fields: &mut Fields) -> Option<Box<str>> {
    let own = ["filename", "title", "name"].into_iter().find_map(|name| fields.take_text(name));
    if own.is_some() {
        return own;
    }
    for field in ["extras", "metadata"] {
        let Some(mut inner) = fields.take_object(field).map(Fields) else { continue };
        let found = ["filename", "title", "name"].into_iter().find_map(|it| inner.take_text(it));
        if !inner.0.is_empty() {
            fields.0.insert(field, Value::Object(inner.0));
        }
        if found.is_some() {
            return found;
        }
    }
    None
}
