//! `select`: what a selector matches.

use contextree::query::{ContentMode, Materialize, RangeOptions, resolve_on_tree};
use contextree::selector::{Selector, parse, parse_on_snapshots};
use contextree::{Answer, Edition, SelectOptions};
use contextree_json::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::{self, AnyValue, Node, Word};
use crate::{Control, Error, Workspace};

/// Finds nodes by selector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectRequest {
    /// The selector.
    pub selector: String,
    /// Keeps only nodes that this selector matches, or that are below one that it matches.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Leaves out the first results.
    #[serde(default)]
    pub skip: usize,
    /// Returns at most this many results.
    #[serde(default)]
    pub limit: Option<usize>,
    /// What to return of the matches.
    #[serde(default)]
    pub what: SelectWhat,
    /// The most steps of work in all snapshots, about one for each condition and node; beyond it the answer is `E_LIMIT`. A server has a limit of its own,
    /// which this does not raise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u64>,
    /// For a range of snapshots: how to compare them.
    #[serde(default)]
    pub range: RangeRequest,
}

impl SelectRequest {
    /// Returns a request for the nodes that a selector matches.
    pub fn new(selector: impl Into<String>) -> Self {
        SelectRequest {
            selector: selector.into(),
            filter: None,
            skip: 0,
            limit: None,
            what: SelectWhat::default(),
            max_steps: None,
            range: RangeRequest::default(),
        }
    }
}

/// What to return of the matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SelectWhat {
    /// Nodes with headers and content.
    #[default]
    Nodes,
    /// Ids.
    Ids,
    /// The number of matches.
    Count,
}

/// How to compare the snapshots of a range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RangeRequest {
    /// Shows how contents changed.
    pub content: bool,
    /// How to compare contents.
    pub content_mode: Word<ContentMode>,
    /// Lines around a change.
    pub context_lines: usize,
    /// Fields to return with a changed node.
    pub materialize: Vec<Word<Materialize>>,
    /// Compares at most the newest snapshots.
    pub max_snapshots: Option<usize>,
    /// Reports at most this many changes of a snapshot.
    pub max_changes: Option<usize>,
    /// Returns the nodes of all its snapshots, each id once, instead of comparing them: edition 0.1's
    /// `select_range_returns_diff=false`.
    pub as_nodes: bool,
}

impl Default for RangeRequest {
    fn default() -> Self {
        let usual = RangeOptions::default();
        RangeRequest {
            content: usual.include_content,
            content_mode: Word(usual.content_mode),
            context_lines: usual.context_lines,
            materialize: usual.materialize.into_iter().map(Word).collect(),
            max_snapshots: usual.max_snapshots,
            max_changes: usual.max_changes_per_snapshot,
            as_nodes: false,
        }
    }
}

/// What a selector matches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectResponse {
    /// The matches.
    pub found: Found,
    /// Messages about what is suspicious in the selector.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// The matches of a selector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// Nodes, in the order of the answer.
    Nodes(Vec<Node>),
    /// Ids, in the order of the answer.
    Ids(Vec<String>),
    /// The number of matches.
    Count(usize),
    /// For a range: what the matches gained, lost and changed, in the form of the specification.
    Range(#[schemars(with = "AnyValue")] Value),
}

/// Finds nodes by selector.
///
/// # Errors
///
/// If the selector is invalid, names a missing snapshot, or the context cannot be read.
pub fn select(
    workspace: &Workspace,
    request: &SelectRequest,
    control: &Control<'_>,
) -> Result<SelectResponse, Error> {
    let _span = workspace.span("select");
    control.check()?;
    let mut reader = workspace.read()?;
    let edition = reader.edition();
    let (mut options, ignored) = options(request, edition)?;
    options.limits = Some(control.query_limits(request.max_steps));
    let answer = reader.select(&request.selector, &options);
    Ok(match answer.map_err(|error| control.or_canceled(error))? {
        Answer::Nodes(selection) => {
            if request.what != SelectWhat::Count {
                control.check_results(selection.nodes.len())?;
            }
            SelectResponse {
                found: match request.what {
                    SelectWhat::Nodes => {
                        Found::Nodes(wire::nodes(selection.nodes.iter().copied(), edition))
                    }
                    SelectWhat::Ids => {
                        let ids = selection.nodes.iter().map(|node| node.id().to_owned());
                        Found::Ids(ids.collect())
                    }
                    SelectWhat::Count => Found::Count(selection.nodes.len()),
                },
                warnings: selection
                    .warnings
                    .iter()
                    .map(ToString::to_string)
                    .chain(ignored)
                    .collect(),
            }
        }
        Answer::Range(range) => {
            let errors = range.errors.iter();
            let errors = errors.map(|error| format!("{}: {}", error.code, error.message));
            let warnings = range.warnings.iter().map(ToString::to_string);
            let warnings = warnings.chain(errors).chain(ignored).collect();
            SelectResponse { found: Found::Range(range.to_value()), warnings }
        }
    })
}

/// Returns the options of the evaluation, and a message for each option that does not apply.
pub(super) fn options(
    request: &SelectRequest,
    edition: Edition,
) -> Result<(SelectOptions, Vec<String>), Error> {
    // An invalid selector is reported when it is evaluated.
    let parsed = parse(&request.selector, edition).ok();
    let reads_snapshots = parsed.as_ref().is_some_and(|parsed| !parsed.reads_working_state());
    let filter = match &request.filter {
        Some(text) => {
            let filter = match reads_snapshots {
                true => parse_on_snapshots(text, edition),
                false => parse(text, edition),
            };
            let filter = filter.map_err(|errors| {
                Error::facets(&errors, text, "begin the selector itself with `@t0`")
            })?;
            // Resolved here, where its text is at hand for the message.
            resolve_on_tree(&filter).map_err(|error| Error::query(&error.into(), text))?;
            Some(filter)
        }
        None => None,
    };
    let range = &request.range;
    let options = SelectOptions {
        skip: request.skip,
        limit: request.limit,
        filter,
        range: RangeOptions {
            include_content: range.content,
            content_mode: range.content_mode.0,
            context_lines: range.context_lines,
            materialize: range.materialize.iter().map(|field| field.0).collect(),
            max_snapshots: range.max_snapshots,
            max_changes_per_snapshot: range.max_changes,
        },
        range_as_nodes: request.range.as_nodes,
        limits: None,
    };
    let is_range = parsed.as_ref().is_some_and(Selector::is_range);
    let ignored = ignored_options(request, is_range, edition);
    Ok((options, ignored))
}

/// Returns a message for each option that does not apply to what the selector returns.
fn ignored_options(request: &SelectRequest, is_range: bool, edition: Edition) -> Vec<String> {
    let usual = RangeRequest::default();
    let range = &request.range;
    let windows = [
        ("where", request.filter.is_some()),
        ("skip", request.skip > 0),
        ("limit", request.limit.is_some()),
    ];
    let ranges = [
        ("content", range.content),
        ("materialize", !range.materialize.is_empty()),
        ("max-snapshots", range.max_snapshots.is_some()),
        ("max-changes", range.max_changes.is_some()),
        ("as-nodes", range.as_nodes),
    ];
    let modes = [
        ("content-mode", range.content_mode != usual.content_mode),
        ("context-lines", range.context_lines != usual.context_lines),
    ];
    let given = |options: &[(&'static str, bool)]| -> Vec<&'static str> {
        options.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect()
    };
    let first = edition == Edition::V0_1;
    let (mut names, why) = match is_range {
        true if first && range.as_nodes => return Vec::new(),
        true => (
            given(&windows),
            "a range compares snapshots; use `@limit`, or filters in the selector",
        ),
        false => ([given(&ranges), given(&modes)].concat(), "the selector has no range"),
    };
    names.retain(|name| *name != "as-nodes");
    let mut warnings: Vec<String> =
        names.into_iter().map(|name| format!("`{name}` is ignored: {why}")).collect();
    if is_range && !range.content {
        let modes = given(&modes).into_iter();
        warnings.extend(modes.map(|name| format!("`{name}` is ignored without `content`")));
    }
    if range.as_nodes {
        warnings.push("`as-nodes` is ignored: it belongs to ranges of edition 0.1".to_owned());
    }
    warnings
}
