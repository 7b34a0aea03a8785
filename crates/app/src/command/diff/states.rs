//! Finds the two states that a request names.

use contextree::{Cycle, SnapshotAddress};

use super::DiffRequest;
use crate::workspace::{Address, Compared, Reader, State, StateRef};
use crate::{Advice, Error, Workspace};

/// The states to compare.
pub(super) enum Pair {
    /// Of one context, the older one first.
    OfOne {
        /// The context.
        reader: Reader,
        /// The older state.
        older: State,
        /// The newer state.
        newer: State,
        /// True if they were named in the other order.
        swapped: bool,
        /// True if the range begins before the oldest snapshot.
        clipped: bool,
    },
    /// Of two contexts, in the order of the request.
    OfTwo {
        /// The first.
        left: Side,
        /// The second.
        right: Side,
    },
}

/// A state of a named context.
pub(super) struct Side {
    pub(super) context: String,
    pub(super) state: State,
}

pub(super) fn pair(workspace: &Workspace, request: &DiffRequest) -> Result<Pair, Error> {
    let (from, to) = match (&request.from, &request.to) {
        (Some(Compared { to: Some(_), .. }), Some(_)) => {
            return Err(Error::usage("three states are given, two can be compared")
                .with_advice(Advice::TwoStates("diff")));
        }
        (Some(Compared { from, to: Some(to) }), None) => (Some(from), Some(to)),
        (Some(Compared { from, to: None }), to) => (Some(from), to.as_ref()),
        (None, to) => (None, to.as_ref()),
    };
    let name = |state: Option<&StateRef>| {
        state.and_then(|state| state.context.as_deref()).unwrap_or(workspace.context()).to_owned()
    };
    let other = [from, to].into_iter().flatten().find_map(|state| state.context.as_deref());
    if let Some(other) = other.filter(|_| workspace.is_document()) {
        return Err(Error::usage(format!("a document has no context `{other}`")).with_hint(
            "a state of a document is `@t0`, `@t-3`, `@c12`, `12`, or `@` for the working state",
        ));
    }
    let (left, right) = (name(from), name(to));
    let to = to.map_or(Address::Working, |state| state.at);
    if left != right {
        let side = |context: String, at: Address| {
            let mut reader = workspace.clone().with_context(&*context).read()?;
            Ok::<_, Error>(Side { state: reader.state(at)?, context })
        };
        let at = from.map_or(Address::Working, |state| state.at);
        return Ok(Pair::OfTwo { left: side(left, at)?, right: side(right, to)? });
    }
    let mut reader = match left == workspace.context() {
        true => workspace.read()?,
        false => workspace.clone().with_context(left).read()?,
    };
    // As in selectors, `@t-9..@t-1` begins with the oldest snapshot that there is; a single address is meant exactly.
    let is_range = matches!(&request.from, Some(Compared { to: Some(_), .. }));
    let oldest = (reader.snapshot_count() as u64).checked_sub(1).map(SnapshotAddress::Back);
    let clipped = match (from.map(|state| state.at), oldest) {
        (Some(Address::Snapshot(SnapshotAddress::Back(back))), Some(oldest)) if is_range => {
            Some(oldest).filter(|oldest| *oldest < SnapshotAddress::Back(back))
        }
        _ => None,
    };
    let first = match (clipped, from) {
        (Some(oldest), _) => reader.state(Address::Snapshot(oldest))?,
        (None, Some(state)) => reader.state(state.at)?,
        (None, None) => reader.newest()?,
    };
    let second = reader.state(to)?;
    let swapped = age(&first) > age(&second);
    let (older, newer) = in_order(first, second);
    Ok(Pair::OfOne { reader, older, newer, swapped, clipped: clipped.is_some() })
}

/// Returns the older state first; the working state is the newest of all.
pub(in crate::command) fn in_order(left: State, right: State) -> (State, State) {
    if age(&left) <= age(&right) { (left, right) } else { (right, left) }
}

fn age(state: &State) -> Cycle {
    state.cycle().unwrap_or(Cycle::MAX)
}
