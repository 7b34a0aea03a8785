//! A commit under a budget in tokens: what goes, and why this and not something else.

use contextree::{CommitReport, Edition};
use contextree_budget::{Budget, Forecast, Keeper};
use contextree_json::{Object, Value};

use crate::command::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::text::one_line;
use crate::source::{Change, Source, read_bytes};
use crate::view::report;

/// Reads a budget, with selectors of an edition.
pub(in crate::command) fn read(file: &str, edition: Edition) -> Result<Budget, Failure> {
    let text = String::from_utf8(read_bytes(file)?)
        .map_err(|_| Failure::usage(format!("{file} is no text in UTF-8")))?;
    Budget::read(&text, edition).map_err(|error| {
        Failure::new(error.code(), format!("{file}: {error}"))
            .detail("key", error.key.as_str())
            .detail("line", error.line as u64)
            .detail("column", error.column as u64)
            .detail("reason", error.fault.word())
            .hint(error.hint())
    })
}

/// Returns what the rules of a budget are called, in the order of the policy that it means.
pub(in crate::command) fn rule_names(budget: &Budget) -> Vec<String> {
    budget.rules().into_iter().map(|(rule, _)| rule.key().to_owned()).collect()
}

pub(super) fn run(file: &str, change: &Change, call: &mut Call<'_>) -> Result<Exit, Failure> {
    // Exclusions are read in the edition of the context when they are applied.
    let source = Source::open(call)?;
    let keeper = Keeper::new(read(file, source.edition())?);
    let own_policy = source.reader().is_some_and(|reader| reader.settings().policy.is_some());
    drop(source);
    let (forecast, report) = change.make(call, |context| {
        let forecast = keeper.preview(context).map_err(|error| Failure::commit(&error))?;
        let report = keeper.accept(context, &forecast).map_err(|error| Failure::commit(&error))?;
        Ok((forecast, report))
    })?;
    let exit = if forecast.missed.is_empty() { Exit::Ok } else { Exit::No };
    if call.output.format() != Format::Human {
        call.output.value(&to_value(&forecast, &report, &keeper));
        return Ok(exit);
    }
    let text = draw(&forecast, &report);
    call.output.text(&text);
    for warning in &report.warnings {
        call.output.warning(&warning.to_string());
    }
    let tokenizer = keeper.budget().tokenizer;
    call.output.note(&paint(style::DIM, format!("counted by {tokenizer}")));
    if own_policy {
        call.output.note("the context's own policy was set aside for this budget");
    }
    if change.dry_run {
        call.output.note("nothing was committed (--dry-run)");
    }
    Ok(exit)
}

fn draw(forecast: &Forecast, report: &CommitReport) -> String {
    let digest: String = report.digest.to_string().chars().take(12).collect();
    let mut out = format!(
        "{}  sealed {}, digest {digest}\n{} tokens, {} expired, {} stay\n",
        paint(style::TITLE, format!("@c{}", report.cycle)),
        paint(style::ID, one_line(&report.sealed)),
        forecast.tokens_before,
        forecast.tokens_expiring,
        forecast.tokens_after,
    );
    for id in &report.expired {
        let mark = paint(style::REMOVED, "-");
        out.push_str(&format!("  {mark} {}  its ttl ran out\n", paint(style::ID, one_line(id))));
    }
    out.push_str(&report::draw_deferred(report));
    for going in &forecast.going {
        out.push_str(&format!(
            "  {} {}  {} tokens: {}\n",
            paint(style::REMOVED, "-"),
            paint(style::ID, one_line(&going.node)),
            going.tokens,
            going.reason(),
        ));
    }
    for missed in &forecast.missed {
        let scope = if missed.scope.is_empty() { "the tree" } else { &missed.scope };
        out.push_str(&format!(
            "  {} `{}` is not kept: {} left in {scope}, and everything there is protected\n",
            paint(style::WARNING, "!"),
            missed.rule.key(),
            missed.left,
        ));
    }
    out
}

fn to_value(forecast: &Forecast, report: &CommitReport, keeper: &Keeper) -> Value {
    let mut object = match report::to_value(report) {
        Value::Object(object) => object,
        _ => Object::new(),
    };
    let going = forecast.going.iter().map(|going| {
        Value::Object(Object::from_iter([
            ("node", Value::from(going.node.as_str())),
            ("tokens", going.tokens.into()),
            ("rule", going.rule.key().to_string().into()),
            ("reason", going.reason().into()),
        ]))
    });
    let missed = forecast.missed.iter().map(|missed| {
        Value::Object(Object::from_iter([
            ("rule", Value::from(missed.rule.key().to_string())),
            ("scope", missed.scope.as_str().into()),
            ("left", missed.left.into()),
        ]))
    });
    let tokenizer = keeper.budget().tokenizer;
    let budget = Object::from_iter([
        ("tokenizer", Value::from(tokenizer.name())),
        ("error_percent", tokenizer.error_percent().into()),
        ("kept", forecast.missed.is_empty().into()),
        ("tokens_before", forecast.tokens_before.into()),
        ("tokens_expiring", forecast.tokens_expiring.into()),
        ("tokens_after", forecast.tokens_after.into()),
        ("going", Value::Array(going.collect())),
        ("missed", Value::Array(missed.collect())),
    ]);
    object.insert("budget", budget.into());
    object.into()
}
