//! Resolves a parsed selector against a timeline: the result has no relative time, aliases or
//! editions.

mod lower;
mod mentions;
mod time;
mod types;

pub use lower::lower;
pub(crate) use lower::word_of;
pub use types::{
    Arrangement, At, Attr, Body, Chain, Column, Compound, Condition, DepthOf, Hop, HopKind,
    Mention, MentionKind, Named, Part, Pick, Query, Recency, Relation, ResolvedRange,
    ResolvedSelector, Step,
};

use contextree_selector::Selector;

use crate::error::{ResolveError, ResolveErrorKind};
use crate::timeline::Timeline;

/// Resolves a selector against a timeline.
///
/// # Errors
///
/// If the selector names a snapshot that does not exist, or the working state where there is none, or if the history cannot
/// be read.
pub fn resolve<T: Timeline + ?Sized>(
    selector: &Selector,
    timeline: &T,
) -> Result<ResolvedSelector, T::Error> {
    let at = time::resolve(selector, timeline)?;
    Ok(ResolvedSelector { canonical: selector.to_string(), at, query: lower(selector) })
}

/// Resolves a selector for evaluation on a given tree; it must not have a time prefix.
///
/// # Errors
///
/// If it has a time prefix.
pub fn resolve_on_tree(selector: &Selector) -> Result<Query, ResolveError> {
    match &selector.time {
        Some(time) => Err(ResolveError::new(ResolveErrorKind::TimeNotAllowed, time.span)),
        None => Ok(lower(selector)),
    }
}
