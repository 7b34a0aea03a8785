//! The phrases, and what to write instead.

use super::words::Word;

/// A phrase to avoid.
pub(super) struct Phrase {
    /// Words in lower case; `|` separates alternatives, `` ` `` is any code span, `;` and `,` are
    /// themselves.
    words: &'static [&'static str],
    /// Words before which the phrase is fine: "goes wrong".
    fine_before: &'static [&'static str],
    /// Words after which the phrase is fine: "there is no".
    fine_after: &'static [&'static str],
    /// What to write instead.
    pub(super) instead: &'static str,
}

impl Phrase {
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns whether the phrase begins at a word.
    pub(super) fn matches(&self, words: &[Word], at: usize) -> bool {
        let Some(here) = words.get(at..at + self.words.len()) else { return false };
        let is_same = |(word, pattern): (&Word, &&str)| {
            pattern.split('|').any(|alternative| alternative == word.text)
        };
        let after = words.get(at + self.words.len()).map(|word| word.text.as_str());
        let before = at.checked_sub(1).and_then(|at| words.get(at)).map(|word| word.text.as_str());
        here.iter().zip(self.words).all(is_same)
            && !after.is_some_and(|word| self.fine_before.contains(&word))
            && !before.is_some_and(|word| self.fine_after.contains(&word))
    }
}

const fn phrase(words: &'static [&'static str], instead: &'static str) -> Phrase {
    Phrase { words, fine_before: &[], fine_after: &[], instead }
}

const fn unless(
    words: &'static [&'static str],
    fine_after: &'static [&'static str],
    fine_before: &'static [&'static str],
    instead: &'static str,
) -> Phrase {
    Phrase { words, fine_before, fine_after, instead }
}

/// All of them; the first that matches counts.
pub(super) const PHRASES: [Phrase; 30] = [
    unless(&["stand|stands|stood|standing"], &[], &["for", "alone", "out"], "is in, follows"),
    phrase(&["one", "behind", "the", "other"], "one after the other"),
    unless(
        &["behind", "a|an|the|one"],
        &[],
        &["feature", "flag", "trait", "proxy", "lock"],
        "after",
    ),
    unless(&["behind"], &[], &["a", "an", "the", "one"], "after"),
    phrase(&[";|,|or", "nothing", "if|unless|where|when|otherwise"], "`None` if …"),
    phrase(&["nothing", "if|unless|where|when|otherwise"], "`None` if …"),
    unless(&[";", "nothing"], &[], &["is", "was", "has", "can", "may", "of"], "; `None` if …"),
    phrase(&["or", "nothing"], "or `None`"),
    unless(&["is|are|was|were|be", "none"], &["there"], &[], "is invalid, is not a …"),
    unless(
        &["is|are|was|were", "no"],
        &["there", "where", "it", "which", "answer"],
        &["longer", "more", "less", "fewer", "later", "worse", "better", "matter"],
        "is not a …",
    ),
    phrase(
        &["somebody|somebodys|anybody|nobody|everybody|whoever"],
        "name who acts, or use the passive",
    ),
    phrase(&["let|lets|letting", "go"], "remove, evict, release"),
    phrase(&["may|would|must|should|will|can|could", "go"], "be removed, be pruned"),
    unless(&["came"], &[], &["from", "with", "first", "last"], "was added, is"),
    unless(&["went"], &[], &["wrong", "through"], "was removed"),
    unless(&["goes"], &[], &["wrong", "through", "to", "into", "from", "back"], "is removed"),
    phrase(&["is|are|was|were", "another|other", "one|ones"], "differs, changed"),
    phrase(&["so", "many"], "N, a count"),
    phrase(&["say|says|said", "when"], "has a time prefix"),
    phrase(&["way|ways", "out"], "a hint"),
    phrase(&["as", "`", ",", "with|but|and"], "Like [`x`], but …"),
    phrase(&["told", "of"], "notifies, registers a listener for"),
    phrase(&["if", "told"], "if configured, with …"),
    phrase(&["found", "out"], "detects, determines"),
    phrase(&["assumed", "is"], "assumes that"),
    phrase(&["of", "what", "may"], "the oldest of lowest priority"),
    phrase(&["not|cannot", "be", "said"], "lost: …"),
    phrase(&["cannot", "say"], "lost: …"),
    phrase(&["without", "being", "asked"], "refusing to …; pass …"),
    phrase(&["rarely", "and", "much"], "in large steps"),
];

#[cfg(test)]
mod tests {
    use super::PHRASES;
    use crate::prose::words::of_text;

    fn check(text: &str, expected: &[&str]) {
        let words = of_text(text);
        let found: Vec<String> = (0..words.len())
            .filter_map(|at| {
                let phrase = PHRASES.iter().find(|phrase| phrase.matches(&words, at))?;
                let texts = words[at..at + phrase.len()].iter().map(|word| word.text.clone());
                Some(texts.collect::<Vec<String>>().join(" "))
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn phrases_are_found_across_lines_and_cases() {
        check("The node Stands\nin a region.", &["stands"]);
        check("this is no store", &["is no"]);
        check("Nobody knows how `x` counts tokens", &["nobody"]);
        check("its order is nobody's", &["nobody"]);
        check("As [`open`], with options.", &["as ` , with"]);
        check(
            "Returns the rank; nothing if the address is none.",
            &["; nothing if", "nothing if", "is none"],
        );
        check("Assumed is that so many nodes are let go.", &["assumed is", "so many", "let go"]);
    }

    #[test]
    fn words_that_only_look_alike_are_fine() {
        check("There is no store, and it is no longer open. We understand the standard.", &[]);
        check("`^ah` stands for the active head; something goes wrong behind a feature.", &[]);
        check("`nobody` is a user.", &[]);
    }
}
