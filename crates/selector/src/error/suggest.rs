//! Suggestions: finds the known name that was probably meant.

/// Longest name, in characters, that is compared; the cost of a suggestion is at most quadratic in
/// this.
const MAX_CHARACTERS: usize = 32;

/// Returns the candidate most similar to `written` if the difference is probably a typo: ignoring
/// case, one edit, or two from six characters on. An edit inserts, removes or replaces a character
/// or swaps two adjacent ones. The first of equally similar candidates wins.
///
/// ```
/// use contextree_selector::closest;
///
/// assert_eq!(closest("frist", &["first", "last"]), Some("first"));
/// assert_eq!(closest("banana", &["first", "last"]), None);
/// ```
pub fn closest<'c>(written: &str, candidates: &[&'c str]) -> Option<&'c str> {
    let written: Vec<char> = written.chars().take(MAX_CHARACTERS + 1).collect();
    if written.is_empty() || written.len() > MAX_CHARACTERS {
        return None;
    }
    let lower: Vec<char> = written.iter().map(char::to_ascii_lowercase).collect();
    let allowed = |candidate: &str| (candidate.len().max(written.len()) / 3).clamp(1, 2);
    candidates
        .iter()
        .filter(|candidate| candidate.len() <= MAX_CHARACTERS)
        .map(|candidate| (distance(&lower, &candidate.to_ascii_lowercase()), *candidate))
        .filter(|(edits, candidate)| *edits <= allowed(candidate) && *edits < candidate.len())
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Returns the number of edits between two short texts (optimal string alignment).
fn distance(left: &[char], right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    // Three rows of the usual table: the row before the previous one is needed for swaps.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, &from) in left.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, &to) in right.iter().enumerate() {
            let replace = last[column] + usize::from(from != to);
            let mut edits = replace.min(last[column + 1] + 1).min(next[column] + 1);
            if row > 0 && column > 0 && from == right[column - 1] && left[row - 1] == to {
                edits = edits.min(before[column - 1] + 1);
            }
            next.push(edits);
        }
        before = std::mem::replace(&mut last, next);
    }
    last[right.len()]
}
