//! One piece of a conversation, in a form that a log and a tree share.

use serde_json::Value;

/// A piece: its kind, and everything that identifies it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Piece(String);

impl Piece {
    /// A text; `None` if it is empty, because no provider accepts that.
    pub(crate) fn text(text: &str) -> Option<Piece> {
        (!text.is_empty()).then(|| Piece(format!("text {text}")))
    }

    /// Reasoning, with what the provider needs to read it again; `None` if it has neither.
    pub(crate) fn reasoning(text: &str, signature: &str) -> Option<Piece> {
        let is_empty = text.is_empty() && signature.is_empty();
        (!is_empty).then(|| Piece(format!("reasoning {signature} {text}")))
    }

    /// A tool call.
    pub(crate) fn call(id: &str, name: &str, arguments: &Value) -> Piece {
        Piece(format!("call {id} {name} {}", written(arguments)))
    }

    /// The result of a tool call.
    pub(crate) fn result(id: &str, content: &Value) -> Piece {
        Piece(format!("result {id} {}", written(content)))
    }

    /// An image or a document.
    pub(crate) fn media(data: &str) -> Piece {
        Piece(format!("media {data}"))
    }
}

impl std::fmt::Display for Piece {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 160;
        formatter.write_str(&self.0.chars().take(SHOWN).collect::<String>())
    }
}

/// Returns a text as it is, the texts of a list of texts, and anything else as JSON.
fn written(value: &Value) -> String {
    let texts = |parts: &Vec<Value>| {
        let text = |part: &Value| Some(part.get("text")?.as_str()?.to_owned());
        parts.iter().map(text).collect::<Option<Vec<String>>>()
    };
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => texts(parts).map_or_else(|| value.to_string(), |it| it.concat()),
        value => value.to_string(),
    }
}
