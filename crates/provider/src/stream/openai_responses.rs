//! Collects the events of OpenAI's Responses: the last one has the whole response; the others say what has arrived before.

use std::collections::BTreeMap;

use contextree_json::{Object, Value};

use super::StreamError;
use super::grow::{Fields, Growing, append, fields, list, skip};
use crate::read::Shape;

/// A response in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Response {
    /// Its items by `output_index`. A server may leave out numbers.
    items: BTreeMap<u64, Growing>,
    text: String,
    /// The response of the last event.
    last: Option<Object>,
    skipped: Vec<String>,
    has_begun: bool,
}

impl Response {
    pub(super) fn add(&mut self, event: Value) -> Result<(), StreamError> {
        let Value::Object(mut event) = event else { return Err(Shape::new("an object").into()) };
        let kind = match event.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            _ => return Err(Shape::new("a string").within("type").into()),
        };
        if &*kind == "error" {
            let error = event.get("error").filter(|error| error.as_object().is_some()).cloned();
            return Err(StreamError::reported(&error.unwrap_or(Value::Object(event))));
        }
        // The provider also sends what is not part of the response, before it begins, too: `keepalive`, `codex.rate_limits`.
        if !kind.starts_with("response.") {
            skip(&mut self.skipped, format!("event `{kind}`"));
            return Ok(());
        }
        if self.last.is_some() {
            return Err(Shape::new("no event after the response is complete")
                .within("type")
                .into());
        }
        if !self.has_begun && !matches!(&*kind, "response.created" | "response.queued") {
            return Err(Shape::new("`response.created` as the first event").within("type").into());
        }
        self.has_begun = true;
        match &*kind {
            "response.completed" | "response.incomplete" | "response.failed" => {
                match event.remove("response") {
                    Some(Value::Object(response)) => self.last = Some(response),
                    _ => return Err(Shape::new("an object").within("response").into()),
                }
            }
            "response.output_item.added" | "response.output_item.done" => {
                let item = event.remove("item").unwrap_or_default();
                let index = number(&event, "output_index")?;
                if item.as_object().is_some() {
                    self.items.insert(index, item.into());
                }
            }
            kind => self.grow(kind, event)?,
        }
        Ok(())
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_complete(&self) -> bool {
        self.last.is_some()
    }

    pub(super) fn skipped(&self) -> &[String] {
        &self.skipped
    }

    pub(super) fn into_document(self) -> Value {
        let mut response = self.last.unwrap_or_default();
        // Some servers leave out in the last event what the others said already.
        let is_filled = |output: &Value| matches!(output, Value::Array(list) if !list.is_empty());
        if !response.get("output").is_some_and(is_filled) {
            let items = self.items.into_values().map(Value::from);
            response.insert("output", Value::Array(items.collect()));
        }
        Value::Object(response)
    }

    /// Adds a piece to an item. Events that only tell of progress are left out: the item itself follows when it is done.
    fn grow(&mut self, kind: &str, mut event: Object) -> Result<(), StreamError> {
        let kind = kind.strip_prefix("response.").unwrap_or(kind);
        let (noun, step) = kind.rsplit_once('.').unwrap_or((kind, ""));
        let (list_name, index_name, field) = match noun {
            "content_part" => (Some("content"), "content_index", "part"),
            "reasoning_summary_part" => (Some("summary"), "summary_index", "part"),
            "output_text" => (Some("content"), "content_index", "text"),
            "refusal" => (Some("content"), "content_index", "refusal"),
            "reasoning_text" => (Some("content"), "content_index", "text"),
            "reasoning_summary_text" => (Some("summary"), "summary_index", "text"),
            "function_call_arguments" | "mcp_call_arguments" => (None, "", "arguments"),
            "custom_tool_call_input" => (None, "", "input"),
            "code_interpreter_call_code" => (None, "", "code"),
            "output_text.annotation" if step == "added" => {
                let annotation = event.remove("annotation").unwrap_or_default();
                let part = self.place(&event, Some("content"), "content_index", None)?;
                list(part, "annotations")?.push(annotation.into());
                return Ok(());
            }
            _ => return Ok(()),
        };
        match (field, step) {
            ("part", "added" | "done") => {
                let part = event.remove("part").unwrap_or_default();
                self.place(&event, list_name, index_name, Some(part))?;
            }
            ("part", _) => {}
            (field, "delta") => {
                let delta = text(&event, "delta")?.to_owned();
                if noun == "output_text" {
                    self.text.push_str(&delta);
                }
                append(self.place(&event, list_name, index_name, None)?, field, &delta);
            }
            (field, "done") => {
                let whole = Growing::Text(text(&event, field)?.to_owned());
                self.place(&event, list_name, index_name, None)?.insert(field.to_owned(), whole);
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the object that an event is about: an item, or an entry of one of its lists, which may be set or added here.
    fn place(
        &mut self,
        event: &Object,
        list_name: Option<&str>,
        index_name: &str,
        entry: Option<Value>,
    ) -> Result<&mut Fields, StreamError> {
        let item = self.items.get_mut(&number(event, "output_index")?);
        let shape = || Shape::new("the index of an item that was added").within("output_index");
        let item = item.ok_or_else(shape)?.fields()?;
        let Some(list_name) = list_name else { return Ok(item) };
        let index = usize::try_from(number(event, index_name)?).unwrap_or(usize::MAX);
        let entries = list(item, list_name)?;
        match entry {
            Some(Value::Object(entry)) if index < entries.len() => {
                entries[index] = Growing::Object(fields(entry));
            }
            Some(Value::Object(entry)) if index == entries.len() => {
                entries.push(Growing::Object(fields(entry)));
            }
            _ => {}
        }
        let shape = || Shape::new("the index of a part that was added").within(index_name);
        Ok(entries.get_mut(index).ok_or_else(shape)?.fields()?)
    }
}

fn number(event: &Object, name: &str) -> Result<u64, Shape> {
    let number = event.get(name).and_then(Value::as_u64);
    number.ok_or_else(|| Shape::new("a whole number").within(name))
}

fn text<'a>(event: &'a Object, name: &str) -> Result<&'a str, Shape> {
    let text = event.get(name).and_then(Value::as_str);
    text.ok_or_else(|| Shape::new("a string").within(name))
}
