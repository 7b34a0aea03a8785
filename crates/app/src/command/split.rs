//! `import --split`: each conversation of a file becomes a context.

use std::sync::Arc;

use contextree::import::{Cycles, Format, ImportError, ImportOptions, Split, Splitter, is_lines};
use contextree::store::{ContextSettings, StoreError};
use contextree::{Context, ContextOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::import::{BadLine, ImportReport, ImportResponse, check_encoding, log_error};
use crate::wire::Word;
use crate::workspace::{Access, Source, Stretches};
use crate::{Control, Error, Progress, Workspace};

/// Imports each conversation of a document into a context of its own. They are named after the context of the workspace, with a number:
/// `main-0001`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SplitRequest {
    /// The format.
    pub from: Word<Format>,
    /// Continues after a bad line of a log; bad lines are listed.
    pub keep_going: bool,
    /// What becomes a cycle: `call`, `turn`, or `auto` for the default of the format.
    pub cycles: Word<Cycles>,
    /// Where turns are cycles, leaves the last one in progress instead of committing it.
    pub open: bool,
    /// Reads and checks the document and stores nothing.
    pub dry_run: bool,
}

impl Default for SplitRequest {
    fn default() -> Self {
        SplitRequest {
            from: Word(Format::Auto),
            keep_going: false,
            cycles: Word(Cycles::Auto),
            open: false,
            dry_run: false,
        }
    }
}

/// Imported conversations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SplitResponse {
    /// The contexts, in the order of the document.
    pub contexts: Vec<ImportResponse>,
    /// Conversations without messages, which were left out.
    pub empty: u64,
    /// Bad lines.
    pub bad_lines: Vec<BadLine>,
}

/// Imports each conversation of a document into a context of its own, none of which may exist yet. The store is created if it is a file that
/// does not exist.
///
/// # Errors
///
/// If the document cannot be read, or one of the contexts exists. Then nothing is stored.
pub fn split(
    workspace: &Workspace,
    request: &SplitRequest,
    source: Source<'_>,
    control: &Control<'_>,
) -> Result<SplitResponse, Error> {
    let _span = workspace.span("split");
    let place = source.name.clone();
    let Split { conversations, empty, errors } =
        read(workspace, request, &place, Stretches::new(source), control)?;
    let mut response = SplitResponse {
        contexts: Vec::with_capacity(conversations.len()),
        empty,
        bad_lines: errors.iter().map(BadLine::from).collect(),
    };
    let mut contexts = Vec::with_capacity(conversations.len());
    for (index, imported) in conversations.into_iter().enumerate() {
        response.contexts.push(ImportResponse {
            name: format!("{}-{:04}", workspace.context(), index + 1),
            context: None,
            snapshots: imported.context.history().len(),
            nodes: imported.context.working().node_count(),
            updated: false,
            import: Some(ImportReport::from(&imported.report)),
            warnings: Vec::new(),
        });
        contexts.push(imported.context);
    }
    let access = if request.dry_run { Access::Read } else { Access::Create };
    let store = match workspace.store(access) {
        Ok(store) => store,
        Err(_) if request.dry_run => return Ok(response),
        Err(error) => return Err(error),
    };
    for part in &response.contexts {
        if store.find(&part.name)?.is_some() {
            return Err(StoreError::Exists { context: part.name.clone() }.into());
        }
    }
    if request.dry_run {
        return Ok(response);
    }
    let edition = workspace.edition().unwrap_or_default();
    let settings = ContextSettings { edition, ..ContextSettings::default() };
    let of = Some(contexts.len() as u64);
    for (index, (part, context)) in response.contexts.iter_mut().zip(contexts).enumerate() {
        control.at(Progress { task: "storing", unit: "contexts", done: index as u64, of });
        let session = store.for_new(&part.name)?.adopt(&part.name, context, &settings)?;
        part.context = Some(session.row().into());
    }
    Ok(response)
}

fn read(
    workspace: &Workspace,
    request: &SplitRequest,
    place: &str,
    mut text: Stretches<'_>,
    control: &Control<'_>,
) -> Result<Split, Error> {
    let first = text.next()?;
    check_encoding(place, &first)?;
    let options = ImportOptions {
        keep_going: request.keep_going,
        cycles: request.cycles.0,
        commit_last: !request.open,
    };
    let edition = workspace.edition().unwrap_or_default();
    let new_context = || {
        let clock = Some(Arc::clone(workspace.clock()));
        Context::with_options(ContextOptions { clock, edition, ..ContextOptions::default() })
    };
    let fail = |error: &ImportError| log_error(place, error);
    let mut splitter = Splitter::new(request.from.0, options, new_context);
    if is_lines(&first) {
        let mut stretch = first;
        while !stretch.is_empty() {
            control.check()?;
            for line in contextree_json::lines(&stretch) {
                splitter.line(line).map_err(|error| fail(&error))?;
            }
            let (done, of) = (text.done(), text.length().map(|length| length.max(text.done())));
            control.at(Progress { task: "importing", unit: "bytes", done, of });
            stretch = text.next()?;
        }
    } else {
        splitter.document(&text.whole(first)?).map_err(|error| fail(&error))?;
    }
    control.check()?;
    splitter.finish().map_err(|error| fail(&error))
}
