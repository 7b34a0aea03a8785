//! Reading documents: parse → check → build.

mod build;
mod check;
mod fields;
mod read;

use contextree_tree::{Cycle, Draft, Tree};

use crate::digest::snapshot_digest;
use crate::error::{DocumentError, Issue, codes};
use crate::history::missing_end;
use crate::limits::Limits;
pub(crate) use build::{check_limits, node_data};
pub(crate) use check::class_of;
pub(crate) use fields::DocNode;
use read::{Document, read_document};
pub(crate) use read::{json_limits, read_flat_node};

/// How complete a document must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Profile {
    /// Requires every required header on every node, three regions, and all placement rules.
    #[default]
    Strict,
    /// For foreign data: missing headers have their defaults and missing regions are empty. Nothing
    /// is added to the nodes: an export shows them as imported.
    Lenient,
}

/// An imported snapshot.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The tree.
    pub tree: Tree,
    /// The cycle of the snapshot; 0 if the document has none.
    pub cycle: Cycle,
    /// The document is the first line of a history that has an end.
    pub(crate) ends: bool,
}

/// Imports a snapshot document.
///
/// # Errors
///
/// If the document is invalid; see [`DocumentError`].
pub fn import(text: &[u8], profile: Profile, limits: &Limits) -> Result<Imported, DocumentError> {
    let imported = import_line(text, profile, limits)?;
    if imported.ends { Err(missing_end()) } else { Ok(imported) }
}

/// Imports a snapshot document, also if it is only the first line of a history. A digest in it must be that of the tree.
pub(crate) fn import_line(
    text: &[u8],
    profile: Profile,
    limits: &Limits,
) -> Result<Imported, DocumentError> {
    let document = read(text, profile, limits)?;
    let (cycle, ends, digest) =
        (document.cycle.unwrap_or_default(), document.ends, document.digest.clone());
    let next = next_cycle(cycle)?;
    let tree = build::builder(document, limits, next)?.finish(next);
    if digest.is_some_and(|digest| digest != snapshot_digest(&tree).to_string()) {
        let message = "the digest of the document does not match its nodes".to_owned();
        return Err(DocumentError::one(codes::DIGEST, "digest_mismatch", message));
    }
    Ok(Imported { tree, cycle, ends })
}

/// Imports a document as a working state whose next commit has this number.
///
/// # Errors
///
/// Like [`import`].
pub fn import_working(
    text: &[u8],
    profile: Profile,
    limits: &Limits,
    next_cycle: Cycle,
) -> Result<Draft, DocumentError> {
    let document = read(text, profile, limits)?;
    Ok(build::builder(document, limits, next_cycle)?.finish_draft(next_cycle))
}

fn read(text: &[u8], profile: Profile, limits: &Limits) -> Result<Document, DocumentError> {
    let document = read_document(text, profile, limits)?;
    if let Some(version) = &document.spec_version {
        check_version(version)?;
    }
    check::check(&document, profile)?;
    Ok(document)
}

/// Rejects documents of unknown versions. Version 1 of the specification has the same documents as
/// edition 0.3; [`is_version_1`] says whether to name the differences.
pub(crate) fn check_version(version: &str) -> Result<(), DocumentError> {
    if version.starts_with("PACT/0.") || is_version_1(version) {
        return Ok(());
    }
    let message =
        format!("unsupported document version `{version}`; supported: `PACT/0.*` and `PACT/1.*`");
    Err(DocumentError::one(codes::VERSION, "unknown_version", message))
}

/// Returns whether a `spec_version` is one of version 1, which is read as edition 0.3.
#[must_use]
pub fn is_version_1(version: &str) -> bool {
    version.starts_with("PACT/1.")
}

/// Returns the cycle after this one.
pub(crate) fn next_cycle(cycle: Cycle) -> Result<Cycle, DocumentError> {
    // Any ttl can be added to a cycle up to here.
    if cycle.get() > 1 << 31 {
        let message = format!("cycle {cycle} is out of range");
        return Err(DocumentError::one(codes::LIMIT, "number_out_of_range", message));
    }
    Ok(cycle.next())
}

/// Collects up to a hundred problems.
#[derive(Debug, Default)]
pub(crate) struct Issues(Vec<Issue>);

impl Issues {
    const MOST: usize = 100;

    pub(crate) fn add(
        &mut self,
        node: &DocNode,
        code: &'static str,
        reason: &'static str,
        message: String,
    ) {
        if self.0.len() < Self::MOST {
            let id = node.id.as_deref().unwrap_or("(no id)").to_owned();
            self.0.push(Issue { code, reason, message, node: id, offset: node.offset_in_text });
        }
    }

    pub(crate) fn into_result(self) -> Result<(), DocumentError> {
        if self.0.is_empty() { Ok(()) } else { Err(DocumentError::Invalid(self.0)) }
    }
}
