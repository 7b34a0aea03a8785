//! What the program asks the machine for, in one place: the terminal, the environment, the time.

use std::io::IsTerminal as _;

use contextree::Clock;

use crate::args::Global;

/// The file that names the default context of a directory.
pub(crate) const CONTEXT_FILE: &str = ".contextree";

/// What is known of the surroundings.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    /// True if standard output is a terminal.
    pub(crate) stdout_is_terminal: bool,
    /// True if standard input is a terminal, so that one can ask.
    pub(crate) stdin_is_terminal: bool,
    /// True if standard error is a terminal.
    pub(crate) stderr_is_terminal: bool,
    /// The columns that a line may take; `None` if its length is not limited.
    pub(crate) width: Option<usize>,
    /// The lines of the terminal.
    pub(crate) height: Option<usize>,
    /// The pager to use, if there is one.
    pub(crate) pager: Option<String>,
    /// True if lines and arrows can be drawn: the locale has an encoding beyond ASCII.
    pub(crate) unicode: bool,
    /// The time, in nanoseconds since 1970.
    pub(crate) now: i64,
}

impl Environment {
    /// Looks at the process.
    pub(crate) fn of_process(global: &Global) -> Self {
        let stdout_is_terminal = std::io::stdout().is_terminal();
        let size = stdout_is_terminal.then(terminal_size::terminal_size).flatten();
        let columns = variable("COLUMNS").and_then(|text| text.parse().ok());
        // A variable that is set and empty means: no pager.
        let pager = raw_variable("CONTEXTREE_PAGER").or_else(|| raw_variable("PAGER"));
        let pager = pager.unwrap_or_else(|| "less -FRX".to_owned());
        let unicode = has_unicode();
        Environment {
            stdout_is_terminal,
            stdin_is_terminal: std::io::stdin().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            // Three dots take two columns more than an ellipsis.
            width: columns
                .or_else(|| size.map(|(width, _)| usize::from(width.0)))
                .map(|width: usize| if unicode { width } else { width.saturating_sub(2) }),
            height: size.map(|(_, height)| usize::from(height.0)),
            pager: (!global.no_pager && stdout_is_terminal && !pager.is_empty()).then_some(pager),
            unicode,
            now: global.now.unwrap_or_else(|| contextree::SystemClock.now_ns()),
        }
    }
}

/// Returns the columns of help pages, as clap finds them.
pub(crate) fn columns_of_help() -> usize {
    let size = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let columns = size.or_else(|| variable("COLUMNS").and_then(|text| text.parse().ok()));
    columns.unwrap_or(crate::args::WIDEST).min(crate::args::WIDEST)
}

/// Returns the context that the working directory names as its default. Only the directory itself counts, like for the
/// store: a file further up could be another user's.
pub(crate) fn context_of_folder() -> Option<String> {
    let text = std::fs::read_to_string(CONTEXT_FILE).ok()?;
    let name = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(name.to_owned())
}

/// Returns a variable of the environment, unless it is empty or no text.
pub(crate) fn variable(name: &str) -> Option<String> {
    raw_variable(name).filter(|text| !text.is_empty())
}

/// Returns a variable of the environment, also an empty one.
#[expect(clippy::disallowed_methods, reason = "this is the edge where the environment comes in")]
fn raw_variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns false if the locale is that of plain ASCII, or names another encoding than UTF-8. The first of the three variables that is set
/// decides, as everywhere; without any, the terminal is taken for a modern one.
pub(crate) fn has_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable);
    locale.is_none_or(|locale| is_unicode(&locale))
}

/// Returns whether a locale has the lines and arrows: `en_US.UTF-8`, and `en_US`, which names no encoding.
fn is_unicode(locale: &str) -> bool {
    let encoding = locale.split_once('.').map(|(_, rest)| rest.split('@').next().unwrap_or(rest));
    let is_utf8 = |name: &str| name.replace('-', "").eq_ignore_ascii_case("utf8");
    !matches!(locale, "C" | "POSIX") && encoding.is_none_or(is_utf8)
}

#[cfg(test)]
mod tests {
    use super::is_unicode;

    #[test]
    fn lines_are_drawn_only_where_the_encoding_has_them() {
        for locale in ["C.UTF-8", "en_US.utf8", "de_DE.UTF-8@euro", "en_US", "C.utf8"] {
            assert!(is_unicode(locale), "{locale}");
        }
        for locale in ["C", "POSIX", "en_US.ISO-8859-1", "de_DE.ISO-8859-15@euro", "ja_JP.eucJP"] {
            assert!(!is_unicode(locale), "{locale}");
        }
    }
}
