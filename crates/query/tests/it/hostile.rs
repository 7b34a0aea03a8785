//! Invalid input to all steps from text to answer: a result or an error, in every edition, and
//! never a panic.

use contextree_query::{SelectOptions, explain, select};
use contextree_selector::Edition;

use crate::reference::{examples, history};
use crate::support::{History, Random, cases};

const FILES: [&str; 11] = [
    "content-diff.json",
    "ranges.json",
    "selectors-attributes.json",
    "selectors-depth-key-facets.json",
    "selectors-editions.json",
    "selectors-errors.json",
    "selectors-examples.json",
    "selectors-golden-e1.json",
    "selectors-golden-e2.json",
    "selectors-golden-e3.json",
    "selectors-parse.json",
];

/// Evaluates and explains a text; both succeed or both fail, and an error can be drawn.
fn ask(history: &History, text: &str) -> usize {
    let mut answered = 0;
    for edition in Edition::ALL {
        let answer = select(text, edition, history, &SelectOptions::default());
        let explanation = explain(text, edition, history);
        assert_eq!(answer.is_ok(), explanation.is_ok(), "`{text}` in {edition}");
        match answer {
            Ok(_) => answered += 1,
            Err(error) => {
                assert!(error.draw(text).starts_with("error[E_"), "`{text}` in {edition}");
                assert!(!error.to_value().as_array().unwrap().is_empty());
            }
        }
    }
    answered
}

// covers: SYN-050
#[test]
fn every_truncation_of_every_example_is_answered_or_rejected() {
    let history = history();
    let mut texts: Vec<String> = examples().into_iter().map(|example| example.selector).collect();
    for file in FILES {
        texts.extend(cases(file).iter().map(|case| case.text("query").to_owned()));
    }
    texts.sort_unstable();
    texts.dedup();
    let mut pieces: Vec<&str> = texts
        .iter()
        .flat_map(|text| text.char_indices().map(|(end, _)| &text[..end]).chain([text.as_str()]))
        .collect();
    pieces.sort_unstable();
    pieces.dedup();
    let answered: usize = pieces.iter().map(|piece| ask(&history, piece)).sum();
    assert!(pieces.len() > 4000 && answered > 2000, "{} pieces, {answered}", pieces.len());
}

/// Characters omitted, doubled or swapped: near misses of selectors get further than noise.
#[test]
fn damaged_examples_are_answered_or_rejected() {
    let history = history();
    let mut random = Random::new(11);
    let rounds = if cfg!(debug_assertions) { 4 } else { 40 };
    for example in examples() {
        let text: Vec<char> = example.selector.chars().collect();
        for _ in 0..rounds {
            let mut text = text.clone();
            for _ in 0..1 + random.index(3) {
                let (at, to) = (random.index(text.len()), random.index(text.len()));
                match random.index(3) {
                    0 if text.len() > 1 => drop(text.remove(at)),
                    1 => text.insert(to, text[at]),
                    _ => text.swap(at, to),
                }
            }
            ask(&history, &text.into_iter().collect::<String>());
        }
    }
}

#[test]
fn huge_numbers_are_answered_or_rejected() {
    let history = history();
    for digits in [18, 19, 20, 36, 37, 400, 100_000] {
        let number = "9".repeat(digits);
        for form in [
            "@tN *",
            "@t-N *",
            "@cN *",
            "@t-N..0 *",
            "@t0..-N *",
            "@c1..N *",
            "@t-1 .mt:depth(N)",
            ".mt:depth(1-N)",
            ".mt:depth(-N)",
            ".mt:depth(>N)",
            ".mt:depth(<-N)",
            "depth(N)",
            ".cb:nth(N)",
            "[ttl=N]",
            "[ttl<=-N]",
            "[created_at_ns<N.N]",
            "[id=N]",
            "[data_x~N]",
            "(dN)",
            "(d-N)",
            "(d0, N)",
            "(d0, -N)",
            "within(dN) ?? { ttl=N }",
            "* @limit=N",
            "* @limit=N @p=N",
            "@history * @limit=N",
            "[ttl=[N,1]]",
        ] {
            ask(&history, &form.replace('N', &number));
        }
    }
}

#[test]
fn long_and_deep_texts_are_answered_or_rejected() {
    let history = history();
    for open in ["(", "[", "{", "((d0,", "within(", ".cb(", "?? { a=[", ":depth("] {
        assert_eq!(ask(&history, &open.repeat(10_000)), 0, "{open}");
    }
    let mebibyte = 1 << 20;
    for piece in ["* ", ".cb > ", "*,", "[a=1]", ":first", "+a ", "a", "é", "\0", "'", "(d0)"] {
        let mut text = piece.repeat(mebibyte / piece.len() + 1);
        ask(&history, &text);
        text.truncate(text.floor_char_boundary(mebibyte));
        ask(&history, &text);
    }
    // As much as fits the limit on syntax nodes.
    for (piece, count) in [("* ", 4000), ("*, ", 4000), ("[offset=0]", 5000), (":first", 4000)] {
        let text = format!("@t0 {}*", piece.repeat(count));
        let plain = text.replace("]*", "]").replace("first*", "first");
        assert!(ask(&history, &plain) > 0, "{piece}");
    }
}

#[test]
fn arbitrary_bytes_are_answered_or_rejected() {
    let history = history();
    let mut random = Random::new(23);
    let rounds = if cfg!(debug_assertions) { 3000 } else { 60_000 };
    for _ in 0..rounds {
        let length = random.index(40);
        let bytes: Vec<u8> = (0..length).map(|_| random.next_u64() as u8).collect();
        ask(&history, &String::from_utf8_lossy(&bytes));
    }
}
