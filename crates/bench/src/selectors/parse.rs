//! Measures parsing against splitting the same text into tokens.

use std::hint::black_box;

use contextree::Edition;

use crate::measure::{Row, compare, time};
use crate::rows::Scale;

const TEXT: &str = "@t0 ^seq .mt:depth(1-3) .cb[role='user']";
const TIMES: usize = 20_000;

pub(super) fn row(scale: Scale) -> Row {
    assert_eq!(tokens(TEXT).len(), 23, "{:?}", tokens(TEXT));
    compare(
        "parse `@t0 ^seq .mt:depth(1-3) .cb[role='user']`: against splitting it into tokens",
        5.0,
        scale.rounds,
        || {
            time(TIMES, || {
                for _ in 0..TIMES {
                    let selector = contextree_selector::parse(black_box(TEXT), Edition::V0_3);
                    assert!(black_box(selector).is_ok(), "the text is a selector");
                }
            })
        },
        || {
            time(TIMES, || {
                for _ in 0..TIMES {
                    black_box(tokens(black_box(TEXT)));
                }
            })
        },
    )
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Blank,
    Word,
    Number,
    Text,
    Sign(u8),
}

/// A token of a text.
#[derive(Clone, Copy, Debug)]
#[expect(dead_code, reason = "a tokenizer returns positions")]
struct Token {
    kind: Kind,
    start: u32,
    end: u32,
}

/// Splits a text into tokens, including whitespace; checks nothing and builds no tree.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(text.len() / 2);
    let mut at = 0;
    while let Some(first) = bytes.get(at).copied() {
        let start = at;
        let run = |keep: fn(u8) -> bool| {
            bytes[start..]
                .iter()
                .position(|byte| !keep(*byte))
                .map_or(bytes.len(), |len| start + len)
        };
        let kind = match first {
            b' ' | b'\t' | b'\n' => {
                at = run(|byte| byte.is_ascii_whitespace());
                Kind::Blank
            }
            b'0'..=b'9' => {
                at = run(|byte| byte.is_ascii_digit());
                Kind::Number
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                at = run(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                Kind::Word
            }
            b'\'' | b'"' => {
                at += 1;
                while bytes.get(at).is_some_and(|byte| *byte != first) {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
                Kind::Text
            }
            sign => {
                at += 1;
                Kind::Sign(sign)
            }
        };
        tokens.push(Token { kind, start: start as u32, end: at as u32 });
    }
    tokens
}
