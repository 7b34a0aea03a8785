//! Resolves a requested place to a parent, an offset and stamps.

mod cue;

use contextree_tree::{Class, NodeKey, NodeRef, Region, Scalar, TreeRef};

use crate::error::{OpError, Reason};
use crate::op::{Place, Zone};

/// The node to be placed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) class: Class,
    /// Whether the type contains a `:`, so that a container is never a core.
    pub(crate) namespaced: bool,
    /// Its id or type, for errors.
    pub(crate) name: &'a str,
    /// The node itself, if it is already in the tree.
    pub(crate) moving: Option<NodeRef<'a>>,
}

/// A place that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) parent: Parent,
    pub(crate) offset: Scalar,
    /// Siblings, in order, that must follow the node: they exchange stamps with it.
    pub(crate) rotate: Vec<NodeKey>,
    /// Whether a position was requested, so that a moved node gets a new stamp.
    pub(crate) by_cue: bool,
    /// Whether the node becomes the core of the head.
    pub(crate) becomes_core: bool,
}

/// The parent of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parent {
    /// An existing node.
    Node(NodeKey),
    /// The core of the head, which must be created first.
    NewCore,
}

/// Returns whether the node is sealed, that is, not in the active turn.
pub(crate) fn is_sealed(node: NodeRef<'_>) -> bool {
    node.cycle() != node.tree().next_cycle()
}

/// Returns whether the node belongs to the core of a sealed turn. In a turn without a core, the
/// blocks at offset 0 do.
pub(crate) fn in_sealed_core(node: NodeRef<'_>) -> bool {
    std::iter::once(node).chain(node.ancestors()).any(|node| {
        node.offset().signum() == 0
            && !node.node_type().starts_with("mc:")
            && !node.node_type().starts_with("cont:")
            && node.parent().is_some_and(|parent| parent.class() == Class::Turn)
    })
}

/// Returns the core of a turn or of the head.
pub(crate) fn core_of(turn: NodeRef<'_>) -> Option<NodeRef<'_>> {
    turn.children_at(Scalar::ZERO).find(|child| child.is_core())
}

/// Resolves a place and checks that a node may be put there.
pub(crate) fn resolve<'a>(
    tree: TreeRef<'a>,
    place: &Place,
    subject: Subject<'a>,
) -> Result<Target, OpError> {
    match place {
        Place::Into { parent, offset } => {
            let own = subject.moving.map_or(Scalar::ZERO, NodeRef::offset);
            let offset = offset.map_or(own, Scalar::Int);
            into(find_parent(tree, parent, subject)?, offset, subject)
        }
        Place::Zone { turn, zone } => {
            let turn = find_parent(tree, turn, subject)?;
            if !turn.is_zoned() {
                return Err(OpError::placement(Reason::NotATurn, turn.id()));
            }
            let offset = match zone {
                Zone::Pre => -1,
                Zone::Core => 0,
                Zone::Post => 1,
            };
            into(turn, Scalar::Int(offset), subject)
        }
        Place::Cue { parent, cue } => {
            cue::resolve(find_parent(tree, parent, subject)?, *cue, subject)
        }
    }
}

fn find_parent<'a>(
    tree: TreeRef<'a>,
    name: &str,
    subject: Subject<'_>,
) -> Result<NodeRef<'a>, OpError> {
    let parent =
        tree.resolve(name).ok_or_else(|| OpError::placement(Reason::UnknownParent, name))?;
    if let Some(moving) = subject.moving {
        let key = moving.key_of();
        if std::iter::once(parent).chain(parent.ancestors()).any(|node| node.key_of() == key) {
            return Err(OpError::placement(Reason::Cycle, moving.id()));
        }
    }
    Ok(parent)
}

/// Rejects parents that accept no children.
fn check_parent(parent: NodeRef<'_>) -> Result<(), OpError> {
    let refuse = |reason| Err(OpError::placement(reason, parent.id()));
    match parent.class() {
        Class::Root => refuse(Reason::ExtraRegion),
        Class::Block => refuse(Reason::ChildrenUnderBlock),
        Class::Region if parent.as_region() == Some(Region::Seq) => refuse(Reason::NotATurn),
        Class::Container if in_sealed_core(parent) => Err(OpError::sealed(parent.id())),
        _ => Ok(()),
    }
}

/// Resolves a place in a parent at an offset.
fn into(parent: NodeRef<'_>, offset: Scalar, subject: Subject<'_>) -> Result<Target, OpError> {
    check_parent(parent)?;
    let target = |parent, becomes_core| {
        Ok(Target { parent, offset, rotate: Vec::new(), by_cue: false, becomes_core })
    };
    if !parent.is_zoned() || offset.signum() != 0 {
        return target(Parent::Node(parent.key_of()), false);
    }
    let refuse = |reason| Err(OpError::placement(reason, subject.name));
    let sealed = parent.class() == Class::Turn;
    let own = subject.moving.map(NodeRef::key_of);
    let core = core_of(parent).filter(|core| Some(core.key_of()) != own);
    match subject.class {
        Class::Container if sealed => refuse(Reason::SecondCore),
        Class::Container if subject.namespaced => refuse(Reason::GroupAtCore),
        Class::Container if core.is_some() => refuse(Reason::SecondCore),
        Class::Container => target(Parent::Node(parent.key_of()), true),
        _ if sealed => Err(OpError::sealed(parent.id())),
        _ => match core {
            Some(core) => target(Parent::Node(core.key_of()), false),
            None => target(Parent::NewCore, false),
        },
    }
}

/// Returns whether there are blocks directly at offset 0, without a core around them. Only imported
/// heads have such blocks, until a core is created, which takes them over.
pub(crate) fn has_direct_core(turn: NodeRef<'_>) -> bool {
    turn.children_at(Scalar::ZERO).any(|child| child.class() == Class::Block)
}
