//! Wrong arguments: what clap says about them, with a hint that helps.

use std::error::Error as _;
use std::ffi::OsString;
use std::io::Write as _;
use std::num::{IntErrorKind, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use contextree::selector::closest;
use contextree::store::mask_secrets;

use super::{Exit, Failure, drawable, to_text, to_value};

/// Reports wrong arguments, or prints the help that was asked for. Returns the exit code.
pub(crate) fn report_usage(error: &clap::Error, arguments: &[OsString], as_json: bool) -> u8 {
    if !error.use_stderr() {
        // Help and version are data. A closed pipe is not an error.
        let _ = write!(anstream::stdout(), "{}", drawable(error.render().ansi().to_string()));
        return Exit::Ok.code();
    }
    let explained = value(error).or_else(|| unexpected(error, arguments));
    if let Some((message, hint)) = explained {
        // An argument that was misplaced is repeated in the message, and may be the URL of a store with its password.
        let failure = Failure::usage(mask_secrets(&message)).with_hint(mask_secrets(&hint));
        match as_json {
            true => crate::output::print_error(&to_value(&failure)),
            false => {
                let text = crate::output::style::paint_failure(&to_text(&failure));
                let _ = writeln!(anstream::stderr(), "{}", drawable(text));
            }
        }
    } else if as_json {
        let text = mask_secrets(&error.render().to_string());
        let mut parts = text.split("\n\n").map(str::trim);
        let message = parts.next().unwrap_or_default();
        let mut failure = Failure::usage(message.strip_prefix("error: ").unwrap_or(message));
        for part in parts {
            if let Some(usage) = part.strip_prefix("Usage: ") {
                failure = failure.with_detail("usage", usage);
            } else if let Some(tip) = part.strip_prefix("tip: ") {
                failure = failure.with_hint(tip);
            }
        }
        crate::output::print_error(&to_value(&failure));
    } else {
        let text = mask_secrets(&error.render().ansi().to_string());
        // It names its code, like every other error.
        let text = text.replacen("error:", "error[E_USAGE]:", 1);
        let _ = write!(anstream::stderr(), "{}", drawable(text));
    }
    Exit::Usage.code()
}

/// Returns what is wrong with the value of an option, and what to write instead.
fn value(error: &clap::Error) -> Option<(String, String)> {
    if error.kind() != ErrorKind::ValueValidation {
        return None;
    }
    let text = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let (option, value) = (text(ContextKind::InvalidArg)?, text(ContextKind::InvalidValue)?);
    let source = error.source()?;
    let (why, hint) = explain(&source.to_string(), source.downcast_ref::<ParseIntError>());
    Some((format!("invalid value '{value}' for '{option}': {why}"), hint?))
}

/// Returns what is wrong with a value, and a hint if there is one: numbers have one, and so has whatever says what it expects.
fn explain(message: &str, number: Option<&ParseIntError>) -> (String, Option<String>) {
    if let Some(error) = number {
        let (why, hint) = match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
                ("the number is too large", "write a smaller number, without a unit")
            }
            _ => ("it is not a whole number", "write digits only, such as `3`"),
        };
        return (why.to_owned(), Some(hint.to_owned()));
    }
    if let Some((_, range)) = message.split_once(" is not in ")
        && let Some((low, high)) = range.split_once("..=")
    {
        let hint = match high.parse::<u32>() {
            Ok(high) if high < u32::MAX => format!("write a whole number from {low} to {high}"),
            _ => format!("write a whole number from {low} on"),
        };
        return ("the number is out of range".to_owned(), Some(hint));
    }
    for (sign, word) in [("; expected one of ", "write one of "), ("; expected ", "write one of ")]
    {
        if let Some((why, expected)) = message.split_once(sign) {
            return (why.to_owned(), Some(format!("{word}{expected}")));
        }
    }
    match message.split_once("; ") {
        Some((why, hint)) => (why.to_owned(), Some(hint.to_owned())),
        None => (message.to_owned(), None),
    }
}

/// Explains an argument that is one too many: a content is one argument, and a misspelt option is taken for it.
fn unexpected(error: &clap::Error, arguments: &[OsString]) -> Option<(String, String)> {
    let Some(ContextValue::String(found)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument || found.starts_with('-') {
        return None;
    }
    let message = format!("unexpected argument '{found}' found");
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let root = crate::command();
    let command = words.iter().skip(1).find_map(|word| root.find_subcommand(word))?;
    let options: Vec<String> = command
        .get_arguments()
        .chain(root.get_arguments())
        .filter_map(|option| Some(format!("--{}", option.get_long()?)))
        .collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let names = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
    let until = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    for word in words[..until].iter().filter(|word| word.starts_with("--")) {
        let name = names(word);
        if !options.contains(&&*name)
            && let Some(option) = closest(&name, &options)
        {
            return Some((
                message,
                format!("there is no option `{name}`: did you mean `{option}`?"),
            ));
        }
    }
    let hint = match command.get_positionals().next().map(|it| it.get_id().as_str() == "content") {
        Some(true) => "a content with blanks is one argument, in quotes: 'one two'".to_owned(),
        _ => format!("`ctx {} --help` shows what it takes", command.get_name()),
    };
    Some((message, hint))
}

#[cfg(test)]
mod tests {
    use super::explain;

    #[test]
    fn whatever_is_wrong_with_a_value_there_is_a_hint_what_to_write() {
        let number = |text: &str| {
            let error = text.parse::<u32>().expect_err("it is not a number");
            explain(&error.to_string(), Some(&error))
        };
        let expected = ("it is not a whole number".to_owned(), "write digits only, such as `3`");
        for text in ["x", "", "-1", "1.5", "10k"] {
            let (why, hint) = number(text);
            assert_eq!((why, hint.as_deref()), (expected.0.clone(), Some(expected.1)), "{text}");
        }
        assert_eq!(number("99999999999").0, "the number is too large");
        for (message, hint) in [
            ("0 is not in 1..=4294967295", "write a whole number from 1 on"),
            ("9 is not in 0..=7", "write a whole number from 0 to 7"),
            ("unknown format `x`; expected auto, flat", "write one of auto, flat"),
            ("unknown provider `x`; expected one of `a`, `b`", "write one of `a`, `b`"),
            ("`10x` is not a size; write for example `10k`", "write for example `10k`"),
        ] {
            assert_eq!(explain(message, None).1.as_deref(), Some(hint), "{message}");
        }
        assert_eq!(explain("no hint here", None).1, None);
    }
}
