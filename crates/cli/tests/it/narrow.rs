//! Output for people fits the terminal, and a plain locale gets plain characters.

use unicode_width::UnicodeWidthStr as _;

use crate::transcript::Folder;

/// A store with a history, forks, a call and an operation log.
fn folder() -> Folder {
    let folder = Folder::new();
    let request = "ctx request --as openai-chat --model gpt-5";
    let answer =
        r#"{"choices":[{"message":{"role":"assistant","content":"Yes."},"finish_reason":"stop"}]}"#;
    for command in [
        "ctx import trip.jsonl".to_owned(),
        "ctx fork a-second-try-with-a-long-name @c2".to_owned(),
        format!("ctx add --role user '{}'", "A question that is longer than a line. ".repeat(4)),
        format!("{request} > /dev/null && echo '{answer}' | ctx answer"),
        "ctx add --role user 'One more.' && ctx undo && ctx redo".to_owned(),
    ] {
        let (printed, code) = folder.run(&command);
        assert_eq!(code, 0, "{command}: {printed}");
    }
    folder
}

const COMMANDS: [&str; 38] = [
    "help",
    "-h",
    "help jobs",
    "help loop",
    "help budget",
    "help policy",
    "help pruning",
    "help addresses",
    "help output",
    "help exit-codes",
    "help environment",
    "request --help",
    "import --help",
    "status",
    "show",
    "show @c2",
    "show --turns 1",
    "show block:1.2 --full",
    "log",
    "log -n 2",
    "diff @c1 @c3",
    "diff main..a-second-try-with-a-long-name",
    "contexts",
    "contexts --graph",
    "operations",
    "attempt list",
    "verify",
    "thread --table",
    "tokens",
    "tokens --by turn",
    "tokens --over-time --by role",
    "cache --as anthropic --model claude-opus-5",
    "cache -n 2",
    "cache --as anthropic --model claude-opus-5 --breakpoints",
    "explain '^seq .seg:depth(1-3) .block[role=user]'",
    "commit --max-tokens 60 --dry-run --verbose",
    "commit --max-bytes 40 --dry-run --verbose",
    "gc --keep 1 --dry-run",
];

#[test]
fn output_for_people_fits_sixty_columns() {
    let folder = folder();
    let mut wide = Vec::new();
    for command in COMMANDS {
        let (printed, _) = folder.run(&format!("COLUMNS=60 ctx {command} 2>/dev/null"));
        assert!(!printed.is_empty(), "`{command}` prints nothing");
        let lines = printed.lines().filter(|line| line.width() > 60);
        wide.extend(lines.map(|line| format!("{command}: {line}")));
        // With colour it is the same text: no style is cut.
        let (coloured, _) =
            folder.run(&format!("COLUMNS=60 ctx {command} --color always 2>/dev/null"));
        let plain = anstream::adapter::strip_str(&coloured).to_string();
        if !command.starts_with('-') {
            assert_eq!(plain, printed, "`{command}` in colour");
        }
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

#[test]
fn a_plain_locale_gets_plain_characters() {
    let folder = folder();
    for command in COMMANDS {
        for locale in ["C", "POSIX"] {
            let line = format!("LC_ALL={locale} COLUMNS=70 ctx {command}");
            let (printed, _) = folder.run(&line);
            // A text of the conversation has a degree sign.
            let strange = |character: &char| !character.is_ascii() && *character != '°';
            let found: String = printed.chars().filter(strange).collect();
            assert!(found.is_empty(), "`{command}` prints {found}: {printed}");
        }
    }
}
