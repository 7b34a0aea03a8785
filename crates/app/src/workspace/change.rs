//! Changing a context: one durable step, or a dry run.

use contextree::query::resolved::lower;
use contextree::query::{QueryLimits, evaluate_within, plan};
use contextree::selector::parse_target;
use contextree::{Context, Edition, Place, WriteError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Access, Workspace};
use crate::{Advice, Error};

/// How a command changes a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Change {
    /// Reports what would be done and changes nothing.
    pub dry_run: bool,
    /// Changes the context only if its newest snapshot is that of this commit (0: there is none). The error is `E_CONFLICT`.
    pub if_head: Option<u32>,
}

impl Workspace {
    /// Changes the context in one durable step; a dry run changes a copy. `make` may run more than once, if another process writes at
    /// the same time. `command` is its name in the operation log.
    pub(crate) fn change<T>(
        &self,
        command: &'static str,
        change: &Change,
        mut make: impl FnMut(&mut Context) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.is_document() {
            return Err(
                Error::usage("a document can only be read").with_advice(Advice::ImportDocument)
            );
        }
        let access = if change.dry_run { Access::Read } else { Access::Write };
        let store = self.store(access)?;
        let mut session = self.session(&store)?;
        session.set_command(command);
        if let Some(expected) = change.if_head {
            let found = session.row().head.map_or(0, |head| head.cycle.get());
            if found != expected {
                return Err(Error::new(
                    "E_CONFLICT",
                    format!("the newest snapshot is @c{found}, not @c{expected}"),
                )
                .with_detail("head", found)
                .with_advice(match expected < found && expected > 0 {
                    true => Advice::DiffSince(expected),
                    false => Advice::ListSnapshots,
                }));
            }
            if !change.dry_run {
                return session.write(make);
            }
        }
        if change.dry_run {
            return make(&mut session.fork_working()?);
        }
        session.update(make)
    }
}

/// Returns the place that a position names.
pub(crate) fn place_of(
    context: &mut Context,
    position: &str,
    edition: Option<Edition>,
    limits: &QueryLimits,
) -> Result<Place, Error> {
    let edition = edition.unwrap_or(context.edition());
    let writer = context.in_edition(edition).within(limits.clone());
    writer.place_of(position).map_err(|error| match error {
        WriteError::NoMatch(_) => Error::new(error.code(), format!("`{position}` leads nowhere"))
            .with_detail("selector", position)
            .with_hint("`(d0)` is the head, `(d1)` the newest turn, `(d0, cont[offset=0])` the core of the head")
            .with_advice(Advice::ShowTree),
        error => Error::write(&error, position),
    })
}

/// Returns the ids that a text names in the working state: an id, or the matches of a selector without a time; at least one.
pub(crate) fn targets(
    context: &Context,
    text: &str,
    edition: Option<Edition>,
    limits: &QueryLimits,
) -> Result<Vec<String>, Error> {
    if let Some(node) = context.working().resolve(text) {
        return Ok(vec![node.id().to_owned()]);
    }
    let selector = match parse_target(text, edition.unwrap_or(context.edition())) {
        Ok(selector) => selector,
        // `block:9.9` is meant as an id.
        Err(_) if is_name(text) => {
            return Err(Error::new(
                "E_NODE_NOT_FOUND",
                format!("there is no node `{text}` in the working state"),
            )
            .with_detail("place", text)
            .with_advice(Advice::ShowTree));
        }
        Err(errors) => return Err(Error::selector(&errors, text)),
    };
    let nodes = evaluate_within(&plan(lower(&selector)), context.working(), None, limits)
        .map_err(|error| Error::query(&error, text))?;
    if nodes.is_empty() {
        return Err(Error::write(&WriteError::NoMatch(text.to_owned()), text));
    }
    Ok(nodes.into_iter().map(|node| node.id().to_owned()).collect())
}

/// Returns whether a text cannot be meant as a selector: selectors begin with a sign, or with a depth.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphanumeric()) && !text.contains(char::is_whitespace)
}
