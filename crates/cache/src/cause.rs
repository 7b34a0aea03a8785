//! Determines what happened to a node between two requests.

use std::fmt;

use contextree_engine::{CLEARED, CommitReport, Pruned};
use contextree_tree::diff::changed_fields;
use contextree_tree::{Class, NodeRef, Region, TreeRef};

/// Why a request does not extend the previous one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The node is new and precedes existing ones.
    Inserted,
    /// The node has other fields than before.
    Edited {
        /// The names of the changed fields.
        fields: Vec<String>,
    },
    /// The ttl of the node ran out.
    Expired,
    /// The ttl of an ancestor ran out.
    ExpiredAlong,
    /// A pruning policy removed the node.
    Pruned {
        /// The position of the limit in the policy.
        limit: usize,
        /// The name of the limit, if known: `max_tokens`.
        rule: Option<String>,
    },
    /// A pruning policy replaced the tool result with a placeholder.
    Cleared {
        /// The position of the limit in the policy.
        limit: usize,
        /// The name of the limit, if known: `max_tokens`.
        rule: Option<String>,
    },
    /// The program that sent the request replaced the tool result with a placeholder.
    ClearedByClient,
    /// The node was an empty container, removed with its last child.
    Cascaded,
    /// The node was removed by an operation.
    Removed,
    /// The node was removed, but there is no report of the commit with the reason.
    Gone,
    /// The node was moved.
    Moved,
    /// The node is unchanged but written differently: a breakpoint, or a neighbour with which it is
    /// merged.
    Rewritten,
    /// A setting of the request changed.
    Setting {
        /// Its path: `reasoning.effort`.
        name: String,
    },
    /// Something else outside of nodes changed.
    Envelope,
}

impl Cause {
    /// Returns the stable name, in snake case.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Cause::Inserted => "inserted",
            Cause::Edited { .. } => "edited",
            Cause::Expired => "expired",
            Cause::ExpiredAlong => "expired_along",
            Cause::Pruned { .. } => "pruned",
            Cause::Cleared { .. } | Cause::ClearedByClient => "cleared",
            Cause::Cascaded => "cascaded",
            Cause::Removed => "removed",
            Cause::Gone => "gone",
            Cause::Moved => "moved",
            Cause::Rewritten => "rewritten",
            Cause::Setting { .. } => "setting",
            Cause::Envelope => "envelope",
        }
    }

    /// Returns how to avoid it.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Cause::Inserted => {
                "add nodes at the end: after everything that was sent before, or in the next turn"
            }
            Cause::Edited { .. } => {
                "leave what was sent as it is, and add the change after it; keep dates and counters out of the beginning"
            }
            Cause::Expired | Cause::ExpiredAlong => {
                "place nodes that expire after those that stay: in the post-context of the newest turn, not in `^sys`"
            }
            Cause::Pruned { .. } | Cause::Cleared { .. } => {
                "prune in large steps: set `clear_at_least`, or raise the limit, so that it is reached less often"
            }
            Cause::ClearedByClient => {
                "clear old results rarely and many at once: each time, everything after them is processed again"
            }
            Cause::Cascaded | Cause::Removed | Cause::Gone => {
                "remove several nodes at once, when the cache has expired anyway"
            }
            Cause::Moved => {
                "leave content where it was first sent; if it must come last in every request, add it anew each time with ttl 1, after everything that stays"
            }
            Cause::Rewritten => {
                "write a node the same way each time: keep breakpoints out of its content, and do not merge it with later nodes"
            }
            Cause::Setting { .. } => {
                "keep the model and these settings the same, and change them when the cache has expired"
            }
            Cause::Envelope => "keep tools and parameters the same, in the same order",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Inserted => formatter.write_str("was inserted before existing nodes"),
            Cause::Edited { fields } => write!(formatter, "was edited ({})", fields.join(", ")),
            Cause::Expired => formatter.write_str("expired"),
            Cause::ExpiredAlong => formatter.write_str("was removed with an expired ancestor"),
            Cause::Pruned { rule: Some(rule), .. } => write!(formatter, "was pruned ({rule})"),
            Cause::Cleared { rule: Some(rule), .. } => write!(formatter, "was cleared ({rule})"),
            Cause::Cleared { limit, rule: None } => {
                write!(formatter, "was cleared (limit {} of the policy)", limit + 1)
            }
            Cause::ClearedByClient => formatter.write_str("was cleared by the program"),
            Cause::Pruned { limit, rule: None } => {
                write!(formatter, "was pruned (limit {} of the policy)", limit + 1)
            }
            Cause::Cascaded => formatter.write_str("was removed as an empty container"),
            Cause::Removed => formatter.write_str("was removed"),
            Cause::Gone => formatter.write_str("was removed (reason unknown)"),
            Cause::Moved => formatter.write_str("was moved"),
            Cause::Rewritten => formatter.write_str("is written differently"),
            Cause::Setting { name } => write!(formatter, "the setting `{name}` changed"),
            Cause::Envelope => formatter.write_str("something outside of nodes changed"),
        }
    }
}

/// What is known about the two snapshots from which requests were rendered.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The older snapshot.
    pub older: TreeRef<'a>,
    /// The newer snapshot.
    pub newer: TreeRef<'a>,
    /// The available reports of the commits after the older snapshot, up to the newer one.
    pub reports: &'a [&'a CommitReport],
    /// The names of the limits of the policy, in order; empty if unknown.
    pub rules: &'a [String],
}

impl<'a> Evidence<'a> {
    /// Creates evidence without reports.
    #[must_use]
    pub fn new(older: TreeRef<'a>, newer: TreeRef<'a>) -> Self {
        Evidence { older, newer, reports: &[], rules: &[] }
    }

    /// Adds the reports of the commits between the two.
    #[must_use]
    pub fn with_reports(mut self, reports: &'a [&'a CommitReport]) -> Self {
        self.reports = reports;
        self
    }

    /// Adds the names of the limits of the policy, in order.
    #[must_use]
    pub fn with_rules(mut self, rules: &'a [String]) -> Self {
        self.rules = rules;
        self
    }

    /// Returns which of two nodes broke the prefix, and how: the node in the older request, or the
    /// one in the newer request.
    ///
    /// `sent` returns whether a node has bytes of its own in one of the requests. A node without
    /// may be merged with another.
    pub(crate) fn explain(
        &self,
        before: Option<&str>,
        after: Option<&str>,
        sent: impl Fn(&str) -> bool,
    ) -> (Option<String>, Cause) {
        let found = |id: &str, cause| (Some(id.to_owned()), cause);
        match (before, after) {
            (Some(before), Some(after)) if before == after => {
                let cause = self.same(self.older.get(before), self.newer.get(before));
                let joined = (cause == Cause::Rewritten).then(|| self.joined(before, &sent));
                joined.flatten().unwrap_or_else(|| found(before, cause))
            }
            (Some(before), after) if self.newer.get(before).is_none() => {
                let placeholder = after.and_then(|after| self.newer.get(after));
                let cleared = placeholder.and_then(|it| it.attribute(CLEARED)?.as_str());
                let cause = match self.gone(before) {
                    Cause::Removed | Cause::Gone if cleared == Some(before) => {
                        Cause::ClearedByClient
                    }
                    cause => cause,
                };
                found(before, cause)
            }
            (_, Some(after)) if self.older.get(after).is_none() => found(after, Cause::Inserted),
            (Some(before), Some(after)) => {
                // Both nodes are in both trees: the one whose place changed was moved. If neither
                // place changed, an ancestor was moved.
                let moved = |id: &str| match (self.older.get(id), self.newer.get(id)) {
                    (Some(older), Some(newer)) => {
                        older.parent_id() != newer.parent_id() || older.offset() != newer.offset()
                    }
                    _ => false,
                };
                let node = if moved(after) || !moved(before) { after } else { before };
                found(node, Cause::Moved)
            }
            (before, after) => (before.or(after).map(str::to_owned), Cause::Rewritten),
        }
    }

    /// Returns the node that changed a text into which several nodes are merged: system text that
    /// is a single string.
    fn joined(&self, id: &str, sent: &impl Fn(&str) -> bool) -> Option<(Option<String>, Cause)> {
        let (older, newer) = (self.older.get(id)?, self.newer.get(id)?);
        let within = |node: &NodeRef<'_>| node.class() == Class::Block && !sent(node.id());
        for node in beside(newer).into_iter().filter(within) {
            let cause = match self.older.get(node.id()) {
                None => Cause::Inserted,
                before => self.same(before, Some(node)),
            };
            if cause != Cause::Rewritten {
                return Some((Some(node.id().to_owned()), cause));
            }
        }
        let gone = |node: &NodeRef<'_>| within(node) && self.newer.get(node.id()).is_none();
        let node = beside(older).into_iter().find(gone)?;
        Some((Some(node.id().to_owned()), self.gone(node.id())))
    }

    fn same(&self, older: Option<NodeRef<'_>>, newer: Option<NodeRef<'_>>) -> Cause {
        let (Some(older), Some(newer)) = (older, newer) else { return Cause::Rewritten };
        // The ttl decreases with every commit, and is not part of a request.
        let fields: Vec<String> = changed_fields(older, newer)
            .into_iter()
            .filter(|field| field != "ttl" && field != "children")
            .map(Into::into)
            .collect();
        if fields.is_empty() { Cause::Rewritten } else { Cause::Edited { fields } }
    }

    fn gone(&self, id: &str) -> Cause {
        if self.reports.is_empty() {
            let due = self.older.get(id).is_some_and(|node| node.ttl() == Some(0));
            return if due { Cause::Expired } else { Cause::Gone };
        }
        let found = self.reports.iter().find_map(|report| self.gone_by(report, id));
        found.unwrap_or(Cause::Removed)
    }

    /// Returns how a commit removed a node; `None` if it did not.
    fn gone_by(&self, report: &CommitReport, id: &str) -> Option<Cause> {
        let is = |other: &String| other == id;
        if report.expired.iter().any(is) {
            return Some(Cause::Expired);
        }
        if report.along.iter().any(is) {
            return Some(Cause::ExpiredAlong);
        }
        let pruned = |pruned: &&Pruned| is(&pruned.id) || pruned.along.iter().any(is);
        if let Some(pruned) = report.pruned.iter().find(pruned) {
            let rule = self.rules.get(pruned.limit).cloned();
            return Some(Cause::Pruned { limit: pruned.limit, rule });
        }
        if let Some(cleared) = report.cleared.iter().find(|cleared| is(&cleared.id)) {
            let rule = self.rules.get(cleared.limit).cloned();
            return Some(Cause::Cleared { limit: cleared.limit, rule });
        }
        report.cascaded.iter().any(is).then_some(Cause::Cascaded)
    }
}

/// Returns the nodes with which a node may be merged: all of its turn, or of the system text.
fn beside(node: NodeRef<'_>) -> Vec<NodeRef<'_>> {
    let line: Vec<NodeRef<'_>> = std::iter::once(node).chain(node.ancestors()).collect();
    let region = line.iter().position(|node| node.as_region().is_some()).unwrap_or(0);
    let in_system = line[region].as_region() == Some(Region::Sys);
    let top = if in_system { region } else { region.saturating_sub(1) };
    line[top].subtree().map(|(_, node)| node).collect()
}
