//! Tests budget files and their errors.

use contextree_budget::{Budget, BudgetError};
use contextree_selector::Edition;
use contextree_tokens::{Encoding, Tokenizer};
use contextree_tree::Region;

const WHOLE: &str = r#"
# Everything that a budget can say.
tokenizer = "gpt-4"
max_tokens = 100_000
turn_tokens = 8000
max_turns = 200
keep_turns = 4
clear_at_least = 0x4e20
exclude = [".block[kind='task']", "^sys"]

[regions]
sys = 4_000
"^seq" = 80_000
ah = 20_000
"#;

fn expected() -> Budget {
    Budget::new()
        .tokenizer(Tokenizer::Exact(Encoding::Cl100kBase))
        .max_tokens(100_000)
        .turn_tokens(8_000)
        .max_turns(200)
        .keep_turns(4)
        .clear_at_least(20_000)
        .exclude(".block[kind='task']")
        .exclude("^sys")
        .region_tokens(Region::Sys, 4_000)
        .region_tokens(Region::Seq, 80_000)
        .region_tokens(Region::Head, 20_000)
}

#[test]
fn toml_json_and_code_give_the_same_budget() {
    assert_eq!(Budget::from_toml(WHOLE), Ok(expected()));
    let json = r#"{"tokenizer": "gpt-4", "max_tokens": 100000, "turn_tokens": 8000, "max_turns": 200,
        "keep_turns": 4, "clear_at_least": 20000, "exclude": [".block[kind='task']", "^sys"],
        "regions": {"sys": 4000, "seq": 80000, "^ah": 20000}}"#;
    assert_eq!(Budget::from_json(json), Ok(expected()));
    assert_eq!(Budget::read(json, Edition::default()), Ok(expected()));
    assert_eq!(Budget::read(WHOLE, Edition::default()), Ok(expected()));
    assert_eq!(Budget::from_toml(""), Ok(Budget::default()));
    assert_eq!(Budget::from_json("{}"), Ok(Budget::default()));
}

#[test]
fn policy_has_the_rules_in_a_fixed_order() {
    let policy = expected().policy();
    assert_eq!(policy.protect_turns, 4);
    let keys: Vec<&str> = expected().rules().into_iter().map(|(rule, _)| rule.key()).collect();
    let order =
        "max_turns regions.sys regions.seq regions.ah turn_tokens max_tokens clear_at_least";
    assert_eq!(keys.join(" "), order);
    assert_eq!(expected().measure_name(), "tokens:cl100k_base");
    assert!(Budget::default().policy().limits.is_empty());
}

fn check(error: Result<Budget, BudgetError>, line: usize, column: usize, text: &str, hint: &str) {
    let error = error.unwrap_err();
    assert_eq!(error.code(), "E_BUDGET_INVALID");
    let got = (error.line, error.column, error.to_string(), error.hint().to_owned());
    let place = format!("line {line}, column {column}: {text}");
    assert_eq!(got, (line, column, place, hint.to_owned()));
}

#[test]
fn error_has_a_position_and_a_hint() {
    let toml = Budget::from_toml;
    let number = "write a number of tokens or turns: 100000 or \"100k\"";
    check(
        toml("max_tokens = 5\nmax_token = 7\n"),
        2,
        1,
        "unknown key `max_token`",
        "did you mean `max_tokens`?",
    );
    check(
        toml("[regions]\nsys = 1\nsystem = 1"),
        3,
        1,
        "unknown key `regions.system`",
        "expected one of: sys, seq, ah",
    );
    check(
        toml("max_tokens = \"many\""),
        1,
        14,
        "`max_tokens` must be a whole number, not a string",
        number,
    );
    check(
        toml("  keep_turns =   -1"),
        1,
        18,
        "`keep_turns` must be a whole number, not a negative or too large number",
        number,
    );
    check(
        toml("clear_at_least = 10\nmax_tokens = 10"),
        1,
        1,
        "clearing at least 10 of 10 tokens would leave nothing",
        "a tenth to a third of `max_tokens` is usual",
    );
    check(
        toml("max_turns = 2\nkeep_turns = 3"),
        1,
        1,
        "cannot keep 3 of 2 turns",
        "raise `max_turns`, or lower `keep_turns`",
    );
}

#[test]
fn invalid_toml_is_reported_with_its_position() {
    let error = Budget::from_toml("max_tokens = 1\nkeep_turns 2").unwrap_err();
    assert_eq!((error.fault.word(), error.line, error.key.as_str()), ("syntax", 2, ""));
    assert_eq!(error.hint(), "this is read as TOML: `key = value`, one per line");
}

#[test]
fn json_errors_have_positions() {
    let json = Budget::from_json;
    check(
        json("{\n  \"max_tokens\": 1,\n  \"max_tokens\": 2}"),
        3,
        3,
        "duplicate key `max_tokens`",
        "remove one of the two",
    );
    check(
        json(r#"{"regions": {"sys": 1.5}}"#),
        1,
        21,
        "`regions.sys` must be a whole number, not a number that is negative, too large or has a fraction",
        "write a number of tokens or turns: 100000 or \"100k\"",
    );
    check(
        json(r#"["max_tokens"]"#),
        1,
        1,
        "a budget must be a table, not a list",
        "write keys with values, such as `sys = 4000` below `[regions]`",
    );
    let broken = json("{\"max_tokens\": }").unwrap_err();
    assert_eq!((broken.fault.word(), broken.line, broken.column), ("syntax", 1, 16));
    assert_eq!(json("{}{}").unwrap_err().fault.word(), "syntax");
    assert_eq!(json("").unwrap_err().fault.word(), "syntax");
}

#[test]
fn tokenizers_and_selectors_are_checked_when_the_file_is_read() {
    let error = Budget::from_toml("tokenizer = 'gpt-nine'").unwrap_err();
    assert_eq!((error.fault.word(), error.line, error.column), ("unknown_tokenizer", 1, 13));
    assert!(error.hint().contains("gpt-5"), "the models that look like it: {}", error.hint());
    let error = Budget::from_toml("tokenizer = 'mistral-large'").unwrap_err();
    assert!(error.hint().contains("o200k_base"), "the tokenizers: {}", error.hint());
    let error = Budget::from_toml("exclude = ['.block', '.block[']").unwrap_err();
    assert_eq!((error.fault.word(), error.key.as_str()), ("selector", "exclude[1]"));
    assert_eq!(error.column, 22);
    let error = Budget::from_toml("exclude = ['@t0 .block']").unwrap_err();
    assert_eq!(error.fault.word(), "selector", "a time prefix is not allowed here");
    let error = Budget::from_toml("exclude = '.block'").unwrap_err();
    assert_eq!(error.fault.word(), "wrong_type");
}

#[test]
fn no_text_causes_a_panic() {
    // Every prefix of the file, and the file with every byte replaced.
    for end in 0..WHOLE.len() {
        let _ = Budget::from_toml(&WHOLE[..end]);
        let _ = Budget::from_json(&WHOLE[end..]);
        for other in ["\"", "[", "{", "=", "9", "\n", "é"] {
            let text = format!("{}{other}{}", &WHOLE[..end], &WHOLE[end + 1..]);
            let _ = (Budget::from_toml(&text), Budget::read(&text, Edition::default()));
        }
    }
    let deep = "[".repeat(100_000);
    assert!(Budget::from_json(&deep).is_err());
    assert!(Budget::from_toml(&format!("exclude = {deep}")).is_err());
}

#[test]
fn duplicate_key_is_reported_in_both_formats() {
    let twice = |budget: Result<Budget, BudgetError>| {
        let error = budget.unwrap_err();
        (error.fault.word(), error.key.clone(), error.line, error.to_string())
    };
    let (word, key, line, text) = twice(Budget::from_toml("max_tokens = 5\nmax_tokens = 7\n"));
    assert_eq!((word, key.as_str(), line), ("duplicate_key", "max_tokens", 2));
    assert_eq!(text, "line 2, column 1: duplicate key `max_tokens`");
    let (word, key, line, _) = twice(Budget::from_json("{\"max_tokens\":5,\n\"max_tokens\":7}"));
    assert_eq!((word, key.as_str(), line), ("duplicate_key", "max_tokens", 2));
    let (word, _, line, _) = twice(Budget::from_toml("[regions]\nsys = 5\nsys = 7\n"));
    assert_eq!((word, line), ("duplicate_key", 3));
}

#[test]
fn byte_order_mark_is_ignored() {
    let expected = Ok(Budget::new().max_tokens(5));
    assert_eq!(Budget::from_toml("\u{feff}max_tokens = 5"), expected);
    assert_eq!(Budget::from_json("\u{feff}{\"max_tokens\":5}"), expected);
    assert_eq!(Budget::read("\u{feff}max_tokens = 5", Edition::default()), expected);
    assert_eq!(Budget::read("\u{feff} {\"max_tokens\":5}", Edition::default()), expected);
    let error = Budget::from_toml("\u{feff}max_token = 5").unwrap_err();
    assert_eq!((error.line, error.column), (1, 1));
}

#[test]
fn clear_at_least_needs_a_limit() {
    let error = Budget::from_toml("keep_turns = 3\nclear_at_least = 5").unwrap_err();
    assert_eq!((error.fault.word(), error.line), ("contradiction", 2));
    assert_eq!(error.hint(), "set `max_tokens` as well");
    assert!(Budget::from_toml("max_turns = 3\nclear_at_least = 5").is_ok());
}

#[test]
fn sizes_may_have_units() {
    let budget = Budget::from_toml("max_tokens = \"20k\"\nclear_at_least = \"1.5k\"").unwrap();
    assert_eq!(budget, Budget::new().max_tokens(20_000).clear_at_least(1_500));
}

#[test]
fn stored_budget_is_the_policy_that_it_was_stored_as() {
    let small = Budget::new().max_tokens(20_000);
    for budget in [Budget::new(), small.clone(), expected(), expected().keep_user(false)] {
        assert_eq!(Budget::of_policy(&budget.policy()), Some(budget.clone()));
        assert_eq!(Budget::from_toml(&budget.to_toml()).unwrap(), budget);
    }
    assert_eq!(small.to_toml(), "max_tokens = 20000\n");
    let mut policy = small.policy();
    policy.exclude.clear();
    assert_eq!(Budget::of_policy(&policy), None, "a budget excludes system text");
}
