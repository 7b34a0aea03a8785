//! Breaks a snapshot down into tokens by region, turn, role and so on.

use std::collections::BTreeMap;

use contextree_canon::thread::{blocks, default_role};
use contextree_tree::{NodeRef, Region, TreeRef};

use crate::counter::TokenCounter;
use crate::spoken::Measured;

/// A number of tokens and blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Tokens.
    pub tokens: u64,
    /// Those of the tokens that are estimates for images and other data, with any tokenizer.
    pub media: u64,
    /// Blocks.
    pub blocks: u64,
}

impl Count {
    /// Adds one block.
    pub(crate) fn add(&mut self, measured: Measured) {
        self.tokens += measured.tokens;
        self.media += measured.media;
        self.blocks += 1;
    }

    /// Removes one block.
    pub(crate) fn take(&mut self, measured: Measured) {
        self.tokens -= measured.tokens;
        self.media -= measured.media;
        self.blocks -= 1;
    }
}

/// What blocks are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// `^sys`, `^seq`, `^ah`: always these three, in this order.
    Region,
    /// The turn, in document order, with the head last. Blocks in `^sys` have no turn.
    Turn,
    /// The role, including the default role.
    Role,
    /// The kind.
    Kind,
    /// The key.
    Key,
    /// The tag. A block counts for each of its tags, so the groups may add up to more than the
    /// total.
    Tag,
}

impl By {
    /// Every grouping.
    pub const ALL: [By; 6] = [By::Region, By::Turn, By::Role, By::Kind, By::Key, By::Tag];

    /// Returns the name: `region`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            By::Region => "region",
            By::Turn => "turn",
            By::Role => "role",
            By::Kind => "kind",
            By::Key => "key",
            By::Tag => "tag",
        }
    }

    /// Returns the grouping with this name.
    #[must_use]
    pub fn from_word(word: &str) -> Option<By> {
        By::ALL.into_iter().find(|by| by.word() == word)
    }
}

/// One group of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The name of a region, the id of a turn, a role and so on; `None` for blocks without one.
    pub name: Option<String>,
    /// Its tokens and blocks.
    pub count: Count,
}

/// The tokens of a snapshot by every grouping, as plain data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breakdown {
    /// The whole snapshot.
    pub total: Count,
    /// By region.
    pub regions: Vec<Group>,
    /// By turn.
    pub turns: Vec<Group>,
    /// By role: those with the most tokens first, then by name.
    pub roles: Vec<Group>,
    /// By kind, in the same order.
    pub kinds: Vec<Group>,
    /// By key, in the same order.
    pub keys: Vec<Group>,
    /// By tag, in the same order.
    pub tags: Vec<Group>,
}

impl Breakdown {
    /// Returns one of the groupings.
    #[must_use]
    pub fn by(&self, by: By) -> &[Group] {
        match by {
            By::Region => &self.regions,
            By::Turn => &self.turns,
            By::Role => &self.roles,
            By::Kind => &self.kinds,
            By::Key => &self.keys,
            By::Tag => &self.tags,
        }
    }
}

/// Breaks a tree down. For a series of snapshots, a [`Tally`](crate::Tally) is cheaper.
#[must_use]
pub fn breakdown(tree: TreeRef<'_>, counter: &TokenCounter) -> Breakdown {
    let mut sums = Sums::default();
    for (region, block) in blocks(tree) {
        sums.add(block, region, counter.measure_node(block));
    }
    sums.breakdown(tree)
}

/// Counts by name, and of blocks without a name.
#[derive(Clone, Debug, Default)]
struct Groups {
    named: BTreeMap<String, Count>,
    without: Count,
}

impl Groups {
    /// Changes the count of a name, and removes it when it reaches zero.
    fn change(&mut self, name: Option<&str>, change: impl Fn(&mut Count)) {
        let Some(name) = name else { return change(&mut self.without) };
        if let Some(count) = self.named.get_mut(name) {
            change(count);
            if count.blocks == 0 {
                self.named.remove(name);
            }
        } else {
            change(self.named.entry(name.to_owned()).or_default());
        }
    }

    /// Returns the count of blocks without a name, if there are any.
    fn without(&self) -> Option<Group> {
        (self.without.blocks > 0).then_some(Group { name: None, count: self.without })
    }

    /// Returns all groups: largest first, then by name.
    fn largest_first(&self) -> Vec<Group> {
        let named = self.named.iter();
        let named = named.map(|(name, count)| Group { name: Some(name.clone()), count: *count });
        let mut groups: Vec<Group> = self.without().into_iter().chain(named).collect();
        groups.sort_by(|left, right| {
            right.count.tokens.cmp(&left.count.tokens).then_with(|| left.name.cmp(&right.name))
        });
        groups
    }
}

/// Sums to which blocks can be added and from which they can be removed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) total: Count,
    regions: [Count; 3],
    /// By id; the head by the name of its region.
    turns: Groups,
    roles: Groups,
    kinds: Groups,
    keys: Groups,
    tags: Groups,
}

impl Sums {
    /// Adds a block.
    pub(crate) fn add(&mut self, block: NodeRef<'_>, region: Region, measured: Measured) {
        self.each(block, region, |count| count.add(measured));
    }

    /// Removes a block. It must have been added with the same fields.
    pub(crate) fn take(&mut self, block: NodeRef<'_>, region: Region, measured: Measured) {
        self.each(block, region, |count| count.take(measured));
    }

    fn each(&mut self, block: NodeRef<'_>, region: Region, change: impl Fn(&mut Count)) {
        change(&mut self.total);
        change(&mut self.regions[region as usize]);
        self.turns.change(turn_of(block, region), &change);
        let role = block.role().unwrap_or(default_role(Some(region)));
        self.roles.change(Some(role), &change);
        self.kinds.change(block.kind(), &change);
        self.keys.change(block.key(), &change);
        let tags = block.attribute("tags").and_then(|tags| tags.as_array()).unwrap_or_default();
        let mut tagged = false;
        for (index, tag) in tags.iter().enumerate() {
            // A repeated tag counts once.
            if let Some(tag) = tag.as_str().filter(|_| !tags[..index].contains(tag)) {
                self.tags.change(Some(tag), &change);
                tagged = true;
            }
        }
        if !tagged {
            self.tags.change(None, &change);
        }
    }

    /// Returns the sums in their order.
    pub(crate) fn breakdown(&self, tree: TreeRef<'_>) -> Breakdown {
        Breakdown {
            total: self.total,
            regions: self.groups(By::Region, tree),
            turns: self.groups(By::Turn, tree),
            roles: self.groups(By::Role, tree),
            kinds: self.groups(By::Kind, tree),
            keys: self.groups(By::Key, tree),
            tags: self.groups(By::Tag, tree),
        }
    }

    /// Returns one grouping in its order.
    pub(crate) fn groups(&self, by: By, tree: TreeRef<'_>) -> Vec<Group> {
        let group = |name: &str, count: Count| Group { name: Some(name.to_owned()), count };
        match by {
            By::Region => Region::ALL
                .into_iter()
                .map(|region| group(region.word(), self.regions[region as usize]))
                .collect(),
            By::Turn => {
                let head = Region::Head.word();
                let turns = tree.region(Region::Seq).children().map(NodeRef::id).chain([head]);
                let in_turns = turns
                    .filter_map(|turn| self.turns.named.get(turn).map(|count| group(turn, *count)));
                self.turns.without().into_iter().chain(in_turns).collect()
            }
            By::Role => self.roles.largest_first(),
            By::Kind => self.kinds.largest_first(),
            By::Key => self.keys.largest_first(),
            By::Tag => self.tags.largest_first(),
        }
    }
}

/// Returns the turn of a block; for the head, the name of its region.
fn turn_of(block: NodeRef<'_>, region: Region) -> Option<&str> {
    match region {
        Region::Sys => None,
        Region::Head => Some(Region::Head.word()),
        Region::Seq => {
            let mut top = block;
            for above in block.ancestors() {
                if above.as_region().is_some() {
                    return Some(top.id());
                }
                top = above;
            }
            None
        }
    }
}
