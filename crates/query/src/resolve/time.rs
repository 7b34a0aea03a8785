//! Resolves `@t-3` to a position in the timeline.

use contextree_selector::{
    Edition, RelativePoint, Selector, Snapshot, SnapshotRange, Span, TimeKind,
};
use contextree_tree::Cycle;

use super::{At, ResolvedRange};
use crate::error::{QueryError, ResolveError, ResolveErrorKind};
use crate::timeline::Timeline;

pub(super) fn resolve<T: Timeline + ?Sized>(
    selector: &Selector,
    timeline: &T,
) -> Result<At, T::Error> {
    let Some(time) = &selector.time else {
        // Switch S1: without a time prefix, edition 0.1 reads the latest commit, later editions the
        // working state.
        if selector.edition == Edition::V0_1 {
            return find(Snapshot::Relative(0), selector.span, timeline).map(At::Snapshot);
        }
        return match timeline.working()? {
            Some(_) => Ok(At::Working),
            None => Err(failure(ResolveErrorKind::NoWorkingState, selector.span)),
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
) -> Result<usize, T::Error> {
    let count = timeline.snapshot_count();
    let position = match snapshot {
        Snapshot::Relative(at) => usize::try_from(at.saturating_neg())
            .ok()
            .and_then(|back| count.checked_sub(back)?.checked_sub(1)),
        Snapshot::Cycle(cycle) => {
            let position = timeline.position_of_cycle(cycle_of(cycle))?;
            let found = timeline.cycle_at(position)?;
            found.filter(|found| i64::from(*found) == cycle).map(|_| position)
        }
    };
    match position {
        Some(position) => Ok(position),
        None => Err(not_found(snapshot, span, timeline)?),
    }
}

/// Returns the cycle nearest to a number in a selector, which may be larger than that of any commit.
fn cycle_of(number: i64) -> Cycle {
    u32::try_from(number.max(0)).map_or(Cycle::MAX, Cycle)
}

fn failure<E: From<QueryError>>(kind: ResolveErrorKind, span: Span) -> E {
    QueryError::from(ResolveError::new(kind, span)).into()
}

#[cold]
fn not_found<T: Timeline + ?Sized>(
    snapshot: Snapshot,
    span: Span,
    timeline: &T,
) -> Result<T::Error, T::Error> {
    let count = timeline.snapshot_count();
    let newest = match count.checked_sub(1) {
        Some(newest) => timeline.cycle_at(newest)?,
        None => None,
    };
    let address = match snapshot {
        Snapshot::Relative(at) if at > 0 => format!("@t+{at}"),
        Snapshot::Relative(at) => format!("@t{at}"),
        Snapshot::Cycle(number) => format!("@c{number}"),
    };
    let retired = match snapshot {
        Snapshot::Relative(at) => at <= 0 && timeline.is_retired(Cycle::ZERO)?,
        Snapshot::Cycle(number) => timeline.is_retired(cycle_of(number))?,
    };
    let oldest = timeline.cycle_at(0)?;
    let kind = ResolveErrorKind::SnapshotNotFound { address, oldest, newest, count, retired };
    Ok(failure(kind, span))
}

fn resolve_range<T: Timeline + ?Sized>(
    range: SnapshotRange,
    span: Span,
    timeline: &T,
) -> Result<ResolvedRange, T::Error> {
    let count = timeline.snapshot_count();
    let (oldest, newest, by_cycle, clipped) = match range {
        SnapshotRange::Relative { from, to } => {
            // The future is not clipped; it is an error (ER-023).
            for point in [from, to] {
                if let RelativePoint::At(at @ 1..) = point {
                    return Err(not_found(Snapshot::Relative(at), span, timeline)?);
                }
            }
            let back = |point| match point {
                RelativePoint::At(at) => {
                    usize::try_from(i64::saturating_neg(at)).unwrap_or(usize::MAX)
                }
                RelativePoint::Oldest => count.saturating_sub(1),
            };
            let (near, far) = (back(from).min(back(to)), back(from).max(back(to)));
            let end = count.saturating_sub(near);
            let start = count.saturating_sub(far.saturating_add(1));
            (start, end, false, far >= count)
        }
        SnapshotRange::Cycles { from, to } => {
            let (low, high) = (from.min(to), from.max(to));
            let start = timeline.position_of_cycle(cycle_of(low))?;
            let end = timeline.position_of_cycle(cycle_of(high.saturating_add(1)))?;
            let last = match end.checked_sub(1) {
                Some(last) => timeline.cycle_at(last)?,
                None => None,
            };
            let has_ends = timeline.cycle_at(start)?.map(i64::from) == Some(low)
                && last.map(i64::from) == Some(high);
            (start, end, true, !has_ends)
        }
    };
    Ok(ResolvedRange { positions: (oldest..newest.max(oldest)).rev().collect(), by_cycle, clipped })
}
