//! Regions, classes and the two vocabularies.

/// One of the three regions under the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Region {
    /// `^sys`: persistent system context.
    Sys,
    /// `^seq`: the sealed turns, oldest first.
    Seq,
    /// `^ah`: the turn in progress.
    Head,
}

impl Region {
    /// The regions in their order under the root.
    pub const ALL: [Region; 3] = [Region::Sys, Region::Seq, Region::Head];

    /// Returns the name of the region, which is also its `nodeType`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Region::Sys => "^sys",
            Region::Seq => "^seq",
            Region::Head => "^ah",
        }
    }

    /// Returns the region with this name.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Region> {
        Region::ALL.into_iter().find(|region| region.word() == word)
    }

    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

/// What a node is, regardless of its exact `nodeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The root.
    Root,
    /// One of the three regions.
    Region,
    /// A sealed turn (`mt`, `seg`).
    Turn,
    /// A container: the core of a turn, or a group (`mc`, `cont`).
    Container,
    /// Everything else (`cb`, `block`, `custom:note`).
    Block,
}

impl Class {
    /// Returns the class of a `nodeType`: the part before the first `:` decides.
    ///
    /// `cb:summary` is a block, `mc:group` a container, `custom:note` and `weird` are blocks.
    #[must_use]
    pub fn of(node_type: &str) -> Class {
        match node_type.split(':').next().unwrap_or(node_type) {
            "^root" => Class::Root,
            "^sys" | "^seq" | "^ah" => Class::Region,
            "mt" | "seg" => Class::Turn,
            "mc" | "cont" => Class::Container,
            _ => Class::Block,
        }
    }

    /// Returns whether nodes of this class may have children.
    #[must_use]
    pub fn is_container(self) -> bool {
        self != Class::Block
    }
}

/// The type names that a context uses for the nodes it creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Vocabulary {
    /// `mt`, `mc`, `cb`: editions 0.1 and 0.2.
    Message,
    /// `seg`, `cont`, `block`: edition 0.3.
    #[default]
    Segment,
}

impl Vocabulary {
    /// Returns the type name of a turn.
    #[must_use]
    pub fn turn(self) -> &'static str {
        match self {
            Vocabulary::Message => "mt",
            Vocabulary::Segment => "seg",
        }
    }

    /// Returns the type name of a container.
    #[must_use]
    pub fn container(self) -> &'static str {
        match self {
            Vocabulary::Message => "mc",
            Vocabulary::Segment => "cont",
        }
    }

    /// Returns the type name of a block.
    #[must_use]
    pub fn block(self) -> &'static str {
        match self {
            Vocabulary::Message => "cb",
            Vocabulary::Segment => "block",
        }
    }
}
