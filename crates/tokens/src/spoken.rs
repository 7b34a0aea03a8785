//! Counts JSON as a model reads it: strings without escapes, data as the image it encodes, and
//! signatures, which no model reads, as nothing.

use crate::media;
use crate::tokenizer::Tokenizer;

/// A number of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// All tokens.
    pub tokens: u64,
    /// Those of the tokens that are estimates for images and other data, with any tokenizer.
    pub media: u64,
}

impl Measured {
    /// Returns the tokens of a text.
    pub(crate) fn of_text(text: &str, tokenizer: Tokenizer) -> Self {
        Measured { tokens: tokenizer.count(text), media: 0 }
    }

    /// Returns the tokens of an image or other data.
    pub(crate) fn of_media(tokens: u64) -> Self {
        Measured { tokens, media: tokens }
    }
}

impl std::ops::AddAssign for Measured {
    fn add_assign(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.media += other.media;
    }
}

/// The fields whose text is encrypted or signed for the provider. It is billed as the reasoning it
/// stands for, if at all, and its length says little about that.
const OPAQUE: [&[u8]; 4] =
    [b"signature", b"thoughtSignature", b"thought_signature", b"encrypted_content"];

/// Counts JSON, or a piece of it that begins and ends outside of a string: the text of its strings,
/// and the brackets, quotes and commas between them. `\u0431` counts as the letter that it encodes,
/// a Base64 image counts as an image, and the text of a signature is not counted.
#[must_use]
pub fn count_json(json: &[u8], tokenizer: Tokenizer) -> Measured {
    let mut measured = Measured::default();
    let text =
        decoded(json, |data| measured += Measured::of_media(media::tokens(tokenizer, data, false)));
    measured += Measured::of_text(&text, tokenizer);
    measured
}

/// Counts a text, or the image or other data that it encodes in Base64.
#[must_use]
pub fn count_text(text: &str, tokenizer: Tokenizer) -> Measured {
    match media::data_of(text) {
        Some(data) => Measured::of_media(media::tokens(tokenizer, data, false)),
        None => Measured::of_text(text, tokenizer),
    }
}

/// Returns JSON with its strings decoded. Signatures are removed; strings that are data are removed
/// and passed to `data`.
pub(crate) fn decoded(json: &[u8], mut data: impl FnMut(&str)) -> String {
    let mut text = Vec::with_capacity(json.len());
    let (mut at, mut is_opaque) = (0, false);
    while let Some(byte) = json.get(at) {
        text.push(*byte);
        at += 1;
        if *byte != b'"' {
            // The value of a name is the next string, unless something else comes first.
            is_opaque &= *byte == b':' || byte.is_ascii_whitespace();
            continue;
        }
        let end = string_end(json, at);
        let inside = &json[at..end];
        match str::from_utf8(inside).ok().and_then(media::data_of) {
            _ if is_opaque => {}
            Some(found) => data(found),
            None => unescape(inside, &mut text),
        }
        // A piece may end inside a string.
        text.extend(json.get(end));
        at = end + 1;
        is_opaque = OPAQUE.contains(&inside) && is_name(&json[at.min(json.len())..]);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns whether the string before these bytes is the name of a field.
fn is_name(rest: &[u8]) -> bool {
    rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}

/// Returns the end of the string that began before an offset.
fn string_end(json: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    json.len()
}

/// Appends the decoded text of a string.
fn unescape(inside: &[u8], text: &mut Vec<u8>) {
    let mut rest = inside;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        text.extend_from_slice(&rest[..at]);
        let (decoded, used) = escape(&rest[at..]);
        text.extend_from_slice(decoded.encode_utf8(&mut [0; 4]).as_bytes());
        rest = rest.get(at + used..).unwrap_or_default();
    }
    text.extend_from_slice(rest);
}

/// Returns the character of an escape, and its length in bytes. An invalid escape becomes a
/// replacement character.
fn escape(bytes: &[u8]) -> (char, usize) {
    let simple = |character| (character, 2);
    match bytes.get(1) {
        Some(b'n') => simple('\n'),
        Some(b't') => simple('\t'),
        Some(b'r') => simple('\r'),
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'u') => {
            let Some(first) = hexadecimal(bytes, 2) else { return simple('\u{fffd}') };
            let low = (bytes.get(6..8) == Some(b"\\u")).then(|| hexadecimal(bytes, 8)).flatten();
            match (first, low) {
                (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) => {
                    let code = 0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00);
                    (char::from_u32(code).unwrap_or('\u{fffd}'), 12)
                }
                _ => (char::from_u32(first).unwrap_or('\u{fffd}'), 6),
            }
        }
        Some(other) => simple(char::from(*other)),
        None => ('\u{fffd}', 1),
    }
}

fn hexadecimal(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = str::from_utf8(bytes.get(at..at + 4)?).ok()?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn strings_are_decoded_and_the_rest_stays() {
        let check = |json: &str, expected: &str| {
            assert_eq!(decoded(json.as_bytes(), |_| panic!("no data")), expected);
        };
        check(r#"{"a":"\u0431\u0435","b":[1,true]}"#, r#"{"a":"бе","b":[1,true]}"#);
        check(r#""a \"word\" \\ \n\ud83d\ude00""#, "\"a \"word\" \\ \n😀\"");
        check(r#"],"x":"\ud83d!""#, "],\"x\":\"\u{fffd}!\"");
        check(
            r#"{"signature": "EqAb9xYz","x":"signature"}"#,
            r#"{"signature": "","x":"signature"}"#,
        );
        check(
            r#"["signature","a"],"signature":[1,"b"]"#,
            r#"["signature","a"],"signature":[1,"b"]"#,
        );
        check(r#"{"torn":"in the mid\u04"#, "{\"torn\":\"in the mid\u{fffd}04");
    }
}
