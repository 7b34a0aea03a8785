//! The report for people: a summary, then the calls, grouped by the user message they serve.

use contextree_app::command::cache::{BilledCalls, Breakpoint, CacheCall, CacheResponse, Cost};

use crate::command::Call;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::{count, one_line, thousands, wrap};

pub(super) fn human(found: &CacheResponse, with_marks: bool, call: &mut Call<'_>) {
    let width = call.output.width();
    let lines = summary(found);
    let mut text: String = lines.lines().map(|line| format!("{}\n", wrap(line, width))).collect();
    text.push_str(&reasons(found, width));
    if !found.calls.is_empty() {
        text.push('\n');
        text.push_str(&calls(found, width));
    }
    if with_marks {
        text.push('\n');
        let marks = marks(&found.breakpoints);
        text.extend(marks.lines().map(|line| format!("{}\n", wrap(line, width))));
    }
    call.output.text(&text);
    if let Some(miss) = found.calls.iter().rev().find_map(|call| call.miss.as_ref()) {
        call.output.note(&format!("hint: {}", miss.advice));
    }
    let (provider, model) = (&found.provider, found.model.as_deref().unwrap_or("no model"));
    let (name, percent) = (&found.tokenizer, found.error_percent);
    let counted = format!("{provider}, {model}, estimates by {name} (of a request, ±{percent} %)");
    call.output.note(&paint(style::DIM, counted));
}

/// The shares in one or two sentences.
fn summary(found: &CacheResponse) -> String {
    let predicted = |per_mille| format!("the rules predict {}", share(per_mille));
    let mut text = match &found.billed {
        Some(BilledCalls {
            tokens,
            per_mille: Some(read),
            predicted_per_mille: Some(expected),
            ..
        }) => format!(
            "{} of {} billed input tokens were read from the cache; {}\n",
            share(*read),
            thousands(*tokens),
            predicted(*expected),
        ),
        Some(billed) => format!(
            "{} input tokens were billed (how many were cached is not in the bills); {}\n",
            thousands(billed.tokens),
            predicted(found.per_mille),
        ),
        None => format!(
            "{} of all input tokens can be read from the cache ({} of {})\n",
            share(found.per_mille),
            thousands(found.cached),
            thousands(found.tokens),
        ),
    };
    if let Some(cost) = &found.cost {
        text.push_str(&format!("{} in all\n", money(cost, cost.micros)));
    }
    let first = found.calls.iter().find_map(|call| call.inferred.as_ref());
    if let Some(inferred) = first.filter(|inferred| inferred.prefix > 0) {
        text.push_str(&format!(
            "inferred from usage: {} token{} of system text and tools that the log does not contain\n",
            thousands(inferred.prefix),
            if inferred.prefix == 1 { "" } else { "s" },
        ));
    }
    if first.is_some_and(|inferred| inferred.lacks_prefix) {
        text.push_str(
            "the log contains neither system text and tools nor usage: requests are larger than estimated, and the shares hold only for what is logged\n",
        );
    }
    text
}

/// What each reason cost.
fn reasons(found: &CacheResponse, width: Option<usize>) -> String {
    if found.reasons.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["miss", "calls", "tokens", ""]).right(1).right(2);
    for reason in &found.reasons {
        table.row(vec![
            paint(style::TITLE, &reason.reason),
            reason.calls.to_string(),
            thousands(reason.tokens),
            meaning(&reason.reason).to_owned(),
        ]);
    }
    format!("\n{}", table.render(width))
}

fn meaning(reason: &str) -> &'static str {
    match reason {
        "expired" => "the pause was longer than the lifetime of the cache",
        "reasoning_dropped" => {
            "the provider drops earlier reasoning when the user says something new"
        }
        "below_minimum" => "too short to be cached",
        "no_breakpoint" => "the request has no breakpoint",
        "not_written" => "the previous call wrote only a part of its request to the cache",
        "out_of_reach" => "too many blocks between the breakpoints",
        "content_moved" => "content is at another position than before",
        "content_cleared" => "the agent left out old content",
        "unexplained" => "by the rules, it should have been read",
        _ => "",
    }
}

fn calls(found: &CacheResponse, width: Option<usize>) -> String {
    let titles = ["call", "pause", "tokens", "cached", "billed", "predicted", "cost", "miss"];
    let mut table = (1..titles.len() - 1).fold(Table::new(&titles), Table::right);
    let mut serves: Option<&str> = None;
    for (index, call) in found.calls.iter().enumerate() {
        if call.serves.is_some() && call.serves.as_deref() != serves {
            serves = call.serves.as_deref();
            let question = call.question.as_deref().or(serves).unwrap_or_default();
            table.heading(paint(style::DIM, one_line(question)));
        }
        let billed = call.billed.as_ref();
        let (tokens, cached) = match billed {
            Some(billed) => (billed.tokens, billed.cached.unwrap_or(call.cached)),
            None => (call.tokens, call.cached),
        };
        let read = billed.and_then(|billed| Some((billed.cached?, billed.tokens)));
        table.row(vec![
            paint(style::TITLE, &call.state),
            call.gap_seconds.map(pause).unwrap_or_default(),
            thousands(tokens),
            thousands(cached),
            read.map(|(read, of)| percent(read, of)).unwrap_or_default(),
            percent(call.cached, call.tokens),
            call.cost.as_ref().map(|cost| money(cost, cost.micros)).unwrap_or_default(),
            // A call after a pause has one before it, which is not listed.
            what(call, index == 0 && call.gap_seconds.is_none()),
        ]);
    }
    table.render(width)
}

/// What a call missed, and why.
fn what(call: &CacheCall, is_first: bool) -> String {
    let mut text = match (&call.miss, &call.inferred) {
        (Some(miss), _) => {
            let tokens = thousands(miss.billed.unwrap_or(miss.predicted));
            let place = call.broken.as_ref().and_then(|broken| broken.path.as_deref());
            // What is unexplained is not where the requests differ.
            let place = place.filter(|_| miss.reason != "unexplained");
            let place = place.map(|place| format!(" at {place}")).unwrap_or_default();
            let was_read = call.billed.as_ref().is_some_and(|billed| billed.cached > Some(0));
            let note = match miss.billed {
                Some(billed) if was_read && billed * 2 < miss.predicted => ", but it was read",
                _ => "",
            };
            format!("{}: {}{place}, {tokens} tokens{note}", miss.reason, one_line(&miss.message))
        }
        (None, Some(inferred)) if is_first && inferred.cached > 0 => {
            "the first call; other conversations had filled the cache".to_owned()
        }
        (None, _) if is_first => "the first call".to_owned(),
        _ => String::new(),
    };
    if let Some(diagnosis) = call.billed.as_ref().and_then(|billed| billed.diagnosis.as_ref()) {
        text.push_str(&format!(" (provider: {})", one_line(diagnosis)));
    }
    text
}

fn percent(part: u64, whole: u64) -> String {
    format!("{} %", (part * 100).checked_div(whole).unwrap_or(0))
}

fn share(per_mille: u64) -> String {
    format!("{}.{} %", per_mille / 10, per_mille % 10)
}

/// A duration in its largest unit.
fn pause(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

fn money(cost: &Cost, micros: u64) -> String {
    format!("{}.{:04} {}", micros / 1_000_000, micros % 1_000_000 / 100, cost.currency)
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
            thousands(mark.tokens),
            count(mark.blocks, "block"),
            mark.purpose,
        ));
    }
    text
}
