//! Help pages: every command has an example, and every example is one.

use clap::Command;
use contextree_cli::command;

/// Every command, also those below others, with the words that lead to it.
fn all(root: &Command, path: &str, found: &mut Vec<(String, Command)>) {
    for command in root.get_subcommands() {
        let path = format!("{path} {}", command.get_name());
        all(command, &path, found);
        found.push((path, command.clone()));
    }
}

fn commands() -> Vec<(String, Command)> {
    let mut found = Vec::new();
    all(&command(), "ctx", &mut found);
    found
}

/// The words of a line as a shell reads them; as much of a shell as the examples need.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for character in line.chars() {
        match (quote, character) {
            (None, ' ') => words.push(String::new()),
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), close) if open == close => quote = None,
            _ => words.last_mut().expect("never empty").push(character),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn clap_finds_nothing_wrong() {
    command().debug_assert();
}

#[test]
fn every_command_has_an_example_that_the_program_understands() {
    for (path, command) in commands() {
        if command.has_subcommands() {
            continue;
        }
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let examples: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  ")).collect();
        assert!(!examples.is_empty(), "`{path}` has no example");
        let mut shown = false;
        for line in examples {
            // Behind a gap of two blanks an example is explained; before a pipe stands what we check.
            let line = line.split("  ").next().unwrap_or(line);
            for part in line.split(" | ").map(|part| part.split(" > ").next().unwrap_or(part)) {
                let words = words(part);
                if words.first().is_none_or(|first| first != "ctx") {
                    continue;
                }
                shown |= part.starts_with(&path);
                if let Err(error) = self::command().try_get_matches_from(&words) {
                    assert!(!error.use_stderr(), "`{part}` in the help of `{path}`: {error}");
                }
            }
        }
        assert!(shown, "no example of `{path}` shows it");
    }
}

#[test]
fn every_command_stands_in_one_group_of_the_first_page() {
    let page = command().render_help().to_string();
    for command in command().get_subcommands() {
        let line = format!("  {:<13}", command.get_name());
        let number = page.lines().filter(|other| other.starts_with(&line)).count();
        assert_eq!(number, 1, "`{}` on the first help page", command.get_name());
    }
}
