//! When a checkpoint is due, and writing it.
//!
//! A checkpoint bounds the work of opening: what comes after it is at most about twice as much as it stands for, or
//! [`SMALLEST`]. So the checkpoints of a tree that only grows are spaced ever wider, and those of one that stays small are small:
//! together they stay a small part of the whole.

use std::collections::BTreeMap;

use contextree_canon::record::{BodyPlace, Effects, Heading, write_checkpoint};
use contextree_engine::Snapshot;
use contextree_tree::Content;

use crate::error::Result;
use crate::load::Place;
use crate::rows::Checkpoint;

/// Less than this is read in a few milliseconds.
const SMALLEST: u64 = 64 << 10;

/// Counts what opening would have to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spacing {
    /// Bytes that the last checkpoint stands for.
    pub(crate) checkpoint: u64,
    /// Bytes of records behind it.
    pub(crate) since: u64,
}

impl Spacing {
    pub(crate) fn is_due(self) -> bool {
        self.since > SMALLEST.max(2 * self.checkpoint)
    }
}

/// Where the body of each node stands: the commit and the index there.
pub(crate) type BodyPlaces = BTreeMap<Box<str>, (u32, u32)>;

/// Follows the bodies through a record.
pub(crate) fn follow(places: &mut BodyPlaces, record: &Effects, cycle: u32) {
    for put in &record.puts {
        let place = match put.body {
            BodyPlace::Kept => continue,
            BodyPlace::None => None,
            BodyPlace::Here(index) => Some((cycle, index)),
            BodyPlace::At { cycle, index } => Some((cycle, index)),
        };
        match place {
            Some(place) => drop(places.insert(put.data.id.clone(), place)),
            None => drop(places.remove(&put.data.id)),
        }
    }
    for id in &record.gone {
        places.remove(id);
    }
}

/// Returns where the bodies of a snapshot's nodes stand.
pub(crate) fn places(place: &Place<'_>, cycle: u32) -> Result<BodyPlaces> {
    let mut places = BodyPlaces::new();
    let checkpoint = place.checkpoint(cycle)?;
    let record = format!("checkpoint @c{}", checkpoint.cycle);
    let tree = place.read_effects(&record, &checkpoint.tree)?;
    for put in &tree.puts {
        // What stands in the checkpoint itself, its root and regions, is written there again.
        if let BodyPlace::At { cycle, index } = put.body {
            places.insert(put.data.id.clone(), (cycle, index));
        }
    }
    let next = match tree.subject {
        contextree_canon::record::Subject::Tree { next_cycle, .. } => next_cycle,
        _ => checkpoint.cycle.saturating_add(1),
    };
    place.commits(next, cycle, &mut |cycle, effects, _| {
        let record = format!("commit @c{cycle}");
        let effects = place.read_effects(&record, &effects.unwrap_or_default())?;
        follow(&mut places, &effects, cycle);
        Ok(())
    })?;
    Ok(places)
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
    let checkpoint =
        Checkpoint { cycle: snapshot.cycle(), tree: encoded.effects, bodies: encoded.bodies };
    (checkpoint, size)
}
