//! Prints whatever can be parsed: the text parses to the same tree in its edition, and printing it
//! again changes nothing.
#![no_main]

use std::fmt::{Debug, Display};

use contextree_selector::{Edition, SelectorErrors, parse, parse_node_spec, parse_position};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for edition in Edition::ALL {
        check(text, |text| parse(text, edition));
        check(text, |text| parse_position(text, edition));
        check(text, |text| parse_node_spec(text, edition));
    }
});

fn check<T: Debug + Display>(text: &str, parse: impl Fn(&str) -> Result<T, SelectorErrors>) {
    let Ok(first) = parse(text) else { return };
    let printed = first.to_string();
    let again = match parse(&printed) {
        Ok(again) => again,
        Err(errors) => panic!("printed text must parse\n{}", errors.draw(&printed)),
    };
    assert_eq!(without_spans(&again), without_spans(&first), "tree of `{printed}`");
    assert_eq!(again.to_string(), printed);
}

/// Returns the tree as text without spans, which differ between two texts of the same meaning.
fn without_spans(tree: &impl Debug) -> String {
    let text = format!("{tree:?}");
    let mut pieces = text.split('⟨');
    let mut result = pieces.next().unwrap_or_default().to_owned();
    result.extend(pieces.map(|piece| piece.split_once('⟩').map_or(piece, |(_, rest)| rest)));
    result
}
