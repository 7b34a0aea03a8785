//! The selector language of PACT (chapter 04): text ↔ syntax tree, in three editions.
//!
//! A selector such as `@t0 ^seq .mt:depth(1-3) .cb[role='user']` names nodes of a context tree in
//! space and time. This crate implements only the syntax: it knows no tree, no store and no meaning
//! of time.
//!
//! The steps, each in the file of its name:
//!
//! 1. `scan`: characters, names, numbers, strings.
//! 2. `parse`: text → [`Selector`], reporting all errors of the text at once. The edition decides
//!    what is valid and what it means; the tree records the meaning, so that later stages need not
//!    know the edition.
//! 3. `check`: rejects facets and `@mode` where there is no snapshot.
//! 4. `print`: [`Selector`] → canonical text, which parses to the same tree.
//!
//! ```
//! use contextree_selector::{Body, Edition, parse};
//!
//! let text = "@t-3:0   .cb( role=user ) @mode=latest";
//! let selector = parse(text, Edition::V0_2)?;
//! assert!(selector.is_range());
//! assert!(matches!(&selector.body, Body::Chains(chains) if chains.len() == 1));
//! assert_eq!(selector.to_string(), "@t-3..@t0 .cb[role='user'] @mode=latest");
//!
//! let text = "^seq :frist";
//! let errors = parse(text, Edition::V0_3).unwrap_err();
//! assert_eq!(errors.code().as_str(), "E_SELECTOR_INVALID");
//! assert_eq!(
//!     errors.draw(text),
//!     "\
//! error[E_SELECTOR_INVALID]: unknown pseudo-class `:frist`
//!   |
//! 1 | ^seq :frist
//!   |      ^^^^^^
//!   = help: did you mean `:first`?"
//! );
//! # Ok::<(), contextree_selector::SelectorErrors>(())
//! ```
//!
//! # Which edition has what
//!
//! | From | Constructs |
//! |---|---|
//! | 0.1 | roots, types, `#id`, `[attr]`, pseudos, `A B`, `A > B`, `A, B`, `*`, `@t @c @*`, ranges |
//! | 0.2 | `.cb(a=1 b=2)`, `depth(…)`, `:depth(<0)`, `:depth(1..3)`, `:depth({1,2})`, `(d0, mc, *:cb)`, insertion cues, facets, `@mode` |
//! | 0.3 | `{…}`, `?`, `??`, `within(…)`, `+tag`, `~`, lists, `[ephemeral]`, offset hops, `d1` alone, `@t+1`, `@t-*`, `@history`, the other controls; `#x` is a key |
//!
//! # Cost
//!
//! Parsing is linear in the text and does not recurse; [`Limits`] bound length, tree and errors.

mod ast;
mod check;
mod edition;
mod error;
mod limits;
mod parse;
mod print;
mod scan;
mod span;

pub use ast::{
    AttrName, Behavior, BehaviorKind, Body, Chain, Class, ClassWord, Combinator, Compound,
    Controls, Cue, DepthItem, DepthKind, DepthSet, Facet, Filter, Flag, Hop, HopKind, Insertion,
    Mode, NodeSpec, Number, OneOrMore, Op, Order, Part, PartKind, Position, Property,
    PropertyValue, Pseudo, RelativePoint, Root, Selector, Snapshot, SnapshotRange, Step, Tag, Test,
    Time, TimeKind, TypeTest, Value, Within,
};
pub use edition::{Edition, UnknownEdition};
pub use error::{Code, ErrorKind, SelectorError, SelectorErrors, closest, draw_caret};
pub use limits::{Limits, MAX_NUMBER_DIGITS};
pub use parse::{
    parse, parse_node_spec, parse_on_snapshots, parse_position, parse_target, parse_time,
    parse_with,
};
pub use span::{Span, Spanned};
