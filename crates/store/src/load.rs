//! From rows to a context, or to a part of its history.

use std::collections::{BTreeMap, BTreeSet};

use contextree_canon::Hash;
use contextree_canon::record::{
    BodyPlace, Effects, FindBody, Fold, RecordError, StoredBody, Subject, read_bodies, read_effects,
};
use contextree_engine::{Context, ContextOptions, Restore};
use contextree_tree::{Body, Cycle};

use crate::backend::Backend;
use crate::error::{Result, StoreError};
use crate::packed::{unpack, unpack_bytes};
use crate::rows::{BranchId, Checkpoint, Commit, Stretch};
use crate::state::State;

/// How many contents are fetched at once.
const CONTENTS_AT_ONCE: usize = 256;

/// Where a history is: the rows of a context's branches.
pub(crate) struct Place<'a> {
    pub(crate) backend: &'a dyn Backend,
    /// The name, for messages.
    pub(crate) name: &'a str,
    pub(crate) lineage: &'a [Stretch],
}

/// What was read of a history, before snapshots are built from it. Texts are in the records.
struct Raw<'a> {
    /// The checkpoint and the commits up to the first snapshot that is asked for.
    fold: Fold<'a>,
    /// The bodies in the checkpoint.
    own: Bodies,
    /// The bodies of commits that the first snapshot refers to.
    earlier: BTreeMap<Cycle, Bodies>,
    /// The commits after it.
    commits: Vec<(Effects<'a>, Bodies)>,
    /// How many bytes the checkpoint was, contents not counted.
    bytes: u64,
    /// How many bytes follow the checkpoint.
    since: u64,
}

/// Bodies of one record; each is taken once.
type Bodies = Vec<Option<StoredBody>>;

/// A part of a history, as snapshots.
pub(crate) struct Window {
    pub(crate) restore: Restore,
    /// Bytes of records that were read for the checkpoint.
    pub(crate) checkpoint_bytes: u64,
    /// Bytes of records that were read for what comes after it.
    pub(crate) since: u64,
}

impl Place<'_> {
    pub(crate) fn corrupt(&self, record: &str, error: &RecordError) -> StoreError {
        StoreError::Corrupt {
            record: format!("context {}, {record}", self.name),
            message: error.to_string(),
        }
    }

    /// Says that some snapshots are neither there nor retired.
    pub(crate) fn miscounted(&self, found: u64, expected: u64) -> StoreError {
        StoreError::Corrupt {
            record: format!("context {}, history", self.name),
            message: format!("it has {found} snapshots and should have {expected}"),
        }
    }

    /// Returns the newest checkpoint at or before a cycle.
    pub(crate) fn checkpoint(&self, cycle: Cycle) -> Result<Checkpoint> {
        for stretch in self.lineage.iter().rev() {
            let upto = stretch.upto.min(cycle);
            if let Some(checkpoint) = self.backend.checkpoint(stretch.branch, upto)? {
                return Ok(checkpoint);
            }
        }
        Err(StoreError::Corrupt {
            record: format!("context {}", self.name),
            message: format!("there is no checkpoint at or before @c{cycle}"),
        })
    }

    /// Returns the stretches with the cycles that each covers.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (BranchId, Cycle, Cycle)> {
        let mut first = Cycle::ZERO;
        self.lineage.iter().filter_map(move |stretch| {
            let from = first;
            first = first.max(stretch.upto.next());
            (from <= stretch.upto).then_some((stretch.branch, from, stretch.upto))
        })
    }

    /// Visits commits, oldest first.
    pub(crate) fn commits(
        &self,
        first: Cycle,
        last: Cycle,
        visit: &mut dyn FnMut(Commit) -> Result<()>,
    ) -> Result<()> {
        for (branch, from, upto) in self.spans() {
            let (from, upto) = (from.max(first), upto.min(last));
            if from <= upto {
                self.backend.commits(branch, from, upto, visit)?;
            }
        }
        Ok(())
    }

    /// Returns how many snapshots have at most this cycle.
    pub(crate) fn count(&self, cycle: Cycle) -> Result<u64> {
        let mut count = 0;
        for (branch, from, upto) in self.spans() {
            if from <= cycle {
                count += self.backend.count_commits(branch, upto.min(cycle))?;
            }
        }
        Ok(count)
    }

    pub(crate) fn read_effects<'b>(&self, record: &str, bytes: &'b [u8]) -> Result<Effects<'b>> {
        read_effects(bytes).map_err(|error| self.corrupt(record, &error))
    }

    /// Returns the record of a checkpoint's tree.
    pub(crate) fn unpack_tree(&self, checkpoint: &Checkpoint) -> Result<Vec<u8>> {
        let record = format!("checkpoint @c{}", checkpoint.cycle);
        unpack_bytes(&checkpoint.tree)
            .map_err(|message| RecordError { message: message.to_owned(), offset: 0 })
            .map_err(|error| self.corrupt(&record, &error))
    }

    /// Begins to apply commits to the tree of a checkpoint.
    pub(crate) fn fold<'b>(&self, checkpoint: &Checkpoint, tree: &'b [u8]) -> Result<Fold<'b>> {
        let record = format!("checkpoint @c{}", checkpoint.cycle);
        let effects = self.read_effects(&record, tree)?;
        Fold::begin(effects).map_err(|error| self.corrupt(&record, &error))
    }

    pub(crate) fn read_bodies(&self, record: &str, bytes: &[u8]) -> Result<Vec<StoredBody>> {
        read_bodies(bytes).map_err(|error| self.corrupt(record, &error))
    }

    fn some_bodies(&self, record: &str, bytes: &[u8]) -> Result<Bodies> {
        Ok(self.read_bodies(record, bytes)?.into_iter().map(Some).collect())
    }

    /// Returns commits, oldest first.
    pub(crate) fn all_commits(&self, first: Cycle, last: Cycle) -> Result<Vec<Commit>> {
        let mut commits = Vec::new();
        self.commits(first, last, &mut |commit| {
            commits.push(commit);
            Ok(())
        })?;
        Ok(commits)
    }

    /// Reads everything that the snapshots from `first`, or from the checkpoint, on need: the commits up to `first` go into
    /// the fold, those after it are kept. Ends before the first commit that does not follow the one before it; returns how
    /// many were read.
    fn read<'b>(
        &self,
        checkpoint: &Checkpoint,
        fold: Fold<'b>,
        commits: &'b [Commit],
        first: Option<Cycle>,
    ) -> Result<(Raw<'b>, usize)> {
        let record = format!("checkpoint @c{}", checkpoint.cycle);
        let mut raw = Raw {
            fold,
            own: self.some_bodies(&record, &checkpoint.bodies)?,
            earlier: BTreeMap::new(),
            commits: Vec::new(),
            bytes: (checkpoint.tree.len() + checkpoint.bodies.len()) as u64,
            since: 0,
        };
        let (mut before, mut taken) = (raw.fold.last_cycle(), 0);
        for Commit { cycle, effects, bodies } in commits {
            let record = format!("commit @c{cycle}");
            let effects = effects.as_deref().unwrap_or_default();
            let read = self.read_effects(&record, effects)?;
            match read.subject {
                Subject::Commit { cycle: own, previous, .. } if own == *cycle => {
                    if previous != before {
                        break;
                    }
                }
                _ => {
                    let message = "it is not the record of this commit".to_owned();
                    return Err(self.corrupt(&record, &RecordError { message, offset: 0 }));
                }
            }
            (before, taken) = (Some(*cycle), taken + 1);
            raw.since += (effects.len() + bodies.len()) as u64;
            let bodies = self.some_bodies(&record, bodies)?;
            if first.is_none_or(|first| *cycle > first) {
                raw.commits.push((read, bodies));
                continue;
            }
            if !bodies.is_empty() {
                raw.earlier.insert(*cycle, bodies);
            }
            raw.fold.commit(read).map_err(|error| self.corrupt(&record, &error))?;
        }
        let wanted: BTreeSet<Cycle> = raw
            .fold
            .bodies()
            .filter_map(|(_, body)| match body {
                BodyPlace::At { cycle, .. } if !raw.earlier.contains_key(&cycle) => Some(cycle),
                _ => None,
            })
            .collect();
        for (branch, from, upto) in self.spans() {
            let cycles: Vec<Cycle> = wanted.range(from..=upto).copied().collect();
            self.backend.bodies(branch, &cycles, &mut |cycle, bodies| {
                raw.bytes += bodies.len() as u64;
                let record = format!("bodies of commit @c{cycle}");
                raw.earlier.insert(cycle, self.some_bodies(&record, &bodies)?);
                Ok(())
            })?;
        }
        Ok((raw, taken))
    }

    /// Builds the snapshots from `first` up to `last`; if there is none at `first`, from the one before it on.
    pub(crate) fn window(&self, first: Cycle, last: Cycle) -> Result<Window> {
        self.build(&self.checkpoint(first)?, Some(first), last, false)
    }

    /// Builds the snapshots from a checkpoint up to `last`, and checks the digest of each.
    pub(crate) fn checked(&self, checkpoint: &Checkpoint, last: Cycle) -> Result<Window> {
        self.build(checkpoint, None, last, true)
    }

    /// Builds the snapshots from a checkpoint up to `last`. Where retention removed commits, it continues with the checkpoint
    /// after them. With `checks`, every digest is compared, and there must not be such a hole.
    fn build(
        &self,
        checkpoint: &Checkpoint,
        first: Option<Cycle>,
        last: Cycle,
        checks: bool,
    ) -> Result<Window> {
        let tree = self.unpack_tree(checkpoint)?;
        let next = self.fold(checkpoint, &tree)?.next_cycle();
        let mut commits = self.all_commits(next, last)?;
        // Of these snapshots only bodies are left that others need.
        commits.retain(|commit| commit.effects.is_some());
        let (mut window, taken) = self.run(checkpoint, &tree, first, &commits, checks)?;
        let mut rest = &commits[taken..];
        while let Some((begins, after)) = rest.split_first() {
            let next = self.checkpoint(begins.cycle)?;
            if checks || next.cycle != begins.cycle {
                let message = "it does not follow the previous commit".to_owned();
                let record = format!("commit @c{}", begins.cycle);
                return Err(self.corrupt(&record, &RecordError { message, offset: 0 }));
            }
            let tree = self.unpack_tree(&next)?;
            let (mut run, taken) = self.run(&next, &tree, None, after, checks)?;
            run.restore.continue_after(window.restore.into_history());
            (window, rest) = (run, &after[taken..]);
        }
        Ok(window)
    }

    /// Builds the snapshots of commits that follow each other without a hole. Returns how many commits that are.
    fn run(
        &self,
        checkpoint: &Checkpoint,
        tree: &[u8],
        first: Option<Cycle>,
        commits: &[Commit],
        checks: bool,
    ) -> Result<(Window, usize)> {
        let fold = self.fold(checkpoint, tree)?;
        let (raw, taken) = self.read(checkpoint, fold, commits, first)?;
        let contents = self.contents(&raw)?;
        let begins = raw.fold.last_cycle().unwrap_or(checkpoint.cycle);
        let (mut own, mut earlier) = (raw.own, raw.earlier);
        let mut restore = Restore::begin(raw.fold, checks, &mut |place| match place {
            BodyPlace::At { cycle, index } => {
                take(earlier.entry(cycle).or_default(), index, &contents)
            }
            BodyPlace::Here(index) => take(&mut own, index, &contents),
            BodyPlace::None | BodyPlace::Kept => Ok(Body::default()),
        })
        .map_err(|error| match begins == checkpoint.cycle {
            true => self.corrupt(&format!("checkpoint @c{begins}"), &error),
            false => self.corrupt(&format!("snapshot @c{begins}"), &error),
        })?;
        for (effects, mut bodies) in raw.commits {
            let cycle = match effects.subject {
                Subject::Commit { cycle, .. } => cycle,
                _ => Cycle::ZERO,
            };
            restore
                .commit(effects, &mut |place| here(&mut bodies, place, &contents))
                .map_err(|error| self.corrupt(&format!("commit @c{cycle}"), &error))?;
        }
        Ok((Window { restore, checkpoint_bytes: raw.bytes, since: raw.since }, taken))
    }

    /// Fetches the contents that are not in a record themselves.
    fn contents(&self, raw: &Raw<'_>) -> Result<Contents> {
        let mut hashes = BTreeSet::new();
        let wanted_at = raw.fold.bodies().filter_map(|(_, body)| match body {
            BodyPlace::At { cycle, index } => raw.earlier.get(&cycle)?.get(index as usize),
            BodyPlace::Here(index) => raw.own.get(index as usize),
            _ => None,
        });
        let in_commits = raw.commits.iter().flat_map(|(_, bodies)| bodies);
        for body in wanted_at.chain(in_commits).flatten() {
            hashes.extend(body.shared());
        }
        self.fetch(&hashes)
    }

    fn fetch(&self, hashes: &BTreeSet<Hash>) -> Result<Contents> {
        let hashes: Vec<[u8; 32]> = hashes.iter().map(|hash| hash.0).collect();
        let mut contents = Contents::new();
        for some in hashes.chunks(CONTENTS_AT_ONCE) {
            for (hash, found) in some.iter().zip(self.backend.contents(some)?) {
                if let Some(data) = found {
                    contents.insert(Hash(*hash), unpack(Hash(*hash), &data)?);
                }
            }
        }
        Ok(contents)
    }

    /// Applies the journal of the working state.
    pub(crate) fn work<'e>(
        &self,
        restore: &mut Restore,
        journal: impl Iterator<Item = &'e Vec<u8>>,
    ) -> Result<()> {
        for (index, entry) in journal.enumerate() {
            let record = format!("entry {} of the journal", index + 1);
            let (effects, bodies) = split_journal(entry)
                .ok_or_else(|| RecordError { message: "it is truncated".to_owned(), offset: 0 })
                .map_err(|error| self.corrupt(&record, &error))?;
            let effects = self.read_effects(&record, effects)?;
            let mut effects = Some(effects);
            self.with_bodies(&record, bodies, &mut |find_body| match effects.take() {
                Some(effects) => restore.work(effects, find_body),
                None => Ok(()),
            })?;
        }
        Ok(())
    }

    /// Reads the bodies of a record, and hands them out to `work`.
    pub(crate) fn with_bodies(
        &self,
        record: &str,
        bodies: &[u8],
        work: &mut dyn FnMut(&mut FindBody<'_>) -> std::result::Result<(), RecordError>,
    ) -> Result<()> {
        let mut bodies = self.some_bodies(record, bodies)?;
        let hashes = bodies.iter().flatten().filter_map(StoredBody::shared).collect();
        let contents = self.fetch(&hashes)?;
        work(&mut |place| here(&mut bodies, place, &contents))
            .map_err(|error| self.corrupt(record, &error))
    }
}

type Contents = BTreeMap<Hash, Vec<u8>>;

fn here(
    bodies: &mut Bodies,
    place: BodyPlace,
    contents: &Contents,
) -> std::result::Result<Body, RecordError> {
    match place {
        BodyPlace::Here(index) => take(bodies, index, contents),
        _ => Err(RecordError { message: "a body is in another record".to_owned(), offset: 0 }),
    }
}

fn take(
    bodies: &mut Bodies,
    index: u32,
    contents: &Contents,
) -> std::result::Result<Body, RecordError> {
    let body = bodies.get_mut(index as usize).and_then(Option::take);
    let body =
        body.ok_or_else(|| RecordError { message: format!("body {index} is missing"), offset: 0 })?;
    let fetched = body.shared().and_then(|hash| contents.get(&hash));
    body.into_body(fetched.map(Vec::as_slice))
}

/// One entry of the journal: the effects and their bodies in one blob.
pub(crate) fn join_journal(effects: &[u8], bodies: &[u8]) -> Vec<u8> {
    let mut entry = Vec::with_capacity(4 + effects.len() + bodies.len());
    entry.extend_from_slice(&(effects.len() as u32).to_le_bytes());
    entry.extend_from_slice(effects);
    entry.extend_from_slice(bodies);
    entry
}

pub(crate) fn split_journal(entry: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = entry.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

/// Reads the whole history of a state into a context of its own.
pub(crate) fn whole(
    state: &State,
    oldest: Option<Cycle>,
    options: ContextOptions,
) -> Result<Context> {
    let place = state.place();
    let last = state.row.head.map_or(Cycle::MAX, |head| head.cycle);
    let mut window = place.window(oldest.unwrap_or(last), last)?;
    let found = window.restore.len() as u64;
    if found != state.row.snapshots {
        return Err(place.miscounted(found, state.row.snapshots));
    }
    let attempts = state.read_attempts()?;
    place.rest(&mut window.restore, state.running(), state.journal.iter(), Some(&attempts))?;
    Ok(window.restore.finish(options, attempts))
}
