//! Estimates the tokens of images and other data by the published rules of the providers, which
//! `docs/tokens.md` lists.

use crate::estimate::Estimate;
use crate::tokenizer::Tokenizer;

/// The assumed size of an image of unknown size.
const USUAL: (u64, u64) = (1024, 1024);
/// The number of bytes of an image that are read to find its size.
const HEADER: usize = 256 * 1024;
/// A shorter text is not an image.
const SHORTEST: usize = 64;

/// The first characters of common file types in Base64.
const SIGNATURES: [&str; 5] = ["iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "JVBERi0"];

/// Returns the Base64 data in a text: after `data:…;base64,`, or if it begins like an image or a
/// PDF.
pub(crate) fn data_of(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix("data:") {
        let at = rest.as_bytes().iter().take(100).position(|byte| *byte == b',')?;
        return rest[..at].ends_with(";base64").then(|| &rest[at + 1..]);
    }
    let is_data = text.len() >= SHORTEST
        && SIGNATURES.iter().any(|signature| text.starts_with(signature))
        && text.bytes().all(|byte| sextet(byte).is_some() || byte == b'=');
    is_data.then_some(text)
}

/// Returns the tokens of Base64 data. It is an image if the caller declares it as one, or if it
/// begins like one.
pub(crate) fn tokens(tokenizer: Tokenizer, base64: &str, is_declared_image: bool) -> u64 {
    let bytes = base64.len() as u64 / 4 * 3;
    if base64.starts_with("JVBERi0") {
        // A page of a PDF counts both as text and as an image.
        return 2000 * bytes.div_ceil(50_000).max(1);
    }
    let header = decode(base64, HEADER);
    if is_declared_image || is_image(&header) {
        return image(tokenizer, is_image(&header).then(|| size_of(&header)).flatten());
    }
    bytes.div_ceil(500).max(100)
}

/// Returns the tokens of an image of a size in pixels, if known.
pub(crate) fn image(tokenizer: Tokenizer, size: Option<(u64, u64)>) -> u64 {
    let side = |pixels: u64| pixels.clamp(1, 100_000);
    let (width, height) = size.unwrap_or(USUAL);
    let (width, height) = (side(width), side(height));
    match tokenizer {
        Tokenizer::Estimate(Estimate::CLAUDE_3 | Estimate::CLAUDE_5) => {
            let (width, height) = within(width, height, width.max(height), 1568);
            (width * height).div_ceil(750).min(1600)
        }
        Tokenizer::Estimate(Estimate::GEMINI) if width <= 384 && height <= 384 => 258,
        Tokenizer::Estimate(Estimate::GEMINI) => 258 * tiles(width, height, 768),
        _ => {
            let (width, height) = within(width, height, width.max(height), 2048);
            let (width, height) = within(width, height, width.min(height), 768);
            85 + 170 * tiles(width, height, 512)
        }
    }
}

/// Scales an image down so that the given side is at most `most` pixels long.
fn within(width: u64, height: u64, side: u64, most: u64) -> (u64, u64) {
    if side <= most {
        return (width, height);
    }
    ((width * most / side).max(1), (height * most / side).max(1))
}

fn tiles(width: u64, height: u64, side: u64) -> u64 {
    width.div_ceil(side) * height.div_ceil(side)
}

fn is_image(header: &[u8]) -> bool {
    let webp = header.starts_with(b"RIFF") && header.get(8..12) == Some(b"WEBP");
    webp || [b"\x89PNG".as_slice(), b"\xff\xd8\xff", b"GIF8"]
        .iter()
        .any(|it| header.starts_with(it))
}

/// Returns the width and the height in the header of an image.
fn size_of(header: &[u8]) -> Option<(u64, u64)> {
    let little = |at: usize, bytes: usize| {
        let digits = header.get(at..at + bytes)?.iter().rev();
        Some(digits.fold(0_u64, |number, byte| number << 8 | u64::from(*byte)))
    };
    let big = |at: usize, bytes: usize| {
        let digits = header.get(at..at + bytes)?.iter();
        Some(digits.fold(0_u64, |number, byte| number << 8 | u64::from(*byte)))
    };
    match header {
        [0x89, b'P', ..] => Some((big(16, 4)?, big(20, 4)?)),
        [b'G', b'I', ..] => Some((little(6, 2)?, little(8, 2)?)),
        [b'R', b'I', ..] => match header.get(12..16)? {
            b"VP8X" => Some((little(24, 3)? + 1, little(27, 3)? + 1)),
            b"VP8L" => {
                let bits = little(21, 4)?;
                Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
            }
            _ => Some((little(26, 2)? & 0x3fff, little(28, 2)? & 0x3fff)),
        },
        _ => {
            // A JPEG is a chain of segments; the one that starts a frame has the size.
            let mut at = 2;
            loop {
                let marker = header.get(at + 1)?;
                if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
                    return Some((big(at + 7, 2)?, big(at + 5, 2)?));
                }
                at += 2 + usize::try_from(big(at + 2, 2)?).ok()?;
            }
        }
    }
}

/// Decodes the beginning of a Base64 text.
pub(crate) fn decode(base64: &str, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut bits, mut number) = (0, 0_u32);
    for sextet in base64.bytes().filter(|byte| !byte.is_ascii_whitespace()).map_while(sextet) {
        number = number << 6 | u32::from(sextet);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((number >> bits & 0xff) as u8);
            if bytes.len() >= most {
                break;
            }
        }
    }
    bytes
}

fn sextet(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{data_of, decode, image, size_of};
    use crate::{Estimate, Tokenizer};

    #[test]
    fn the_header_of_an_image_says_its_size() {
        let png = "iVBORw0KGgoAAAANSUhEUgAABLAAAAMgCAYAAACHsmpPAAAA";
        assert_eq!(size_of(&decode(png, 100)), Some((1200, 800)));
        assert_eq!(size_of(b"GIF89a\x2c\x01\x90\x01\0\0"), Some((300, 400)));
        let jpeg = b"\xff\xd8\xff\xe0\0\x06ab12\xff\xc2\0\x11\x08\x02\x58\x03\x20\x03";
        assert_eq!(size_of(jpeg), Some((800, 600)));
        let webp = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x1f\x03\0\x57\x02\0";
        assert_eq!(size_of(webp), Some((800, 600)));
        let lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x1f\xc3\x95\0";
        assert_eq!(size_of(lossless), Some((800, 600)));
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x20\x03\x58\x02";
        assert_eq!(size_of(lossy), Some((800, 600)));
        for torn in [&b"\x89PNG"[..], b"GIF8", b"RIFF\0\0\0\0WEBP", b"\xff\xd8\xff\xe0"] {
            assert_eq!(size_of(torn), None);
        }
    }

    #[test]
    fn images_are_counted_by_the_rules_of_their_provider() {
        let check = |tokenizer: &str, size, expected| {
            let tokenizer = Tokenizer::named(tokenizer).unwrap();
            assert_eq!(image(tokenizer, size), expected, "{tokenizer} {size:?}");
        };
        check("gpt-4o", Some((1024, 1024)), 765);
        check("gpt-4o", Some((2048, 4096)), 1105);
        check("gpt-4o", Some((100, 100)), 255);
        check("claude-sonnet-5", Some((1000, 1000)), 1334);
        check("claude-sonnet-5", Some((9000, 9000)), 1600);
        check("gemini-3-pro", Some((384, 384)), 258);
        check("gemini-3-pro", Some((1000, 700)), 516);
        check("gpt-4o", None, 765);
        check("gpt-4o", Some((u64::MAX, 0)), 765);
        assert_eq!(image(Tokenizer::Estimate(Estimate::OTHER), None), 765);
    }

    #[test]
    fn only_data_is_data() {
        assert_eq!(data_of("data:image/png;base64,AAAA"), Some("AAAA"));
        assert_eq!(data_of("data: a text, and so on"), None);
        let png = format!("iVBORw0KGgo{}", "A".repeat(100));
        assert_eq!(data_of(&png), Some(png.as_str()));
        assert_eq!(data_of(&format!("{png} and words")), None);
        assert_eq!(data_of("iVBORw0KGgo"), None);
    }
}
