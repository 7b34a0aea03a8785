//! Asks before something that cannot be undone.

use std::io::BufRead as _;

use super::Call;
use crate::error::Failure;

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
