//! Chains as an automaton that reads the path from the root to a node, one spot at a time.
//!
//! A state is the set of steps that may match next: below the spot, or directly below it. One pass
//! over a tree in document order decides every node; the path to a single node decides that node.

use contextree_tree::{Hint, NodeRef, TreeRef};

use super::condition::Env;
use super::pick::Picked;
use super::scan::Scan;
use super::spot::{Spot, has_elided_core, is_zoned, lies_in_core};
use crate::depth::Axis;
use crate::plan::asks_place;
use crate::resolve::{Chain, Relation, Step};

/// Maximum number of steps in an automaton: a state is a bit set in a `u64`, so that advancing all
/// chains by one node is a few instructions. Longer selectors are evaluated with a table.
pub(crate) const MAX_STEPS: usize = u64::BITS as usize;

/// The steps that may match next, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// Anywhere below the spot.
    pub(crate) below: u64,
    /// Directly below it.
    pub(crate) child: u64,
}

impl State {
    fn and(self, other: State) -> State {
        State { below: self.below | other.below, child: self.child | other.child }
    }

    pub(crate) fn is_dead(self) -> bool {
        self.below | self.child == 0
    }
}

/// The steps of chains, at most [`MAX_STEPS`] in total. The walk decides which nodes picks choose.
#[derive(Debug)]
pub(crate) struct Automaton<'q> {
    steps: Vec<&'q Step>,
    /// The steps' conditions, prepared for one tree; `None` if no node of the tree can satisfy
    /// them.
    scans: Vec<Option<Scan<'q>>>,
    /// The first step of each chain.
    starts: u64,
    /// The last step of each chain.
    lasts: u64,
    /// Steps that select a part of a turn.
    zones: u64,
    /// Steps that an elided core can match.
    cores: u64,
    /// Steps whose successor must be directly below them.
    parents: u64,
    /// Steps with picks.
    picks: u64,
    /// Whether a step depends on the position of a node.
    asks_place: bool,
}

impl<'q> Automaton<'q> {
    /// Returns the automaton of chains, from step `from` of each on, for nodes of one tree; `None`
    /// if they are too long or have picks.
    pub(crate) fn new(chains: &'q [Chain], from: usize, tree: TreeRef<'_>) -> Option<Self> {
        Self::with_picks(chains, from, tree).filter(|automaton| automaton.picks == 0)
    }

    /// Like [`Automaton::new`], but the chains may have picks.
    pub(crate) fn with_picks(chains: &'q [Chain], from: usize, tree: TreeRef<'_>) -> Option<Self> {
        let mut automaton = Automaton {
            steps: Vec::new(),
            scans: Vec::new(),
            starts: 0,
            lasts: 0,
            zones: 0,
            cores: 0,
            parents: 0,
            picks: 0,
            asks_place: false,
        };
        for chain in chains {
            let steps = chain.steps.get(from..)?;
            if automaton.steps.len() + steps.len() > MAX_STEPS {
                return None;
            }
            for (index, step) in steps.iter().enumerate() {
                let bit = 1 << automaton.steps.len();
                automaton.picks |= if step.compound.has_picks() { bit } else { 0 };
                automaton.starts |= if index == 0 { bit } else { 0 };
                automaton.zones |= if step.is_zone { bit } else { 0 };
                match steps.get(index + 1) {
                    None => automaton.lasts |= bit,
                    Some(next) => {
                        automaton.parents |= if next.relation == Relation::Child { bit } else { 0 };
                        automaton.cores |= if step.compound.accepts_core() { bit } else { 0 };
                    }
                }
                automaton.asks_place |= step.compound.conditions().any(asks_place);
                automaton.steps.push(step);
                automaton.scans.push(Scan::new(step.compound.conditions(), tree));
            }
        }
        Some(automaton)
    }

    /// Returns the state above the root: every chain may begin anywhere.
    pub(crate) fn start(&self) -> State {
        State { below: self.starts, child: 0 }
    }

    /// Returns the state of a spot that the step before the first one has matched.
    pub(crate) fn start_below(&self, relation: Relation) -> State {
        match relation {
            Relation::Descendant => State { below: self.starts, child: 0 },
            Relation::Child => State { below: 0, child: self.starts },
        }
    }

    /// Returns whether zones or elided cores must be considered.
    pub(crate) fn has_zones_or_cores(&self) -> bool {
        self.zones | self.cores != 0
    }

    /// Advances to a spot; returns its state and whether it matches a last step.
    #[inline]
    pub(crate) fn enter(
        &self,
        from: State,
        spot: &Spot<'_>,
        parent_is_zoned: bool,
        env: &Env<'_>,
    ) -> (State, bool) {
        self.enter_picked(from, spot, parent_is_zoned, env, &[])
    }

    /// Like [`Automaton::enter`], but with the nodes picked among the spot and its siblings.
    #[inline]
    pub(super) fn enter_picked(
        &self,
        from: State,
        spot: &Spot<'_>,
        parent_is_zoned: bool,
        env: &Env<'_>,
        picked: &[Picked<'_>],
    ) -> (State, bool) {
        let mut open = from.below | from.child;
        let mut tried = 0;
        let mut state = State { below: from.below, child: 0 };
        let mut is_match = false;
        // A zone opens its successor for the same spot. The successor has a higher bit, so the loop
        // still reaches it.
        while open & !tried != 0 {
            let index = (open & !tried).trailing_zeros();
            let bit = 1_u64 << index;
            tried |= bit;
            let index = index as usize;
            if self.zones & bit != 0 {
                if parent_is_zoned && self.holds(index, spot, env, picked) {
                    open |= bit << 1;
                    state.below |= bit << 1;
                }
            } else if (!spot.is_core || self.cores & bit != 0)
                && self.holds(index, spot, env, picked)
            {
                if self.lasts & bit != 0 {
                    is_match = true;
                } else if self.parents & bit != 0 {
                    state.child |= bit << 1;
                } else {
                    state.below |= bit << 1;
                }
            }
        }
        env.charge(1 + tried.count_ones() as usize);
        (state, is_match)
    }

    #[inline]
    fn holds(&self, index: usize, spot: &Spot<'_>, env: &Env<'_>, picked: &[Picked<'_>]) -> bool {
        if self.picks & 1 << index != 0 {
            return picked.iter().any(|each| each.step == index && each.node == spot.node);
        }
        if spot.is_core {
            return self.steps[index].compound.holds(spot, env);
        }
        self.scans[index].as_ref().is_some_and(|scan| scan.holds(spot, env))
    }

    /// Returns a hint that excludes subtrees without matches; `None` if there can be no match at
    /// all.
    pub(crate) fn hint(&self) -> Option<Hint> {
        let mut lasts = (0..self.steps.len()).filter(|index| self.lasts & 1 << index != 0);
        match (lasts.next(), lasts.next()) {
            (Some(last), None) => self.scans[last].as_ref().map(Scan::hint),
            _ => Some(Hint::default()),
        }
    }

    /// Returns whether the names of a node allow it to match a last step.
    fn may_end_in(&self, node: NodeRef<'_>) -> bool {
        let mut lasts = (0..self.steps.len()).filter(|index| self.lasts & 1 << index != 0);
        lasts.any(|last| self.scans[last].as_ref().is_some_and(|scan| scan.names_hold(node)))
    }

    /// Returns whether a step depends on the position of a node.
    pub(crate) fn asks_place(&self) -> bool {
        self.asks_place
    }

    /// Returns the steps with picks that may match next, with their numbers.
    pub(super) fn open_picks(&self, state: State) -> impl Iterator<Item = (usize, &'q Step)> {
        let open = (state.below | state.child) & self.picks;
        let steps = self.steps.iter().enumerate();
        steps.filter(move |(index, _)| open & 1 << index != 0).map(|(index, step)| (index, *step))
    }

    /// Returns whether all steps that may match next have picks, and can match only the picked
    /// nodes and what is below them.
    pub(super) fn opens_picks_only(&self, state: State, node: NodeRef<'_>) -> bool {
        (state.below | state.child) & !self.picks == 0
            && (state.below == 0
                || (!node.may_have_inner_turns()
                    && self
                        .open_picks(State { below: state.below, child: 0 })
                        .all(|(_, step)| step.compound.is_turn())))
    }

    /// Returns whether a step has picks.
    pub(super) fn has_picks(&self) -> bool {
        self.picks != 0
    }

    /// Returns the state for the children of a spot.
    pub(crate) fn descend(&self, spot: &Spot<'_>, state: State, env: &Env<'_>) -> Descent {
        let mut descent = Descent { state, core: None, is_zoned: false };
        if self.has_zones_or_cores() {
            descent.is_zoned = is_zoned(spot.node);
            let may_meet_core = (state.below | state.child) & (self.cores | self.zones) != 0;
            if descent.is_zoned && may_meet_core && has_elided_core(spot.node) {
                descent.core = Some(self.enter(state, &spot.core(), true, env).0);
            }
        }
        descent
    }

    /// Returns whether a node matches. Only the path from the root is read.
    pub(crate) fn matches<'t>(&self, node: NodeRef<'t>, axis: &Axis<'t>, env: &Env<'_>) -> bool {
        // Names rule out most nodes before their paths are looked up.
        if !self.may_end_in(node) {
            return false;
        }
        let mut descent = Descent { state: self.start(), core: None, is_zoned: false };
        let mut is_match = false;
        for spot in Spot::path_to(node, axis, self.asks_place) {
            let from = descent.state_for(spot.node);
            let (state, matched) = self.enter(from, &spot, descent.is_zoned, env);
            is_match = matched;
            descent = self.descend(&spot, state, env);
        }
        is_match
    }
}

/// The states for the children of a spot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descent {
    pub(super) state: State,
    pub(super) core: Option<State>,
    pub(crate) is_zoned: bool,
}

impl Descent {
    /// No child can match.
    pub(crate) const DEAD: Descent =
        Descent { state: State { below: 0, child: 0 }, core: None, is_zoned: false };

    /// Returns the state for one child: blocks in an elided core are below both the core and the
    /// turn.
    #[inline]
    pub(crate) fn state_for(&self, child: NodeRef<'_>) -> State {
        match self.core {
            Some(core) if lies_in_core(child) => self.state.and(core),
            _ => self.state,
        }
    }

    /// Returns whether nothing below can match.
    pub(crate) fn is_dead(&self) -> bool {
        self.state.is_dead() && self.core.is_none_or(State::is_dead)
    }
}
