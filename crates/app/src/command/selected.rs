//! `select` for callers in the same process: the matches of a selector that stay open, so that only nodes that are looked at are made.

use contextree::{Answer, SelectOptions};
use contextree_json::Value;

use super::select::{SelectRequest, options};
use crate::wire::{self, Node};
use crate::workspace::Reader;
use crate::{Control, Error, Workspace};

/// What a selector matches, see [`open_selection`].
#[derive(Debug)]
pub enum Selection {
    /// Nodes.
    Nodes(Box<Selected>),
    /// For a range: what the matches gained, lost and changed, in the form of the specification; and warnings.
    Range(Value, Vec<String>),
}

/// Nodes that a selector matches, in a state that does not change while this is open.
pub struct Selected {
    reader: Reader,
    selector: String,
    options: SelectOptions,
    ids: Vec<String>,
    warnings: Vec<String>,
}

impl std::fmt::Debug for Selected {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Selected").field("selector", &self.selector).finish_non_exhaustive()
    }
}

impl Selected {
    /// Returns the ids, in the order of the answer, and keeps none.
    pub fn take_ids(&mut self) -> Vec<String> {
        std::mem::take(&mut self.ids)
    }

    /// Returns messages about what is suspicious in the selector.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns at most `count` nodes from a position on. The selector is evaluated again on the same state, so ask for many at once.
    ///
    /// # Errors
    ///
    /// If the context cannot be read.
    pub fn nodes(&mut self, from: usize, count: usize) -> Result<Vec<Node>, Error> {
        let edition = self.reader.edition();
        match self.reader.select(&self.selector, &self.options)? {
            Answer::Nodes(selection) => {
                let nodes = selection.nodes.iter().copied().skip(from).take(count);
                Ok(wire::nodes(nodes, edition))
            }
            Answer::Range(_) => Ok(Vec::new()),
        }
    }
}

/// Finds nodes by selector, and keeps the state that they are in. What `request` wants to know of the matches is ignored.
///
/// # Errors
///
/// See [`select`](super::select()).
pub fn open_selection(
    workspace: &Workspace,
    request: &SelectRequest,
    control: &Control<'_>,
) -> Result<Selection, Error> {
    let _span = workspace.span("select");
    control.check()?;
    let mut reader = workspace.read()?;
    let (mut options, ignored) = options(request, reader.edition())?;
    options.limits = Some(control.query_limits(request.max_steps));
    let answer = reader.select(&request.selector, &options);
    let (ids, warnings) = match answer.map_err(|error| control.or_canceled(error))? {
        Answer::Nodes(selection) => {
            control.check_results(selection.nodes.len())?;
            let warnings = selection.warnings.iter().map(ToString::to_string);
            let ids: Vec<String> = selection.nodes.iter().map(|it| it.id().to_owned()).collect();
            (ids, warnings.chain(ignored).collect())
        }
        Answer::Range(range) => {
            let warnings = range.warnings.iter().map(ToString::to_string).chain(ignored).collect();
            return Ok(Selection::Range(range.to_value(), warnings));
        }
    };
    let selector = request.selector.clone();
    Ok(Selection::Nodes(Box::new(Selected { reader, selector, options, ids, warnings })))
}
