//! The syntax tree of a selector, with the meaning of its edition already chosen.
//!
//! Shorthands are expanded by the parser: attribute groups are filters, `*:block.x` is a filter on
//! `kind`, `{ tag='x' }` in the tail is a tag, `@history` is a range, and both range operators are
//! one. The evaluator is left with only what needs a tree or a history.

mod chain;
mod control;
mod depth;
mod filter;
mod node_spec;
mod one_or_more;
mod position;
mod selector;
mod time;
mod value;

pub use chain::{
    Chain, Class, ClassWord, Combinator, Compound, Part, PartKind, Pseudo, Root, Step, TypeTest,
};
pub use control::{Controls, Mode, Order};
pub use depth::{DepthItem, DepthKind, DepthSet};
pub use filter::{AttrName, Behavior, BehaviorKind, Facet, Filter, Flag, Op, Tag, Test};
pub use node_spec::{NodeSpec, Property, PropertyValue};
pub use one_or_more::OneOrMore;
pub use position::{Cue, Hop, HopKind, Insertion, Position, Within};
pub use selector::{Body, Selector};
pub use time::{RelativePoint, Snapshot, SnapshotRange, Time, TimeKind};
pub use value::{Number, Value};
