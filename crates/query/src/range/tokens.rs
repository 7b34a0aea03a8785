//! Word diffs: runs of whitespace and runs of everything else.

use similar::{Algorithm, ChangeTag, TextDiff};

use super::content_diff::{Hunk, HunkKind};

/// Returns the runs of tokens that two texts share, and that only one has; together they spell both
/// texts.
pub(super) fn token_hunks(before: &str, after: &str) -> Vec<Hunk> {
    let (old, new) = (tokens(before), tokens(after));
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).diff_slices(&old, &new);
    let mut hunks: Vec<Hunk> = Vec::new();
    for change in diff.iter_all_changes() {
        let kind = match change.tag() {
            ChangeTag::Equal => HunkKind::Keep,
            ChangeTag::Delete => HunkKind::Delete,
            ChangeTag::Insert => HunkKind::Insert,
        };
        match hunks.last_mut() {
            Some(last) if last.kind == kind => last.text.push_str(change.value()),
            _ => hunks.push(Hunk { kind, text: change.value().to_owned() }),
        }
    }
    hunks
}

fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_blank = first.is_whitespace();
        let end = rest.find(|each: char| each.is_whitespace() != is_blank).unwrap_or(rest.len());
        let (token, after) = rest.split_at(end);
        tokens.push(token);
        rest = after;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_reproduce_both_texts() {
        let (before, after) = ("one two\nthree", "one 2\nthree  four");
        let hunks = token_hunks(before, after);
        let spell = |leave: HunkKind| -> String {
            hunks.iter().filter(|hunk| hunk.kind != leave).map(|hunk| &*hunk.text).collect()
        };
        assert_eq!(spell(HunkKind::Insert), before);
        assert_eq!(spell(HunkKind::Delete), after);
    }
}
