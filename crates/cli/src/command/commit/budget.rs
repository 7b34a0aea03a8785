//! A commit under a budget in tokens: what was pruned, and why this and not something else.

use contextree::json::Value;
use contextree_app::command::budget::BudgetReport;
use contextree_app::command::commit::CommitResponse;
use contextree_app::wire::{self, Document, Report};

use crate::command::Call;
use crate::error::Failure;
use crate::output::style::{self, paint};
use crate::output::text::{one_line, thousands};
use crate::source::document;
use crate::view::report;

/// Returns the budget that options name: a file, or a number of tokens.
pub(in crate::command) fn given(
    file: Option<&str>,
    max_tokens: Option<u64>,
) -> Result<Option<Document>, Failure> {
    let number = max_tokens.map(|tokens| Document::new("--max-tokens", tokens.to_string()));
    Ok(file.map(document).transpose()?.or(number))
}

/// Draws a commit under a budget: what it did in one sentence, then the details.
pub(super) fn draw(budget: &BudgetReport, report: &Report, verbose: bool) -> String {
    let digest: String = report.digest.chars().take(12).collect();
    let mut out = format!(
        "{}  sealed {}, digest {digest}\n{}\n",
        paint(style::TITLE, format!("@c{}", report.cycle)),
        paint(style::ID, one_line(&report.sealed)),
        budget.summary,
    );
    if budget.tokens_before != budget.tokens_after {
        out.push_str(&format!(
            "{} tokens, {} expired, {} left\n",
            thousands(budget.tokens_before),
            thousands(budget.tokens_expiring),
            thousands(budget.tokens_after),
        ));
    }
    for id in &report.expired {
        let mark = paint(style::REMOVED, "-");
        out.push_str(&format!("  {mark} {}  expired\n", paint(style::ID, one_line(id))));
    }
    out.push_str(&report::draw_deferred(report));
    for cleared in budget.cleared.iter().filter(|_| verbose) {
        out.push_str(&format!(
            "  {} {}  {} tokens {}\n",
            paint(style::TTL, "~"),
            paint(style::ID, one_line(&cleared.node)),
            thousands(cleared.tokens),
            cleared.reason,
        ));
    }
    for going in budget.going.iter().filter(|_| verbose) {
        out.push_str(&format!(
            "  {} {}  {} tokens: {}\n",
            paint(style::REMOVED, "-"),
            paint(style::ID, one_line(&going.node)),
            thousands(going.tokens),
            going.reason,
        ));
    }
    for line in unmet(budget) {
        out.push_str(&format!("  {} {line}\n", paint(style::WARNING, "!")));
    }
    out
}

/// Returns a line for every rule that is not met.
pub(in crate::command) fn unmet(budget: &BudgetReport) -> impl Iterator<Item = String> {
    budget.missed.iter().map(|missed| {
        let scope = if missed.scope.is_empty() { "the request" } else { &missed.scope };
        let (rule, left) = (&missed.rule, thousands(missed.left));
        format!("`{rule}` is not met: {left} left in {scope}, and everything there is protected")
    })
}

/// Prints what counted, and whose policy was ignored.
pub(super) fn notes(budget: &BudgetReport, policy_ignored: bool, call: &mut Call<'_>) {
    let text = format!("counted by {}, ±{} %", budget.tokenizer, budget.error_percent);
    call.output.note(&paint(style::DIM, text));
    if policy_ignored {
        call.output.note("the context's own policy was ignored for this budget");
    }
}

/// Returns the report for programs: that of the commit, with the budget in it.
pub(super) fn to_value(done: &CommitResponse) -> Value {
    match (wire::to_value(&done.report), &done.budget) {
        (Value::Object(mut report), Some(budget)) => {
            report.insert("budget", wire::to_value(budget));
            report.into()
        }
        (report, _) => report,
    }
}
