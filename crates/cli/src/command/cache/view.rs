//! The report for people.

use contextree::provider::Provider;
use contextree_app::command::cache::{Breakpoint, CacheResponse};

use crate::command::Call;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::{count, one_line};

pub(super) fn human(
    found: &CacheResponse,
    with_marks: bool,
    format: Provider,
    call: &mut Call<'_>,
) {
    let titles = ["state", "tokens", "cached", "share", "first change", "place", "what"];
    let mut table = Table::new(&titles).right(1).right(2).right(3);
    for step in &found.steps {
        let share = (step.cached * 100).checked_div(step.tokens).unwrap_or(0);
        let (node, place, what) = match &step.broken {
            Some(broken) => (
                broken.node.clone().unwrap_or_else(|| "(no node)".to_owned()),
                broken.path.clone().unwrap_or_default(),
                format!("{}, {} tokens lost", broken.message, broken.tokens_lost),
            ),
            None if step.bytes.is_some() => {
                (String::new(), String::new(), "it only grew".to_owned())
            }
            None => (String::new(), String::new(), "the first request".to_owned()),
        };
        table.row(vec![
            paint(style::TITLE, &step.state),
            step.tokens.to_string(),
            step.cached.to_string(),
            format!("{share} %"),
            paint(style::ID, one_line(&node)),
            place,
            what,
        ]);
    }
    let mut text = table.render(call.output.width());
    let per_mille = found.per_mille;
    text.push_str(&format!(
        "\n{}.{} % of all input tokens can be read from the cache ({} of {})\n",
        per_mille / 10,
        per_mille % 10,
        found.cached,
        found.tokens,
    ));
    if with_marks {
        text.push('\n');
        text.push_str(&marks(&found.breakpoints));
    }
    call.output.text(&text);
    if let Some(broken) = found.steps.iter().rev().find_map(|step| step.broken.as_ref()) {
        call.output.note(&format!("hint: {}", broken.advice));
    }
    let model = found.model.as_deref().unwrap_or("no model");
    let (name, percent) = (&found.tokenizer, found.error_percent);
    let counted =
        format!("{format}, {model}, counted by {name} (estimate of a request, ±{percent} %)");
    call.output.note(&paint(style::DIM, counted));
}

fn marks(marks: &[Breakpoint]) -> String {
    if marks.is_empty() {
        return "no breakpoint is worth setting: the provider finds the prefix itself, or it is too short\n"
            .to_owned();
    }
    let mut text = String::new();
    for mark in marks {
        let by_itself = if mark.automatic { ", set by the provider" } else { "" };
        text.push_str(&format!(
            "breakpoint on {}, {}: {} tokens, {} since the one before ({}{by_itself})\n",
            paint(style::ID, one_line(&mark.node)),
            mark.path.as_deref().unwrap_or_default(),
            mark.tokens,
            count(mark.blocks, "block"),
            mark.purpose,
        ));
    }
    text
}
