//! Changing a context: one durable step, or a trial of it.

use contextree::query::resolved::lower;
use contextree::query::{evaluate, plan};
use contextree::{Context, Edition, Place, WriteError};
use contextree_selector::parse_target;

use super::{Access, Home};
use crate::command::Call;
use crate::error::Failure;

/// Options of every command that changes a context.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Change {
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Only if the newest snapshot is that of commit N (0: there is none); otherwise exit with 4
    #[arg(long, value_name = "N")]
    if_head: Option<u32>,
}

impl Change {
    /// Makes a change, durably; with `--dry-run` on a copy that is given away. The change may be tried more than once, if somebody else
    /// writes at the same time.
    pub(crate) fn make<T>(
        &self,
        call: &Call<'_>,
        mut change: impl FnMut(&mut Context) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if call.global.file.is_some() {
            return Err(Failure::usage("a file given with -f can only be read")
                .hint("`ctx import FILE` makes a context of it, which can be changed"));
        }
        let access = if self.dry_run { Access::Read } else { Access::Write };
        let home = Home::open(call.global, call.environment, access)?;
        let mut session = home.session(call.global)?;
        if let Some(expected) = self.if_head {
            let found = session.row().head.map_or(0, |head| head.cycle);
            if found != expected {
                return Err(Failure::new(
                    "E_CONFLICT",
                    format!("the newest snapshot is @c{found}, not @c{expected}"),
                )
                .detail("head", found)
                .hint(match expected < found && expected > 0 {
                    true => format!("`ctx diff {expected}` shows what happened since"),
                    false => "`ctx log` lists the snapshots there are".to_owned(),
                }));
            }
            if !self.dry_run {
                return session.write(change);
            }
        }
        if self.dry_run {
            return change(&mut session.fork_working()?);
        }
        session.update(change)
    }

    /// Returns the words for what was done, or would be.
    pub(crate) fn words(&self, done: &str) -> String {
        if self.dry_run { format!("{done} (only tried, --dry-run)") } else { done.to_owned() }
    }
}

/// Returns the place that a position names.
pub(crate) fn place_of(
    context: &mut Context,
    position: &str,
    edition: Option<Edition>,
) -> Result<Place, Failure> {
    let edition = edition.unwrap_or(context.edition());
    context.in_edition(edition).place_of(position).map_err(|error| match error {
        WriteError::NoMatch(_) => Failure::new(error.code(), format!("`{position}` leads nowhere"))
            .detail("selector", position)
            .hint("`(d0)` is the head, `(d1)` the newest turn, `(d0, cont[offset=0])` the core of the head")
            .hint("`ctx show` draws the tree"),
        error => Failure::write(&error, position),
    })
}

/// Returns the ids that a text names in the working state: an id, or what a selector without a time matches; at least one.
pub(crate) fn targets(
    context: &Context,
    text: &str,
    edition: Option<Edition>,
) -> Result<Vec<String>, Failure> {
    if let Some(node) = context.working().resolve(text) {
        return Ok(vec![node.id().to_owned()]);
    }
    let selector = match parse_target(text, edition.unwrap_or(context.edition())) {
        Ok(selector) => selector,
        // Somebody who writes `block:9.9` means an id.
        Err(_) if is_name(text) => {
            return Err(Failure::new(
                "E_NODE_NOT_FOUND",
                format!("there is no node `{text}` in the working state"),
            )
            .detail("place", text)
            .hint("`ctx show` draws the tree with all ids"));
        }
        Err(errors) => return Err(Failure::selector(&errors, text)),
    };
    let nodes = evaluate(&plan(lower(&selector)), context.working(), None);
    if nodes.is_empty() {
        return Err(Failure::write(&WriteError::NoMatch(text.to_owned()), text));
    }
    Ok(nodes.into_iter().map(|node| node.id().to_owned()).collect())
}

/// True for a text that cannot be meant as a selector: selectors begin with a sign, or with a depth.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphanumeric()) && !text.contains(char::is_whitespace)
}
