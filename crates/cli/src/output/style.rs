//! The few styles there are. Sixteen colours, so that the terminal's own theme decides how they look.

use anstyle::{AnsiColor, Effects, Style};

const fn colour(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi(colour)))
}

/// Ids of nodes.
pub(crate) const ID: Style = colour(AnsiColor::Cyan);
/// Regions and titles.
pub(crate) const TITLE: Style = Style::new().effects(Effects::BOLD);
/// What is there but matters less: sizes, lines of the tree.
pub(crate) const DIM: Style = Style::new().effects(Effects::DIMMED);
/// A ttl.
pub(crate) const TTL: Style = colour(AnsiColor::Yellow);
/// A node that expires with the coming commit.
pub(crate) const DUE: Style = colour(AnsiColor::Red);
/// Added nodes.
pub(crate) const ADDED: Style = colour(AnsiColor::Green);
/// Removed nodes.
pub(crate) const REMOVED: Style = colour(AnsiColor::Red);
/// Changed nodes.
pub(crate) const CHANGED: Style = colour(AnsiColor::Yellow);
/// Keys, tags and pins.
pub(crate) const MARK: Style = colour(AnsiColor::Magenta);
/// The word `error`.
pub(crate) const ERROR: Style = colour(AnsiColor::Red).effects(Effects::BOLD);
/// The word `warning`.
pub(crate) const WARNING: Style = colour(AnsiColor::Yellow).effects(Effects::BOLD);
/// The word `hint`.
pub(crate) const HINT: Style = colour(AnsiColor::Cyan).effects(Effects::BOLD);

/// The style of a role.
pub(crate) fn role(role: &str) -> Style {
    match role {
        "system" | "developer" => colour(AnsiColor::Magenta),
        "user" => colour(AnsiColor::Green),
        "assistant" => colour(AnsiColor::Blue),
        "tool" => colour(AnsiColor::Yellow),
        _ => Style::new(),
    }
}

/// Returns a text in a style.
pub(crate) fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Colours the text of a failure: its first word, carets, and hints.
pub(crate) fn paint_failure(text: &str) -> String {
    let lines = text.lines().map(|line| {
        if let Some(rest) = line.strip_prefix("error") {
            return format!("{}{rest}", paint(ERROR, "error"));
        }
        if let Some(rest) = line.strip_prefix("hint:") {
            return format!("{}{rest}", paint(HINT, "hint:"));
        }
        match line.split_once(" | ") {
            Some((margin, carets)) if carets.trim_matches([' ', '^']).is_empty() => {
                format!("{margin} | {}", paint(ERROR, carets))
            }
            _ => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}
