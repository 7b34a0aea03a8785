//! Measures how the cost of a turn grows with the history.

use contextree::{Context, SnapshotAddress};

use crate::measure::{median, time};
use crate::work::turn;

/// One point of the curve.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Turns so far.
    pub turns: usize,
    /// Nanoseconds to add and commit a turn, as a multiple of that at the first point.
    pub append: f64,
    /// Nanoseconds to compare two adjacent snapshots, likewise.
    pub diff: f64,
    /// Nanoseconds to find a node by its id, likewise.
    pub find: f64,
}

impl Point {
    /// Returns the point as a line of JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let Point { turns, append, diff, find } = self;
        format!(
            "{{\"growth\":{{\"turns\":{turns},\"append\":{append:.4},\"diff\":{diff:.4},\"find\":{find:.4}}}}}\n"
        )
    }
}

/// Grows one context to this many turns and measures on the way.
pub fn curve(turns: usize, mut done: impl FnMut(&Point)) -> Vec<Point> {
    let mut context = Context::new();
    let mut points: Vec<Point> = Vec::new();
    let mut first: Option<(f64, f64, f64)> = None;
    let mut next = 1_000;
    let mut number = 0;
    while next <= turns {
        while number < next {
            turn(&mut context, number, 80);
            number += 1;
        }
        let append = median(
            (0..15)
                .map(|_| {
                    time(100, || {
                        for _ in 0..100 {
                            turn(&mut context, number, 80);
                            number += 1;
                        }
                    })
                })
                .collect(),
        );
        let diff = median((0..15).map(|round| adjacent(&context, round)).collect());
        let find = median((0..15).map(|round| lookups(&context, round)).collect());
        let (base_append, base_diff, base_find) = *first.get_or_insert((append, diff, find));
        let point = Point {
            turns: next,
            append: append / base_append,
            diff: diff / base_diff,
            find: find / base_find,
        };
        done(&point);
        points.push(point);
        next = if next.to_string().starts_with('1') { next * 3 } else { next / 3 * 10 };
    }
    points
}

fn adjacent(context: &Context, round: u64) -> f64 {
    time(100, || {
        for back in 0..100 {
            let back = round * 7 + back;
            let diff = context.diff(SnapshotAddress::Back(back), SnapshotAddress::Back(back + 1));
            std::hint::black_box(diff.is_ok());
        }
    })
}

fn lookups(context: &Context, round: u64) -> f64 {
    let view = context.newest().expect("there are commits").view();
    let turns = view.turn_count() as u64;
    let ids: Vec<String> = (0..500)
        .map(|index| format!("seg:{}", (index * 7_919 + round * 104_729) % turns + 1))
        .collect();
    time(ids.len(), || {
        for id in &ids {
            assert!(view.get(id).is_some(), "every turn has its id");
        }
    })
}
