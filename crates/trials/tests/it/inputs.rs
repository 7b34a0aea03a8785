//! Hostile inputs, as many as fit into a few seconds.

use contextree_trials::inputs::{Reader, run};

fn check(reader: Reader, inputs: u64) {
    assert_eq!(run(reader, inputs, 1), Ok(inputs));
}

#[test]
fn stored_records_of_any_bytes_are_read_or_refused() {
    check(Reader::Records, 50_000);
}

#[test]
fn files_of_any_bytes_are_read_or_refused() {
    check(Reader::Database, 300);
}

#[test]
fn command_lines_of_any_words_are_parsed_or_refused() {
    check(Reader::Command, 2_000);
}

#[test]
fn requests_of_any_json_are_answered_or_refused() {
    check(Reader::Wire, 2_000);
}
