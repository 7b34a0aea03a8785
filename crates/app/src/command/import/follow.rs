//! Follows a log while another program writes it.

use contextree::Code;
use contextree::import::ImportReport as Counts;

use super::grow::Growth;
use super::position::Position;
use super::{ImportReport, ImportRequest, ImportResponse, import};
use crate::workspace::{Access, Source, Stretches};
use crate::{Control, Error, Workspace};

/// A log that is followed. It knows no time: the door decides when to look.
pub struct Follower<'s> {
    growth: Growth<'s>,
}

impl std::fmt::Debug for Follower<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Follower").finish_non_exhaustive()
    }
}

/// Imports a log, or what is new in it, and returns what follows it from there; `None` if the log has no message yet, only bookkeeping or
/// the beginning of a line: call it again. `open` opens the log at its beginning.
///
/// Where turns are cycles, the last one stays in progress.
///
/// # Errors
///
/// Like [`import`], and if the log is a single document.
pub fn follow<'s>(
    workspace: &Workspace,
    request: &ImportRequest,
    open: impl Fn() -> Result<Source<'s>, Error>,
    control: &Control<'_>,
) -> Result<Option<(ImportResponse, Follower<'s>)>, Error> {
    let request = ImportRequest { open: true, dry_run: false, ..request.clone() };
    let response = match import(workspace, &request, open()?, control) {
        Err(error) if is_early(&error, &open)? => return Ok(None),
        done => done?,
    };
    let source = open()?;
    let reader = workspace.store(Access::Read)?.reader(workspace.context())?;
    let position = Position::read(&reader)?.filter(|position| position.is_lines);
    let Some(position) = position else {
        let message = format!("{} is a single document, which cannot be followed", source.name);
        return Err(Error::usage(message).with_hint("import it again when it has grown"));
    };
    drop(reader);
    let growth = Growth::open(workspace, &request, position, source, control)?;
    Ok(Some((response, Follower { growth })))
}

/// Returns whether a log could not be imported because its first message is not written yet.
fn is_early<'s>(
    error: &Error,
    open: &impl Fn() -> Result<Source<'s>, Error>,
) -> Result<bool, Error> {
    Ok(match error.code() {
        Code::ImportEmpty | Code::ImportFormat => true,
        // Half of the first line.
        Code::JsonInvalid => Stretches::new(open()?).whole_lines(usize::MAX)?.is_empty(),
        _ => false,
    })
}

impl Follower<'_> {
    /// Imports what is new. Call it again and again: what only the end of the log decides, such as whether an answer is complete, is
    /// stored as soon as a call finds nothing new. Returns what was added; `None` if nothing was.
    ///
    /// # Errors
    ///
    /// If a line is bad, the store fails, or another writer changed the context. What was stored before stays.
    pub fn look(&mut self, control: &Control<'_>) -> Result<Option<ImportReport>, Error> {
        let before = self.growth.counts();
        if !self.growth.read(control)? {
            self.growth.settle()?;
        }
        let now = self.growth.counts();
        let added = Counts {
            format: now.format,
            lines: now.lines - before.lines,
            messages: now.messages.saturating_sub(before.messages),
            commits: now.commits.saturating_sub(before.commits),
            calls: now.calls.saturating_sub(before.calls),
            conversations: now.conversations,
            ..Counts::default()
        };
        let is_new = added.messages + added.commits + added.calls > 0;
        Ok(is_new.then(|| ImportReport::from(&added)))
    }
}
