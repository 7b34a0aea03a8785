//! Compares the content of a context with that of its log.

use std::collections::{BTreeMap, BTreeSet};

use contextree::{Class, Content, NodeRef, Region, SnapshotAddress, TreeRef};
use contextree_provider::parts::names;
use contextree_store::Session;
use serde_json::Value;

use super::oracle::Reading;
use super::piece::Piece;

/// How the content of a context differs from that of its log.
#[derive(Debug, Default)]
pub(crate) struct Difference {
    /// Pieces of the log.
    pub(crate) pieces: u64,
    /// Pieces that no snapshot has.
    pub(crate) lost: Vec<Piece>,
    /// Pieces that one snapshot has more often than the log.
    pub(crate) duplicated: Vec<Piece>,
}

/// Looks at every snapshot of a context, and at its working state.
pub(crate) fn compare(session: &Session, reading: &Reading) -> Result<Difference, String> {
    let mut found = Found::default();
    let count = session.snapshot_count() as u64;
    if count > 1 {
        let (oldest, newest) = (SnapshotAddress::Back(count - 1), SnapshotAddress::Back(0));
        session.prefetch(oldest, newest).map_err(|error| error.to_string())?;
    }
    for back in (0..count).rev() {
        let snapshot = session.snapshot(SnapshotAddress::Back(back));
        found.look_at(snapshot.map_err(|error| error.to_string())?.view());
    }
    found.look_at(session.working().map_err(|error| error.to_string())?.view());
    let mut difference =
        Difference { pieces: reading.pieces.values().sum(), ..Difference::default() };
    for (piece, count) in &reading.pieces {
        let nodes = found.nodes.get(piece).map_or(0, |nodes| nodes.len() as u64);
        let most = found.most.get(piece).copied().unwrap_or_default();
        let missing = usize::try_from(count.saturating_sub(nodes)).unwrap_or(usize::MAX);
        difference.lost.extend(std::iter::repeat_n(piece.clone(), missing));
        let extra = usize::try_from(most.saturating_sub(*count)).unwrap_or(usize::MAX);
        difference.duplicated.extend(std::iter::repeat_n(piece.clone(), extra));
    }
    Ok(difference)
}

/// What the trees of a context contain.
#[derive(Default)]
struct Found {
    /// Pieces by node, so that each is read only once.
    known: BTreeMap<String, Option<Piece>>,
    /// All nodes that ever had a piece. A piece that the model saw in two places has two.
    nodes: BTreeMap<Piece, BTreeSet<String>>,
    /// The most nodes that one tree has of a piece.
    most: BTreeMap<Piece, u64>,
}

impl Found {
    fn look_at(&mut self, tree: TreeRef<'_>) {
        let mut here: BTreeMap<&Piece, u64> = BTreeMap::new();
        let blocks = || {
            let regions = [Region::Seq, Region::Head].map(|region| tree.region(region));
            regions
                .into_iter()
                .flat_map(NodeRef::subtree)
                .map(|(_, node)| node)
                .filter(|it| it.class() == Class::Block)
        };
        for node in blocks() {
            if !self.known.contains_key(node.id()) {
                let piece = piece_of(node);
                if let Some(piece) = &piece {
                    self.nodes.entry(piece.clone()).or_default().insert(node.id().to_owned());
                }
                self.known.insert(node.id().to_owned(), piece);
            }
        }
        for node in blocks() {
            if let Some(Some(piece)) = self.known.get(node.id()) {
                *here.entry(piece).or_default() += 1;
            }
        }
        for (piece, count) in here {
            match self.most.get_mut(piece) {
                Some(most) => *most = count.max(*most),
                None => drop(self.most.insert(piece.clone(), count)),
            }
        }
    }
}

fn piece_of(node: NodeRef<'_>) -> Option<Piece> {
    let text = |name: &str| node.attribute(name).and_then(|value| value.as_str());
    let content = content(node);
    let plain = content.as_str().unwrap_or_default();
    let id = text(names::TOOL_CALL_ID).or_else(|| text(names::CALL_ID)).unwrap_or_default();
    match node.kind().unwrap_or("text") {
        "text" | "refusal" => Piece::text(plain),
        "call" => Some(Piece::call(id, text(names::NAME).unwrap_or_default(), &content)),
        "result" => Some(Piece::result(id, &content)),
        "reasoning" => {
            let is_shown = text(names::PROVIDER) == Some("anthropic");
            let signature = text(names::SIGNATURE).unwrap_or_default();
            Piece::reasoning(if is_shown { plain } else { "" }, signature)
        }
        "image" | "document" => Some(Piece::media(plain)),
        _ => None,
    }
}

fn content(node: NodeRef<'_>) -> Value {
    match node.content() {
        Content::Absent => Value::Null,
        Content::Text(text) => Value::String(text.to_string()),
        Content::Json(json) => serde_json::from_slice(&json.to_canonical()).unwrap_or_default(),
    }
}
