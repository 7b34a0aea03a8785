//! Reads snapshots from lines.

use std::collections::BTreeSet;
use std::str::FromStr;

use contextree_json::{ParseErrorKind, Reader};
use contextree_tree::{Class, Cycle, Draft, Header, NodeRef, Region, Scalar, Tree};

use crate::digest::snapshot_digest;
use crate::error::{DocumentError, codes};
use crate::hash::Hash;
use crate::import::{
    DocNode, Issues, Profile, check_limits, check_version, class_of, import_line, json_limits,
    next_cycle, node_data, read_flat_node,
};
use crate::limits::Limits;

use super::SideLine;
use super::end::Lines;

/// What a line of a history is.
#[derive(Debug)]
pub enum Line {
    /// A snapshot.
    Snapshot(Tree),
    /// The working state, after the last snapshot.
    Working,
    /// A side record, after the working state.
    Side(SideLine),
    /// The end, which counts the lines before it.
    End,
}

/// Reads a history line by line.
#[derive(Debug)]
pub struct HistoryReader {
    profile: Profile,
    limits: Limits,
    /// The branch that the lines are applied to; `None` before the first line.
    draft: Option<(Draft, Tree)>,
    /// True after the last snapshot: only side records may follow.
    is_over: bool,
    /// The lines so far.
    lines: Lines,
    end: End,
}

/// Whether a history has its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The first line does not promise one.
    Open,
    Promised,
    Reached,
}

impl HistoryReader {
    /// Returns a reader for a new history.
    #[must_use]
    pub fn new(profile: Profile, limits: Limits) -> Self {
        let (lines, end) = (Lines::default(), End::Open);
        HistoryReader { profile, limits, draft: None, is_over: false, lines, end }
    }

    /// Reads a line.
    ///
    /// # Errors
    ///
    /// If the line is invalid; a digest that does not match is `E_DIGEST_MISMATCH`. The reader
    /// cannot be used after an error.
    pub fn line(&mut self, line: &[u8]) -> Result<Line, DocumentError> {
        if self.end == End::Reached {
            let message = "nothing may follow the end".to_owned();
            return Err(DocumentError::one(codes::DOCUMENT, "line_after_end", message));
        }
        if self.lines.is_ended_by(line)? {
            self.end = End::Reached;
            return Ok(Line::End);
        }
        let read = self.read_line(line)?;
        self.lines.add(line);
        Ok(read)
    }

    fn read_line(&mut self, line: &[u8]) -> Result<Line, DocumentError> {
        if let Some(side) = SideLine::read(line, &self.limits)? {
            self.is_over = true;
            return Ok(Line::Side(side));
        }
        if self.is_over {
            let message = "only side records may follow the working state".to_owned();
            return Err(DocumentError::one(codes::DOCUMENT, "line_after_end", message));
        }
        let record = match Record::read(line, self.profile, &self.limits)? {
            Some(record) => record,
            None => return self.snapshot(line).map(Line::Snapshot),
        };
        let Some((mut draft, before)) = self.draft.take() else {
            let message = "the first line of a history must be a full snapshot".to_owned();
            return Err(DocumentError::one(codes::DOCUMENT, "missing_snapshot", message));
        };
        if record.cycle != draft.view().next_cycle() {
            let expected = draft.view().next_cycle();
            let message = format!("expected cycle {expected}, found cycle {}", record.cycle);
            return Err(DocumentError::one(codes::DOCUMENT, "cycle_gap", message));
        }
        next_cycle(record.cycle)?;
        let (cycle, digest) = (record.cycle, record.digest);
        let is_working = record.is_working;
        apply(&mut draft, &before, record, self.profile, &self.limits)?;
        if is_working {
            self.is_over = true;
            self.draft = Some((draft, before));
            return Ok(Line::Working);
        }
        let tree = draft.freeze();
        let found = snapshot_digest(&tree);
        if digest.is_some_and(|digest| digest != found) {
            let message = format!("the digest of cycle {cycle} does not match its nodes");
            return Err(DocumentError::one(codes::DIGEST, "digest_mismatch", message));
        }
        self.draft = Some((draft, tree.clone()));
        Ok(Line::Snapshot(tree))
    }

    fn snapshot(&mut self, line: &[u8]) -> Result<Tree, DocumentError> {
        let imported = import_line(line, self.profile, &self.limits)?;
        if let Some((draft, _)) = &self.draft
            && imported.cycle < draft.view().next_cycle()
        {
            let message = format!("cycle {} follows a later cycle", imported.cycle);
            return Err(DocumentError::one(codes::DOCUMENT, "cycle_gap", message));
        }
        if imported.ends && self.draft.is_none() {
            self.end = End::Promised;
        }
        self.draft = Some((imported.tree.continue_branch(), imported.tree.clone()));
        Ok(imported.tree)
    }

    /// Returns the branch at the end of the history, for continuing it; `None` if no line was read.
    ///
    /// # Errors
    ///
    /// If the first line promised an end and there was none: a part of the document is missing.
    pub fn into_draft(self) -> Result<Option<Draft>, DocumentError> {
        match self.end {
            End::Promised => Err(super::missing_end()),
            End::Open | End::Reached => Ok(self.draft.map(|(draft, _)| draft)),
        }
    }
}

/// A line with the changes of one commit.
struct Record {
    cycle: Cycle,
    digest: Option<Hash>,
    nodes: Vec<DocNode>,
    removed: Vec<String>,
    /// True if nothing was committed: the line is a working state.
    is_working: bool,
    /// The length of the line.
    bytes: usize,
}

impl Record {
    /// Returns `None` if the line is a full snapshot.
    fn read(
        line: &[u8],
        profile: Profile,
        limits: &Limits,
    ) -> Result<Option<Record>, DocumentError> {
        let mut record = Record {
            cycle: Cycle::ZERO,
            digest: None,
            nodes: Vec::new(),
            removed: Vec::new(),
            is_working: false,
            bytes: line.len(),
        };
        let mut reader = Reader::with_limits(line, &json_limits(limits));
        let mut issues = Issues::default();
        let mut seen: Vec<String> = Vec::new();
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            if seen.iter().any(|name| *name == key) {
                return Err(reader.error(ParseErrorKind::DuplicateKey(key.into())).into());
            }
            match &*key {
                "root" => return Ok(None),
                "cycle" => {
                    record.cycle = u32::try_from(reader.read_u64()?).map_or(Cycle::MAX, Cycle);
                }
                "digest" => {
                    let text = reader.read_string()?;
                    let digest = Hash::from_str(&text).map_err(|error| {
                        let message = format!("invalid `digest`: {error}");
                        DocumentError::one(codes::DOCUMENT, "invalid_digest", message)
                    })?;
                    record.digest = Some(digest);
                }
                "nodes" => {
                    reader.begin_array()?;
                    while reader.next_element()? {
                        record.nodes.push(read_flat_node(&mut reader, profile, &mut issues)?);
                    }
                }
                "removed" => {
                    reader.begin_array()?;
                    while reader.next_element()? {
                        record.removed.push(reader.read_string()?.into_owned());
                    }
                }
                "spec_version" => check_version(&reader.read_string()?)?,
                "working" => record.is_working = reader.read_bool()?,
                _ => drop(reader.read_value()?),
            }
            seen.push(key.into_owned());
        }
        reader.expect_end()?;
        issues.into_result()?;
        Ok(Some(record))
    }
}

/// Applies a line to a draft. Its nodes are in document order, so parents precede their children.
fn apply(
    draft: &mut Draft,
    before: &Tree,
    record: Record,
    profile: Profile,
    limits: &Limits,
) -> Result<(), DocumentError> {
    // Like that of its snapshot, the ttl in the line of a commit counts from the commit after it.
    let next = draft.view().next_cycle().plus(u32::from(!record.is_working));
    let mut seen = BTreeSet::new();
    let mut touched = BTreeSet::new();
    // First the nodes that remain, so that moved nodes have left their old parents when these are
    // removed.
    for node in record.nodes {
        check_record(&node, record.bytes, profile, limits)?;
        let id = node.id.clone().unwrap_or_default();
        if !seen.insert(id.clone()) {
            return Err(refuse("duplicate_id", format!("duplicate node `{id}` in one line")));
        }
        let view = draft.view();
        let parent_id = node.parent_id.clone().unwrap_or_default();
        let parent = view.get(&parent_id).ok_or_else(|| unknown(&parent_id))?;
        let present = view.get(&id);
        check_place(&node, present, parent, profile, limits)?;
        let parent = parent.key_of();
        touched.extend(
            [parent].into_iter().chain(present.and_then(NodeRef::parent).map(NodeRef::key_of)),
        );
        match present.map(NodeRef::key_of) {
            Some(key) => {
                draft.overwrite(key, parent, node_data(node, next));
                touched.insert(key);
            }
            None => {
                if view.node_count() >= limits.max_nodes {
                    let message = format!("the tree has more than {} nodes", limits.max_nodes);
                    return Err(DocumentError::one(codes::LIMIT, "too_many_nodes", message));
                }
                touched.insert(draft.insert(parent, node_data(node, next)));
            }
        }
    }
    for id in record.removed {
        match draft.view().get(&id) {
            Some(node) if is_fixed(node) => {
                return Err(refuse("fixed_node", format!("`{id}` cannot be removed")));
            }
            Some(node) => {
                let key = node.key_of();
                touched.extend(node.parent().map(NodeRef::key_of));
                draft.remove(key);
            }
            // It may already have been removed with its parent.
            None if before.view().get(&id).is_some() => {}
            None => return Err(unknown(&id)),
        }
    }
    if profile == Profile::Strict {
        let view = draft.view();
        touched.into_iter().filter_map(|key| view.at(key)).try_for_each(check_core)?;
    }
    Ok(())
}

/// Checks a record by itself.
fn check_record(
    node: &DocNode,
    bytes: usize,
    profile: Profile,
    limits: &Limits,
) -> Result<(), DocumentError> {
    let mut issues = Issues::default();
    check_limits(node, bytes, limits, &mut issues);
    for header in Header::REQUIRED {
        // The id is always required, the other headers only in the strict profile.
        if !node.has(header) && (profile == Profile::Strict || header == Header::Id) {
            let message = format!("the header `{}` is missing", header.name());
            issues.add(node, codes::DOCUMENT, "missing_header", message);
        }
    }
    issues.into_result()
}

/// Checks the position of a record's node.
fn check_place(
    node: &DocNode,
    present: Option<NodeRef<'_>>,
    parent: NodeRef<'_>,
    profile: Profile,
    limits: &Limits,
) -> Result<(), DocumentError> {
    let id = node.id.as_deref().unwrap_or_default();
    let class = class_of(node);
    if matches!(class, Class::Root | Class::Region) || present.is_some_and(is_fixed) {
        return Err(refuse("fixed_node", format!("`{id}` cannot be changed by a commit")));
    }
    if parent.class() == Class::Root {
        return Err(refuse("extra_region", format!("`{id}` cannot be a child of the root")));
    }
    let own = present.map(NodeRef::key_of);
    let above = || std::iter::once(parent).chain(parent.ancestors());
    if above().any(|node| Some(node.key_of()) == own) {
        return Err(refuse("cycle", format!("`{id}` cannot be its own descendant")));
    }
    if profile == Profile::Strict {
        let in_sequence = parent.as_region() == Some(Region::Seq);
        if (class == Class::Turn) != in_sequence {
            let reason = if in_sequence { "not_a_turn" } else { "turn_outside_sequence" };
            return Err(refuse(
                reason,
                format!("`^seq` contains turns only, and turns must be in `^seq`: `{id}`"),
            ));
        }
        if parent.class() == Class::Block {
            return Err(refuse("children_under_block", format!("`{id}` is the child of a block")));
        }
    }
    let height =
        present.map_or(0, |node| node.subtree().map(|(depth, _)| depth).max().unwrap_or(0));
    if above().count() + 1 + height > limits.max_depth.min(Limits::DEEPEST) {
        let message = format!("the tree is deeper than {} levels", limits.max_depth);
        return Err(DocumentError::one(codes::LIMIT, "too_deep", message));
    }
    Ok(())
}

/// Checks that a turn has exactly one core at offset 0, the head at most one, and no block at
/// offset 0 beside it.
fn check_core(turn: NodeRef<'_>) -> Result<(), DocumentError> {
    if !turn.is_zoned() {
        return Ok(());
    }
    let (cores, others): (Vec<_>, Vec<_>) =
        turn.children_at(Scalar::ZERO).partition(|child| child.class() == Class::Container);
    let id = turn.id();
    if cores.len() > 1 {
        return Err(refuse("second_core", format!("`{id}` has a second core at offset 0")));
    }
    if cores.is_empty() && turn.class() == Class::Turn {
        return Err(refuse("missing_core", format!("`{id}` has no core at offset 0")));
    }
    if !cores.is_empty() && !others.is_empty() {
        let message = format!("`{id}` has a block at offset 0 beside the core");
        return Err(refuse("block_beside_core", message));
    }
    if cores.iter().any(|core| core.is_removable() || core.ttl().is_some()) {
        let message = format!("the core of `{id}` has a ttl or is removable");
        return Err(refuse("core_lifecycle", message));
    }
    Ok(())
}

fn is_fixed(node: NodeRef<'_>) -> bool {
    matches!(node.class(), Class::Root | Class::Region)
}

fn refuse(reason: &'static str, message: String) -> DocumentError {
    DocumentError::one(codes::PLACEMENT, reason, message)
}

fn unknown(id: &str) -> DocumentError {
    let message = format!("the node `{id}` is not in the tree");
    DocumentError::one(codes::DOCUMENT, "unknown_node", message)
}
