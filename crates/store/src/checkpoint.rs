//! When a checkpoint is due, and writing it.
//!
//! A checkpoint bounds the work of opening: the commits after it are at most about twice as large as it, or [`SMALLEST`]. So
//! the checkpoints of a tree that only grows are spaced ever wider, and those of a tree that stays small are small: together
//! they are a small part of the whole.

use std::collections::BTreeMap;

use contextree_canon::record::{BodyPlace, Heading, write_checkpoint};
use contextree_engine::Snapshot;
use contextree_tree::{Content, Cycle};

use crate::error::Result;
use crate::load::Place;
use crate::packed::pack_bytes;
use crate::rows::Checkpoint;

/// Less than this is read in a few milliseconds.
const SMALLEST: u64 = 64 << 10;

/// Counts what opening would have to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spacing {
    /// Bytes of the last checkpoint, with the bodies it refers to.
    pub(crate) checkpoint: u64,
    /// Bytes of records after it.
    pub(crate) since: u64,
}

impl Spacing {
    pub(crate) fn is_due(self) -> bool {
        self.since > SMALLEST.max(2 * self.checkpoint)
    }
}

/// Where the body of each node is: the commit and the index in it.
pub(crate) type BodyPlaces = BTreeMap<Box<str>, (Cycle, u32)>;

/// Returns where the bodies of a snapshot's nodes are. The bodies in the checkpoint before it, those of root and regions, are
/// written again.
pub(crate) fn places(place: &Place<'_>, cycle: Cycle) -> Result<BodyPlaces> {
    let checkpoint = place.checkpoint(cycle)?;
    let tree = place.unpack_tree(&checkpoint)?;
    let mut fold = place.fold(&checkpoint, &tree)?;
    let commits = place.all_commits(fold.next_cycle(), cycle)?;
    for commit in &commits {
        let record = format!("commit @c{}", commit.cycle);
        let Some(effects) = commit.effects.as_deref() else { continue };
        let effects = place.read_effects(&record, effects)?;
        fold.commit(effects).map_err(|error| place.corrupt(&record, &error))?;
    }
    let places = fold.bodies().filter_map(|(id, body)| match body {
        BodyPlace::At { cycle, index } => Some((id.into(), (cycle, index))),
        _ => None,
    });
    Ok(places.collect())
}

/// Writes the checkpoint of a snapshot. `snapshots` is how many there were by then.
pub(crate) fn checkpoint_of(
    snapshot: &Snapshot,
    snapshots: u64,
    places: &BodyPlaces,
) -> (Checkpoint, u64) {
    let heading = Heading {
        digest: snapshot.digest(),
        history: snapshot.history_digest(),
        last_ns: snapshot.last_stamp(),
        snapshots,
    };
    let mut live = 0_u64;
    let encoded = write_checkpoint(snapshot.view(), &heading, &mut |node| {
        if let Content::Text(text) = node.content() {
            live += text.len().min(contextree_canon::record::SHARED_FROM) as u64;
        }
        places.get(node.id()).copied()
    });
    let size = encoded.effects.len() as u64 + live;
    let tree = pack_bytes(&encoded.effects);
    (Checkpoint { cycle: snapshot.cycle(), tree, bodies: encoded.bodies }, size)
}
