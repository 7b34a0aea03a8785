//! The report of a call that has ended.

use std::fmt;

use contextree::json::{Object, Value};
use contextree::{CallOutcome, Cycle};
use contextree_app::record::{Receipt, Relation};

/// What the writer tells.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Report {
    /// A call that ended.
    Call(Box<CallLine>),
    /// Why a call, or its end, was not recorded. Its traffic was passed on.
    NotRecorded(String),
    /// A call whose snapshot does not render to what was sent.
    NotExact(String),
    /// What the budget was not applied to, and why.
    NotPruned(String),
    /// A rule of the budget that was not met, because everything left is protected. The request was sent all the same.
    OverBudget(String),
}

/// A call that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallLine {
    /// The context.
    pub context: String,
    /// The cycle of its snapshot, if it was completed.
    pub cycle: Cycle,
    /// The attempt.
    pub attempt: String,
    /// How it relates to what was recorded before.
    pub relation: Relation,
    /// The provider.
    pub provider: &'static str,
    /// The model.
    pub model: String,
    /// The status of the response; 0 if there was none.
    pub status: u16,
    /// When the request was sent, in nanoseconds since 1970.
    pub started_at: i64,
    /// When the response began.
    pub first_at: Option<i64>,
    /// When the call ended.
    pub ended_at: i64,
    /// How it ended.
    pub outcome: Outcome,
    /// What the budget did to the request, if there is one.
    pub receipt: Option<Receipt>,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With an answer.
    Completed(Box<CallOutcome>),
    /// The client disconnected.
    Canceled,
    /// With an error.
    Failed(String),
}

impl CallLine {
    /// Returns the line for programs.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let number = |number: Option<u64>| number.map_or(Value::Null, Value::from);
        let status = match &self.outcome {
            Outcome::Completed(_) => "completed",
            Outcome::Canceled => "canceled",
            Outcome::Failed(_) => "error",
        };
        let mut line = Object::from_iter([
            ("context", Value::from(self.context.as_str())),
            ("cycle", Value::from(u64::from(self.cycle))),
            ("attempt", Value::from(self.attempt.as_str())),
            ("relation", Value::from(word(&self.relation))),
            ("provider", Value::from(self.provider)),
            ("model", Value::from(self.model.as_str())),
            ("http_status", Value::from(u64::from(self.status))),
            ("started_at", Value::from(self.started_at)),
            ("first_byte_at", self.first_at.map_or(Value::Null, Value::from)),
            ("ended_at", Value::from(self.ended_at)),
            ("status", Value::from(status)),
        ]);
        match &self.outcome {
            Outcome::Completed(outcome) => {
                line.insert("token_in", number(outcome.token_in));
                line.insert("token_out", number(outcome.token_out));
                line.insert("cache_read", number(outcome.response.cache_read));
                line.insert("cache_write", number(outcome.response.cache_write));
            }
            Outcome::Failed(why) => drop(line.insert("error", Value::from(why.as_str()))),
            Outcome::Canceled => {}
        }
        if let Some(receipt) = &self.receipt {
            line.insert("budget", receipt.to_value());
        }
        if let Relation::Forked { from } = &self.relation {
            line.insert("forked_from", Value::from(from.as_str()));
        }
        Value::Object(line)
    }
}

fn word(relation: &Relation) -> &'static str {
    match relation {
        Relation::New => "new",
        Relation::Continued => "continued",
        Relation::Retried => "retried",
        Relation::Rewritten => "rewritten",
        Relation::Forked { .. } => "forked",
    }
}

impl fmt::Display for CallLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ", self.context)?;
        match &self.outcome {
            Outcome::Completed(_) => write!(out, "@c{}", self.cycle)?,
            _ => write!(out, "{}", self.attempt)?,
        }
        write!(out, "  {}", if self.model.is_empty() { self.provider } else { &self.model })?;
        if let Outcome::Completed(outcome) = &self.outcome {
            if let Some(sent) = outcome.token_in {
                write!(out, "  {} in", grouped(sent))?;
            }
            if let Some(read) = outcome.response.cache_read.filter(|read| *read > 0) {
                write!(out, " ({} cached)", grouped(read))?;
            }
            if let Some(received) = outcome.token_out {
                write!(out, "  {} out", grouped(received))?;
            }
        }
        write!(out, "  {}", seconds(self.ended_at - self.started_at))?;
        match &self.outcome {
            Outcome::Completed(outcome) => {
                if let Some(reason) = &outcome.response.stop_reason {
                    write!(out, "  {reason}")?;
                }
            }
            Outcome::Canceled => out.write_str("  canceled by the client")?,
            Outcome::Failed(why) => {
                let first = why.lines().next().unwrap_or_default();
                write!(out, "  failed: {}", first.chars().take(160).collect::<String>())?;
            }
        }
        match &self.relation {
            Relation::New => out.write_str("  (new)")?,
            Relation::Continued => {}
            Relation::Retried => out.write_str("  (again)")?,
            Relation::Rewritten => out.write_str("  (rewrites its past)")?,
            Relation::Forked { from } => write!(out, "  (forked from {from})")?,
        }
        let Some(receipt) = &self.receipt else { return Ok(()) };
        if let Some(summary) = &receipt.summary {
            write!(out, "  {summary}")?;
        }
        match receipt.left_out {
            0 => Ok(()),
            1 => out.write_str("  (1 message left out)"),
            count => write!(out, "  ({} messages left out)", grouped(count as u64)),
        }
    }
}

/// Returns a number with commas between groups of three digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a duration in seconds.
fn seconds(nanoseconds: i64) -> String {
    let hundredths = nanoseconds.max(0) / 10_000_000;
    format!("{}.{:02} s", hundredths / 100, hundredths % 100)
}
