//! From what was found to the response.

use contextree::Cycle;
use contextree::cache::{
    Billed, Break, Breakpoint as Advised, Cause, History, Miss, MissReason, Place, Prices, Step,
};

use super::calls::{Found, Row};
use super::{
    BilledCall, BilledCalls, Breakpoint, BrokenPrefix, CacheCall, CacheMiss, CacheReason,
    CacheRequest, CacheResponse, Cost, InferredTokens,
};
use crate::Error;
use crate::wire::Document;

pub(super) fn response(request: &CacheRequest, mut found: Found) -> Result<CacheResponse, Error> {
    let prices = request.prices.as_ref().map(read_prices).transpose()?;
    if let Some(limit) = request.limit.and_then(|limit| usize::try_from(limit).ok()) {
        let extra = found.rows.len().saturating_sub(limit);
        found.rows.drain(..extra);
    }
    let history: History = found.rows.iter().map(|row| row.step.clone()).collect();
    let (tokenizer, rules) = found.terms.of_model(found.terms.model.as_deref());
    let mut total_micros = 0;
    let mut calls: Vec<CacheCall> = found.rows.into_iter().map(CacheCall::from).collect();
    if let Some(prices) = &prices {
        for (call, step) in calls.iter_mut().zip(&history.steps) {
            let price = call.model.as_deref().and_then(|model| prices.of_model(model));
            let Some(price) = price else { continue };
            let micros = price.micros(step, rules.breakpoints > 0);
            total_micros += micros;
            let currency = prices.currency().to_owned();
            call.cost = Some(Cost { currency, micros, total_micros });
        }
    }
    let reason = |total: contextree::cache::ReasonTotal| CacheReason {
        reason: total.reason.to_owned(),
        calls: total.calls,
        tokens: total.tokens,
    };
    let marks = found.breakpoints.iter().filter(|_| request.breakpoints);
    Ok(CacheResponse {
        provider: found.terms.provider.name().to_owned(),
        model: found.terms.model,
        tokenizer: tokenizer.name().to_owned(),
        exact: false,
        error_percent: tokenizer.request_error_percent(),
        rules: rules.name.to_owned(),
        min_tokens: rules.min_tokens,
        tokens: history.tokens,
        cached: history.cached,
        per_mille: history.per_mille(),
        billed: history.billed.map(|billed| BilledCalls {
            calls: billed.calls,
            tokens: billed.tokens,
            cached: billed.reading.map(|it| it.cached),
            per_mille: billed.reading.map(|it| per_mille(it.cached, it.tokens)),
            predicted_per_mille: billed
                .reading
                .map(|it| per_mille(it.predicted_cached, it.predicted_tokens)),
            growth_estimated: billed.growth.estimated,
            growth_billed: billed.growth.billed,
        }),
        reasons: history.reasons().into_iter().map(reason).collect(),
        cost: prices.map(|prices| Cost {
            currency: prices.currency().to_owned(),
            micros: total_micros,
            total_micros,
        }),
        calls,
        skipped: found.skipped,
        breakpoints: marks.map(Breakpoint::from).collect(),
    })
}

fn per_mille(part: u64, whole: u64) -> u64 {
    (part * 1000).checked_div(whole).unwrap_or(0)
}

fn read_prices(document: &Document) -> Result<Prices, Error> {
    let name = &document.name;
    let text = std::str::from_utf8(&document.text)
        .map_err(|_| Error::usage(format!("{name} is not UTF-8 text")))?;
    Prices::read(text).map_err(|error| {
        Error::new(error.code(), format!("{name}: {error}"))
            .with_detail("line", error.line as u64)
            .with_detail("column", error.column as u64)
            .with_hint(error.hint())
    })
}

impl From<Row> for CacheCall {
    fn from(row: Row) -> Self {
        let Row { state, cycle, model, attempt, question, step } = row;
        let report = step.report.as_ref();
        let broken = report.and_then(|report| report.broken.as_ref());
        let inferred = InferredTokens {
            prefix: step.inferred.prefix,
            reasoning: step.inferred.reasoning,
            cleared: step.inferred.cleared,
            cached: step.inferred.cached,
            lacks_prefix: step.inferred.lacks_prefix,
        };
        let InferredTokens { prefix, reasoning, cleared, cached, lacks_prefix } = inferred;
        let is_inferred = lacks_prefix || prefix + reasoning + cleared + cached > 0;
        CacheCall {
            state,
            cycle: cycle.map(Cycle::get),
            serves: attempt.as_ref().and_then(|attempt| attempt.serves.clone()),
            attempt: attempt.map(|attempt| attempt.attempt_id),
            question,
            model,
            started_at: step.started_ns,
            gap_seconds: step.gap_s,
            tokens: step.tokens,
            cached: step.cached,
            inferred: is_inferred.then_some(inferred),
            billed: step.billed.as_ref().map(BilledCall::from),
            miss: step.miss.as_ref().map(|miss| miss_of(miss, &step)),
            bytes: report.map(|report| report.bytes.total),
            prefix_bytes: report.map(|report| report.bytes.prefix),
            prefix_tokens: report.map(|report| report.tokens.prefix),
            broken: broken.map(BrokenPrefix::from),
            cost: None,
        }
    }
}

impl From<&Billed> for BilledCall {
    fn from(billed: &Billed) -> Self {
        let diagnosis = billed.diagnosis.as_ref();
        BilledCall {
            tokens: billed.input,
            cached: billed.cached,
            written: billed.written,
            written_1h: billed.written_hour,
            output: billed.output,
            reasoning: billed.reasoning,
            diagnosis: diagnosis.map(|diagnosis| diagnosis.reason.clone()),
            diagnosed_tokens: diagnosis.and_then(|diagnosis| diagnosis.tokens),
        }
    }
}

fn miss_of(miss: &Miss, step: &Step) -> CacheMiss {
    let broken = step.report.as_ref().and_then(|report| report.broken.as_ref());
    let advice = miss.reason.advice().or_else(|| Some(broken?.cause.advice()));
    CacheMiss {
        reason: miss.reason.word().to_owned(),
        message: message(&miss.reason, broken),
        predicted: miss.predicted,
        billed: miss.billed,
        lifetime_seconds: match miss.reason {
            MissReason::Expired { lifetime_s, .. } => Some(lifetime_s),
            _ => None,
        },
        near: match &miss.reason {
            MissReason::Unexplained { place: Place::Node(node) } => Some(node.clone()),
            _ => None,
        },
        advice: advice.unwrap_or_default().to_owned(),
    }
}

/// Returns the reason of a miss, for people.
fn message(reason: &MissReason, broken: Option<&Break>) -> String {
    match (reason, broken) {
        (MissReason::Cleared, Some(Break { node: Some(node), cause, .. }))
            if *cause == Cause::ClearedByClient =>
        {
            format!("{node} {cause}")
        }
        (MissReason::Changed(_) | MissReason::Moved, Some(broken)) => match &broken.node {
            Some(node) => format!("{node} {}", broken.cause),
            None => broken.cause.to_string(),
        },
        (reason, _) => reason.to_string(),
    }
}

impl From<&Advised> for Breakpoint {
    fn from(mark: &Advised) -> Self {
        Breakpoint {
            node: mark.node.clone(),
            path: mark.path.clone(),
            offset: mark.offset,
            tokens: mark.tokens,
            blocks: mark.blocks,
            purpose: mark.purpose.word().to_owned(),
            automatic: mark.automatic,
        }
    }
}

impl From<&Break> for BrokenPrefix {
    fn from(broken: &Break) -> Self {
        let mut form = BrokenPrefix {
            offset: broken.offset,
            node: broken.node.clone(),
            path: broken.path.clone(),
            cause: broken.cause.word().to_owned(),
            message: broken.cause.to_string(),
            reason: broken.reason.word().to_owned(),
            tokens_lost: broken.tokens_lost,
            advice: broken.cause.advice().to_owned(),
            fields: None,
            limit: None,
            rule: None,
            setting: None,
        };
        match &broken.cause {
            Cause::Edited { fields } => form.fields = Some(fields.clone()),
            Cause::Pruned { limit, rule } | Cause::Cleared { limit, rule } => {
                form.limit = Some(*limit);
                form.rule = Some(rule.clone());
            }
            Cause::Setting { name } => form.setting = Some(name.clone()),
            _ => {}
        }
        form
    }
}
