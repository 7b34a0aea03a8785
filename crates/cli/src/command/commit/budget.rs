//! A commit under a budget in tokens: what was pruned, and why this and not something else.

use contextree::json::Value;
use contextree::tokens::Tokenizer;
use contextree_app::command::commit::{BudgetReport, CommitResponse};
use contextree_app::wire::{self, Report};

use crate::command::Call;
use crate::output::style::{self, paint};
use crate::output::text::one_line;
use crate::view::report;

/// Draws a commit under a budget.
pub(super) fn draw(budget: &BudgetReport, report: &Report) -> String {
    let digest: String = report.digest.chars().take(12).collect();
    let mut out = format!(
        "{}  sealed {}, digest {digest}\n{} tokens, {} expired, {} left\n",
        paint(style::TITLE, format!("@c{}", report.cycle)),
        paint(style::ID, one_line(&report.sealed)),
        budget.tokens_before,
        budget.tokens_expiring,
        budget.tokens_after,
    );
    for id in &report.expired {
        let mark = paint(style::REMOVED, "-");
        out.push_str(&format!("  {mark} {}  expired\n", paint(style::ID, one_line(id))));
    }
    out.push_str(&report::draw_deferred(report));
    for going in &budget.going {
        out.push_str(&format!(
            "  {} {}  {} tokens: {}\n",
            paint(style::REMOVED, "-"),
            paint(style::ID, one_line(&going.node)),
            going.tokens,
            going.reason,
        ));
    }
    for missed in &budget.missed {
        let scope = if missed.scope.is_empty() { "the tree" } else { &missed.scope };
        out.push_str(&format!(
            "  {} `{}` is not met: {} left in {scope}, and everything there is protected\n",
            paint(style::WARNING, "!"),
            missed.rule,
            missed.left,
        ));
    }
    out
}

/// Prints what counted, and whose policy was ignored.
pub(super) fn notes(budget: &BudgetReport, policy_ignored: bool, call: &mut Call<'_>) {
    let counted_by = match Tokenizer::named(&budget.tokenizer) {
        Ok(tokenizer) => tokenizer.to_string(),
        Err(_) => budget.tokenizer.clone(),
    };
    call.output.note(&paint(style::DIM, format!("counted by {counted_by}")));
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
