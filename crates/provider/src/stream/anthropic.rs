//! Collects Anthropic's events: a message begins, its content blocks grow one after the other, and the message stops.

use contextree_json::{Object, Value, parse};

use super::StreamError;
use super::grow::{Fields, Growing, append, fields, list, object, skip};
use crate::read::Shape;

/// Events that Anthropic's SDK derives from others, which it passes on as well.
const DERIVED: [&str; 5] = ["text", "input_json", "citation", "thinking", "signature"];

/// The events that a message consists of.
const KNOWN: [&str; 6] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
];

/// A message in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    /// `None` before `message_start`.
    message: Option<Object>,
    blocks: Vec<Block>,
    text: String,
    skipped: Vec<String>,
    is_stopped: bool,
}

/// A content block in progress.
#[derive(Clone, Debug)]
struct Block {
    fields: Fields,
    /// The pieces of a tool's input, which are JSON only when they are complete.
    input: String,
}

impl Message {
    pub(super) fn add(&mut self, event: Value) -> Result<(), StreamError> {
        let Value::Object(mut event) = event else { return Err(Shape::new("an object").into()) };
        let kind = match event.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            _ => return Err(Shape::new("a string").within("type").into()),
        };
        match &*kind {
            "ping" => Ok(()),
            "error" => Err(StreamError::reported(event.get("error").unwrap_or(&Value::Null))),
            kind if DERIVED.contains(&kind) => Ok(()),
            // The provider may add events, and says that clients are to ignore those that they do not know.
            kind if !KNOWN.contains(&kind) => {
                skip(&mut self.skipped, format!("event `{kind}`"));
                Ok(())
            }
            _ if self.is_stopped => {
                Err(Shape::new("no event after `message_stop`").within("type").into())
            }
            "message_start" => self.start(&mut event),
            _ if self.message.is_none() => {
                Err(Shape::new("`message_start` as the first event").within("type").into())
            }
            "content_block_start" => self.start_block(&mut event),
            "content_block_delta" => self.grow_block(&mut event),
            "content_block_stop" => self.block(&event).map(drop),
            "message_delta" => self.change(event),
            _ => {
                self.is_stopped = true;
                Ok(())
            }
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_complete(&self) -> bool {
        self.is_stopped
    }

    pub(super) fn skipped(&self) -> &[String] {
        &self.skipped
    }

    pub(super) fn into_document(self) -> Value {
        let mut message = self.message.unwrap_or_default();
        let blocks = self.blocks.into_iter().map(Block::into_value).collect();
        message.insert("content", Value::Array(blocks));
        Value::Object(message)
    }

    fn start(&mut self, event: &mut Object) -> Result<(), StreamError> {
        if self.message.is_some() {
            return Err(Shape::new("one `message_start`").within("type").into());
        }
        let Some(Value::Object(mut message)) = event.remove("message") else {
            return Err(Shape::new("an object").within("message").into());
        };
        // Blocks that are there from the beginning would be those of a message that continues.
        if let Some(Value::Array(content)) = message.remove("content") {
            for (index, block) in content.into_iter().enumerate() {
                self.push(block, &format!("message.content[{index}]"))?;
            }
        }
        self.message = Some(message);
        Ok(())
    }

    fn start_block(&mut self, event: &mut Object) -> Result<(), StreamError> {
        if event.get("index").and_then(Value::as_u64) != Some(self.blocks.len() as u64) {
            return Err(Shape::new("the index of the next block").within("index").into());
        }
        self.push(event.remove("content_block").unwrap_or_default(), "content_block")
    }

    fn push(&mut self, block: Value, at: &str) -> Result<(), StreamError> {
        let Value::Object(block) = block else {
            return Err(Shape::new("an object").within(at).into());
        };
        let fields = fields(block);
        if let Some(text) = fields.get("text").and_then(Growing::as_str) {
            self.text.push_str(text);
        }
        self.blocks.push(Block { fields, input: String::new() });
        Ok(())
    }

    fn block(&mut self, event: &Object) -> Result<&mut Block, StreamError> {
        let index = event.get("index").and_then(Value::as_u64);
        let index = index.and_then(|index| usize::try_from(index).ok());
        let block = index.and_then(|index| self.blocks.get_mut(index));
        block.ok_or_else(|| Shape::new("the index of a block that began").within("index").into())
    }

    fn grow_block(&mut self, event: &mut Object) -> Result<(), StreamError> {
        let delta = event.remove("delta").unwrap_or_default();
        let kind = delta.get("type").and_then(Value::as_str);
        let kind = kind.ok_or_else(|| Shape::new("a string").within("delta.type"))?;
        let text = |name: &'static str| {
            let found = delta.get(name).and_then(Value::as_str);
            found.ok_or_else(|| Shape::new("a string").within(name).within("delta"))
        };
        let block = self.block(event)?;
        match kind {
            "text_delta" => {
                append(&mut block.fields, "text", text("text")?);
                self.text.push_str(text("text")?);
            }
            "thinking_delta" => append(&mut block.fields, "thinking", text("thinking")?),
            "input_json_delta" => block.input.push_str(text("partial_json")?),
            "signature_delta" => {
                let signature = Growing::Text(text("signature")?.to_owned());
                block.fields.insert("signature".to_owned(), signature);
            }
            "compaction_delta" => {
                let content = delta.get("content").cloned().unwrap_or_default();
                block.fields.insert("content".to_owned(), content.into());
            }
            "citations_delta" => {
                let citation = delta.get("citation").cloned().unwrap_or_default();
                list(&mut block.fields, "citations")?.push(citation.into());
            }
            other => {
                skip(&mut self.skipped, format!("delta `{other}`"));
            }
        }
        Ok(())
    }

    /// Counts of the usage are cumulative; those that are absent keep their earlier value.
    fn change(&mut self, event: Object) -> Result<(), StreamError> {
        let Some(message) = &mut self.message else { return Ok(()) };
        for (name, value) in event {
            match (&*name, value) {
                ("type", _) | (_, Value::Null) => {}
                ("delta", Value::Object(delta)) => {
                    let is_stop = |name: &str| ["stop_reason", "stop_sequence"].contains(&name);
                    for (name, value) in delta {
                        if !value.is_null() || is_stop(&name) {
                            message.insert(name, value);
                        }
                    }
                }
                ("usage", Value::Object(changed)) => {
                    let mut usage = match message.remove("usage") {
                        Some(Value::Object(usage)) => usage,
                        _ => Object::new(),
                    };
                    for (name, value) in changed.into_iter().filter(|(_, value)| !value.is_null()) {
                        usage.insert(name, value);
                    }
                    message.insert("usage", Value::Object(usage));
                }
                ("delta" | "usage", _) => {
                    return Err(Shape::new("an object").within(&name).into());
                }
                (_, value) => drop(message.insert(name, value)),
            }
        }
        Ok(())
    }
}

impl Block {
    fn into_value(mut self) -> Value {
        if !self.input.is_empty() {
            // A message that was cut off may end in the middle of a tool's input: then it is kept as the model wrote it.
            let input = parse(self.input.as_bytes()).unwrap_or(Value::String(self.input.into()));
            self.fields.insert("input".to_owned(), input.into());
        }
        Value::Object(object(self.fields))
    }
}
