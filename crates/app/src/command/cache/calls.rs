//! Follows the calls of a context, or two of its states.

use std::collections::BTreeMap;

use contextree::cache::{Billed, Breakpoint, Call, Diagnosis, Evidence, Follower, Rendered, Step};
use contextree::provider::{Provider, RenderError, RenderOptions, RequestRenderer, render};
use contextree::{Attempt, AttemptStatus, CommitReport, Cycle, Snapshot, TreeRef};
use contextree_json::Value;

use super::CacheRequest;
use super::marks::{Written, marks};
use super::terms::Terms;
use crate::command::diff::in_order;
use crate::workspace::{Address, Range, Reader, State};
use crate::{Advice, Control, Error};

/// What was found, before it is summed up.
pub(super) struct Found {
    pub(super) terms: Terms,
    pub(super) rows: Vec<Row>,
    /// Recommended for the newest request.
    pub(super) breakpoints: Vec<Breakpoint>,
    pub(super) skipped: Vec<String>,
}

/// One call.
pub(super) struct Row {
    pub(super) state: String,
    pub(super) cycle: Option<Cycle>,
    pub(super) model: Option<String>,
    pub(super) attempt: Option<Attempt>,
    /// The beginning of the user message that the call serves.
    pub(super) question: Option<String>,
    pub(super) step: Step,
}

/// Follows all calls; without any, all snapshots.
pub(super) fn history(
    request: &CacheRequest,
    reader: &mut Reader,
    control: &Control<'_>,
) -> Result<Found, Error> {
    control.check_results(match request.limit {
        Some(limit) => usize::try_from(limit).unwrap_or(usize::MAX).min(reader.snapshot_count()),
        None => reader.snapshot_count(),
    })?;
    let mut snapshots = reader.newest_snapshots(usize::MAX, control)?;
    snapshots.reverse();
    let (Some(first), Some(last)) = (snapshots.first(), snapshots.last()) else {
        return Err(Error::new("E_SNAPSHOT_NOT_FOUND", "there is no snapshot yet")
            .with_advice(Advice::FirstCommit));
    };
    let reports = reader.reports(first.cycle(), last.cycle())?;
    let mut attempts = completed(reader)?;
    let terms = Terms::of(request, reader, last.view(), None)?;
    let is_call =
        |snapshot: &&Snapshot| attempts.is_empty() || attempts.contains_key(&snapshot.cycle());
    let sent: Vec<&Snapshot> = snapshots.iter().filter(is_call).collect();
    let (tokenizer, rules) = terms.of_model(terms.model.as_deref());
    let mut follower = Follower::new(tokenizer, rules);
    let mut counted = (tokenizer, rules);
    let mut renderer: Option<(RenderOptions, RequestRenderer)> = None;
    let mut found = Found { terms, rows: Vec::new(), breakpoints: Vec::new(), skipped: Vec::new() };
    let mut before: Option<&Snapshot> = None;
    // Remembered by id: after a compaction a snapshot does not have the message any more that its call serves.
    let mut questions: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut written = Written::default();
    let has_times = attempts.values().any(|attempt| attempt.started_at >= FIRST_TIME);
    for snapshot in sent {
        control.check()?;
        let attempt = attempts.remove(&snapshot.cycle());
        let label = format!("@c{}", snapshot.cycle());
        let terms = &found.terms;
        let options = terms.options(attempt.as_ref());
        if renderer.as_ref().is_none_or(|(own, _)| *own != options) {
            renderer = Some((options.clone(), RequestRenderer::new(terms.provider, options)));
        }
        let Some((_, renderer)) = &mut renderer else { continue };
        let rendered = match renderer.render(snapshot.tree()) {
            Ok(_) => renderer.rendered(),
            Err(RenderError::Empty) => {
                found.skipped.push(label);
                continue;
            }
            Err(error) => return Err(no_request(&error, &label)),
        };
        written.follow(rendered, renderer.kept());
        let model = terms.model(attempt.as_ref());
        let counts = terms.of_model(model.as_deref());
        if counts != counted {
            follower.switch(counts.0, counts.1);
            counted = counts;
        }
        let older = before.unwrap_or(snapshot);
        let between = between(&reports, older.cycle(), snapshot.cycle());
        let evidence = Evidence::new(older.view(), snapshot.view())
            .with_reports(&between)
            .with_rules(&terms.limits);
        let call = Call {
            unchanged: renderer.kept(),
            model: model.clone(),
            thinking: terms.thinking(attempt.as_ref()),
            ..call_of(Rendered::from(rendered), evidence, attempt.as_ref(), &written, terms)
        };
        let call = if has_times { with_known_times(call) } else { call };
        let step = follower.follow_call(&call).clone();
        let served = attempt.as_ref().and_then(|attempt| attempt.serves.clone());
        found.rows.push(Row {
            state: label,
            cycle: Some(snapshot.cycle()),
            model,
            question: served.and_then(|id| {
                let excerpt = || question(snapshot.view(), &id);
                questions.entry(id.clone()).or_insert_with(excerpt).clone()
            }),
            attempt,
            step,
        });
        before = Some(snapshot);
    }
    found.breakpoints = follower.finish().breakpoints;
    Ok(found)
}

/// Follows two states, the older one first.
pub(super) fn pair(
    request: &CacheRequest,
    from: Range,
    reader: &mut Reader,
) -> Result<Found, Error> {
    let to = match (from.to, request.to) {
        (Some(_), Some(_)) => {
            return Err(Error::usage("three states are given, two can be compared")
                .with_advice(Advice::TwoStates("cache")));
        }
        (to, other) => to.or(other).unwrap_or(Address::Working),
    };
    let (older, newer) = in_order(reader.state(from.from)?, reader.state(to)?);
    let terms = Terms::of(request, reader, newer.tree(), newer.cycle())?;
    let reports = match (older.cycle(), newer.cycle()) {
        (Some(older), Some(newer)) => reader.reports(older, newer)?,
        _ => BTreeMap::new(),
    };
    let between = between(&reports, Cycle::ZERO, Cycle::MAX);
    let (tokenizer, rules) = terms.of_model(terms.model.as_deref());
    let mut follower = Follower::new(tokenizer, rules);
    let mut found = Found { terms, rows: Vec::new(), breakpoints: Vec::new(), skipped: Vec::new() };
    // As the states were sent. One that was not has the settings of the other one's call: it is the tree that is compared.
    let calls = completed(reader)?;
    let of_state = |state: &State| state.cycle().and_then(|cycle| calls.get(&cycle));
    let (sent_older, sent_newer) = (of_state(&older), of_state(&newer));
    for (state, call) in [(&older, sent_older.or(sent_newer)), (&newer, sent_newer.or(sent_older))]
    {
        let rendered = render(state.tree(), found.terms.provider, &found.terms.options(call))
            .map_err(|error| no_request(&error, &state.label))?;
        let evidence = Evidence::new(older.tree(), state.tree())
            .with_reports(&between)
            .with_rules(&found.terms.limits);
        let step = follower.follow(&Rendered::from(&rendered), &evidence).clone();
        found.rows.push(Row {
            state: state.label.clone(),
            cycle: state.cycle(),
            model: found.terms.model.clone(),
            attempt: None,
            question: None,
            step,
        });
    }
    found.breakpoints = follower.finish().breakpoints;
    Ok(found)
}

/// Returns the completed calls that have a request, by the cycle of their snapshot.
fn completed(reader: &Reader) -> Result<BTreeMap<Cycle, Attempt>, Error> {
    let Some(session) = reader.stored() else { return Ok(BTreeMap::new()) };
    let is_call = |attempt: &&Attempt| {
        attempt.status == AttemptStatus::Completed && attempt.request.is_some()
    };
    let calls = session.attempts()?.iter().filter(is_call);
    Ok(calls.map(|attempt| (attempt.cycle_id, attempt.clone())).collect())
}

/// Returns what is known about a call.
fn call_of<'a>(
    request: Rendered<'a>,
    evidence: Evidence<'a>,
    attempt: Option<&Attempt>,
    written: &Written,
    terms: &Terms,
) -> Call<'a> {
    let call = Call::new(request, evidence);
    let Some(attempt) = attempt else { return call };
    let is_own = attempt.provider == terms.provider.name();
    let newer = call.evidence.newer;
    Call {
        marks: (is_own && attempt.input.is_some()).then(|| marks(attempt, newer, written)),
        is_complete: !is_own || attempt.input.is_some(),
        started_ns: Some(attempt.started_at),
        ended_ns: attempt.ended_at,
        billed: is_own.then(|| billed(attempt)).flatten(),
        ..call
    }
}

/// The first time that can be meant: stamps of entries without one count from zero.
const FIRST_TIME: i64 = 100_000_000 * 1_000_000_000;

/// Removes the times that only count, because the log has none for this call, although it has for others.
fn with_known_times(call: Call<'_>) -> Call<'_> {
    let known = |time: &i64| *time >= FIRST_TIME;
    Call {
        started_ns: call.started_ns.filter(known),
        ended_ns: call.ended_ns.filter(known),
        ..call
    }
}

/// Returns what was billed for a call; `None` if it has no usage. What was cached may be unknown: not every provider says so. With
/// Anthropic a bill without these fields is one without a cache.
fn billed(attempt: &Attempt) -> Option<Billed> {
    let response = attempt.response.as_ref()?;
    let miss = response.diagnostics.as_ref().and_then(|all| all.get("cache_miss_reason"));
    let diagnosis = miss.and_then(|miss| {
        Some(Diagnosis {
            reason: miss.get("type")?.as_str()?.to_owned(),
            tokens: miss.get("cache_missed_input_tokens").and_then(Value::as_u64),
        })
    });
    let is_anthropic = attempt.provider == Provider::Anthropic.name();
    let none = || (is_anthropic && response.cache_read.is_none()).then_some(0);
    Some(Billed {
        input: attempt.token_in?,
        cached: response.cache_read.or_else(none),
        written: response.cache_write.or_else(none),
        written_hour: response.cache_write_1h,
        output: attempt.token_out,
        reasoning: response.reasoning,
        diagnosis,
    })
}

/// The number of characters of a question that are returned.
const QUESTION: usize = 100;

/// Returns the beginning of a user message.
fn question(tree: TreeRef<'_>, id: &str) -> Option<String> {
    let text = tree.get(id)?.content().as_text()?;
    Some(text.trim().chars().take(QUESTION).collect())
}

fn between(
    reports: &BTreeMap<Cycle, CommitReport>,
    older: Cycle,
    newer: Cycle,
) -> Vec<&CommitReport> {
    let after = older.next().min(newer);
    reports.range(after..=newer).map(|(_, report)| report).collect()
}

fn no_request(error: &RenderError, label: &str) -> Error {
    Error::new(error.code(), format!("{label}: {error}")).with_hint(error.hint())
}
