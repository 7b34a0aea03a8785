//! Parses arbitrary bytes as a selector, a position and a node, in every edition: it returns a
//! result or errors that can be drawn, and never panics.
#![no_main]

use contextree_selector::{Edition, SelectorErrors, parse, parse_node_spec, parse_position};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    for edition in Edition::ALL {
        let refused = [
            parse(&text, edition).map(drop).err(),
            parse_position(&text, edition).map(drop).err(),
            parse_node_spec(&text, edition).map(drop).err(),
        ];
        refused.into_iter().flatten().for_each(|errors| check(&text, &errors));
    }
});

/// Checks that there is an error, and that all errors are in order, within the text, and can be
/// drawn.
fn check(text: &str, errors: &SelectorErrors) {
    assert!((1..=16).contains(&errors.errors().len()));
    assert!(errors.errors().is_sorted_by_key(|error| error.span));
    for error in errors {
        assert!(text.get(error.span.range()).is_some(), "{error:?}");
        assert!(!error.found.is_empty() && !error.expected.is_empty(), "{error:?}");
    }
    let drawing = errors.draw(text);
    assert!(drawing.contains('^') && drawing.len() < 16 * 1024, "{drawing}");
}
