//! Contents and values, as they are given on the command line.

use contextree::json::{Object, Value, parse};

use super::Call;
use crate::error::Failure;
use crate::source::read_bytes;

/// Where the content comes from: an argument, a file, or standard input.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ContentOptions {
    /// The content, as text; `-` reads standard input
    #[arg(allow_hyphen_values = true, value_parser = text)]
    content: Option<String>,

    /// The content after `--`, which may look like an option
    #[arg(last = true, hide = true, value_name = "TEXT", conflicts_with = "content")]
    literal: Option<String>,

    /// Read the content from this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["content", "literal"])]
    content_file: Option<String>,

    /// The content as JSON instead of text
    #[arg(long, value_name = "JSON", conflicts_with_all = ["content", "literal", "content_file"])]
    content_json: Option<String>,
}

/// Reads a text that may begin with a hyphen, as an item of a list does. What looks like an option is not a text.
fn text(text: &str) -> Result<String, String> {
    let is_option = text.starts_with('-') && text.len() > 1 && !text.contains(char::is_whitespace);
    match is_option {
        true => {
            Err(format!("there is no option `{text}`; a text like this is written `-- {text}`"))
        }
        false => Ok(text.to_owned()),
    }
}

impl ContentOptions {
    /// Reads the content of a new block: if none is given, what comes through a pipe. An empty block is made only on request.
    pub(crate) fn read_for_block(&self, call: &Call<'_>) -> Result<Value, Failure> {
        let missing = |message: &str| {
            Failure::usage(message)
                .with_hint(
                    "write it as an argument, name a file with `--content-file`, or pipe it in",
                )
                .with_hint("`--empty` adds a block without content")
        };
        match self.read()? {
            Some(Value::String(text)) if text.is_empty() => Err(missing("the content is empty")),
            Some(content) => Ok(content),
            None => piped(call)?.ok_or_else(|| missing("the content is missing")),
        }
    }

    /// Reads the content, and if none is given, what comes through a pipe. `None` if nothing comes.
    pub(crate) fn read_or_piped(&self, call: &Call<'_>) -> Result<Option<Value>, Failure> {
        match self.read()? {
            Some(content) => Ok(Some(content)),
            None => piped(call),
        }
    }

    /// Reads the content; `None` if none is given.
    pub(crate) fn read(&self) -> Result<Option<Value>, Failure> {
        if let Some(text) = &self.content_json {
            return Ok(Some(json("--content-json", text)?));
        }
        if let Some(text) = &self.literal {
            return Ok(Some(Value::from(text.as_str())));
        }
        let bytes = match (&self.content, &self.content_file) {
            (Some(text), _) if text != "-" => return Ok(Some(Value::from(text.as_str()))),
            (Some(_), _) => read_bytes("-")?,
            (None, Some(file)) => read_bytes(file)?,
            (None, None) => return Ok(None),
        };
        utf8(bytes).map(Some)
    }
}

/// Reads what comes through a pipe; `None` if it is empty, or if standard input is a terminal.
fn piped(call: &Call<'_>) -> Result<Option<Value>, Failure> {
    if call.environment.stdin_is_terminal {
        return Ok(None);
    }
    let bytes = read_bytes("-")?;
    if bytes.is_empty() { Ok(None) } else { utf8(bytes).map(Some) }
}

/// Returns bytes as text.
fn utf8(bytes: Vec<u8>) -> Result<Value, Failure> {
    String::from_utf8(bytes).map(|text| Value::from(text.as_str())).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::usage(format!(
            "the content is not UTF-8 text: the byte at {at} is not part of one"
        ))
        .with_hint("text in Latin-1: `iconv -f LATIN1 -t UTF-8 FILE | ctx add -`")
        .with_hint(
            "other bytes: encode them, for example with `base64`, and pass `--encoding base64`",
        )
    })
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
