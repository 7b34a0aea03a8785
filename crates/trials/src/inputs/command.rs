//! Command lines.

use contextree_cli::command as cli;

/// Words that arguments are made of; a zero byte ends an argument.
const WORDS: [&str; 24] = [
    "--store",
    "memory:",
    "-c",
    "add",
    "select",
    "--json",
    "@t0",
    ".block",
    "--role",
    "user",
    "--ttl",
    "-1",
    "--offset",
    "export",
    "-o",
    "-",
    "--at",
    "@c18446744073709551616",
    "--keep-days",
    "999999",
    "--",
    "--help",
    "help",
    "\u{202e}",
];

/// Parses bytes as the arguments of `ctx`: words by number, and text as it is.
pub fn command(data: &[u8]) {
    let mut arguments = vec![String::from("ctx")];
    for part in data.split(|byte| *byte == 0) {
        match part {
            [number] => arguments.push(WORDS[usize::from(*number) % WORDS.len()].to_owned()),
            text => arguments.push(String::from_utf8_lossy(text).into_owned()),
        }
    }
    if let Err(error) = cli().try_get_matches_from(&arguments) {
        assert!(!error.render().to_string().is_empty(), "an error says what is wrong");
    }
}
