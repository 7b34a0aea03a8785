//! Explains a selector: its syntax, its meaning, its plan, and the number of matches after each
//! step.

mod steps;
mod syntax;

pub use syntax::SyntaxNode;

use std::fmt::Write as _;

use contextree_json::{Object, Value};
use contextree_selector::{Edition, Selector, parse};

use crate::error::QueryError;
use crate::meter::QueryLimits;
use crate::plan::plan;
use crate::range::{Locality, locality};
use crate::resolve::{At, resolve};
use crate::timeline::Timeline;

/// How a selector is parsed and evaluated on a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The selector as written.
    pub query: String,
    /// The edition it was parsed in.
    pub edition: Edition,
    /// The same selector in canonical text.
    pub canonical: String,
    /// The syntax tree.
    pub syntax: SyntaxNode,
    /// The trees that are read, `the snapshot of cycle 12`.
    pub reads: String,
    /// The steps, in order.
    pub steps: Vec<ExplainedStep>,
    /// For a range: how snapshots are compared.
    pub comparison: Option<String>,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedStep {
    /// The action.
    pub action: String,
    /// The number of nodes after it; for a range, in its newest snapshot.
    pub matched: Option<usize>,
}

impl ExplainedStep {
    fn new(action: impl Into<String>, matched: impl Into<Option<usize>>) -> Self {
        Self { action: action.into(), matched: matched.into() }
    }
}

/// Explains a selector on a timeline. Costs an evaluation per step.
///
/// # Errors
///
/// If the selector is invalid, addresses a snapshot that does not exist, or the history cannot be read.
pub fn explain<T: Timeline + ?Sized>(
    text: &str,
    edition: Edition,
    timeline: &T,
) -> Result<Explanation, T::Error> {
    explain_within(text, edition, timeline, &QueryLimits::default())
}

/// Like [`explain`], within limits. Counts that would take more work are left out.
///
/// # Errors
///
/// See [`explain`].
pub fn explain_within<T: Timeline + ?Sized>(
    text: &str,
    edition: Edition,
    timeline: &T,
    limits: &QueryLimits,
) -> Result<Explanation, T::Error> {
    let selector = parse(text, edition).map_err(QueryError::from)?;
    explain_selector(&selector, text, timeline, limits)
}

/// Like [`explain`], but for a parsed selector. `text` is what it was parsed from.
///
/// # Errors
///
/// If it addresses a snapshot that does not exist, or the history cannot be read.
pub fn explain_parsed<T: Timeline + ?Sized>(
    selector: &Selector,
    text: &str,
    timeline: &T,
) -> Result<Explanation, T::Error> {
    explain_selector(selector, text, timeline, &QueryLimits::default())
}

fn explain_selector<T: Timeline + ?Sized>(
    selector: &Selector,
    text: &str,
    timeline: &T,
    limits: &QueryLimits,
) -> Result<Explanation, T::Error> {
    let resolved = resolve(selector, timeline)?;
    let (reads, position) = match &resolved.at {
        At::Working => ("the working state".to_owned(), None),
        At::Snapshot(position) => {
            let cycle = timeline.cycle_at(*position)?.unwrap_or_default();
            (format!("the snapshot of cycle {cycle}"), Some(*position))
        }
        At::Every(positions) => {
            (format!("{} snapshots, newest first", positions.len()), positions.first().copied())
        }
        At::Range(range) => {
            let clipped = if range.clipped { ", clipped" } else { "" };
            let text =
                format!("a range of {} snapshots, newest first{clipped}", range.positions.len());
            (text, range.positions.first().copied())
        }
    };
    let comparison = matches!(resolved.at, At::Range(_)).then(|| match locality(&resolved.query) {
        Locality::Local => "what was written between neighbours".to_owned(),
        Locality::PerSnapshot(reason) => format!("an evaluation per snapshot, because {reason}"),
    });
    let moment = match position {
        Some(position) => timeline.snapshot(position)?,
        None => None,
    };
    let (tree, cycle) = match (&resolved.at, moment) {
        (At::Working, _) => (timeline.working()?, None),
        (_, Some(moment)) => (Some(moment.tree), Some(moment.cycle)),
        (_, None) => (None, None),
    };
    let plan = plan(resolved.query);
    Ok(Explanation {
        query: text.to_owned(),
        edition: selector.edition,
        canonical: resolved.canonical,
        syntax: SyntaxNode::of(selector),
        reads,
        steps: steps::of(&plan, selector, (tree, cycle), limits),
        comparison,
    })
}

impl Explanation {
    /// Returns the explanation as text for people.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("canonical  {}\n", self.canonical);
        let put = |text: &mut String, label: &str, line: &str| {
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "{label:<10} {line}");
        };
        put(&mut text, "edition", self.edition.as_str());
        put(&mut text, "reads", &self.reads);
        if let Some(comparison) = &self.comparison {
            put(&mut text, "compares", comparison);
        }
        for (index, (depth, node)) in self.syntax.lines().into_iter().enumerate() {
            let line = format!("{}{} {}", "  ".repeat(depth), node.kind, node.text);
            put(&mut text, if index == 0 { "syntax" } else { "" }, line.trim_end());
        }
        for (index, step) in self.steps.iter().enumerate() {
            let count = step.matched.map(|count| format!("  → {count}")).unwrap_or_default();
            put(
                &mut text,
                if index == 0 { "plan" } else { "" },
                &format!("{}{count}", step.action),
            );
        }
        text
    }

    /// Returns the explanation as JSON for programs.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut object = Object::new();
        object.insert("query", self.query.as_str().into());
        object.insert("edition", self.edition.as_str().into());
        object.insert("canonical", self.canonical.as_str().into());
        object.insert("syntax", self.syntax.to_value());
        object.insert("reads", self.reads.as_str().into());
        let step = |step: &ExplainedStep| {
            let mut object = Object::new();
            object.insert("action", step.action.as_str().into());
            if let Some(matched) = step.matched {
                object.insert("matched", (matched as u64).into());
            }
            Value::from(object)
        };
        object.insert("steps", Value::Array(self.steps.iter().map(step).collect()));
        if let Some(comparison) = &self.comparison {
            object.insert("comparison", comparison.as_str().into());
        }
        object.into()
    }
}
