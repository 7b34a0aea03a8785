//! Evaluates one condition on one spot.

use std::borrow::Cow;

use contextree_canon::content_hash;
use contextree_json::Value;
use contextree_selector::{Flag, Root};
use contextree_tree::{Class, Content, Cycle, Header, NodeRef, Region};

use super::spot::Spot;
use crate::compare::{Datum, any_holds, holds};
use crate::meter::Meter;
use crate::resolve::{Attr, Column, Compound, Condition, DepthOf, word_of};

/// What conditions depend on besides the node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Env<'m> {
    /// The cycle of the snapshot; `None` in the working state.
    pub(crate) cycle: Option<Cycle>,
    /// Whether scans skip what the tree's summaries exclude.
    pub(crate) skips: bool,
    /// What counts the steps; `None` if there is no limit.
    pub(crate) meter: Option<&'m Meter<'m>>,
}

impl<'m> Env<'m> {
    /// Returns the default environment for the snapshot of a cycle, without limits.
    pub(crate) fn at(cycle: Option<Cycle>) -> Env<'m> {
        Env { cycle, skips: true, meter: None }
    }

    /// Returns the environment for the snapshot of a cycle, with what counts the steps.
    pub(crate) fn metered(cycle: Option<Cycle>, meter: &'m Meter<'m>) -> Env<'m> {
        meter.begin_snapshot();
        Env { cycle, skips: true, meter: Some(meter) }
    }

    /// Counts steps.
    #[inline]
    pub(crate) fn charge(&self, steps: usize) {
        if let Some(meter) = self.meter {
            meter.charge(steps as u64);
        }
    }

    /// Returns true if the query has to end.
    #[inline]
    pub(crate) fn is_out(&self) -> bool {
        self.meter.is_some_and(Meter::is_out)
    }
}

impl Compound {
    /// Returns whether a spot satisfies all conditions; picks are evaluated elsewhere.
    #[inline]
    pub(crate) fn holds(&self, spot: &Spot<'_>, env: &Env<'_>) -> bool {
        self.conditions().all(|condition| condition.holds(spot, env))
    }
}

impl Condition {
    /// Returns whether a spot satisfies the condition.
    #[inline]
    pub(crate) fn holds(&self, spot: &Spot<'_>, env: &Env<'_>) -> bool {
        if spot.is_core {
            return self.holds_for_core(spot);
        }
        let node = spot.node;
        match self {
            Self::Any => true,
            Self::Class(class) => node.class() == *class,
            Self::Symbol(column, text) => symbol(node, *column) == Some(text),
            Self::Id(id) => node.id() == &**id,
            Self::Key(key) => node.key() == Some(key),
            Self::Side(sign) => node.offset().signum() == *sign,
            Self::Fixed(root) => is_fixed(node, *root),
            Self::TurnLike => node.class() == Class::Turn || spot.is_on_axis(),
            Self::Depth(depth_of, set) => {
                let on_axis = match depth_of {
                    DepthOf::SealedTurn => node.class() == Class::Turn && spot.is_on_axis(),
                    DepthOf::Container => spot.is_on_axis(),
                    DepthOf::Containing => true,
                };
                on_axis && spot.depth.is_some_and(|depth| set.contains(depth))
            }
            Self::Attr(Attr::Tags, test) => any_holds(&tags(node), test),
            Self::Attr(attr, test) => holds(attr.typing(), &value(attr, spot, env), test),
            Self::Tag(tag) => tags(node).any(|carried| carried == &**tag),
            Self::Flag(flag) => has_flag(node, *flag),
        }
    }

    /// An elided core is a container at offset 0 that has only the defaults of the required
    /// headers.
    fn holds_for_core(&self, spot: &Spot<'_>) -> bool {
        match self {
            Self::Any => true,
            Self::Class(class) => *class == Class::Container,
            Self::Side(sign) => *sign == 0,
            Self::Depth(DepthOf::Containing, set) => {
                spot.depth.is_some_and(|depth| set.contains(depth))
            }
            Self::Attr(Attr::Tags, test) => any_holds(&std::iter::empty(), test),
            Self::Attr(attr, test) => {
                let value = match attr {
                    Attr::Offset | Attr::Priority | Attr::CreatedAtNs | Attr::CreationIndex => {
                        Datum::Int(0)
                    }
                    Attr::Depth => spot.depth.map_or(Datum::Null, Datum::Int),
                    Attr::Sdepth => Datum::Int(spot.level as i64),
                    Attr::ClassWord(vocabulary) => {
                        Datum::from_text(word_of(Class::Container, *vocabulary))
                    }
                    _ => Datum::Null,
                };
                holds(attr.typing(), &value, test)
            }
            _ => false,
        }
    }
}

/// The only name comparison of the hot loop. A tree that exposes its symbols can compare numbers
/// here.
#[inline]
fn symbol<'t>(node: NodeRef<'t>, column: Column) -> Option<&'t str> {
    match column {
        Column::NodeType => Some(node.node_type()),
        Column::Role => node.role(),
        Column::Kind => node.kind(),
    }
}

fn is_fixed(node: NodeRef<'_>, root: Root) -> bool {
    match root {
        Root::Root => node.class() == Class::Root,
        Root::Sys => node.as_region() == Some(Region::Sys),
        Root::Seq => node.as_region() == Some(Region::Seq),
        Root::Ah => node.as_region() == Some(Region::Head),
    }
}

/// Returns the value of an attribute. Headers missing in a document are null, except those with a
/// default (ER-013).
fn value<'t>(attr: &Attr, spot: &Spot<'t>, env: &Env<'_>) -> Datum<'t> {
    let node = spot.node;
    match attr {
        Attr::Id => Datum::from_text(Some(node.id())),
        Attr::NodeType => Datum::from_text(Some(node.node_type())),
        Attr::Role => Datum::from_text(node.role()),
        Attr::Kind => Datum::from_text(node.kind()),
        Attr::Offset => Datum::from_scalar(node.offset()),
        Attr::Ttl => node.ttl().map_or(Datum::Null, |ttl| Datum::Int(ttl.into())),
        Attr::Priority => Datum::from_scalar(node.priority()),
        Attr::Cycle => born(node).map_or(Datum::Null, Datum::Int),
        Attr::CreatedAtNs => Datum::Int(node.created_at_ns()),
        Attr::CreatedAtIso if node.has_header(Header::CreatedAtIso) => {
            Datum::Text(Cow::Owned(node.created_at_iso()))
        }
        Attr::CreatedAtIso => Datum::Null,
        Attr::CreationIndex => Datum::Int(node.creation_index().into()),
        Attr::Key => Datum::from_text(node.key()),
        Attr::Tags => Datum::Null,
        Attr::ClassWord(vocabulary) => {
            Datum::from_text(word_of(node.class(), *vocabulary).or(Some(node.node_type())))
        }
        Attr::Age => match (env.cycle, born(node)) {
            (Some(now), Some(born)) => Datum::Int(i64::from(now) - born),
            _ => Datum::Null,
        },
        Attr::Depth => spot.depth.map_or(Datum::Null, Datum::Int),
        Attr::Sdepth => Datum::Int(spot.level as i64),
        Attr::Header(name) => header(node, name, env),
    }
}

fn born(node: NodeRef<'_>) -> Option<i64> {
    node.has_header(Header::Cycle).then(|| node.cycle().into())
}

/// Bytes of a content that are compared, or hashed, in about the time of a step.
const COMPARED: usize = 256;
const HASHED: usize = 8;

fn header<'t>(node: NodeRef<'t>, name: &str, env: &Env<'_>) -> Datum<'t> {
    if let Some(value) = node.attribute(name) {
        return Datum::from_json(value);
    }
    match name {
        "content" => match node.content() {
            Content::Absent => Datum::Null,
            Content::Text(text) => {
                env.charge(text.len() / COMPARED);
                Datum::from_text(Some(text))
            }
            Content::Json(value) => Datum::from_json(value),
        },
        "content_hash" => {
            let length = match node.content() {
                Content::Text(text) => text.len(),
                _ => COMPARED,
            };
            env.charge(24 + length / HASHED);
            Datum::Text(Cow::Owned(content_hash(node).to_string()))
        }
        "parent" => Datum::from_text(node.parent_id()),
        "removable" if node.is_removable() => Datum::Bool(true),
        "pinned" if node.is_pinned() => Datum::Bool(true),
        _ => Datum::Null,
    }
}

/// Returns the tags: the header `tags`, and `tag`, which documents may have; each a text or a list
/// of texts.
pub(crate) fn tags(node: NodeRef<'_>) -> impl Iterator<Item = &str> + Clone {
    let values = ["tags", "tag"].into_iter().filter_map(move |name| node.attribute(name));
    values.flat_map(|value| {
        let elements = match value {
            Value::Array(elements) => elements.as_slice(),
            other => std::slice::from_ref(other),
        };
        elements.iter().filter_map(Value::as_str)
    })
}

/// A header with the flag's name decides; without one, whether the node has a ttl.
fn has_flag(node: NodeRef<'_>, flag: Flag) -> bool {
    match node.attribute(flag.as_str()) {
        None | Some(Value::Null) => node.ttl().is_some() == (flag == Flag::Ephemeral),
        Some(Value::Bool(truth)) => *truth,
        Some(Value::String(text)) => &**text == "true",
        Some(_) => true,
    }
}
