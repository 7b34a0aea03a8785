//! Sums up what was found about all logs of a folder.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::exact::Exact;
use super::log::{Billed, Judged};
use super::oracle::Kind;

/// What was found about a folder.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// Logs by kind: imported, and refused.
    logs: BTreeMap<Kind, (u64, u64)>,
    requests: Exact,
    written: Exact,
    styles: Exact,
    sizes: (u64, u64),
    pieces: u64,
    lost: u64,
    duplicated: u64,
    bills: (u64, u64),
    sessions: Vec<Billed>,
    /// The size of the sessions' logs, and of the store that they were imported into.
    pub(crate) log_bytes: u64,
    pub(crate) store_bytes: u64,
    /// What is wrong, by log.
    remarks: Vec<String>,
}

/// One claim.
struct Line {
    what: &'static str,
    found: String,
    bar: &'static str,
    holds: bool,
}

/// The number of examples that are printed of each thing that is wrong with a log.
const EXAMPLES: usize = 3;

impl Verdict {
    pub(super) fn add(&mut self, name: &str, kind: Kind, judged: Result<Judged, String>) {
        let (imported, refused) = self.logs.entry(kind).or_default();
        let judged = match judged {
            Ok(judged) => judged,
            Err(error) => {
                *refused += 1;
                self.remarks.push(format!("{name}: {error}"));
                return;
            }
        };
        *imported += 1;
        for (sum, exact) in [
            (&mut self.requests, judged.requests),
            (&mut self.written, judged.written),
            (&mut self.styles, judged.styles),
        ] {
            sum.equal += exact.equal;
            sum.all += exact.all;
            if exact.equal < exact.all {
                let (equal, all) = (exact.equal, exact.all);
                self.remarks.push(format!("{name}: {equal} of {all} requests are exact"));
            }
        }
        self.pieces += judged.content.pieces;
        self.lost += judged.content.lost.len() as u64;
        self.duplicated += judged.content.duplicated.len() as u64;
        for (what, pieces) in
            [("lost", &judged.content.lost), ("duplicated", &judged.content.duplicated)]
        {
            for piece in pieces.iter().take(EXAMPLES) {
                self.remarks.push(format!("{name}: {what}, {} in all: {piece:?}", pieces.len()));
            }
        }
        self.sizes = (self.sizes.0 + judged.sizes.0, self.sizes.1 + judged.sizes.1);
        let (known, reported) = judged.bills;
        self.bills = (self.bills.0 + known, self.bills.1 + reported);
        if reported < known {
            self.remarks.push(format!("{name}: {reported} of {known} bills are reported"));
        }
        if let Some(billed) = judged.billed {
            self.remark_session(name, &billed);
            self.sessions.push(billed);
        }
    }

    fn remark_session(&mut self, name: &str, billed: &Billed) {
        if let Some(growth) = billed.growth_ratio().filter(|_| !billed.is_within_bound()) {
            let bound = billed.bound;
            self.remarks.push(format!("{name}: growth {growth:.2} of the bill, ±{bound} %"));
        }
        let points = billed.points();
        if points.abs() > NEAR {
            self.remarks.push(format!("{name}: predicted share {points:+.1} points off"));
        }
    }

    /// Returns the table, in Markdown, and whether every bar holds.
    pub(crate) fn table(&self) -> (String, bool) {
        let lines = self.lines();
        let mut out = String::from("| what | found | bar | |\n|---|--:|--:|---|\n");
        for Line { what, found, bar, holds } in &lines {
            let verdict = match (bar.is_empty(), holds) {
                (true, _) => "",
                (false, true) => "holds",
                (false, false) => "**missed**",
            };
            let _ = writeln!(out, "| {what} | {found} | {bar} | {verdict} |");
        }
        (out, lines.iter().all(|line| line.holds))
    }

    /// Returns what is wrong, by log.
    pub(crate) fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut line = |what, found: String, bar, holds| {
            lines.push(Line { what, found, bar, holds });
        };
        let count = |kind: Kind| self.logs.get(&kind).copied().unwrap_or_default();
        let (claude, codex) = (count(Kind::ClaudeCode), count(Kind::Codex));
        let (requests, other) = (count(Kind::Requests), count(Kind::Other));
        let imported = format!("{} + {} + {} + {}", claude.0, codex.0, requests.0, other.0);
        line("logs: Claude Code, Codex, requests, others", imported, "", true);
        let refused = claude.1 + codex.1 + requests.1;
        line(
            "logs of the first three kinds that are refused",
            refused.to_string(),
            "0",
            refused == 0,
        );
        for (what, exact) in [
            ("request logs: snapshots that render to their request", self.requests),
            (
                "requests of the sessions as a request log: snapshots that render to them",
                self.written,
            ),
            (
                "request logs written from messages in five styles: the same, and keys in order",
                self.styles,
            ),
        ] {
            if exact.all > 0 {
                let found = format!("{} of {}", exact.equal, exact.all);
                line(what, found, "all", exact.equal == exact.all);
            }
        }
        let (growths, within) = self.growths();
        if !growths.is_empty() {
            let median = growths[growths.len() / 2];
            let holds = (0.95..=1.05).contains(&median);
            line(
                "growth of input, estimated against billed: median",
                format!("{median:.3}"),
                "0.95–1.05",
                holds,
            );
            let (found, holds) = share(within, growths.len());
            line("sessions within the printed bound", found, "≥ 90 %", holds);
        }
        let (near, all) = self.sizes;
        if all > 0 {
            let count = |calls: u64| usize::try_from(calls).unwrap_or(usize::MAX);
            let (found, holds) = share(count(near), count(all));
            line("calls whose size is within the printed bound", found, "≥ 90 %", holds);
        }
        if !self.sessions.is_empty() {
            let all = self.total();
            let points = all.points();
            let (billed, predicted) = (percent(all.billed.share()), percent(all.predicted.share()));
            let found = format!("{predicted} against {billed}");
            line(
                "cached share of input, predicted against billed",
                found,
                "± 1 point",
                points.abs() <= 1.0,
            );
            let (billed, predicted) = all.later;
            let points = (predicted.share() - billed.share()) * 100.0;
            let found =
                format!("{} against {}", percent(predicted.share()), percent(billed.share()));
            line(
                "the same without the first call of each session",
                found,
                "± 1 point",
                points.abs() <= 1.0,
            );
            let near = self.sessions.iter().filter(|it| it.points().abs() <= NEAR).count();
            let (found, holds) = share(near, self.sessions.len());
            line("sessions within 5 points", found, "≥ 90 %", holds);
            let (known, reported) = self.bills;
            line(
                "bills of the logs that the report has",
                format!("{reported} of {known}"),
                "all",
                reported == known,
            );
        }
        if self.log_bytes > 0 {
            let ratio = self.store_bytes as f64 / self.log_bytes as f64;
            line(
                "size of the store, against the logs",
                format!("{ratio:.2}×"),
                "≤ 0.6×",
                ratio <= 0.6,
            );
            let found = format!("{} of {}", self.lost, self.pieces);
            line("pieces of content that are lost", found, "0", self.lost == 0);
            line(
                "pieces that a request has more often than the log",
                self.duplicated.to_string(),
                "0",
                self.duplicated == 0,
            );
        }
        lines
    }

    /// Returns the ratios of growth, in order, and how many are within the printed bound.
    fn growths(&self) -> (Vec<f64>, usize) {
        let billed = || self.sessions.iter().filter(|it| it.growth_ratio().is_some());
        let mut ratios: Vec<f64> = billed().filter_map(|it| it.growth_ratio()).collect();
        ratios.sort_by(f64::total_cmp);
        (ratios, billed().filter(|it| it.is_within_bound()).count())
    }

    fn total(&self) -> Billed {
        self.sessions.iter().fold(Billed::default(), |mut sum, it| {
            for (sum, bill) in [
                (&mut sum.billed, it.billed),
                (&mut sum.predicted, it.predicted),
                (&mut sum.later.0, it.later.0),
                (&mut sum.later.1, it.later.1),
            ] {
                sum.input += bill.input;
                sum.cached += bill.cached;
            }
            sum
        })
    }
}

/// The difference between a predicted and a billed share that is near, in points.
const NEAR: f64 = 5.0;

impl Billed {
    /// Returns the estimated growth divided by the billed one; `None` if nothing grew.
    fn growth_ratio(&self) -> Option<f64> {
        let (estimated, billed) = self.growth;
        (billed > 0).then(|| estimated as f64 / billed as f64)
    }

    fn is_within_bound(&self) -> bool {
        let bound = self.bound as f64 / 100.0;
        self.growth_ratio().is_some_and(|ratio| (ratio - 1.0).abs() <= bound)
    }

    /// Returns the predicted share minus the billed one, in points.
    fn points(&self) -> f64 {
        (self.predicted.share() - self.billed.share()) * 100.0
    }
}

fn share(part: usize, whole: usize) -> (String, bool) {
    let share = part as f64 / whole as f64;
    (format!("{part} of {whole}, {}", percent(share)), share >= 0.9)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
