//! The conformance vectors: every query parses, or fails with the code its vector expects.

use contextree_selector::{Edition, parse, parse_node_spec, parse_on_snapshots, parse_position};

use crate::support::{self, check_errors, check_insertion_round_trip, check_round_trip};

/// Errors that a parser can detect; the others are detected by evaluation.
const SYNTACTIC: [&str; 3] =
    ["E_SELECTOR_INVALID", "E_SNAPSHOT_RANGE_KIND_MISMATCH", "E_SNAPSHOT_RANGE_WILDCARD"];

// covers: SYN-001, SYN-050, ERC-004, ER-059
#[test]
fn every_query_of_the_corpus_parses_or_fails_as_expected() {
    let (mut parsed, mut failed) = (0, 0);
    for case in support::queries() {
        let expected = case.expect["error"].as_str().filter(|code| SYNTACTIC.contains(code));
        let read = match case.filters_snapshots {
            true => parse_on_snapshots(&case.query, case.edition),
            false => parse(&case.query, case.edition),
        };
        match (read, expected) {
            (Ok(selector), None) => {
                let is_range = match case.kind.as_str() {
                    "range" | "content_diff" => true,
                    "parse" => case.expect["result"] == "range",
                    // A range can be asked for its nodes.
                    "select" => selector.is_range() && case.query.contains(".."),
                    _ => false,
                };
                assert_eq!(selector.is_range(), is_range, "{case:?}");
                // A facet without a time is not a selector of its own.
                if parse(&case.query, case.edition).is_ok() {
                    check_round_trip(&selector);
                }
                parsed += 1;
            }
            (Err(errors), Some(code)) => {
                assert_eq!(errors.code().as_str(), code, "{case:?}");
                check_errors(&case.query, &errors);
                failed += 1;
            }
            (Ok(selector), Some(code)) => panic!("{case:?} must fail with {code}: {selector:?}"),
            (Err(errors), None) => panic!("{case:?} must parse\n{}", errors.draw(&case.query)),
        }
    }
    // The corpus grows; it must not silently shrink or fail to load.
    assert!(parsed >= 480 && failed >= 75, "{parsed} parsed, {failed} failed");
}

#[test]
fn every_query_in_every_edition_round_trips_or_has_valid_errors() {
    for case in support::queries() {
        for edition in Edition::ALL {
            match parse(&case.query, edition) {
                Ok(selector) => check_round_trip(&selector),
                Err(errors) => check_errors(&case.query, &errors),
            }
        }
    }
}

#[test]
fn every_truncation_of_every_query_gives_a_tree_or_errors() {
    for case in support::queries() {
        let ends = case.query.char_indices().map(|(end, _)| end);
        for text in ends.map(|end| &case.query[..end]) {
            for edition in Edition::ALL {
                match parse(text, edition) {
                    Ok(selector) => check_round_trip(&selector),
                    Err(errors) => check_errors(text, &errors),
                }
                drop(parse_position(text, edition));
                drop(parse_node_spec(text, edition));
            }
        }
    }
}

// `E_INVALID_PLACEMENT` and `E_SEALED` need a tree, so all of these parse.
// covers: SYN-038, SYN-039
#[test]
fn every_insertion_of_the_corpus_parses_with_its_cue() {
    let cases = support::insertions();
    assert!(cases.len() >= 19, "{}", cases.len());
    for (edition, case) in cases {
        let position = case["position"].as_str().unwrap();
        let insertion = parse_position(position, edition)
            .unwrap_or_else(|errors| panic!("{case}\n{}", errors.draw(position)));
        let cue = insertion.cue.unwrap();
        let written = match cue.to_string().as_str() {
            "" => "start".to_owned(),
            cue => cue.to_owned(),
        };
        assert_eq!(written, case["cue"].as_str().unwrap(), "{case}");
        check_insertion_round_trip(&insertion, edition);
        let read = parse(position, edition).map(|selector| selector.to_string());
        // A signed number is an offset in edition 0.3 (ER-061); every other cue is rejected.
        let is_offset = edition == Edition::V0_3 && written.starts_with(['+', '-']);
        assert_eq!(read.is_ok(), is_offset, "cues are for writes: {case}");
        for end in 0..position.len() {
            drop(parse_position(&position[..end], edition));
        }
    }
}
