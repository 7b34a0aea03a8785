//! Reads TOML and JSON into one kind of document, in which every value has its position.

use contextree_json::{Event, ParseError, Reader};
use toml::de::{DeTable, DeValue};

use crate::error::{BudgetError, Fault};

/// A value and the offset at which it begins.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) at: usize,
    pub(crate) value: Value,
}

/// What a budget may contain.
#[derive(Debug)]
pub(crate) enum Value {
    /// Keys in the order of the text, each with its offset. Keys may repeat.
    Table(Vec<(String, usize, Item)>),
    List(Vec<Item>),
    Text(String),
    Whole(u64),
    Truth(bool),
    /// Any other value, by the name of its type.
    Other(&'static str),
}

impl Value {
    /// Returns the name of the type with its article.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Value::Table(_) => "a table",
            Value::List(_) => "a list",
            Value::Text(_) => "a string",
            Value::Whole(_) => "a whole number",
            Value::Truth(_) => "a boolean",
            Value::Other(name) => name,
        }
    }
}

/// Returns the line and the column of an offset, both from 1.
pub(crate) fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// Reads TOML.
pub(crate) fn toml(text: &str) -> Result<Item, BudgetError> {
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().unwrap_or(0..0);
        let (line, column) = place(text, at.start);
        // Only the first line of the parser's message: the others draw the position, which is
        // reported separately.
        let message = error.message().lines().next().unwrap_or_default().to_owned();
        if message.starts_with("duplicate key") {
            let key = text.get(at).unwrap_or_default().trim().to_owned();
            let hint = "remove one of the two".to_owned();
            return BudgetError { fault: Fault::DuplicateKey, key, line, column, hint };
        }
        syntax(message, line, column, "this is read as TOML: `key = value`, one per line")
    })?;
    Ok(Item { at: 0, value: of_table(table.get_ref()) })
}

fn of_table(table: &DeTable<'_>) -> Value {
    let mut entries: Vec<(String, usize, Item)> = table
        .iter()
        .map(|(key, value)| {
            let item = Item { at: value.span().start, value: of_value(value.get_ref()) };
            (key.get_ref().to_string(), key.span().start, item)
        })
        .collect();
    entries.sort_by_key(|(_, at, _)| *at);
    Value::Table(entries)
}

fn of_value(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            let whole = u64::from_str_radix(digits.trim_start_matches('+'), number.radix());
            whole.map_or(Value::Other("a negative or too large number"), Value::Whole)
        }
        DeValue::Float(_) => Value::Other("a number with a fraction"),
        DeValue::Boolean(value) => Value::Truth(*value),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(values) => {
            let item = |value: &toml::Spanned<DeValue<'_>>| Item {
                at: value.span().start,
                value: of_value(value.get_ref()),
            };
            Value::List(values.iter().map(item).collect())
        }
        DeValue::Table(table) => of_table(table),
    }
}

/// Reads JSON.
pub(crate) fn json(text: &str) -> Result<Item, BudgetError> {
    let refuse = |error: ParseError| {
        let hint = "this is read as JSON: {\"max_tokens\": 100000}";
        syntax(error.to_string(), error.line(), error.column(), hint)
    };
    let mut reader = Reader::new(text.as_bytes());
    let first = reader.next().map_err(refuse)?;
    // The open tables and lists, and the key that waits for a value. The reader limits the depth.
    let mut open: Vec<(Item, Option<(String, usize)>)> = Vec::new();
    let mut event = first;
    loop {
        let at = reader.offset();
        let done = match event {
            Event::ObjectStart => {
                open.push((Item { at, value: Value::Table(Vec::new()) }, None));
                None
            }
            Event::ArrayStart => {
                open.push((Item { at, value: Value::List(Vec::new()) }, None));
                None
            }
            Event::Key(key) => {
                if let Some((_, waiting)) = open.last_mut() {
                    *waiting = Some((key.into_owned(), at));
                }
                None
            }
            Event::ObjectEnd | Event::ArrayEnd => open.pop().map(|(item, _)| item),
            Event::String(text) => Some(Item { at, value: Value::Text(text.into_owned()) }),
            Event::Number(number) => {
                let other = Value::Other("a number that is negative, too large or has a fraction");
                Some(Item { at, value: number.as_u64().map_or(other, Value::Whole) })
            }
            Event::Bool(value) => Some(Item { at, value: Value::Truth(value) }),
            Event::Null => Some(Item { at, value: Value::Other("null") }),
            Event::End => None,
        };
        if let Some(item) = done {
            match open.last_mut() {
                Some((Item { value: Value::Table(entries), .. }, waiting)) => {
                    let (key, place) = waiting.take().unwrap_or_default();
                    entries.push((key, place, item));
                }
                Some((Item { value: Value::List(items), .. }, _)) => items.push(item),
                _ => {
                    reader.expect_end().map_err(refuse)?;
                    return Ok(item);
                }
            }
        }
        event = reader.next().map_err(refuse)?;
    }
}

fn syntax(message: String, line: usize, column: usize, hint: &str) -> BudgetError {
    let fault = Fault::Syntax { message };
    BudgetError { fault, key: String::new(), line, column, hint: hint.to_owned() }
}
