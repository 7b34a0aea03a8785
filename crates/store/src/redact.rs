//! Redaction: a content is replaced by a marker wherever the store has it, in every context and every snapshot.
//!
//! The marker keeps the content hash, and digests of snapshots cover hashes: they stay as they are, and verifying still proves that nothing else changed.
//! It cannot be undone, so the operation logs of the contexts end with it. Contexts are rewritten one after the other; if this is interrupted, the
//! same redaction again does the rest. A fork of a context that was deleted gets rows of its own first: those that it shared belong to no context.

mod found;

use std::collections::{BTreeMap, BTreeSet};

use contextree_canon::record::{BodyPlace, StoredBody, redact_bodies};
use contextree_canon::{Hash, content_hash_of_document};
use contextree_engine::Attempt;
use contextree_json::{Number, Object, Value};
use contextree_tree::{Content, Cycle};
use found::{Found, Owner, Owners, owners};

use crate::attempts;
use crate::calls;
use crate::error::{Result, StoreError};
use crate::load::{Place, join_journal, split_journal};
use crate::operations;
use crate::reader::Reader;
use crate::rows::{
    BranchId, Checkpoint, Commit, ContextRow, Revision, Rewrite, SideChange, SideRecord, Step,
    Stretch,
};
use crate::side;
use crate::store::Store;
use crate::undo::working_step;

/// The kind of the side records that say what was redacted; the key is the revision.
const KIND: &str = "redaction";

/// How often a context is tried again that another process writes.
const TRIES: usize = 100;

/// What is to be redacted.
#[derive(Clone, Copy, Debug)]
pub struct Redaction<'r> {
    /// The contents.
    pub contents: &'r [Content],
    /// What is shown in their place.
    pub marker: &'r str,
    /// Who redacts, and why; kept with the contexts.
    pub reason: &'r str,
}

/// What was redacted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redacted {
    /// The contexts that had one of the contents, also those that share it with another one.
    pub contexts: Vec<String>,
    /// The nodes that had one of the contents: the context that stored the node, and its id.
    pub nodes: Vec<(String, String)>,
    /// How many stored copies were replaced.
    pub copies: u64,
    /// What contains one of the texts and was not changed: side records of other programs (context, kind, key), attributes (context,
    /// [`ATTRIBUTE`], name), and nodes whose content is longer than the text (context, [`NODE`], id).
    pub elsewhere: Vec<(String, String, String)>,
}

/// Takes the place of the kind of a side record for a node in [`Redacted::elsewhere`].
pub const NODE: &str = "node";

/// Takes the place of the kind of a side record for an attribute in [`Redacted::elsewhere`].
pub const ATTRIBUTE: &str = "attribute";

/// A redaction that a context records.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedactionRecord {
    /// The step that it was.
    pub revision: Revision,
    /// When it was made.
    pub at_ns: i64,
    /// Who redacted, and why.
    pub reason: String,
    /// What is shown in the place of the contents.
    pub marker: String,
    /// How many stored copies were replaced.
    pub copies: u64,
}

impl RedactionRecord {
    fn read(key: &str, value: &[u8]) -> Option<RedactionRecord> {
        let note = contextree_json::parse(value).ok()?;
        let text = |name: &str| Some(note.get(name)?.as_str()?.to_owned());
        let number = |name: &str| note.get(name)?.as_i64();
        Some(RedactionRecord {
            revision: Revision(key.parse().ok()?),
            at_ns: number("at")?,
            reason: text("reason")?,
            marker: text("marker")?,
            copies: u64::try_from(number("copies")?).ok()?,
        })
    }
}

impl Reader {
    /// Returns what was redacted in the context, oldest first.
    ///
    /// # Errors
    ///
    /// If the records cannot be read, or are damaged.
    pub fn redactions(&self) -> Result<Vec<RedactionRecord>> {
        let records = self.lease.shared.backend.side_records(self.row().id, Some(KIND))?;
        let read = |record: &SideRecord| -> Result<RedactionRecord> {
            let value = side::check(self.name(), record)?;
            RedactionRecord::read(&record.key, value)
                .ok_or_else(|| side::damaged(self.name(), KIND, &record.key))
        };
        records.iter().map(read).collect()
    }
}

impl Redaction<'_> {
    fn concerns(&self, body: &StoredBody) -> bool {
        self.contents.iter().any(|content| body.has_content(content))
    }

    /// Replaces what is to be redacted in a record. `None` if there is nothing in it.
    fn bodies(
        &self,
        frame: &[u8],
        owners: &Owners<'_>,
        found: &mut Found,
    ) -> std::result::Result<Option<Vec<u8>>, contextree_canon::record::RecordError> {
        redact_bodies(frame, self.marker, &mut |index, body| {
            let Owner { id, role, kind } = owners.get(&index).copied().unwrap_or_default();
            let content = self.contents.iter().find(|content| body.has_content(content));
            found.note_rest(body, Owner { id, role, kind }, content.is_some());
            let content = content?;
            found.copies += 1;
            if !id.is_empty() {
                found.nodes.insert(id.to_owned());
            }
            let mut node = body.attributes().clone();
            for (name, text) in [("role", role), ("kind", kind)] {
                if let Some(text) = text {
                    node.insert(name, Value::from(text));
                }
            }
            node.insert("content", content.to_value()?);
            Some(content_hash_of_document(&node))
        })
    }

    /// Returns the texts to look for in records that are not trees, as they are and as they are in JSON.
    fn texts(&self) -> impl Iterator<Item = Vec<u8>> {
        let texts = self.contents.iter().filter_map(Content::as_text);
        texts.filter(|text| !text.is_empty()).flat_map(|text| {
            let json = Value::from(text).to_canonical();
            [text.as_bytes().to_vec(), json[1..json.len() - 1].to_vec()]
        })
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        self.texts().any(|text| bytes.windows(text.len()).any(|window| window == text))
    }

    fn note(&self, step: &mut Step, row: &ContextRow, copies: u64) {
        let mut note = Object::new();
        note.insert("at", Value::Number(Number::from_i64(step.now_ns)));
        note.insert("reason", Value::from(self.reason));
        note.insert("marker", Value::from(self.marker));
        note.insert("copies", Value::Number(Number::from_u64(copies)));
        let key = format!("{:020}", row.revision.next().get());
        let value = Some(side::seal(&Value::Object(note).to_canonical()));
        step.side.push(SideChange { kind: KIND.to_owned(), key, value });
    }
}

impl Store {
    /// Returns what [`Store::redact`] would replace and what it would leave, and changes nothing.
    ///
    /// # Errors
    ///
    /// If a call is running with one of the contents, or the store fails.
    pub fn find_redactable(&self, redaction: &Redaction<'_>) -> Result<Redacted> {
        let rows = self.contexts(None, usize::MAX)?;
        for row in &rows {
            self.check_redactable(row, redaction)?;
        }
        let orphans = self.orphans(&rows, redaction)?;
        let mut redacted = Redacted::default();
        let mut first: BTreeMap<BranchId, Cycle> = BTreeMap::new();
        let mut lineages = Vec::new();
        for row in &rows {
            let reader = self.reader(&row.name)?;
            let lineage = reader.state.place().lineage;
            let mut found = Found::new(redaction);
            for stretch in lineage {
                // What a fork will have of its own is counted with it.
                if stretch.branch == row.branch || orphans.contains(&row.name) {
                    found.first = None;
                    self.redacted_rows(*stretch, &reader, redaction, &mut found)?;
                    first.extend(found.first.map(|cycle| (stretch.branch, cycle)));
                }
            }
            self.redacted_journal(&reader, redaction, &mut found)?;
            redacted_attempts(&reader, redaction, &mut found.copies)?;
            found.search_shared(&**self.backend())?;
            redacted.copies += found.copies;
            lineages.push((row.name.clone(), found.copies > 0, lineage.to_vec()));
            redacted.nodes.extend(found.nodes.into_iter().map(|id| (row.name.clone(), id)));
            for (kind, names) in [(NODE, found.longer), (ATTRIBUTE, found.attributes)] {
                let name = |it| (row.name.clone(), kind.to_owned(), it);
                redacted.elsewhere.extend(names.into_iter().map(name));
            }
            self.note_elsewhere(&reader, redaction, &mut redacted)?;
        }
        // Whatever a fork began in may come after it in the list.
        let is_shown = |stretch: &Stretch| {
            first.get(&stretch.branch).is_some_and(|cycle| *cycle <= stretch.upto)
        };
        let concerned = lineages.into_iter();
        let concerned =
            concerned.filter(|(_, has_own, lineage)| *has_own || lineage.iter().any(is_shown));
        redacted.contexts = concerned.map(|(name, _, _)| name).collect();
        Ok(redacted)
    }

    /// Replaces contents by a marker wherever the store has them, and makes sure that the file does not contain them any more. Contexts
    /// must not have a running call with one of them.
    ///
    /// # Errors
    ///
    /// If a call is running, or the store fails. Contexts that were rewritten stay so; the same redaction again does the rest.
    pub fn redact(&self, redaction: &Redaction<'_>) -> Result<Redacted> {
        let mut redacted = self.find_redactable(redaction)?;
        let rows = self.contexts(None, usize::MAX)?;
        for name in self.orphans(&rows, redaction)? {
            self.again(&name, &mut || match self.find(&name)? {
                Some(row) => self.separate(&row),
                None => Ok(()),
            })?;
        }
        redacted.copies = 0;
        let (mut own, mut changed) = (Vec::new(), BTreeSet::new());
        for row in rows {
            let mut copies = 0;
            self.again(&row.name, &mut || {
                copies = self.redact_context(&row.name, redaction)?;
                Ok(())
            })?;
            if copies > 0 {
                redacted.copies += copies;
                own.push(row.name);
                changed.insert(row.branch);
            }
        }
        self.renew_forks(redaction, &own, &changed)?;
        self.backend().scrub()?;
        tracing::info!(copies = redacted.copies, "redacted");
        Ok(redacted)
    }

    /// Does something to a context again while another process writes it.
    fn again(&self, name: &str, work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let mut tries = 0;
        loop {
            match work() {
                Err(StoreError::Conflict { .. }) if tries < TRIES => tries += 1,
                done => return done,
            }
            tracing::debug!(context = name, tries, "redacting again");
        }
    }

    /// Returns the contexts that share one of the contents with a context that was deleted. Those come first that no other one of them began
    /// in: only a branch that no other one needs can be separated from the one that it began in.
    fn orphans(&self, rows: &[ContextRow], redaction: &Redaction<'_>) -> Result<Vec<String>> {
        let own: BTreeSet<_> = rows.iter().map(|row| row.branch).collect();
        let mut known: BTreeMap<BranchId, Option<Cycle>> = BTreeMap::new();
        let mut orphans = Vec::new();
        for row in rows {
            let reader = self.reader(&row.name)?;
            let lineage = reader.state.place().lineage;
            let mut is_orphan = false;
            for stretch in lineage.iter().filter(|it| !own.contains(&it.branch)) {
                let first = match known.get(&stretch.branch) {
                    Some(first) => *first,
                    None => {
                        let mut found = Found::new(redaction);
                        let whole = Stretch { branch: stretch.branch, upto: Cycle::MAX };
                        self.redacted_rows(whole, &reader, redaction, &mut found)?;
                        known.insert(stretch.branch, found.first);
                        found.first
                    }
                };
                // It would count with a shorter stretch, too: the rows of the deleted context are kept for all that need them.
                is_orphan |= first.is_some();
            }
            if is_orphan {
                orphans.push((lineage.len(), row.name.clone()));
            }
        }
        orphans.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        Ok(orphans.into_iter().map(|(_, name)| name).collect())
    }

    /// Gives every context that shares rows of a changed branch a new revision. Its own rows did not change, but what it shows did:
    /// readers that keep its contents by revision, in this process or another, have to read them again.
    fn renew_forks(
        &self,
        redaction: &Redaction<'_>,
        own: &[String],
        changed: &BTreeSet<BranchId>,
    ) -> Result<()> {
        // Listed now: a fork may have been made while its origin was rewritten.
        for row in self.contexts(None, usize::MAX)? {
            let lineage = self.backend().lineage(row.branch)?;
            let shares = |stretch: &Stretch| {
                stretch.branch != row.branch && changed.contains(&stretch.branch)
            };
            if !lineage.iter().any(shares) {
                continue;
            }
            let mut tries = 0;
            loop {
                match self.renew(&row.name, redaction, own) {
                    Err(StoreError::Conflict { .. }) if tries < TRIES => tries += 1,
                    // It was deleted meanwhile.
                    Err(StoreError::NotFound { .. }) => break,
                    done => break done?,
                }
            }
        }
        Ok(())
    }

    /// Appends a step without content. A context without a copy of its own notes in it that it was redacted.
    fn renew(&self, name: &str, redaction: &Redaction<'_>, own: &[String]) -> Result<()> {
        let row = self.reader(name)?.row().clone();
        let mut step = self.shared.step();
        if !own.iter().any(|context| context == name) {
            redaction.note(&mut step, &row, 0);
        }
        self.shared.retry_unknown(|backend| backend.append(row.id, row.revision, &step))?;
        Ok(())
    }

    /// Refuses what cannot be redacted, before anything is changed.
    fn check_redactable(&self, row: &ContextRow, redaction: &Redaction<'_>) -> Result<()> {
        let lineage = self.backend().lineage(row.branch)?;
        let place = Place { backend: &**self.backend(), name: &row.name, lineage: &lineage };
        for record in self.backend().side_records(row.id, Some(calls::KIND))? {
            let value = side::check(&row.name, &record)?;
            let mut is_sent = false;
            place.bodies_of_call(&record.key, value, &mut |bodies| {
                is_sent |= bodies.iter().any(|body| redaction.concerns(body));
            })?;
            let (_, journal) = self.backend().journal(row.id)?;
            if is_sent || !journal.is_empty() {
                return Err(StoreError::Calling { context: row.name.clone() });
            }
        }
        Ok(())
    }

    fn redact_context(&self, name: &str, redaction: &Redaction<'_>) -> Result<u64> {
        let mut found = Found::new(redaction);
        let reader = self.reader(name)?;
        let branch = reader.row().branch;
        let children = self.backend().children(branch)?;
        let pinned = self.backend().pins(reader.row().id)?.into_iter().map(|pin| pin.cycle);
        let own = Stretch { branch, upto: Cycle::MAX };
        let rewrite = Rewrite {
            children,
            pinned: pinned.collect(),
            ..self.redacted_rows(own, &reader, redaction, &mut found)?
        };
        let journal = self.redacted_journal(&reader, redaction, &mut found)?;
        let mut copies = found.copies;
        let attempts = redacted_attempts(&reader, redaction, &mut copies)?;
        if copies == 0 {
            return Ok(0);
        }
        let row = reader.row().clone();
        let mut step = self.shared.step();
        if let Some(journal) = &journal {
            let cycle = match row.head {
                Some(head) => head.cycle,
                None => reader.state.place().checkpoint(Cycle::MAX)?.cycle,
            };
            working_step(&reader.state.place(), cycle, journal, &mut step)?;
        }
        step.attempts = attempts;
        // The log has journals of before, and what it could undo is gone.
        for operation in reader.operations()? {
            operation.forget(&mut step);
        }
        redaction.note(&mut step, &row, copies);
        let row =
            self.shared.retry_unknown(|backend| backend.append(row.id, row.revision, &step))?;
        let rewrite = self.with_contents(name, rewrite)?;
        self.backend().rewrite(row.id, row.revision, &rewrite)?;
        Ok(copies)
    }

    /// Returns the rows of a branch that change, up to a cycle.
    fn redacted_rows(
        &self,
        stretch: Stretch,
        reader: &Reader,
        redaction: &Redaction<'_>,
        found: &mut Found,
    ) -> Result<Rewrite> {
        let place = reader.state.place();
        let mut rewrite = Rewrite::default();
        let checkpoints = self.checkpoints(stretch)?;
        let mut trees = Vec::new();
        for checkpoint in &checkpoints {
            trees.push(place.unpack_tree(checkpoint)?);
        }
        let mut at: BTreeMap<Cycle, Owners<'_>> = BTreeMap::new();
        for (checkpoint, tree) in checkpoints.iter().zip(&trees) {
            let record = format!("checkpoint @c{}", checkpoint.cycle);
            let effects = place.read_effects(&record, tree)?;
            for put in &effects.puts {
                if let BodyPlace::At { cycle, index } = put.data.body {
                    at.entry(cycle).or_default().insert(index, Owner::of(put));
                }
            }
            let bodies = redaction.bodies(&checkpoint.bodies, &owners(&effects.puts), found);
            if let Some(bodies) = bodies.map_err(|error| place.corrupt(&record, &error))? {
                found.note_cycle(checkpoint.cycle);
                rewrite.checkpoints.push(Checkpoint { bodies, ..checkpoint.clone() });
            }
        }
        self.backend().commits(stretch.branch, Cycle::ZERO, stretch.upto, &mut |commit| {
            let record = format!("commit @c{}", commit.cycle);
            let mut known = at.remove(&commit.cycle).unwrap_or_default();
            let effects = commit.effects.as_deref();
            let effects =
                effects.map(|effects| place.read_effects(&record, effects)).transpose()?;
            known.extend(effects.iter().flat_map(|effects| owners(&effects.puts)));
            let bodies = redaction.bodies(&commit.bodies, &known, found);
            drop(known);
            if let Some(bodies) = bodies.map_err(|error| place.corrupt(&record, &error))? {
                found.note_cycle(commit.cycle);
                rewrite.commits.push(Commit { bodies, ..commit.clone() });
            }
            Ok(())
        })?;
        Ok(rewrite)
    }

    /// Returns the entries of the journal without what is redacted; `None` if nothing changes.
    fn redacted_journal(
        &self,
        reader: &Reader,
        redaction: &Redaction<'_>,
        found: &mut Found,
    ) -> Result<Option<Vec<Vec<u8>>>> {
        let place = reader.state.place();
        let before = found.copies;
        let mut entries = Vec::new();
        for entry in reader.state.journal.iter() {
            let Some((effects, bodies)) = split_journal(entry) else { continue };
            let puts = place.read_effects("journal", effects)?.puts;
            let changed = redaction.bodies(bodies, &owners(&puts), found);
            let changed = changed.map_err(|error| place.corrupt("journal", &error))?;
            entries.push(
                changed.map_or_else(|| entry.clone(), |bodies| join_journal(effects, &bodies)),
            );
        }
        Ok((found.copies > before).then_some(entries))
    }

    /// Returns the checkpoints of a branch, up to a cycle.
    fn checkpoints(&self, stretch: Stretch) -> Result<Vec<Checkpoint>> {
        let mut checkpoints = Vec::new();
        let mut cycle = Some(stretch.upto);
        while let Some(before) = cycle {
            let Some(checkpoint) = self.backend().checkpoint(stretch.branch, before)? else {
                break;
            };
            cycle = checkpoint.cycle.checked_previous();
            checkpoints.push(checkpoint);
        }
        Ok(checkpoints)
    }

    /// Adds to a rewrite all contents that the branch uses after it.
    fn with_contents(&self, name: &str, mut rewrite: Rewrite) -> Result<Rewrite> {
        let reader = self.reader(name)?;
        let (row, place) = (reader.row(), reader.state.place());
        let mut contents = BTreeSet::new();
        let mut note = |bodies: &[StoredBody]| {
            contents.extend(bodies.iter().filter_map(StoredBody::shared).map(|hash: Hash| hash.0));
        };
        let changed = |cycle: Cycle| rewrite.commits.iter().find(|commit| commit.cycle == cycle);
        self.backend().commits(row.branch, Cycle::ZERO, Cycle::MAX, &mut |commit| {
            let bodies = changed(commit.cycle).map_or(&commit.bodies, |changed| &changed.bodies);
            note(&place.read_bodies("a commit", bodies)?);
            Ok(())
        })?;
        for checkpoint in self.checkpoints(Stretch { branch: row.branch, upto: Cycle::MAX })? {
            let same = |changed: &&Checkpoint| changed.cycle == checkpoint.cycle;
            let bodies = rewrite.checkpoints.iter().find(same).unwrap_or(&checkpoint);
            note(&place.read_bodies("a checkpoint", &bodies.bodies)?);
        }
        for entry in reader.state.journal.iter() {
            let bodies = split_journal(entry).map_or(&[][..], |(_, bodies)| bodies);
            note(&place.read_bodies("journal", bodies)?);
        }
        for record in self.backend().side_records(row.id, Some(calls::KIND))? {
            let value = side::check(name, &record)?;
            place.bodies_of_call(&record.key, value, &mut note)?;
        }
        rewrite.contents = contents.into_iter().collect();
        Ok(rewrite)
    }

    fn note_elsewhere(
        &self,
        reader: &Reader,
        redaction: &Redaction<'_>,
        redacted: &mut Redacted,
    ) -> Result<()> {
        for record in self.backend().side_records(reader.row().id, None)? {
            let is_own = [calls::KIND, operations::KIND, KIND].contains(&record.kind.as_str());
            let place = (reader.name().to_owned(), record.kind, record.key);
            if !is_own && redaction.is_in(&record.value) && !redacted.elsewhere.contains(&place) {
                redacted.elsewhere.push(place);
            }
        }
        Ok(())
    }
}

/// Returns the attempts that contain one of the texts, without the answers that do.
fn redacted_attempts(
    reader: &Reader,
    redaction: &Redaction<'_>,
    copies: &mut u64,
) -> Result<Vec<crate::rows::AttemptRow>> {
    let mut changed = Vec::new();
    for attempt in reader.attempts()? {
        let mut clean: Attempt = attempt.clone();
        clean.partial = clean.partial.filter(|partial| !redaction.is_in(partial.as_bytes()));
        clean.answer = clean.answer.filter(|answer| !redaction.is_in(&answer.to_canonical()));
        if clean != *attempt {
            *copies += 1;
            changed.push(attempts::to_row(&clean));
        }
    }
    Ok(changed)
}
