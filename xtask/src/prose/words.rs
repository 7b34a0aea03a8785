//! The words of documents, and of comments and string literals in sources, with their lines.

/// A word in lower case, a punctuation mark, or `` ` `` for a code span.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Counted from 1.
    pub(super) line: usize,
}

/// Ends a block: no phrase continues after it.
const END: &str = "¶";

/// Returns the words of a document. Blank lines end blocks.
pub(super) fn of_text(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for (index, line) in text.lines().enumerate() {
        push_line(line, index + 1, &mut words);
    }
    words
}

/// Returns the words of the comments and string literals of a Rust file. Code between them ends
/// blocks.
pub(super) fn of_rust(source: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = source;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let (length, prose) = piece(rest, source, source.len() - rest.len());
        let (taken, others) = rest.split_at(length.max(first.len_utf8()));
        match prose {
            Some(Prose::Comment(text)) => push_line(text, line, &mut words),
            Some(Prose::String(text)) => {
                end(line, &mut words);
                for (index, part) in text.lines().enumerate() {
                    // Escaped line breaks separate words; a part that ends in `\` continues on the
                    // next line.
                    push_line(
                        &part.replace("\\n", " ").replace('\\', " "),
                        line + index,
                        &mut words,
                    );
                }
                end(line, &mut words);
            }
            None if !taken.trim().is_empty() => end(line, &mut words),
            None => {}
        }
        line += taken.matches('\n').count();
        rest = others;
    }
    words
}

/// Returns the words of the comments and strings of a script or manifest, where `#` begins a comment and three quotes a long string.
pub(super) fn of_script(source: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(first) = rest.chars().next() {
        let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| rest.starts_with(quote));
        let length = match (first, quote) {
            ('#', _) => {
                let length = rest.find('\n').unwrap_or(rest.len());
                push_line(rest[1..length].trim_start_matches(':'), line, &mut words);
                length
            }
            (_, Some(quote)) => {
                let inner = &rest[quote.len()..];
                let length = closing(inner, quote);
                end(line, &mut words);
                for (index, part) in inner[..length].lines().enumerate() {
                    push_line(
                        &part.replace("\\n", " ").replace('\\', " "),
                        line + index,
                        &mut words,
                    );
                }
                end(line, &mut words);
                (length + 2 * quote.len()).min(rest.len())
            }
            _ => {
                // Only the indent of the next comment continues a comment.
                if !first.is_whitespace() {
                    end(line, &mut words);
                }
                first.len_utf8()
            }
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    words
}

/// Returns the length of a string whose opening quote was before it. A short string ends with its line.
fn closing(inner: &str, quote: &str) -> usize {
    let mut is_escaped = false;
    for (index, character) in inner.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' if quote.len() == 1 => return index,
            _ if inner[index..].starts_with(quote) => return index,
            _ => {}
        }
    }
    inner.len()
}

/// Prose in a source file.
enum Prose<'a> {
    /// The text of one line of a comment.
    Comment(&'a str),
    /// What is between the quotes.
    String(&'a str),
}

/// Returns the length of the next piece of a source, and its prose if it is a comment or a string
/// literal.
fn piece<'a>(rest: &'a str, source: &str, at: usize) -> (usize, Option<Prose<'a>>) {
    if rest.starts_with("//") {
        let length = rest.find('\n').unwrap_or(rest.len());
        let text = rest[..length].trim_start_matches('/').trim_start_matches('!');
        return (length, Some(Prose::Comment(text)));
    }
    let follows_name = source[..at].chars().next_back().is_some_and(is_letter);
    if !follows_name && let Some((opening, hashes)) = raw_opening(rest) {
        let closing = format!("\"{}", "#".repeat(hashes));
        let length = rest[opening..].find(&closing).unwrap_or(rest.len() - opening);
        let end = (opening + length + closing.len()).min(rest.len());
        return (end, Some(Prose::String(&rest[opening..opening + length])));
    }
    if rest.starts_with('"') {
        let mut is_escaped = false;
        for (index, character) in rest.char_indices().skip(1) {
            match character {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '"' => return (index + 1, Some(Prose::String(&rest[1..index]))),
                _ => {}
            }
        }
        return (rest.len(), None);
    }
    if let Some(quoted) = rest.strip_prefix('\'') {
        // A character literal may be a quote; a lifetime has no closing quote after one character.
        let mut characters = quoted.char_indices();
        let is_escape = characters.next().is_some_and(|(_, character)| character == '\\');
        let closing = if is_escape {
            quoted.get(2..).and_then(|text| text.find('\'')).map(|index| index + 2)
        } else {
            characters.next().filter(|(_, next)| *next == '\'').map(|(index, _)| index)
        };
        return (closing.map_or(1, |index| index + 2), None);
    }
    (rest.chars().next().map_or(0, char::len_utf8), None)
}

/// Returns the length of `r#"` or `br#"` and the number of `#`.
fn raw_opening(rest: &str) -> Option<(usize, usize)> {
    let after = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then(|| (rest.len() - after.len() + hashes + 1, hashes))
}

fn push_line(line: &str, number: usize, words: &mut Vec<Word>) {
    if line.trim().is_empty() {
        return end(number, words);
    }
    let mut rest = line;
    while let Some(character) = rest.chars().next() {
        let mut length = character.len_utf8();
        if character == '`' {
            // A fence is not a span: its contents are read like any other line.
            let span = rest[1..].find('`').filter(|index| *index > 0);
            if let Some(index) = span {
                length = index + 2;
                push("`", number, words);
            }
        } else if is_letter(character) {
            length = rest.find(|other| !is_inside(other)).unwrap_or(rest.len());
            let word = rest[..length].to_lowercase().replace('’', "'");
            push(word.strip_suffix("'s").unwrap_or(&word), number, words);
        } else if ".,;:|()!?—{}".contains(character) {
            push(&rest[..length], number, words);
        }
        rest = &rest[length..];
    }
}

fn push(text: &str, line: usize, words: &mut Vec<Word>) {
    words.push(Word { text: text.to_owned(), line });
}

fn end(line: usize, words: &mut Vec<Word>) {
    if words.last().is_some_and(|last| last.text != END) {
        push(END, line, words);
    }
}

fn is_letter(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Characters inside of words: "is-below", "nobody's".
fn is_inside(character: char) -> bool {
    is_letter(character) || "-'’".contains(character)
}

#[cfg(test)]
mod tests {
    use super::{of_rust, of_script, of_text};

    fn check(words: &[super::Word], expected: &str) {
        let texts: Vec<String> =
            words.iter().map(|word| format!("{}:{}", word.line, word.text)).collect();
        assert_eq!(texts.join(" "), expected);
    }

    #[test]
    fn a_document_is_read_word_by_word() {
        check(
            &of_text("One's `two three`,\nFour-five\n\nsix"),
            "1:one 1:` 1:, 2:four-five 3:¶ 4:six",
        );
    }

    #[test]
    fn only_comments_and_strings_of_a_source_are_read() {
        let source = "//! One\n/// two\nfn nobody<'a>() -> char { '\"' } // three\nlet x = \"four\\nfive \\\" six\";\n";
        check(&of_rust(source), "1:one 2:two 3:¶ 3:three 4:¶ 4:four 4:five 4:six 4:¶");
    }

    #[test]
    fn only_comments_and_strings_of_a_script_are_read() {
        let source = "# One\nif x is None:  # two\n    say(\"three\\nfour\")\n\"\"\"Five\nsix\"\"\"\nname = 'it' # seven\n";
        check(
            &of_script(source),
            "1:one 2:¶ 2:two 3:¶ 3:three 3:four 3:¶ 4:five 5:six 4:¶ 6:it 6:¶ 6:seven",
        );
    }

    #[test]
    fn raw_strings_end_where_they_end() {
        let source = "r#\"one \" two\"# var\"three\" b'\\'' '\\\\' \"four\"";
        check(&of_rust(source), "1:one 1:two 1:¶ 1:three 1:¶ 1:four 1:¶");
    }
}
