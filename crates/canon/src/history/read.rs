//! Lines → snapshots.

use std::str::FromStr;

use contextree_json::{ParseErrorKind, Reader};
use contextree_tree::{Draft, NodeRef, Tree};

use crate::digest::snapshot_digest;
use crate::error::{DocumentError, codes};
use crate::hash::Hash;
use crate::import::{DocNode, Issues, Profile, import, next_cycle, node_data, read_flat_node};
use crate::limits::Limits;

/// Reads a history line by line.
#[derive(Debug)]
pub struct HistoryReader {
    profile: Profile,
    limits: Limits,
    /// The branch that the lines are applied to, once there was a first line.
    draft: Option<(Draft, Tree)>,
}

impl HistoryReader {
    /// Returns a reader for a new history.
    #[must_use]
    pub fn new(profile: Profile, limits: Limits) -> Self {
        HistoryReader { profile, limits, draft: None }
    }

    /// Reads a line and returns its snapshot.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with the line; a digest that does not fit is `E_DIGEST_MISMATCH`. The reader cannot be used further.
    pub fn line(&mut self, line: &[u8]) -> Result<Tree, DocumentError> {
        let record = match Record::read(line, self.profile)? {
            Some(record) => record,
            None => return self.snapshot(line),
        };
        let Some((mut draft, before)) = self.draft.take() else {
            let message = "the first line of a history is a whole snapshot".to_owned();
            return Err(DocumentError::one(codes::DOCUMENT, "missing_snapshot", message));
        };
        if record.cycle != draft.view().next_cycle() {
            let expected = draft.view().next_cycle();
            let message = format!("expected cycle {expected}, found cycle {}", record.cycle);
            return Err(DocumentError::one(codes::DOCUMENT, "cycle_gap", message));
        }
        next_cycle(record.cycle)?;
        apply(&mut draft, &before, record.nodes, &record.removed)?;
        let tree = draft.freeze();
        let found = snapshot_digest(&tree);
        if record.digest.is_some_and(|digest| digest != found) {
            let message = format!("the digest of cycle {} is not that of its nodes", record.cycle);
            return Err(DocumentError::one(codes::DIGEST, "digest_mismatch", message));
        }
        self.draft = Some((draft, tree.clone()));
        Ok(tree)
    }

    fn snapshot(&mut self, line: &[u8]) -> Result<Tree, DocumentError> {
        let imported = import(line, self.profile, &self.limits)?;
        if let Some((draft, _)) = &self.draft
            && imported.cycle < draft.view().next_cycle()
        {
            let message = format!("cycle {} comes after a later one", imported.cycle);
            return Err(DocumentError::one(codes::DOCUMENT, "cycle_gap", message));
        }
        self.draft = Some((imported.tree.continue_branch(), imported.tree.clone()));
        Ok(imported.tree)
    }

    /// Returns the branch that the history ends with, to go on from; nothing if no line was read.
    #[must_use]
    pub fn into_draft(self) -> Option<Draft> {
        self.draft.map(|(draft, _)| draft)
    }
}

/// A line that says what a commit changed.
struct Record {
    cycle: u32,
    digest: Option<Hash>,
    nodes: Vec<DocNode>,
    removed: Vec<String>,
}

impl Record {
    /// Returns nothing if the line is a whole snapshot.
    fn read(line: &[u8], profile: Profile) -> Result<Option<Record>, DocumentError> {
        let mut record = Record { cycle: 0, digest: None, nodes: Vec::new(), removed: Vec::new() };
        let mut reader = Reader::new(line);
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
                    record.cycle = u32::try_from(reader.read_u64()?).unwrap_or(u32::MAX);
                }
                "digest" => {
                    let text = reader.read_string()?;
                    let digest = Hash::from_str(&text).map_err(|error| {
                        let message = format!("`digest` is no digest: {error}");
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
                _ => drop(reader.read_value()?),
            }
            seen.push(key.into_owned());
        }
        reader.expect_end()?;
        issues.into_result()?;
        Ok(Some(record))
    }
}

/// Brings a draft to what a line says. Nodes stand in document order, so parents come before their children.
fn apply(
    draft: &mut Draft,
    before: &Tree,
    nodes: Vec<DocNode>,
    removed: &[String],
) -> Result<(), DocumentError> {
    // The ttl of a line is counted like that of its snapshot: from the commit after it.
    let next = draft.view().next_cycle() + 1;
    let unknown = |id: &str| {
        let message = format!("the node `{id}` is not in the tree");
        DocumentError::one(codes::DOCUMENT, "unknown_node", message)
    };
    // First what stays, so that nodes that moved have left their old parents when those are removed.
    for node in nodes {
        let id = node.id.clone().unwrap_or_default();
        let parent = node.parent_id.clone().unwrap_or_default();
        let exists = before.view().get(&id).is_some();
        let data = node_data(node, next);
        let parent_key = draft.view().get(&parent).map(NodeRef::key_of);
        let Some(parent_key) = parent_key else { return Err(unknown(&parent)) };
        if exists {
            let key = draft.view().get(&id).map(NodeRef::key_of).ok_or_else(|| unknown(&id))?;
            draft.overwrite(key, parent_key, data);
        } else if draft.view().get(&id).is_some() {
            let message = format!("the node `{id}` stands in the line twice");
            return Err(DocumentError::one(codes::PLACEMENT, "duplicate_id", message));
        } else {
            draft.insert(parent_key, data);
        }
    }
    for id in removed {
        // It may have gone with its parent already.
        if let Some(node) = draft.view().get(id) {
            let key = node.key_of();
            draft.remove(key);
        } else if before.view().get(id).is_none() {
            return Err(unknown(id));
        }
    }
    Ok(())
}
