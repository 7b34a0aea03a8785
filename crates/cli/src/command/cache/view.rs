//! The report, for people and for programs.

use contextree_cache::{Break, Breakpoint, Cause};
use contextree_json::{Object, Value};
use contextree_provider::Provider;

use super::{Found, Row, Terms};
use crate::command::Call;
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::{count, one_line};

/// What a request is made of besides its texts is not published: no count of one is closer than this, in per cent.
const CLOSEST: u64 = 10;

impl Found {
    fn tokens(&self) -> u64 {
        self.rows.iter().map(|row| row.step.tokens).sum()
    }

    fn cached(&self) -> u64 {
        self.rows.iter().map(|row| row.step.cached).sum()
    }

    fn per_mille(&self) -> u64 {
        (self.cached() * 1000).checked_div(self.tokens()).unwrap_or(0)
    }
}

impl Row {
    fn broken(&self) -> Option<&Break> {
        self.step.report.as_ref()?.broken.as_ref()
    }
}

pub(super) fn human(
    found: &Found,
    terms: &Terms,
    with_marks: bool,
    format: Provider,
    call: &mut Call<'_>,
) {
    let titles = ["state", "tokens", "cached", "share", "first change", "place", "what"];
    let mut table = Table::new(&titles).right(1).right(2).right(3);
    for row in &found.rows {
        let step = &row.step;
        let share = (step.cached * 100).checked_div(step.tokens).unwrap_or(0);
        let (node, place, what) = match (row.broken(), &step.report) {
            (Some(broken), _) => (
                broken.node.clone().unwrap_or_else(|| "(no node)".to_owned()),
                broken.path.clone().unwrap_or_default(),
                format!("{}, {} tokens lost", broken.cause, broken.tokens_lost),
            ),
            (None, Some(_)) => (String::new(), String::new(), "it only grew".to_owned()),
            (None, None) => (String::new(), String::new(), "the first request".to_owned()),
        };
        table.row(vec![
            paint(style::TITLE, &row.label),
            step.tokens.to_string(),
            step.cached.to_string(),
            format!("{share} %"),
            paint(style::ID, one_line(&node)),
            place,
            what,
        ]);
    }
    let mut text = table.render(call.output.width());
    let per_mille = found.per_mille();
    text.push_str(&format!(
        "\n{}.{} % of all input tokens can be read from the cache ({} of {})\n",
        per_mille / 10,
        per_mille % 10,
        found.cached(),
        found.tokens(),
    ));
    if with_marks {
        text.push('\n');
        text.push_str(&marks(&found.marks));
    }
    call.output.text(&text);
    if let Some(broken) = found.rows.iter().rev().find_map(Row::broken) {
        call.output.note(&format!("hint: {}", broken.cause.advice()));
    }
    let model = terms.model.as_deref().unwrap_or("no model");
    let counted = format!("{format}, {model}, counted by {}", counted_by(terms));
    call.output.note(&paint(style::DIM, counted));
}

fn counted_by(terms: &Terms) -> String {
    let name = terms.tokenizer.name();
    format!("{name} (estimate of a request, ±{} %)", error_percent(terms))
}

fn error_percent(terms: &Terms) -> u64 {
    terms.tokenizer.error_percent().max(CLOSEST)
}

fn marks(marks: &[Breakpoint]) -> String {
    if marks.is_empty() {
        return "no breakpoint is worth setting: the provider finds the prefix itself, or it is too short\n"
            .to_owned();
    }
    let mut text = String::new();
    for mark in marks {
        let by_itself = if mark.automatic { ", set by the provider itself" } else { "" };
        text.push_str(&format!(
            "breakpoint on {}, {}: {} tokens, {} since the one before ({}{by_itself})\n",
            paint(style::ID, one_line(&mark.node)),
            mark.path.as_deref().unwrap_or_default(),
            mark.tokens,
            count(mark.blocks, "block"),
            mark.purpose.word(),
        ));
    }
    text
}

/// Prints one document; as lines, one for each request, and then one for each breakpoint.
pub(super) fn values(found: &Found, terms: &Terms, with_marks: bool, call: &mut Call<'_>) {
    let steps: Vec<Value> = found.rows.iter().map(row_value).collect();
    let marks: Vec<Value> = found.marks.iter().filter(|_| with_marks).map(mark_value).collect();
    if call.output.format() == Format::JsonLines {
        call.output.values(steps.into_iter().chain(marks).collect());
        return;
    }
    let skipped = found.skipped.iter().map(|label| Value::from(label.as_str()));
    call.output.value(&Value::Object(Object::from_iter([
        ("tokens", Value::from(found.tokens())),
        ("cached", found.cached().into()),
        ("per_mille", found.per_mille().into()),
        ("model", terms.model.as_deref().map_or(Value::Null, Value::from)),
        ("tokenizer", terms.tokenizer.name().into()),
        ("exact", false.into()),
        ("error_percent", error_percent(terms).into()),
        ("rules", terms.rules.name.into()),
        ("min_tokens", terms.rules.min_tokens.into()),
        ("steps", Value::Array(steps)),
        ("skipped", Value::Array(skipped.collect())),
        ("breakpoints", Value::Array(marks)),
    ])));
}

fn row_value(row: &Row) -> Value {
    let mut object = Object::from_iter([
        ("state", Value::from(row.label.as_str())),
        ("cycle", row.cycle.map_or(Value::Null, Value::from)),
        ("tokens", row.step.tokens.into()),
        ("cached", row.step.cached.into()),
    ]);
    if let Some(report) = &row.step.report {
        object.insert("bytes", report.bytes.total.into());
        object.insert("prefix_bytes", report.bytes.prefix.into());
        object.insert("prefix_tokens", report.tokens.prefix.into());
        if let Some(broken) = &report.broken {
            object.insert("broken", broken_value(broken));
        }
    }
    object.into()
}

fn broken_value(broken: &Break) -> Value {
    let text = |text: Option<&str>| text.map_or(Value::Null, Value::from);
    let mut object = Object::from_iter([
        ("offset", Value::from(broken.offset)),
        ("node", text(broken.node.as_deref())),
        ("path", text(broken.path.as_deref())),
        ("cause", broken.cause.word().into()),
        ("reason", broken.reason.word().into()),
        ("tokens_lost", broken.tokens_lost.into()),
        ("advice", broken.cause.advice().into()),
    ]);
    match &broken.cause {
        Cause::Edited { fields } => {
            let fields = fields.iter().map(|field| Value::from(field.as_str()));
            object.insert("fields", Value::Array(fields.collect()));
        }
        Cause::Pruned { limit, rule } => {
            object.insert("limit", (*limit as u64).into());
            object.insert("rule", text(rule.as_deref()));
        }
        Cause::Setting { name } => {
            object.insert("setting", name.as_str().into());
        }
        _ => {}
    }
    object.into()
}

fn mark_value(mark: &Breakpoint) -> Value {
    Value::Object(Object::from_iter([
        ("node", Value::from(mark.node.as_str())),
        ("path", mark.path.as_deref().map_or(Value::Null, Value::from)),
        ("offset", mark.offset.into()),
        ("tokens", mark.tokens.into()),
        ("blocks", (mark.blocks as u64).into()),
        ("purpose", mark.purpose.word().into()),
        ("automatic", mark.automatic.into()),
    ]))
}
