//! Entry points: a selector, the position of a write, a node to create.

use super::Parser;
use crate::ast::{Insertion, NodeSpec, Selector, Time, TimeKind};
use crate::error::{ErrorKind, SelectorError, SelectorErrors};
use crate::scan::Scanner;
use crate::{Edition, Limits, Span, check};

/// Parses a selector with the default [`Limits`].
///
/// # Errors
///
/// All errors of the text. See [`ErrorKind`] for texts that cause them.
pub fn parse(text: &str, edition: Edition) -> Result<Selector, SelectorErrors> {
    parse_with(text, edition, &Limits::default())
}

/// Parses a selector; see [`parse`].
///
/// # Errors
///
/// All errors of the text, up to `limits.errors`.
pub fn parse_with(
    text: &str,
    edition: Edition,
    limits: &Limits,
) -> Result<Selector, SelectorErrors> {
    run(text, edition, limits, |parser| {
        let selector = parser.selector();
        if parser.errors.is_empty() {
            check::selector(&selector, &mut parser.errors);
        }
        selector
    })
}

/// Parses a selector for snapshots that are given otherwise, such as both sides of a diff. Facets
/// and `@mode` need no time prefix then.
///
/// # Errors
///
/// All errors of the text.
pub fn parse_on_snapshots(text: &str, edition: Edition) -> Result<Selector, SelectorErrors> {
    run(text, edition, &Limits::default(), |parser| parser.selector())
}

/// Parses a snapshot or a range alone, as it is before a selector: `@t-3..0`.
///
/// # Errors
///
/// All errors of the text; anything after the snapshot is one.
pub fn parse_time(text: &str, edition: Edition) -> Result<Time, SelectorErrors> {
    run(text, edition, &Limits::default(), |parser| {
        parser.scan.skip_blanks();
        let time = parser.time();
        parser.scan.skip_blanks();
        if parser.errors.is_empty() && (time.is_none() || parser.scan.peek().is_some()) {
            parser.unexpected("a snapshot or a range, as in `@t-3..@t0`");
        }
        time.unwrap_or(Time { kind: TimeKind::All, span: Span::NONE })
    })
}

/// Parses a selector for the nodes that a write changes: a selector without a time prefix. Writes
/// address the working state in every edition.
///
/// # Errors
///
/// All errors of the text; a snapshot prefix is one.
pub fn parse_target(text: &str, edition: Edition) -> Result<Selector, SelectorErrors> {
    run(text, edition, &Limits::default(), |parser| {
        let selector = parser.selector();
        if let Some(time) = &selector.time {
            parser.snapshot_in_write(time.span);
        }
        if parser.errors.is_empty() {
            check::selector(&selector, &mut parser.errors);
        }
        selector
    })
}

/// Parses the position of a write: `(d0, cont[offset=0], end)`. Insertion cues are valid only here:
/// a trailing comma, `end`, `+N`, `-N`. Writes address the working state, so there is no snapshot.
///
/// ```
/// use contextree_selector::{Cue, Edition, parse_position};
///
/// let insertion = parse_position("(d0, cont[offset=0], +2)", Edition::V0_3)?;
/// assert_eq!(insertion.cue, Some(Cue::After(2)));
/// # Ok::<(), contextree_selector::SelectorErrors>(())
/// ```
///
/// # Errors
///
/// All errors of the text, such as a snapshot prefix, a facet or a position without hops.
pub fn parse_position(text: &str, edition: Edition) -> Result<Insertion, SelectorErrors> {
    run(text, edition, &Limits::default(), |parser| {
        let insertion = parser.insertion();
        if parser.errors.is_empty() {
            check::insertion(&insertion, edition, &mut parser.errors);
        }
        insertion
    })
}

/// Parses the specification of a node to create: `block:text { key='hero' }`.
///
/// ```
/// use contextree_selector::{Edition, parse_node_spec};
///
/// let spec = parse_node_spec("block:text { key='hero' }", Edition::V0_3)?;
/// assert_eq!((&*spec.node_type, spec.kind.as_deref()), ("block", Some("text")));
/// # Ok::<(), contextree_selector::SelectorErrors>(())
/// ```
///
/// # Errors
///
/// All errors of the text, such as a duplicate property.
pub fn parse_node_spec(text: &str, edition: Edition) -> Result<NodeSpec, SelectorErrors> {
    run(text, edition, &Limits::default(), |parser| parser.node_spec())
}

#[inline]
fn run<T>(
    text: &str,
    edition: Edition,
    limits: &Limits,
    parse: impl FnOnce(&mut Parser<'_>) -> T,
) -> Result<T, SelectorErrors> {
    let longest = limits.text_bytes.min(u32::MAX as usize);
    if text.len() > longest {
        let found = format!("a text of {} bytes", text.len());
        let expected = format!("{longest} bytes");
        let error = SelectorError::new(ErrorKind::TooLong, Span::NONE, found, expected);
        return Err(SelectorErrors::new(error, []));
    }
    let mut parser = Parser {
        scan: Scanner::new(text),
        edition,
        nodes_left: limits.nodes,
        errors_left: limits.errors.max(1),
        errors: Vec::new(),
    };
    let tree = parse(&mut parser);
    // The check after parsing does not limit its errors.
    let mut errors = parser.errors.into_iter().take(limits.errors.max(1));
    match errors.next() {
        None => Ok(tree),
        Some(first) => Err(SelectorErrors::new(first, errors)),
    }
}
