//! Removing old snapshots, without changing those that stay.

use std::collections::{BTreeMap, BTreeSet};

use contextree_canon::record::{BodyPlace, StoredBody, Subject, retain_bodies};

use crate::calls;
use crate::checkpoint::{checkpoint_of, places};
use crate::error::{Result, StoreError};
use crate::load::{Place, split_journal};
use crate::rows::{Checkpoint, Commit, ContextRow, Rewrite};
use crate::side;
use crate::store::Store;

/// Which snapshots of a context stay. Pinned snapshots, those that a fork shares, and the newest always stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// This many of the newest stay.
    pub keep_newest: Option<u64>,
    /// Those whose latest stamp is not before this one stay, in nanoseconds since 1970.
    pub keep_since_ns: Option<i64>,
}

/// What retention did, or would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retained {
    /// Snapshots that were removed.
    pub dropped: u64,
    /// Snapshots that stay.
    pub kept: u64,
}

/// A commit of the branch, as far as it matters here.
struct Row {
    cycle: u32,
    bodies: Vec<u8>,
    /// The latest stamp; `None` if the snapshot was removed earlier and only bodies are left.
    stamp: Option<i64>,
    stays: bool,
}

impl Store {
    /// Removes the snapshots of a context that a policy does not keep. With neither limit everything stays.
    ///
    /// # Errors
    ///
    /// If there is no such context, it was written meanwhile, or the store cannot be written. Nothing has changed then.
    pub fn retain(&self, name: &str, retention: &Retention, dry_run: bool) -> Result<Retained> {
        let row = self.find(name)?;
        let row = row.ok_or_else(|| StoreError::NotFound { context: name.to_owned() })?;
        let lineage = self.backend().lineage(row.branch)?;
        let place = Place { backend: &**self.backend(), name, lineage: &lineage };
        let (mut rewrite, rows) = self.plan(&row, &place, retention)?;
        let dropped = rewrite.dropped_snapshots;
        let retained = Retained { dropped, kept: row.snapshots - dropped.min(row.snapshots) };
        if dropped == 0 || dry_run {
            return Ok(retained);
        }
        let stays: BTreeSet<u32> =
            rows.iter().filter(|row| row.stays).map(|row| row.cycle).collect();
        rewrite.checkpoints = self.new_checkpoints(&row, &place, &rows)?;
        let kept = self.kept_checkpoints(&row, &stays, &mut rewrite)?;
        // What checkpoints refer to must stay, even if the commit that added it is removed.
        let mut needed: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        let mut contents = BTreeSet::new();
        for checkpoint in kept.iter().chain(&rewrite.checkpoints) {
            let record = format!("checkpoint @c{}", checkpoint.cycle);
            let tree = place.unpack_tree(checkpoint)?;
            for put in place.read_effects(&record, &tree)?.puts {
                if let BodyPlace::At { cycle, index } = put.data.body {
                    needed.entry(cycle).or_default().insert(index);
                }
            }
            note(&mut contents, &place.read_bodies(&record, &checkpoint.bodies)?);
        }
        for row in rows {
            let record = format!("commit @c{}", row.cycle);
            if row.stays {
                note(&mut contents, &place.read_bodies(&record, &row.bodies)?);
                continue;
            }
            let wanted = needed.remove(&row.cycle).unwrap_or_default();
            let bodies = retain_bodies(&row.bodies, &|index| wanted.contains(&index))
                .map_err(|error| place.corrupt(&record, &error))?;
            if bodies.is_empty() {
                rewrite.dropped_commits.push(row.cycle);
            } else {
                note(&mut contents, &place.read_bodies(&record, &bodies)?);
                rewrite.commits.push(Commit { cycle: row.cycle, effects: None, bodies });
            }
        }
        let (_, journal) = self.backend().journal(row.id)?;
        for entry in &journal {
            let bodies = split_journal(entry).map_or(&[][..], |(_, bodies)| bodies);
            note(&mut contents, &place.read_bodies("journal", bodies)?);
        }
        for record in self.backend().side_records(row.id, Some(calls::KIND))? {
            let value = side::check(name, &record)?;
            place.bodies_of_call(&record.key, value, &mut |bodies| note(&mut contents, bodies))?;
        }
        rewrite.contents = contents.into_iter().collect();
        self.backend().rewrite(row.id, row.revision, &rewrite)?;
        tracing::info!(context = name, dropped, "removed snapshots");
        Ok(retained)
    }

    /// Decides which commits of the context's own branch stay.
    fn plan(
        &self,
        row: &ContextRow,
        place: &Place<'_>,
        retention: &Retention,
    ) -> Result<(Rewrite, Vec<Row>)> {
        let children = self.backend().children(row.branch)?;
        let pinned: Vec<u32> =
            self.backend().pins(row.id)?.into_iter().map(|pin| pin.cycle).collect();
        let mut rows: Vec<Row> = Vec::new();
        self.backend().commits(row.branch, 0, u32::MAX, &mut |commit| {
            let stamp = match &commit.effects {
                None => None,
                Some(effects) => {
                    let record = format!("commit @c{}", commit.cycle);
                    match place.read_effects(&record, effects)?.subject {
                        Subject::Commit { last_ns, .. } => Some(last_ns),
                        _ => Some(i64::MAX),
                    }
                }
            };
            let Commit { cycle, bodies, .. } = commit;
            rows.push(Row { cycle, bodies, stamp, stays: false });
            Ok(())
        })?;
        let shared = children.iter().map(|child| child.upto).max();
        let everything = *retention == Retention::default();
        let mut newer = 0_u64;
        for one in rows.iter_mut().rev() {
            let Some(stamp) = one.stamp else { continue };
            one.stays = everything
                || newer == 0
                || retention.keep_newest.is_some_and(|newest| newer < newest)
                || retention.keep_since_ns.is_some_and(|since| stamp >= since)
                || pinned.contains(&one.cycle)
                || shared.is_some_and(|upto| one.cycle <= upto);
            newer += 1;
        }
        let dropped = rows.iter().filter(|row| row.stamp.is_some() && !row.stays).count() as u64;
        let rewrite =
            Rewrite { children, pinned, dropped_snapshots: dropped, ..Rewrite::default() };
        Ok((rewrite, rows))
    }

    /// Makes the checkpoints that snapshots need whose predecessors are removed.
    fn new_checkpoints(
        &self,
        row: &ContextRow,
        place: &Place<'_>,
        rows: &[Row],
    ) -> Result<Vec<Checkpoint>> {
        let mut checkpoints = Vec::new();
        let mut before_stays = true;
        for one in rows.iter().filter(|row| row.stamp.is_some()) {
            if one.stays && !before_stays {
                let has_own = self
                    .backend()
                    .checkpoint(row.branch, one.cycle)?
                    .is_some_and(|checkpoint| checkpoint.cycle == one.cycle);
                if !has_own {
                    let window = place.window(one.cycle, one.cycle)?;
                    let snapshots = place.count(one.cycle)?;
                    let history = window.restore.into_history();
                    let places = places(place, one.cycle)?;
                    if let Some(snapshot) = history.last() {
                        checkpoints.push(checkpoint_of(snapshot, snapshots, &places).0);
                    }
                }
            }
            before_stays = one.stays;
        }
        Ok(checkpoints)
    }

    /// Returns the checkpoints of the branch that stay, and notes those that are removed. The one before the first commit stays.
    fn kept_checkpoints(
        &self,
        row: &ContextRow,
        stays: &BTreeSet<u32>,
        rewrite: &mut Rewrite,
    ) -> Result<Vec<Checkpoint>> {
        let mut kept = Vec::new();
        let mut cycle = Some(u32::MAX);
        while let Some(before) = cycle {
            let Some(checkpoint) = self.backend().checkpoint(row.branch, before)? else { break };
            cycle = checkpoint.cycle.checked_sub(1);
            let is_base = cycle
                .map(|before| self.backend().checkpoint(row.branch, before))
                .transpose()?
                .flatten()
                .is_none();
            if is_base || stays.contains(&checkpoint.cycle) {
                kept.push(checkpoint);
            } else {
                rewrite.dropped_checkpoints.push(checkpoint.cycle);
            }
        }
        Ok(kept)
    }
}

fn note(contents: &mut BTreeSet<[u8; 32]>, bodies: &[StoredBody]) {
    contents.extend(bodies.iter().filter_map(StoredBody::shared).map(|hash| hash.0));
}
