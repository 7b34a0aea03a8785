//! Every command, played from the files in `tests/cases`, and the documents that show commands.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::transcript::{Folder, play};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

macro_rules! cases {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test]
        fn $name() {
            play(&cases().join(concat!(stringify!($name), ".md")));
        })*
    };
}

cases! {
    add answer append apply attempt backup budget cache cancel canon commit completions conformance contexts delete diff discard edit explain export files fork gc hash help
    import jobs lint log man mcp new operations pin quickstart record redact redo recall remove rename render request reset restore select serve show status switch tenants thread tokens ui undo unpin
    usage verify
    wrong
}

/// Every command of the tutorial, with what it prints.
// covers: DBG-001
#[test]
fn tutorial() {
    play(&crate::pages::root().join("docs/tutorial.md"));
}

/// Every command of the README.
#[test]
fn readme() {
    play(&crate::pages::root().join("README.md"));
}

/// `move` is a word of the language that tests are written in.
#[test]
fn moving() {
    play(&cases().join("move.md"));
}

#[test]
fn no_case_is_forgotten_and_every_command_has_one() {
    let files: BTreeSet<String> = fs::read_dir(cases())
        .expect("the folder can be read")
        .map(|entry| entry.expect("an entry").path())
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    let names: BTreeSet<String> =
        NAMES.iter().chain(&["move"]).map(|name| (*name).to_owned()).collect();
    assert_eq!(files, names, "files of tests/cases and the list in this file");
    for command in contextree_cli::command().get_subcommands() {
        assert!(names.contains(command.get_name()), "`{}` has no case", command.get_name());
    }
}

/// Each job is a section of `jobs.md` that takes one or two command lines, and `ctx help jobs` has it.
#[test]
fn ten_jobs_take_one_or_two_command_lines_each() {
    let text = fs::read_to_string(cases().join("jobs.md")).expect("it can be read");
    let help = Folder::new().run("ctx help jobs").0;
    let jobs: Vec<&str> = text.split("\n## ").skip(1).collect();
    assert_eq!(jobs.len(), 10);
    for job in &jobs {
        let title = job.lines().next().and_then(|line| line.split_once(". ")).expect("a title").1;
        let told = help.split("\n\n").skip_while(|part| !part.starts_with(title)).nth(1);
        let told = told.unwrap_or_else(|| panic!("`ctx help jobs` has no commands for: {title}"));
        let played: Vec<Vec<String>> =
            job.lines().filter_map(|line| line.strip_prefix("$ ")).flat_map(commands).collect();
        for command in told.lines().flat_map(|line| line.split("  ")).flat_map(commands) {
            let is_played = |other: &Vec<String>| command.iter().all(|word| other.contains(word));
            assert!(
                played.iter().any(is_played),
                "`{title}` does not play {command:?}: {played:?}"
            );
        }
    }
    for job in jobs {
        let title = job.lines().next().and_then(|line| line.split_once(". ")).expect("a title").1;
        let lines = job.lines().filter(|line| line.starts_with("$ ")).count();
        assert!((1..=2).contains(&lines), "`{title}` takes {lines} lines");
        assert!(help.lines().any(|line| line.starts_with(title)), "`ctx help jobs`: {title}");
    }
}

/// Returns of each call of the program in a line its command and its options, without names and values.
fn commands(line: &str) -> Vec<Vec<String>> {
    let names: Vec<String> =
        contextree_cli::command().get_subcommands().map(|it| it.get_name().to_owned()).collect();
    let parts = line.split(['|', ';']).flat_map(|part| part.split("&&")).map(str::trim);
    let calls = parts.filter_map(|part| part.split_once("ctx ").map(|(_, rest)| rest));
    let words = calls.map(|call| call.split(' ').map(str::to_owned).collect::<Vec<_>>());
    let is_meant = |word: &String| names.contains(word) || (word.starts_with('-') && word != "-c");
    words.map(|words| words.into_iter().filter(is_meant).collect()).collect()
}

/// Each of the wrong inputs is refused, or warned about, with a code and a way to go on.
#[test]
fn every_wrong_input_has_a_code_and_a_hint() {
    let text = fs::read_to_string(cases().join("wrong.md")).expect("it can be read");
    let mut answers: Vec<(&str, String)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), answers.last_mut()) {
            (Some(command), _) => answers.push((command, String::new())),
            (None, Some((_, said))) if line != "```" => said.extend([line, "\n"]),
            _ => {}
        }
    }
    let is_wrong = |said: &str| said.contains("[exit ") || said.contains("warning: ");
    let wrong: Vec<_> = answers.iter().filter(|(_, said)| is_wrong(said)).collect();
    assert!(wrong.len() >= 60, "there are {} wrong inputs", wrong.len());
    for (command, said) in wrong {
        let codes = ["error[E_", "warning: ", r#""code":"E_"#];
        let has_code = codes.iter().any(|code| said.contains(code));
        let helps = ["hint: ", r#""hints":["#, "tip: ", "did you mean", ", as in `"];
        assert!(has_code && helps.iter().any(|help| said.contains(help)), "`{command}`: {said}");
        // What is refused has a code, not only a warning.
        assert!(!said.contains("[exit ") || said.contains("E_"), "`{command}`: {said}");
    }
}
