//! Asks before something that cannot be undone.

use std::io::BufRead as _;

use contextree::store::mask_secrets;

use super::Call;
use crate::error::Failure;
use crate::output::text::argument;

/// Returns the command as it was given, with `--yes`: the same store, context and options, so that it does the same thing when it is copied. The
/// password in the URL of a store is left out.
pub(super) fn again(call: &Call<'_>) -> String {
    let words = &call.global.words;
    let options = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let (before, after) = words.split_at(options);
    let all = before.iter().map(String::as_str).chain(["--yes"]);
    let all = all.chain(after.iter().map(String::as_str)).map(argument);
    let text = all.collect::<Vec<_>>().join(" ");
    mask_secrets(&format!("ctx {text}"))
}

/// Asks on a terminal whether to do something; elsewhere refuses, and says how to do it without a question.
pub(super) fn confirm(verb: &str, what: &str, again: &str, call: &Call<'_>) -> Result<(), Failure> {
    let environment = call.environment;
    if !(environment.stdin_is_terminal && environment.stderr_is_terminal) {
        return Err(Failure::usage(format!("refusing to {verb} {what}"))
            .with_hint(format!("pass `--yes`: `{again}`")));
    }
    call.output.say(&format!("{verb} {what}? This cannot be undone. Type `yes`:"));
    let mut answer = String::new();
    match std::io::stdin().lock().read_line(&mut answer) {
        Ok(_) if answer.trim().eq_ignore_ascii_case("yes") => Ok(()),
        Ok(_) => Err(Failure::usage(format!("not confirmed: refusing to {verb} {what}"))
            .with_hint(format!("type the whole word `yes`, or pass `--yes`: `{again}`"))),
        Err(error) => Err(Failure::io("standard input", error)),
    }
}
