//! Checking everything that is stored, and exporting what is intact.

use contextree_canon::history::{write_delta, write_first};
use contextree_canon::record::Subject;
use contextree_engine::{Attempt, Snapshot};
use contextree_tree::Cycle;

use crate::backend::Backend;
use crate::calls;
use crate::error::{Result, StoreError};
use crate::load::Place;
use crate::rows::{Checkpoint, ContextRow, Stretch};
use crate::side;
use crate::store::Store;

/// What a check found in one context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextCheck {
    /// The context.
    pub name: String,
    /// How many snapshots are intact: their digests were computed again and match. In a damaged context, those that
    /// [`Store::salvage`] writes.
    pub sound: u64,
    /// The first damaged record: which one, and what is wrong with it.
    pub problem: Option<(String, String)>,
}

/// What a check of a store found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// By context, in the order of their names.
    pub contexts: Vec<ContextCheck>,
    /// Faults that the database itself reports.
    pub engine: Vec<String>,
}

impl Verification {
    /// True if nothing is wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.engine.is_empty() && self.contexts.iter().all(|context| context.problem.is_none())
    }
}

/// A part of a history that is checked at once: from a checkpoint to the last commit before the next.
struct Stage {
    checkpoint: Checkpoint,
    /// The last commit that follows on it without a gap.
    last: Cycle,
    /// How many commits that are, the checkpoint's own not counted.
    commits: u64,
    /// The checkpoint's own commit is there, too.
    has_own: bool,
}

/// What is known of a context that is being checked.
struct Subjects<'a> {
    place: Place<'a>,
    row: &'a ContextRow,
    stages: Vec<Stage>,
}

impl<'a> Subjects<'a> {
    fn of(backend: &'a dyn Backend, row: &'a ContextRow, lineage: &'a [Stretch]) -> Result<Self> {
        let place = Place { backend, name: &row.name, lineage };
        let mut checkpoints = Vec::new();
        let mut cycle = Some(Cycle::MAX);
        while let Some(before) = cycle {
            match place.checkpoint(before) {
                Ok(checkpoint) => {
                    cycle = checkpoint.cycle.checked_previous();
                    checkpoints.push(checkpoint);
                }
                Err(error) if checkpoints.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        checkpoints.reverse();
        let mut cycles = Vec::new();
        place.commits(Cycle::ZERO, Cycle::MAX, &mut |commit| {
            cycles.extend(commit.effects.map(|_| commit.cycle));
            Ok(())
        })?;
        let ends: Vec<Option<Cycle>> =
            checkpoints.iter().skip(1).map(|next| Some(next.cycle)).chain([None]).collect();
        let mut stages = Vec::new();
        for (checkpoint, end) in checkpoints.into_iter().zip(ends) {
            let (mut last, mut commits) = (checkpoint.cycle, 0);
            for cycle in cycles.iter().copied().filter(|cycle| *cycle >= checkpoint.cycle) {
                let follows = cycle <= last.next();
                match end {
                    Some(end) if cycle > end => break,
                    // Retention removed the commits between; the next checkpoint begins a new stage.
                    Some(end) if cycle == end && !follows => break,
                    _ => {}
                }
                commits += u64::from(cycle > checkpoint.cycle);
                last = cycle;
            }
            let has_own = cycles.binary_search(&checkpoint.cycle).is_ok();
            stages.push(Stage { checkpoint, last, commits, has_own });
        }
        Ok(Subjects { place, row, stages })
    }

    /// Checks a stage; returns how many intact snapshots no earlier stage has counted.
    fn check(&self, index: usize) -> Result<u64> {
        let stage = &self.stages[index];
        let window = self.place.checked(&stage.checkpoint, stage.last)?;
        let history = window.restore.into_history();
        let reached = history.last().map(|last| (last.cycle(), last.digest()));
        // The next checkpoint says the same of the snapshot that both have.
        if let Some(next) = self.stages.get(index + 1)
            && next.checkpoint.cycle == stage.last
        {
            let record = format!("checkpoint @c{}", next.checkpoint.cycle);
            let tree = self.place.unpack_tree(&next.checkpoint)?;
            let effects = self.place.read_effects(&record, &tree)?;
            let Subject::Tree { heading, .. } = effects.subject else {
                return Err(self.corrupt(&record, "it is not a checkpoint"));
            };
            let same = history.last().is_none_or(|last| {
                last.digest() == heading.digest && last.history_digest() == heading.history
            });
            if !same {
                return Err(self.corrupt(&record, "it belongs to another history"));
            }
        } else if index + 1 == self.stages.len() {
            let head = self.row.head.map(|head| (head.cycle, head.digest));
            if reached.map(|(cycle, digest)| (cycle, digest.0)) != head {
                return Err(self.corrupt("head", "the newest snapshot is not the one it names"));
            }
        }
        let is_island = match index.checked_sub(1) {
            Some(before) => self.stages[before].last < stage.checkpoint.cycle,
            None => stage.has_own,
        };
        Ok(stage.commits + u64::from(is_island))
    }

    fn corrupt(&self, record: &str, message: &str) -> StoreError {
        StoreError::Corrupt {
            record: format!("context {}, {record}", self.row.name),
            message: message.to_owned(),
        }
    }

    /// Checks the working state and what is stored beside the history.
    fn check_rest(&self) -> Result<()> {
        let (_, journal) = self.place.backend.journal(self.row.id)?;
        let last = self.row.head.map_or(Cycle::MAX, |head| head.cycle);
        let mut window = self.place.window(last, last)?;
        let attempts: Result<Vec<Attempt>> = self
            .place
            .backend
            .attempts(self.row.id)?
            .iter()
            .map(crate::attempts::from_row)
            .collect();
        window.restore.check_digests();
        let running = self.place.backend.side_records(self.row.id, Some(calls::KIND))?;
        let (restore, attempts) = (&mut window.restore, attempts?);
        self.place.rest(restore, running.first(), journal.iter(), Some(&attempts))?;
        for record in self.place.backend.side_records(self.row.id, None)? {
            side::check(&self.row.name, &record)?;
            let is_call = record.kind == calls::KIND;
            if is_call && window.restore.running_attempt() != Some(&record.key) {
                return Err(self.corrupt(&format!("the call {}", record.key), "it is not running"));
            }
        }
        crate::settings::ContextSettings::from_json(&self.row.settings)?;
        Ok(())
    }
}

/// Computes every digest of every context of a backend again.
pub(crate) fn verify(
    backend: &dyn Backend,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Verification> {
    let mut verification = Verification { engine: backend.check()?, ..Verification::default() };
    backend.with_view(&mut |view| {
        let mut rows = Vec::new();
        loop {
            let after = rows.last().map(|row: &ContextRow| row.name.clone());
            let page = match view.list(after.as_deref(), 1_000) {
                // Which contexts there are cannot be told: nothing of them is called sound.
                Err(StoreError::Corrupt { record, message }) => {
                    verification.engine.push(format!("{record}: {message}"));
                    break;
                }
                page => page?,
            };
            if page.is_empty() {
                break;
            }
            rows.extend(page);
        }
        let total: u64 = rows.iter().map(|row| row.snapshots).sum();
        let mut done = 0;
        for row in &rows {
            let mut told = 0;
            let check = check_row(view, row, &mut |sound| {
                told = sound;
                progress(done + sound, total);
            })?;
            done += row.snapshots.max(told);
            progress(done, total);
            verification.contexts.push(check);
        }
        Ok(())
    })?;
    Ok(verification)
}

fn check_row(
    backend: &dyn Backend,
    row: &ContextRow,
    progress: &mut dyn FnMut(u64),
) -> Result<ContextCheck> {
    let mut check = ContextCheck { name: row.name.clone(), sound: 0, problem: None };
    match check_all(backend, row, &mut check.sound, progress) {
        Ok(()) => {}
        Err(StoreError::Corrupt { record, message }) => {
            check.problem = Some((record, message));
            check.sound = count_sound(backend, row)?;
        }
        Err(error) => return Err(error),
    }
    Ok(check)
}

/// Returns how many snapshots of a damaged context can be saved.
fn count_sound(backend: &dyn Backend, row: &ContextRow) -> Result<u64> {
    let mut sound = 0;
    let counted = backend.lineage(row.branch).and_then(|lineage| {
        Subjects::of(backend, row, &lineage)?.each_sound(&mut |_, _| sound += 1)
    });
    match counted {
        Ok(()) | Err(StoreError::Corrupt { .. }) => Ok(sound),
        Err(error) => Err(error),
    }
}

fn check_all(
    backend: &dyn Backend,
    row: &ContextRow,
    sound: &mut u64,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    let lineage = backend.lineage(row.branch)?;
    let subjects = Subjects::of(backend, row, &lineage)?;
    for index in 0..subjects.stages.len() {
        *sound += subjects.check(index)?;
        progress(*sound);
    }
    if *sound != row.snapshots {
        return Err(subjects.place.miscounted(*sound, row.snapshots));
    }
    subjects.check_rest()
}

impl Store {
    /// Computes every digest of every context again, as the store is at one moment: what others write meanwhile is not looked at.
    /// `progress` is told how many snapshots were checked, and of how many.
    ///
    /// # Errors
    ///
    /// If the store cannot be read at all. Damage is not an error here: it is what this function returns.
    pub fn verify(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Verification> {
        verify(&**self.backend(), progress)
    }

    /// Computes every digest of one context again.
    ///
    /// # Errors
    ///
    /// If there is no such context, or the store cannot be read at all.
    pub fn verify_context(
        &self,
        name: &str,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<ContextCheck> {
        let mut checked = None;
        self.backend().with_view(&mut |view| {
            let row = match view.find(name) {
                Err(StoreError::Corrupt { record, message }) => {
                    let problem = Some((record, message));
                    checked = Some(ContextCheck { name: name.to_owned(), sound: 0, problem });
                    return Ok(());
                }
                row => row?,
            };
            let Some(row) = row else { return Ok(()) };
            let mut told = |sound| progress(sound, row.snapshots);
            checked = Some(check_row(view, &row, &mut told)?);
            Ok(())
        })?;
        checked.ok_or_else(|| StoreError::NotFound { context: name.to_owned() })
    }

    /// Writes every intact snapshot of a context, as a history that can be imported: everything up to the first bad record,
    /// and everything from the next checkpoint on. Returns how many there are.
    ///
    /// # Errors
    ///
    /// If there is no such context, or the store cannot be read at all.
    pub fn salvage(&self, name: &str, out: &mut Vec<u8>) -> Result<u64> {
        let mut written = 0;
        self.backend().with_view(&mut |view| {
            let row = view.find_damaged(name)?;
            let row = row.ok_or_else(|| StoreError::NotFound { context: name.to_owned() })?;
            let lineage = view.lineage(row.branch)?;
            Subjects::of(view, &row, &lineage)?.each_sound(&mut |before, snapshot| {
                written += 1;
                match before {
                    Some(before) => write_delta(out, before.tree(), snapshot.tree()),
                    None => write_first(out, snapshot.tree()),
                }
            })
        })?;
        Ok(written)
    }
}

impl Subjects<'_> {
    /// Passes on every intact snapshot, oldest first, each with the one before it if that is intact, too.
    fn each_sound(&self, take: &mut dyn FnMut(Option<&Snapshot>, &Snapshot)) -> Result<()> {
        let mut newest = None;
        for stage in &self.stages {
            let Some(history) = self.sound_part(stage)? else { continue };
            let mut before: Option<&Snapshot> = None;
            for snapshot in history.iter() {
                if newest.is_some_and(|newest| snapshot.cycle() <= newest) {
                    before = Some(snapshot);
                    continue;
                }
                take(before.filter(|it| it.cycle().next() == snapshot.cycle()), snapshot);
                (newest, before) = (Some(snapshot.cycle()), Some(snapshot));
            }
        }
        Ok(())
    }

    /// Returns the snapshots of a stage up to the first damaged record; `None` if the checkpoint itself is damaged.
    fn sound_part(&self, stage: &Stage) -> Result<Option<contextree_tree::Log<Snapshot>>> {
        let attempt = |last: Cycle| match self.place.checked(&stage.checkpoint, last) {
            Ok(window) => Ok(Some(window.restore.into_history())),
            Err(StoreError::Corrupt { .. }) => Ok(None),
            Err(error) => Err(error),
        };
        if let Some(all) = attempt(stage.last)? {
            return Ok(Some(all));
        }
        let (mut good, mut bad) = (stage.checkpoint.cycle, stage.last);
        let mut found = attempt(good)?;
        if found.is_none() {
            return Ok(None);
        }
        while bad.since(good) > 1 {
            let middle = good.plus(bad.since(good) / 2);
            match attempt(middle)? {
                Some(part) => (good, found) = (middle, Some(part)),
                None => bad = middle,
            }
        }
        Ok(found)
    }
}
