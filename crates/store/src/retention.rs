//! Removing old snapshots, without changing those that stay.

use std::collections::{BTreeMap, BTreeSet};

use contextree_canon::record::{BodyPlace, StoredBody, Subject, retain_bodies};
use contextree_tree::Cycle;

use crate::calls;
use crate::checkpoint::{checkpoint_of, places};
use crate::error::{Result, StoreError};
use crate::load::{Place, split_journal};
use crate::rows::{Checkpoint, Commit, ContextRow, Rewrite};
use crate::side;
use crate::store::Store;

/// Which snapshots of a context stay. Pinned snapshots, those that a fork of this context shares, and the newest always stay.
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
    /// Those of them that stay only because they are pinned.
    pub pinned: u64,
    /// Those of them that stay only because a fork began with one of them, or with a later one.
    pub forked: u64,
}

/// A commit of the history, as far as it matters here.
struct Row {
    cycle: Cycle,
    bodies: Vec<u8>,
    /// The latest stamp; `None` if the snapshot was removed earlier and only bodies are left.
    stamp: Option<i64>,
    stays: bool,
    /// It is in the context's own branch, not in one that this began in.
    is_own: bool,
}

impl Row {
    fn is_dropped(&self) -> bool {
        self.stamp.is_some() && !self.stays
    }
}

/// What is to be done.
struct Plan {
    rewrite: Rewrite,
    rows: Vec<Row>,
    retained: Retained,
}

impl Store {
    /// Removes the snapshots of a context that a policy does not keep. With neither limit everything stays. If another process writes
    /// the context meanwhile, it plans again.
    ///
    /// # Errors
    ///
    /// If there is no such context, it is being written all the time, or the store cannot be written. Nothing has changed then.
    pub fn retain(&self, name: &str, retention: &Retention, dry_run: bool) -> Result<Retained> {
        let not_found = || StoreError::NotFound { context: name.to_owned() };
        let mut row = self.find(name)?.ok_or_else(not_found)?;
        let mut tries = 0;
        loop {
            let result = self.try_retain(&row, retention, dry_run, false);
            let is_conflict = match &result {
                Err(StoreError::Conflict { .. }) => true,
                Err(StoreError::Corrupt { .. }) => false,
                _ => return result,
            };
            let now = self.find(name)?.ok_or_else(not_found)?;
            // What looks damaged may have been removed by another process meanwhile.
            let is_moved = (now.id, now.revision) != (row.id, row.revision);
            if tries >= self.shared.tries || !(is_conflict || is_moved) {
                return result;
            }
            (row, tries) = (now, tries + 1);
            tracing::debug!(context = name, tries, "planning retention again");
        }
    }

    /// Gives a context rows of its own for everything that it shares with the contexts it began in. No context may have begun in it.
    pub(crate) fn separate(&self, row: &ContextRow) -> Result<()> {
        self.try_retain(row, &Retention::default(), false, true).map(drop)
    }

    fn try_retain(
        &self,
        row: &ContextRow,
        retention: &Retention,
        dry_run: bool,
        separate: bool,
    ) -> Result<Retained> {
        let name = &row.name;
        let lineage = self.backend().lineage(row.branch)?;
        let place = Place { backend: &**self.backend(), name, lineage: &lineage };
        let Plan { mut rewrite, rows, retained } = self.plan(row, &place, retention)?;
        if (retained.dropped == 0 && !separate) || dry_run {
            return Ok(retained);
        }
        rewrite.detach |= separate;
        let kept = self.plan_checkpoints(row, &place, &rows, &mut rewrite)?;
        // What checkpoints refer to must stay, even if the commit that added it is removed.
        let mut needed: BTreeMap<Cycle, BTreeSet<u32>> = BTreeMap::new();
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
                if rewrite.detach && !row.is_own {
                    place.commits(row.cycle, row.cycle, &mut |commit| {
                        rewrite.commits.push(commit);
                        Ok(())
                    })?;
                }
                continue;
            }
            if !row.is_own && !rewrite.detach {
                continue;
            }
            let wanted = needed.remove(&row.cycle).unwrap_or_default();
            let bodies = retain_bodies(&row.bodies, &|index| wanted.contains(&index))
                .map_err(|error| place.corrupt(&record, &error))?;
            if !bodies.is_empty() {
                note(&mut contents, &place.read_bodies(&record, &bodies)?);
                rewrite.commits.push(Commit { cycle: row.cycle, effects: None, bodies });
            } else if row.is_own {
                rewrite.dropped_commits.push(row.cycle);
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
        tracing::info!(context = name, dropped = retained.dropped, "removed snapshots");
        Ok(retained)
    }

    /// Decides which commits of the context's history stay. If some go that it began with, its branch is separated from the others.
    fn plan(&self, row: &ContextRow, place: &Place<'_>, retention: &Retention) -> Result<Plan> {
        let children = self.backend().children(row.branch)?;
        let pinned: Vec<Cycle> =
            self.backend().pins(row.id)?.into_iter().map(|pin| pin.cycle).collect();
        let begins = place.lineage.iter().rev().nth(1).map(|stretch| stretch.upto);
        let mut rows: Vec<Row> = Vec::new();
        place.commits(Cycle::ZERO, Cycle::MAX, &mut |commit| {
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
            let is_own = begins.is_none_or(|begins| cycle > begins);
            rows.push(Row { cycle, bodies, stamp, stays: false, is_own });
            Ok(())
        })?;
        let shared = children.iter().map(|child| child.upto).max();
        let everything = *retention == Retention::default();
        let (mut newer, mut retained) = (0_u64, Retained::default());
        for one in rows.iter_mut().rev() {
            let Some(stamp) = one.stamp else { continue };
            let is_wanted = everything
                || newer == 0
                || retention.keep_newest.is_some_and(|newest| newer < newest)
                || retention.keep_since_ns.is_some_and(|since| stamp >= since);
            let is_pinned = pinned.contains(&one.cycle);
            // A branch with forks is not separated from the ones it began in: they count on them, too.
            let is_shared = shared.is_some_and(|upto| one.cycle <= upto || !one.is_own);
            one.stays = is_wanted || is_pinned || is_shared;
            match one.stays {
                true => retained.kept += 1,
                false => retained.dropped += 1,
            }
            retained.pinned += u64::from(!is_wanted && is_pinned);
            retained.forked += u64::from(!is_wanted && !is_pinned && one.stays);
            newer += 1;
        }
        let rewrite = Rewrite {
            children,
            pinned,
            dropped_snapshots: retained.dropped,
            detach: rows.iter().any(|row| !row.is_own && row.is_dropped()),
            ..Rewrite::default()
        };
        Ok(Plan { rewrite, rows, retained })
    }

    /// Returns the checkpoints of the branch that stay. Notes those that are removed, and those that are needed by snapshots
    /// whose predecessors are removed.
    fn plan_checkpoints(
        &self,
        row: &ContextRow,
        place: &Place<'_>,
        rows: &[Row],
        rewrite: &mut Rewrite,
    ) -> Result<Vec<Checkpoint>> {
        let dropped: BTreeSet<Cycle> =
            rows.iter().filter(|row| row.is_dropped()).map(|row| row.cycle).collect();
        let mut kept = Vec::new();
        let mut cycle = Some(Cycle::MAX);
        while let Some(before) = cycle {
            let Some(checkpoint) = self.backend().checkpoint(row.branch, before)? else { break };
            cycle = checkpoint.cycle.checked_previous();
            match dropped.contains(&checkpoint.cycle) {
                true => rewrite.dropped_checkpoints.push(checkpoint.cycle),
                false => kept.push(checkpoint),
            }
        }
        let has_own = |cycle: Cycle| kept.iter().any(|checkpoint| checkpoint.cycle == cycle);
        // Without the branch that it began in, not even the tree before the first commit is left.
        let mut before_stays = !rewrite.detach;
        for one in rows.iter().filter(|row| row.stamp.is_some()) {
            // A hole from an earlier time has a checkpoint after it, which may be in the branch that this one is separated from.
            let has_checkpoint =
                rewrite.detach && !one.is_own && place.checkpoint(one.cycle)?.cycle == one.cycle;
            if one.stays && (!before_stays || has_checkpoint) && !has_own(one.cycle) {
                let window = place.window(one.cycle, one.cycle)?;
                let snapshots = place.count(one.cycle)?;
                let history = window.restore.into_history();
                let places = places(place, one.cycle)?;
                if let Some(snapshot) = history.last() {
                    rewrite.checkpoints.push(checkpoint_of(snapshot, snapshots, &places).0);
                }
            }
            before_stays = one.stays;
        }
        Ok(kept)
    }
}

fn note(contents: &mut BTreeSet<[u8; 32]>, bodies: &[StoredBody]) {
    contents.extend(bodies.iter().filter_map(StoredBody::shared).map(|hash| hash.0));
}
