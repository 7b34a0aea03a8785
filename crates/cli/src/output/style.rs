//! The few styles there are. Their colours are of the fixed part of the 256-colour palette, which no theme changes, and of a
//! middle brightness, so that they can be read on black and on white: many themes have a blue that cannot be read on black.

use anstyle::{Ansi256Color, Color, Effects, Style};

const fn colour(colour: u8) -> Style {
    Style::new().fg_color(Some(Color::Ansi256(Ansi256Color(colour))))
}

const RED: u8 = 160;
const GREEN: u8 = 28;
const AMBER: u8 = 130;
const BLUE: u8 = 32;
const MAGENTA: u8 = 133;
const CYAN: u8 = 30;

/// Ids of nodes.
pub(crate) const ID: Style = colour(CYAN);
/// Regions and titles.
pub(crate) const TITLE: Style = Style::new().effects(Effects::BOLD);
/// What is there but matters less: sizes, lines of the tree.
pub(crate) const DIM: Style = Style::new().effects(Effects::DIMMED);
/// A ttl.
pub(crate) const TTL: Style = colour(AMBER);
/// A node that expires with the coming commit.
pub(crate) const DUE: Style = colour(RED);
/// Added nodes.
pub(crate) const ADDED: Style = colour(GREEN);
/// Removed nodes.
pub(crate) const REMOVED: Style = colour(RED);
/// Changed nodes.
pub(crate) const CHANGED: Style = colour(AMBER);
/// Keys, tags and pins.
pub(crate) const MARK: Style = colour(MAGENTA);
/// The word `error`.
pub(crate) const ERROR: Style = colour(RED).effects(Effects::BOLD);
/// The word `warning`.
pub(crate) const WARNING: Style = colour(AMBER).effects(Effects::BOLD);
/// The word `hint`.
pub(crate) const HINT: Style = colour(CYAN).effects(Effects::BOLD);

/// The style of a role.
pub(crate) fn role(role: &str) -> Style {
    match role {
        "system" | "developer" => colour(MAGENTA),
        "user" => colour(GREEN),
        "assistant" => colour(BLUE),
        "tool" => colour(AMBER),
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

#[cfg(test)]
mod tests {
    use super::{AMBER, BLUE, CYAN, GREEN, MAGENTA, RED};

    /// Returns the relative luminance of a colour of the cube (16 to 231), as the WCAG defines it.
    fn luminance(colour: u8) -> f64 {
        let step = |level: u8| if level == 0 { 0.0 } else { f64::from(55 + 40 * level) / 255.0 };
        let linear = |value: f64| match value <= 0.040_45 {
            true => value / 12.92,
            false => ((value + 0.055) / 1.055).powf(2.4),
        };
        let index = colour - 16;
        let [red, green, blue] =
            [index / 36, index / 6 % 6, index % 6].map(|level| linear(step(level)));
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    #[test]
    fn colours_can_be_read_on_black_and_on_white() {
        for colour in [RED, GREEN, AMBER, BLUE, MAGENTA, CYAN] {
            let light = luminance(colour);
            let (on_white, on_black) = (1.05 / (light + 0.05), (light + 0.05) / 0.05);
            assert!(on_white >= 3.5 && on_black >= 3.5, "{colour}: {on_white:.1}, {on_black:.1}");
        }
    }
}
