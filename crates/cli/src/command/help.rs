//! `ctx help`: commands, and topics that are more than one command.

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::style::{self, paint};

/// Explain a command, or a topic: jobs, loop, selectors, addresses, budget, policy, pruning, output, exit-codes, environment
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx help
  ctx help diff
  ctx help jobs            what people do with it every day
  ctx help loop            how an agent uses it
  ctx help selectors       the language on one page
  ctx help exit-codes")]
pub(crate) struct Args {
    /// A command, or a topic
    topic: Vec<String>,
}

/// Topics: name, what it is about, text.
pub(crate) const TOPICS: [(&str, &str, &str); 11] = [
    ("jobs", "ten jobs, one or two commands each", include_str!("../topics/jobs.txt")),
    ("loop", "one cycle is one model call", include_str!("../topics/loop.txt")),
    (
        "selectors",
        "the language that names nodes, on one page",
        include_str!("../topics/selectors.txt"),
    ),
    ("reference", "the language, form by form", include_str!("../topics/reference.md")),
    (
        "addresses",
        "how snapshots and the working state are named",
        include_str!("../topics/addresses.txt"),
    ),
    ("budget", "how many tokens a request may have", include_str!("../topics/budget.txt")),
    ("policy", "what a commit prunes, as a file", include_str!("../topics/policy.txt")),
    ("pruning", "what is removed first, and what stays", include_str!("../topics/pruning.txt")),
    ("output", "what is printed for people and for programs", include_str!("../topics/output.txt")),
    ("exit-codes", "how the program ends", include_str!("../topics/exit-codes.txt")),
    ("environment", "variables, stores and files", include_str!("../topics/environment.txt")),
];

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let mut root = crate::command();
    root.build();
    let Some(first) = args.topic.first() else {
        let mut text = root.render_long_help().ansi().to_string();
        text.push_str(&topics());
        call.output.folded(&text);
        return Ok(Exit::Ok);
    };
    if let Some((_, _, text)) = TOPICS.iter().find(|(name, _, _)| name == first) {
        call.output.folded(&titles(text));
        return Ok(Exit::Ok);
    }
    if root.find_subcommand(first).is_none() {
        let names = root.get_subcommands().map(clap::Command::get_name);
        let names: Vec<&str> = TOPICS.iter().map(|(name, _, _)| *name).chain(names).collect();
        let failure = Failure::usage(format!("there is neither a command nor a topic `{first}`"));
        return Err(match contextree::selector::closest(first, &names) {
            Some(near) => failure.with_hint(format!("did you mean `ctx help {near}`?")),
            None => failure.with_hint("`ctx help` lists commands and topics"),
        });
    }
    let mut command = super::man::find(&root, first)?;
    for name in &args.topic[1..] {
        command = super::man::find(command, name)?;
    }
    let text = command.clone().render_long_help().ansi().to_string();
    call.output.text(&text);
    Ok(Exit::Ok)
}

fn topics() -> String {
    let mut text = format!("\n{}\n", paint(style::TITLE, "Topics:"));
    for (name, about, _) in TOPICS {
        text.push_str(&format!(
            "  {} {about}\n",
            paint(style::TITLE, format!("{:<18}", format!("help {name}")))
        ));
    }
    text
}

/// Lines that begin with `#` are titles.
fn titles(text: &str) -> String {
    let line = |line: &str| match line.starts_with('#') {
        true => format!("{}\n", paint(style::TITLE, line.trim_start_matches('#').trim_start())),
        false => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}
