//! Brings an imported context up to date with its log.
//!
//! What is known already is read again, in memory: the same log gives the same context. From there on, each call is one durable step. What
//! only the end of a log decides, such as whether an answer is complete, is decided on a copy, so that the import can continue when the
//! log does.

use std::collections::BTreeMap;
use std::sync::Arc;

use contextree::engine::Records;
use contextree::import::{ImportError, ImportReport as Counts, Imported, Importer};
use contextree::store::{Appender, Reader};
use contextree::{Context, ContextOptions, Cycle, Hash, SnapshotAddress};
use contextree_json::lines;

use super::position::{Position, Trace};
use super::{DocumentKind, ImportReport, ImportRequest, ImportResponse, check_encoding, log_error};
use crate::wire::Word;
use crate::workspace::{Access, Source, Stretches};
use crate::{Control, Error, Progress, Workspace};

/// A context that is being brought up to date with its log.
pub(super) struct Growth<'s> {
    name: String,
    place: String,
    text: Stretches<'s>,
    importer: Importer,
    trace: Trace,
    /// The position before.
    before: Position,
    /// The newest position.
    position: Position,
    appender: Appender,
    /// The snapshots that are stored and that the importer has not made yet, because only the end of the log decided them.
    ahead: BTreeMap<Cycle, Hash>,
    /// The findings in what was imported before, as if the log ended there.
    known: BTreeMap<String, u64>,
    /// The findings in the log as it is now.
    found: BTreeMap<String, u64>,
    /// Whether lines were read since the end was stored last.
    is_open: bool,
    dry_run: bool,
}

impl<'s> Growth<'s> {
    /// Reads again what the context has.
    ///
    /// # Errors
    ///
    /// If the log was changed or cut, the context was changed, or one of them cannot be read.
    pub(super) fn open(
        workspace: &Workspace,
        request: &ImportRequest,
        position: Position,
        source: Source<'s>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let name = workspace.context().to_owned();
        check_options(&name, request, &position)?;
        let store = workspace.store(Access::Write)?;
        let reader = store.reader(&name)?;
        if !position.is_current(&reader)? {
            let message = format!("`{name}` was changed since it was imported");
            return Err(Error::new("E_IMPORT_DIVERGED", message).with_hint(NEW_CONTEXT));
        }
        let clock = Some(Arc::clone(workspace.clock()));
        let edition = reader.settings().edition;
        let vocabulary = super::vocabulary(workspace, request, None);
        let options = ContextOptions { clock, edition, vocabulary, ..ContextOptions::default() };
        let context = Context::with_options(options);
        let importer = Importer::into_context(context, position.format.0, position.options());
        let mut growth = Growth {
            place: source.name.clone(),
            text: Stretches::new(source),
            importer,
            trace: Trace::default(),
            before: position.clone(),
            position,
            appender: store.for_context(&name)?.appender(&reader),
            ahead: BTreeMap::new(),
            known: BTreeMap::new(),
            found: BTreeMap::new(),
            is_open: false,
            dry_run: request.dry_run,
            name,
        };
        if growth.position.is_lines {
            growth.replay(control)?;
            growth.compare(&reader)?;
            // Some findings are known only at the end of a log.
            let ended = growth.importer.ended(b"");
            growth.known = ended.map(|ended| ended.report.findings).unwrap_or_default();
        } else {
            growth.ahead = digests(&reader, Cycle::ZERO)?;
        }
        growth.importer.context_mut().record_changes();
        Ok(growth)
    }

    /// Reads the lines that the context has.
    fn replay(&mut self, control: &Control<'_>) -> Result<(), Error> {
        while self.trace.bytes < self.position.bytes {
            control.check()?;
            let left = usize::try_from(self.position.bytes - self.trace.bytes);
            let known = self.text.whole_lines(left.unwrap_or(usize::MAX))?;
            if known.is_empty() {
                let Position { bytes, .. } = self.position;
                let message = format!(
                    "{}: the log shrank: `{}` has {bytes} bytes of it, and it has {} left",
                    self.place, self.name, self.trace.bytes,
                );
                return Err(Error::new("E_IMPORT_SHRANK", message)
                    .with_detail("imported", bytes)
                    .with_detail("found", self.trace.bytes)
                    .with_hint(NEW_CONTEXT));
            }
            if self.trace.bytes == 0 {
                check_encoding(&self.place, &known)?;
            }
            self.trace.add(&known);
            // The same lines were imported before, so that an error means that they are others.
            let read = self.importer.lines(&known);
            if read.is_err() || self.trace.rest > 0 {
                return Err(self.changed());
            }
        }
        if self.trace.hash.to_string() == self.position.hash { Ok(()) } else { Err(self.changed()) }
    }

    /// Compares what was read with what is stored.
    fn compare(&mut self, reader: &Reader) -> Result<(), Error> {
        let head = self.importer.context_mut().newest().map(|head| (head.cycle(), head.digest()));
        if let Some((cycle, digest)) = head {
            let stored = reader.snapshot(SnapshotAddress::from(cycle));
            if stored.is_ok_and(|stored| stored.digest() != digest) {
                let message = format!("`{}` was imported by another version", self.name);
                return Err(Error::new("E_IMPORT_DIVERGED", message).with_hint(NEW_CONTEXT));
            }
        }
        self.ahead = digests(reader, head.map_or(Cycle::ZERO, |(cycle, _)| cycle))?;
        Ok(())
    }

    /// Imports the lines that are new, up to the end of the log as it is now. Each call is stored when it is known. Returns whether there
    /// were any.
    ///
    /// # Errors
    ///
    /// If a line is bad, or the store fails. What was stored before stays.
    pub(super) fn read(&mut self, control: &Control<'_>) -> Result<bool, Error> {
        if !self.position.is_lines {
            return self.read_document();
        }
        let mut is_new = false;
        loop {
            control.check()?;
            let text = self.text.whole_lines(usize::MAX)?;
            if text.is_empty() {
                return Ok(is_new);
            }
            (is_new, self.is_open) = (true, true);
            let mut start = 0;
            for line in lines(&text) {
                let end =
                    memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at + 1);
                let commits = self.importer.context_mut().history().len();
                let done = self.importer.line(line);
                done.map_err(|error| log_error(&self.place, &error))?;
                self.trace.add(&text[start..end]);
                start = end;
                if self.importer.context_mut().history().len() > commits {
                    self.store_lines()?;
                }
            }
            let (done, of) = (self.text.done(), self.text.length());
            control.at(Progress { task: "importing", unit: "bytes", done, of });
        }
    }

    /// Reads a document as a whole.
    fn read_document(&mut self) -> Result<bool, Error> {
        let first = self.text.next()?;
        check_encoding(&self.place, &first)?;
        let text = self.text.whole(first)?;
        let done = self.importer.document(&text);
        done.map_err(|error| log_error(&self.place, &error))?;
        self.is_open = true;
        Ok(true)
    }

    /// Stores the end of the log as it is now, unless that is stored.
    ///
    /// # Errors
    ///
    /// If the end cannot be imported, or the store fails.
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        let rest = self.text.rest();
        self.trace.rest = rest.len() as u64;
        if !self.is_open && self.trace.rest == self.position.rest {
            return Ok(());
        }
        let ended = self.importer.ended(rest);
        let Imported { mut context, report } =
            ended.map_err(|error: ImportError| log_error(&self.place, &error))?;
        if !self.position.is_lines && context.history().len() < self.ahead.len() {
            return Err(self.changed());
        }
        self.append(&mut context, &report)?;
        self.found = report.findings;
        self.is_open = false;
        Ok(())
    }

    /// Stores what the importer has done.
    fn store_lines(&mut self) -> Result<(), Error> {
        let report = self.importer.report();
        let nothing = Context::new();
        let mut context = std::mem::replace(self.importer.context_mut(), nothing);
        let done = self.append(&mut context, &report);
        *self.importer.context_mut() = context;
        done
    }

    fn append(&mut self, context: &mut Context, report: &Counts) -> Result<(), Error> {
        context.replace_work();
        let records = self.check(context.take_records())?;
        let (head, working) = (context.newest().map(|head| head.digest()), context.working());
        let position = self.position.at(head, working, report, self.trace);
        let is_same = records.commits.is_empty() && records.attempts.is_empty();
        let is_stored = is_same && position.is_like(&self.position);
        if !self.dry_run && !is_stored {
            position.write(|note| self.appender.append(records, note))?;
        }
        self.position = position;
        Ok(())
    }

    /// Removes the commits that are stored already, which have to be the same.
    fn check(&mut self, mut records: Records) -> Result<Records, Error> {
        let mut is_changed = false;
        records.commits.retain(|commit| match self.ahead.get(&commit.cycle) {
            Some(stored) => {
                is_changed |= *stored != commit.digest;
                false
            }
            None => true,
        });
        if is_changed {
            return Err(self.changed());
        }
        self.ahead.extend(records.commits.iter().map(|commit| (commit.cycle, commit.digest)));
        Ok(records)
    }

    fn changed(&self) -> Error {
        let message = format!(
            "{}: the log is not the one that `{}` was imported from, or what was imported of it has changed",
            self.place, self.name,
        );
        Error::new("E_IMPORT_CHANGED", message).with_hint(NEW_CONTEXT)
    }

    /// Returns what is stored of the log.
    pub(super) fn counts(&self) -> Counts {
        let Position { lines, messages, commits, calls, .. } = self.position;
        let format = Some(self.position.format.0);
        let conversations = self.importer.report().conversations;
        Counts { format, lines, messages, commits, calls, conversations, ..Counts::default() }
    }

    /// Returns what is new, and the context as it is now.
    pub(super) fn response(&self, workspace: &Workspace) -> Result<ImportResponse, Error> {
        let reader = workspace.store(Access::Read)?.reader(&self.name)?;
        let (now, before) = (&self.position, &self.before);
        let all = self.importer.report();
        let mut report = ImportReport::from(&all);
        report.bad_lines.drain(..before.bad_lines.min(report.bad_lines.len()));
        report.lines = now.lines - before.lines.min(now.lines);
        report.messages = now.messages.saturating_sub(before.messages);
        report.commits = now.commits.saturating_sub(before.commits);
        report.calls = now.calls.saturating_sub(before.calls);
        report.findings = self.found.clone();
        report.findings.retain(|name, number| {
            *number = number.saturating_sub(self.known.get(name).copied().unwrap_or_default());
            *number > 0
        });
        Ok(ImportResponse {
            name: self.name.clone(),
            context: Some(reader.row().into()),
            snapshots: reader.snapshot_count(),
            nodes: reader.working()?.view().node_count(),
            updated: true,
            import: Some(report),
            warnings: Vec::new(),
        })
    }
}

/// What to do with a log that cannot be continued.
const NEW_CONTEXT: &str = "import the log into a new context";

/// Returns the digests of the stored snapshots after a cycle.
fn digests(reader: &Reader, after: Cycle) -> Result<BTreeMap<Cycle, Hash>, Error> {
    let last = reader.newest()?.map_or(Cycle::ZERO, |head| head.cycle());
    let mut found = BTreeMap::new();
    for cycle in (after.next().get()..=last.get()).map(Cycle) {
        let snapshot = reader.snapshot(SnapshotAddress::from(cycle))?;
        found.insert(cycle, snapshot.digest());
    }
    Ok(found)
}

/// Refuses options that differ from those of the first import.
fn check_options(name: &str, request: &ImportRequest, position: &Position) -> Result<(), Error> {
    let asked = request.cycles;
    if asked != Word::default() && asked != position.cycles {
        let message = format!("`{name}` was imported with the cycles `{}`", position.cycles);
        return Err(Error::usage(message).with_hint(NEW_CONTEXT));
    }
    match request.from.0 {
        DocumentKind::Log(format) if format != position.format.0 => {
            let message = format!("`{name}` was imported as {}", position.format);
            Err(Error::usage(message).with_hint(NEW_CONTEXT))
        }
        _ => Ok(()),
    }
}
