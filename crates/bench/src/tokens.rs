//! Measures the rows about tokens.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use contextree_testkit::Rng;
use contextree_tokens::{Encoding, Tally, TokenCounter, Tokenizer};

use crate::measure::{Row, compare, time};
use crate::rows::Scale;
use crate::work::{chat, turn};

/// Measures every row about tokens.
#[must_use]
pub fn rows(scale: Scale) -> Vec<Row> {
    vec![one_more_turn(scale), first_count(scale), one_letter(scale)]
}

fn one_more_turn(scale: Scale) -> Row {
    const TURNS: usize = 20;
    let turns = scale.large / 10;
    let mut context = chat(turns, 300);
    let counter = Arc::new(TokenCounter::new(Tokenizer::default()));
    let mut tally = Tally::new(counter);
    if let Some(tree) = context.newest_tree() {
        tally.update(tree);
    }
    let mut number = turns * 3;
    // The texts of the last turns, to count them alone.
    let texts = |context: &contextree::Context| -> Vec<String> {
        let Some(head) = context.newest() else { return Vec::new() };
        let newest = head.view().region(contextree::Region::Seq).children_rev().take(TURNS);
        newest
            .flat_map(|turn| turn.subtree())
            .filter_map(|(_, node)| node.content().as_text().map(str::to_owned))
            .collect()
    };
    let alone = texts(&context);
    compare(
        "token count of a history after one more turn at a tenth of the large: against counting that turn alone",
        3.0,
        scale.rounds,
        || {
            let mut taken = 0.0;
            for _ in 0..TURNS {
                number += 1;
                turn(&mut context, number, 300);
                let tree = context.newest_tree().expect("there are commits");
                taken += time(TURNS, || {
                    black_box(tally.update(tree));
                });
            }
            taken
        },
        || {
            time(TURNS, || {
                for text in black_box(&alone) {
                    black_box(Encoding::O200kBase.count(text));
                }
            })
        },
    )
}

fn first_count(scale: Scale) -> Row {
    let length = if scale.rounds < Scale::FULL.rounds { 1_000_000 } else { 10_000_000 };
    let other = tiktoken::get_encoding("o200k_base").expect("it is compiled in");
    let text = prose(length, 0);
    assert_eq!(
        Encoding::O200kBase.count(&text),
        other.count(&text) as u64,
        "both count the same tokens"
    );
    // Every round has a new text, the same for both.
    let (mut ours, mut theirs) = (0, 0);
    compare(
        "first count of 10 MB of text: against the fastest public tokenizer library (1.25× its time is 0.8× its speed)",
        1.25,
        scale.rounds,
        || {
            ours += 1;
            let text = prose(length, ours);
            time(1, || {
                black_box(Encoding::O200kBase.count(black_box(&text)));
            })
        },
        || {
            theirs += 1;
            let text = prose(length, theirs);
            time(1, || {
                black_box(other.count(black_box(&text)));
            })
        },
    )
}

/// Measures one long run, the worst case of byte pair encoding.
fn one_letter(scale: Scale) -> Row {
    let (short, long) = ("a".repeat(100_000), "a".repeat(1_000_000));
    let count = |text: &str| {
        time(text.len(), || {
            black_box(Encoding::O200kBase.count(black_box(text)));
        })
    };
    compare(
        "count of a million times one letter, per letter: against a hundred thousand times",
        2.0,
        scale.rounds,
        || count(&long),
        || count(&short),
    )
}

/// Returns text of a length: the documents and sources of this project, repeated with different
/// typos.
fn prose(length: usize, seed: u64) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["docs", "crates", "xtask"] {
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    let all: String = files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect();
    let mut text = String::new();
    let mut random = Rng::new(seed);
    while text.len() < length && !all.is_empty() {
        for word in all.split_inclusive(' ') {
            text.push_str(word);
            if random.one_in(32) {
                text.push(char::from(b'a' + random.below(26) as u8));
            }
            if text.len() >= length {
                break;
            }
        }
    }
    text
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_text =
            path.extension().is_some_and(|extension| extension == "rs" || extension == "md");
        if path.is_dir() {
            collect(&path, files);
        } else if is_text {
            files.push(path);
        }
    }
}
