//! What was done to a node between two requests.

use std::fmt;

use contextree_engine::CommitReport;
use contextree_tree::diff::changed_fields;
use contextree_tree::{NodeRef, TreeRef};

/// Why a request is not the continuation of the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The node is new and stands before others that were there.
    Inserted,
    /// The node is the same and has other fields.
    Edited {
        /// Their names.
        fields: Vec<String>,
    },
    /// The node's time to live ran out.
    Expired,
    /// The node stood below one whose time to live ran out.
    ExpiredAlong,
    /// A pruning policy took it.
    Pruned {
        /// The limit, by its position in the policy.
        limit: usize,
    },
    /// It was an empty container.
    Cascaded,
    /// Somebody removed it.
    Removed,
    /// It went, and nothing says why: there is no report of the commit.
    Gone,
    /// It stands somewhere else.
    Moved,
    /// The node is the same and is written differently: a marker, or a neighbour that it is written together with.
    Rewritten,
    /// Parameters, tools, or whatever else belongs to no node.
    Envelope,
}

impl Cause {
    /// Returns the stable word, in snake case.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Cause::Inserted => "inserted",
            Cause::Edited { .. } => "edited",
            Cause::Expired => "expired",
            Cause::ExpiredAlong => "expired_along",
            Cause::Pruned { .. } => "pruned",
            Cause::Cascaded => "cascaded",
            Cause::Removed => "removed",
            Cause::Gone => "gone",
            Cause::Moved => "moved",
            Cause::Rewritten => "rewritten",
            Cause::Envelope => "envelope",
        }
    }

    /// Returns how it could be avoided.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Cause::Inserted => {
                "add at the end: behind everything that was sent before, or in the next turn"
            }
            Cause::Edited { .. } => {
                "leave what was sent as it is, and add what changed behind it; keep dates and counters out of the beginning"
            }
            Cause::Expired | Cause::ExpiredAlong => {
                "put what expires behind what stays: in the post-context of the newest turn, not in `^sys`"
            }
            Cause::Pruned { .. } => {
                "prune rarely and then much: `clear_at_least`, or a lower `max_tokens` that is reached less often"
            }
            Cause::Cascaded | Cause::Removed | Cause::Gone => {
                "remove several nodes at once, when the cache has run cold anyway"
            }
            Cause::Moved => "leave nodes that were sent where they are",
            Cause::Rewritten => {
                "write a node in the same way each time: markers beside it, not in it, and no merging with what comes later"
            }
            Cause::Envelope => {
                "keep tools and parameters the same, in the same order, from request to request"
            }
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Inserted => formatter.write_str("was inserted before others"),
            Cause::Edited { fields } => write!(formatter, "was edited ({})", fields.join(", ")),
            Cause::Expired => formatter.write_str("expired"),
            Cause::ExpiredAlong => formatter.write_str("went with one that expired"),
            Cause::Pruned { limit } => {
                write!(formatter, "was pruned (limit {limit} of the policy)")
            }
            Cause::Cascaded => formatter.write_str("was empty and went"),
            Cause::Removed => formatter.write_str("was removed"),
            Cause::Gone => formatter.write_str("is gone"),
            Cause::Moved => formatter.write_str("was moved"),
            Cause::Rewritten => formatter.write_str("is written differently"),
            Cause::Envelope => formatter.write_str("parameters or tools changed"),
        }
    }
}

/// What is known about the two snapshots that requests were rendered from.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The older snapshot.
    pub older: TreeRef<'a>,
    /// The newer snapshot.
    pub newer: TreeRef<'a>,
    /// The report of the commit that made the newer one, if it is the next one and the report is there.
    pub report: Option<&'a CommitReport>,
}

impl<'a> Evidence<'a> {
    /// Returns what is known without a report.
    #[must_use]
    pub fn new(older: TreeRef<'a>, newer: TreeRef<'a>) -> Self {
        Evidence { older, newer, report: None }
    }

    /// Adds the report of the commit.
    #[must_use]
    pub fn with_report(mut self, report: &'a CommitReport) -> Self {
        self.report = Some(report);
        self
    }

    /// Returns which of two nodes broke the prefix, and how: the one that stood there, and the one that stands there now.
    pub(crate) fn explain<'n>(
        &self,
        before: Option<&'n str>,
        after: Option<&'n str>,
    ) -> (Option<&'n str>, Cause) {
        match (before, after) {
            (Some(before), Some(after)) if before == after => {
                (Some(before), self.same(self.older.get(before), self.newer.get(before)))
            }
            (Some(before), _) if self.newer.get(before).is_none() => {
                (Some(before), self.gone(before))
            }
            (_, Some(after)) if self.older.get(after).is_none() => (Some(after), Cause::Inserted),
            (Some(before), Some(after)) => {
                // Both are in both: whichever has another place has moved. If neither has, something above them did.
                let moved = |id: &str| match (self.older.get(id), self.newer.get(id)) {
                    (Some(older), Some(newer)) => {
                        older.parent_id() != newer.parent_id() || older.offset() != newer.offset()
                    }
                    _ => false,
                };
                let node = if moved(after) || !moved(before) { after } else { before };
                (Some(node), Cause::Moved)
            }
            (before, after) => (before.or(after), Cause::Rewritten),
        }
    }

    fn same(&self, older: Option<NodeRef<'_>>, newer: Option<NodeRef<'_>>) -> Cause {
        let (Some(older), Some(newer)) = (older, newer) else { return Cause::Rewritten };
        // Its ttl goes down with every commit, and no request says it.
        let fields: Vec<String> = changed_fields(older, newer)
            .into_iter()
            .filter(|field| field != "ttl" && field != "children")
            .map(Into::into)
            .collect();
        if fields.is_empty() { Cause::Rewritten } else { Cause::Edited { fields } }
    }

    fn gone(&self, id: &str) -> Cause {
        let Some(report) = self.report else {
            let due = self.older.get(id).is_some_and(|node| node.ttl() == Some(0));
            return if due { Cause::Expired } else { Cause::Gone };
        };
        let is = |other: &String| other == id;
        if report.expired.iter().any(is) {
            return Cause::Expired;
        }
        if report.along.iter().any(is) {
            return Cause::ExpiredAlong;
        }
        if let Some(pruned) =
            report.pruned.iter().find(|pruned| is(&pruned.id) || pruned.along.iter().any(is))
        {
            return Cause::Pruned { limit: pruned.limit };
        }
        if report.cascaded.iter().any(is) { Cause::Cascaded } else { Cause::Removed }
    }
}
