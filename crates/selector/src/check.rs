//! Checks after parsing: rejects what is well-formed but has no meaning in its place.
//!
//! Facets and `@mode` exist on snapshots only (ER-035, ER-090); any explicit snapshot suffices.
//! Nothing here applies to edition 0.1, where an omitted snapshot is `@t0` and facets are ordinary
//! names.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic
)]

use crate::ast::{AttrName, BehaviorKind, Body, Filter, Hop, Insertion, PartKind, Selector};
use crate::error::{ErrorKind, SelectorError};
use crate::{Edition, Span};

/// Adds the errors of a selector that was parsed without errors.
pub(crate) fn selector(selector: &Selector, errors: &mut Vec<SelectorError>) {
    if !selector.reads_working_state() {
        return;
    }
    let mut check = |filter: &Filter| facet(filter, errors);
    match &selector.body {
        Body::Chains(chains) => {
            let steps = chains.iter().flat_map(|chain| &chain.steps);
            for part in steps.flat_map(|step| &step.compound.parts) {
                if let PartKind::Attr(filter) = &part.kind {
                    check(filter);
                }
            }
        }
        Body::Position(position) => hops(&position.hops, &mut check),
        Body::Deep(Some(within)) => hops(&within.hops, &mut check),
        Body::Deep(None) | Body::Step | Body::Tree => {}
    }
    selector.filters.iter().for_each(&mut check);
    for behavior in &selector.behavior {
        if let BehaviorKind::Filter(filter) = &behavior.kind {
            check(filter);
        }
    }
    if let Some(mode) = &selector.controls.mode {
        errors.push(needs_snapshot(mode.span, "`@mode`".into()));
    }
}

/// Adds the errors of a write's position that was parsed without errors.
pub(crate) fn insertion(insertion: &Insertion, edition: Edition, errors: &mut Vec<SelectorError>) {
    if edition >= Edition::V0_2 {
        hops(&insertion.position.hops, &mut |filter| facet(filter, errors));
    }
}

fn hops(hops: &[Hop], check: &mut impl FnMut(&Filter)) {
    hops.iter().flat_map(|hop| &hop.filters).for_each(check);
}

fn facet(filter: &Filter, errors: &mut Vec<SelectorError>) {
    if let AttrName::Facet(facet) = filter.name {
        let found = format!("the facet `{}`", facet.as_str());
        errors.push(needs_snapshot(filter.name_span, found));
    }
}

#[cold]
fn needs_snapshot(span: Span, found: String) -> SelectorError {
    let expected = "a snapshot prefix";
    SelectorError::new(ErrorKind::NeedsSnapshot, span, found, expected)
        .help("add `@t0` before the selector to read the latest commit")
}
