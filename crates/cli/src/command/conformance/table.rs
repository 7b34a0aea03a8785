//! The results for people: a table by area, and the cases that fail.

use contextree_conformance::Verdict;

use super::{Ran, by_area};
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::count;

pub(super) fn render(ran: &[Ran<'_>]) -> String {
    let mut table = Table::new(&["area", "E1", "E2", "E3", "result"]).right(1).right(2).right(3);
    let mut totals = [(0, 0); 3];
    let cell = |(passed, all): (usize, usize)| match all {
        0 => "–".to_owned(),
        _ if passed == all => all.to_string(),
        _ => format!("{passed}/{all}"),
    };
    let result = |counts: &[(usize, usize); 3]| {
        let failing: usize = counts.iter().map(|(passed, all)| all - passed).sum();
        if failing == 0 { "pass".to_owned() } else { format!("{failing} failing") }
    };
    for (area, counts) in by_area(ran) {
        for (total, count) in totals.iter_mut().zip(counts) {
            *total = (total.0 + count.0, total.1 + count.1);
        }
        let [e1, e2, e3] = counts.map(cell);
        table.row(vec![paint(style::TITLE, area), e1, e2, e3, result(&counts)]);
    }
    let [e1, e2, e3] = totals.map(cell);
    table.row(vec![paint(style::TITLE, "all"), e1, e2, e3, result(&totals)]);
    let mut out = table.render(None);
    let failing: Vec<&Ran<'_>> = ran.iter().filter(|one| !one.verdict.is_pass()).collect();
    for one in &failing {
        out.push_str(&format!(
            "\n{} {} in {} ({})\n",
            paint(style::REMOVED, "FAIL"),
            paint(style::ID, &one.case.id),
            one.edition,
            one.case.file,
        ));
        let text = match &one.verdict {
            Verdict::Unsupported(_) | Verdict::Broken(_) => format!("     {}", one.verdict),
            _ => one.verdict.to_string(),
        };
        for line in text.lines() {
            out.push_str(&format!("  {line}\n"));
        }
    }
    let summary = match failing.len() {
        0 => paint(style::ADDED, format!("all {} pass", count(ran.len(), "case"))),
        number => paint(style::REMOVED, format!("{number} of {} failed", count(ran.len(), "case"))),
    };
    out.push_str(&format!("\n{summary}\n"));
    out
}
