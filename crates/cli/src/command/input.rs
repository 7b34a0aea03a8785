//! Contents and values, as they are given on the command line.

use contextree::json::{Object, Value, parse};

use crate::error::Failure;
use crate::source::read_bytes;

/// Where the content comes from: an argument, a file, or standard input.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ContentOptions {
    /// The content, as text; `-` reads standard input
    content: Option<String>,

    /// Read the content from this file
    #[arg(long, value_name = "FILE", conflicts_with = "content")]
    content_file: Option<String>,

    /// The content as JSON instead of text
    #[arg(long, value_name = "JSON", conflicts_with_all = ["content", "content_file"])]
    content_json: Option<String>,
}

impl ContentOptions {
    /// Reads the content; `None` if none is given.
    pub(crate) fn read(&self) -> Result<Option<Value>, Failure> {
        if let Some(text) = &self.content_json {
            return Ok(Some(json("--content-json", text)?));
        }
        let bytes = match (&self.content, &self.content_file) {
            (Some(text), _) if text != "-" => return Ok(Some(Value::from(text.as_str()))),
            (Some(_), _) => read_bytes("-")?,
            (None, Some(file)) => read_bytes(file)?,
            (None, None) => return Ok(None),
        };
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(Value::from(text.as_str()))),
            Err(_) => Err(Failure::usage("the content is not UTF-8 text")
                .with_hint("encode it, for example with `base64`, and pass `--encoding base64`")),
        }
    }
}

/// Reads `name=text` pairs.
pub(crate) fn texts(pairs: &[String]) -> Result<Vec<(String, Value)>, Failure> {
    pairs.iter().map(|pair| Ok((name(pair)?.0, Value::from(name(pair)?.1)))).collect()
}

/// Reads `name=JSON` pairs.
pub(crate) fn values(pairs: &[String]) -> Result<Vec<(String, Value)>, Failure> {
    pairs.iter().map(|pair| Ok((name(pair)?.0, json(&name(pair)?.0, name(pair)?.1)?))).collect()
}

fn name(pair: &str) -> Result<(String, &str), Failure> {
    match pair.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value)),
        _ => Err(Failure::usage(format!("`{pair}` is not NAME=VALUE"))
            .with_hint("write for example `data_call_id=call-1`")),
    }
}

/// Reads `name=text` and `name=JSON` pairs into an object.
pub(crate) fn object(text: &[String], json: &[String]) -> Result<Object, Failure> {
    Ok(texts(text)?.into_iter().chain(values(json)?).collect())
}

/// Parses JSON that was given on the command line.
pub(crate) fn json(place: &str, text: &str) -> Result<Value, Failure> {
    parse(text.as_bytes()).map_err(|error| {
        Failure::new(error.code(), format!("{place}: {error}"))
            .with_hint("quote it for the shell: '{\"rain\":true}'")
    })
}
