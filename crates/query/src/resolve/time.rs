//! Resolves `@t-3` to a position in the timeline.

use contextree_selector::{Edition, Selector, Snapshot, SnapshotRange, Span, TimeKind, TurnPoint};

use super::{At, ResolvedRange};
use crate::error::{ResolveError, ResolveErrorKind};
use crate::timeline::Timeline;

pub(super) fn resolve<T: Timeline + ?Sized>(
    selector: &Selector,
    timeline: &T,
) -> Result<At, ResolveError> {
    let Some(time) = &selector.time else {
        // Switch S1: without a time prefix, edition 0.1 reads the latest commit, later editions the
        // working state.
        if selector.edition == Edition::V0_1 {
            return find(Snapshot::Turn(0), selector.span, timeline).map(At::Snapshot);
        }
        return match timeline.working() {
            Some(_) => Ok(At::Working),
            None => Err(ResolveError::new(ResolveErrorKind::NoWorkingState, selector.span)),
        };
    };
    match time.kind {
        TimeKind::At(snapshot) => find(snapshot, time.span, timeline).map(At::Snapshot),
        TimeKind::All => Ok(At::Every((0..timeline.snapshot_count()).rev().collect())),
        TimeKind::Range(range) => resolve_range(range, time.span, timeline).map(At::Range),
    }
}

fn find<T: Timeline + ?Sized>(
    snapshot: Snapshot,
    span: Span,
    timeline: &T,
) -> Result<usize, ResolveError> {
    let count = timeline.snapshot_count();
    let position = match snapshot {
        Snapshot::Turn(turn) => usize::try_from(turn.saturating_neg())
            .ok()
            .and_then(|back| count.checked_sub(back)?.checked_sub(1)),
        Snapshot::Cycle(cycle) => {
            let position = timeline.position_of_cycle(cycle);
            let found = timeline.snapshot(position);
            found.filter(|moment| i64::from(moment.cycle) == cycle).map(|_| position)
        }
    };
    position.ok_or_else(|| not_found(snapshot, span, timeline))
}

#[cold]
fn not_found<T: Timeline + ?Sized>(snapshot: Snapshot, span: Span, timeline: &T) -> ResolveError {
    let count = timeline.snapshot_count();
    let cycle = |position: usize| timeline.snapshot(position).map(|moment| moment.cycle);
    let address = match snapshot {
        Snapshot::Turn(turn) if turn > 0 => format!("@t+{turn}"),
        Snapshot::Turn(turn) => format!("@t{turn}"),
        Snapshot::Cycle(number) => format!("@c{number}"),
    };
    let kind = ResolveErrorKind::SnapshotNotFound {
        address,
        oldest: cycle(0),
        newest: count.checked_sub(1).and_then(cycle),
        count,
    };
    ResolveError::new(kind, span)
}

fn resolve_range<T: Timeline + ?Sized>(
    range: SnapshotRange,
    span: Span,
    timeline: &T,
) -> Result<ResolvedRange, ResolveError> {
    let count = timeline.snapshot_count();
    let (oldest, newest, by_cycle, clipped) = match range {
        SnapshotRange::Turns { from, to } => {
            // The future is not clipped; it is an error (ER-023).
            for point in [from, to] {
                if let TurnPoint::At(turn @ 1..) = point {
                    return Err(not_found(Snapshot::Turn(turn), span, timeline));
                }
            }
            let back = |point| match point {
                TurnPoint::At(turn) => {
                    usize::try_from(i64::saturating_neg(turn)).unwrap_or(usize::MAX)
                }
                TurnPoint::Oldest => count.saturating_sub(1),
            };
            let (near, far) = (back(from).min(back(to)), back(from).max(back(to)));
            let end = count.saturating_sub(near);
            let start = count.saturating_sub(far.saturating_add(1));
            (start, end, false, far >= count)
        }
        SnapshotRange::Cycles { from, to } => {
            let (low, high) = (from.min(to), from.max(to));
            let start = timeline.position_of_cycle(low);
            let end = timeline.position_of_cycle(high.saturating_add(1));
            let cycle =
                |position: usize| timeline.snapshot(position).map(|moment| i64::from(moment.cycle));
            let has_ends =
                cycle(start) == Some(low) && end.checked_sub(1).and_then(cycle) == Some(high);
            (start, end, true, !has_ends)
        }
    };
    Ok(ResolvedRange { positions: (oldest..newest.max(oldest)).rev().collect(), by_cycle, clipped })
}
