//! What a snapshot is made of, in tokens.

use std::collections::BTreeMap;

use contextree_render::{blocks, default_role};
use contextree_tree::{NodeRef, Region, TreeRef};

use crate::counter::TokenCounter;

/// Tokens and the blocks that they are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Tokens.
    pub tokens: u64,
    /// Blocks.
    pub blocks: u64,
}

impl Count {
    /// Adds one block.
    pub(crate) fn add(&mut self, tokens: u64) {
        self.tokens += tokens;
        self.blocks += 1;
    }

    /// Takes one block away again.
    pub(crate) fn take(&mut self, tokens: u64) {
        self.tokens -= tokens;
        self.blocks -= 1;
    }
}

/// What blocks are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// `^sys`, `^seq`, `^ah`: always these three, in this order.
    Region,
    /// The turn, in order of the document; the head last. Blocks of `^sys` have none.
    Turn,
    /// The role, the default one included.
    Role,
    /// The kind.
    Kind,
    /// The key.
    Key,
    /// The tag. A block counts for each of its tags, so the groups may add up to more than the total.
    Tag,
}

impl By {
    /// All of them.
    pub const ALL: [By; 6] = [By::Region, By::Turn, By::Role, By::Kind, By::Key, By::Tag];

    /// Returns the word: `region`.
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

    /// Returns what a word means.
    #[must_use]
    pub fn from_word(word: &str) -> Option<By> {
        By::ALL.into_iter().find(|by| by.word() == word)
    }
}

/// One group of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// A region's word, a turn's id, a role and so on; nothing for the blocks that have none.
    pub name: Option<String>,
    /// How much is in it.
    pub count: Count,
}

/// A snapshot in tokens, as plain data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breakdown {
    /// All of it.
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

/// Returns what a tree is made of. For one snapshot after another, a [`Tally`](crate::Tally) is cheaper.
#[must_use]
pub fn breakdown(tree: TreeRef<'_>, counter: &TokenCounter) -> Breakdown {
    let mut sums = Sums::default();
    for (region, block) in blocks(tree) {
        sums.add(block, region, counter.count_node(block));
    }
    sums.breakdown(tree)
}

type Groups = BTreeMap<Option<String>, Count>;

/// Sums that blocks can be added to and taken from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) total: Count,
    regions: [Count; 3],
    /// By id; the head under its region's word.
    turns: Groups,
    roles: Groups,
    kinds: Groups,
    keys: Groups,
    tags: Groups,
}

impl Sums {
    /// Counts a block.
    pub(crate) fn add(&mut self, block: NodeRef<'_>, region: Region, tokens: u64) {
        self.each(block, region, |count| count.add(tokens));
    }

    /// Counts a block no more. It must have been counted, as it is.
    pub(crate) fn take(&mut self, block: NodeRef<'_>, region: Region, tokens: u64) {
        self.each(block, region, |count| count.take(tokens));
    }

    fn each(&mut self, block: NodeRef<'_>, region: Region, change: impl Fn(&mut Count)) {
        change(&mut self.total);
        change(&mut self.regions[region as usize]);
        let group = |groups: &mut Groups, name: Option<&str>| {
            let name = name.map(str::to_owned);
            let count = groups.entry(name.clone()).or_default();
            change(count);
            if count.blocks == 0 {
                groups.remove(&name);
            }
        };
        group(&mut self.turns, turn_of(block, region));
        group(&mut self.roles, Some(block.role().unwrap_or(default_role(Some(region)))));
        group(&mut self.kinds, block.kind());
        group(&mut self.keys, block.key());
        let tags = block.attribute("tags").and_then(|tags| tags.as_array()).unwrap_or_default();
        let mut tagged = false;
        for (index, tag) in tags.iter().enumerate() {
            // A tag that is there twice is one tag.
            if let Some(tag) = tag.as_str().filter(|_| !tags[..index].contains(tag)) {
                group(&mut self.tags, Some(tag));
                tagged = true;
            }
        }
        if !tagged {
            group(&mut self.tags, None);
        }
    }

    /// Returns the sums in their order.
    pub(crate) fn breakdown(&self, tree: TreeRef<'_>) -> Breakdown {
        let group =
            |name: Option<&str>, count: Count| Group { name: name.map(str::to_owned), count };
        let head = Region::Head.word();
        let turns = tree.region(Region::Seq).children().map(NodeRef::id).chain([head]);
        let without = self.turns.get_key_value(&None).map(|(_, count)| group(None, *count));
        let in_turns = turns.filter_map(|turn| {
            let count = self.turns.get(&Some(turn.to_owned()))?;
            Some(group(Some(turn), *count))
        });
        Breakdown {
            total: self.total,
            regions: Region::ALL
                .into_iter()
                .map(|region| group(Some(region.word()), self.regions[region as usize]))
                .collect(),
            turns: without.into_iter().chain(in_turns).collect(),
            roles: largest_first(&self.roles),
            kinds: largest_first(&self.kinds),
            keys: largest_first(&self.keys),
            tags: largest_first(&self.tags),
        }
    }
}

fn largest_first(groups: &Groups) -> Vec<Group> {
    let mut groups: Vec<Group> =
        groups.iter().map(|(name, count)| Group { name: name.clone(), count: *count }).collect();
    groups.sort_by(|left, right| {
        right.count.tokens.cmp(&left.count.tokens).then_with(|| left.name.cmp(&right.name))
    });
    groups
}

/// Returns the turn that a block stands in; the head by its word.
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
