//! Compares every token with another implementation: the Rust core of OpenAI's library, as packaged
//! in `tiktoken-rs`.
//!
//! `cargo xtask test` compares the same texts with PyPI `tiktoken` as well.

use contextree_tokens::Encoding;
use tiktoken_rs::CoreBPE;

use crate::texts::texts;

fn others() -> [(Encoding, &'static CoreBPE); 4] {
    [
        (Encoding::O200kBase, tiktoken_rs::o200k_base_singleton()),
        (Encoding::Cl100kBase, tiktoken_rs::cl100k_base_singleton()),
        (Encoding::P50kBase, tiktoken_rs::p50k_base_singleton()),
        (Encoding::R50kBase, tiktoken_rs::r50k_base_singleton()),
    ]
}

#[test]
fn ten_thousand_texts_in_many_scripts_have_the_same_tokens() {
    let texts = texts(10_000);
    for (encoding, other) in others() {
        for text in &texts {
            let expected = other.encode_ordinary(text);
            assert_eq!(encoding.encode(text), expected, "{encoding}: {text:?}");
            assert_eq!(encoding.count(text), expected.len() as u64, "{encoding}: {text:?}");
        }
    }
}

#[test]
fn long_texts_have_the_same_tokens() {
    // Long enough to fill the cache of counts and to evict from it.
    let long: String = texts(4_000).concat();
    for (encoding, other) in others() {
        assert_eq!(encoding.encode(&long), other.encode_ordinary(&long), "{encoding}");
        assert_eq!(encoding.count(&long), other.count_ordinary(&long) as u64, "{encoding}");
    }
}

#[test]
fn long_repetitions_have_the_same_tokens() {
    for unit in ["a", "ab", " ", "\n", "=", "-=", "1", "é", "中", "😀", "'s", "A", "aA", "\u{301}"]
    {
        for length in [47, 48, 49, 50, 127, 128, 129, 1_000, 5_003] {
            let text = unit.repeat(length);
            for (encoding, other) in others() {
                let expected = other.encode_ordinary(&text);
                assert_eq!(encoding.encode(&text), expected, "{encoding}: {unit:?} × {length}");
            }
        }
    }
}

#[test]
fn million_letters_are_counted() {
    // 125,000 tokens of eight letters. A quadratic counter would not finish.
    assert_eq!(Encoding::O200kBase.count(&"a".repeat(1_000_000)), 125_000);
    assert_eq!(Encoding::Cl100kBase.count(&"a".repeat(1_000_000)), 125_000);
    assert!(Encoding::R50kBase.count(&"x".repeat(1_000_000)) > 10_000);
}
