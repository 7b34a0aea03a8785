//! Measures the scan for all blocks with a role, against the minimal cost of such a scan and
//! against an SQL engine.

use std::hint::black_box;

use contextree::query::find_matches;
use contextree::{Class, Edition, Snapshot};
use contextree_testkit::Rng;

use super::sqlite::Database;
use super::{context, plain, planned};
use crate::measure::{Row, compare, faster, time};
use crate::rows::Scale;

/// A node with interned names, as a hand-written loop would have it: 24 bytes.
#[derive(Clone, Copy, Debug)]
struct Dense {
    node_type: u32,
    role: u32,
    kind: u32,
    ttl: u32,
    parent: u32,
    class: Class,
}

pub(super) fn rows(scale: Scale, take: &mut impl FnMut(Row)) {
    // Five nodes per turn, three of them blocks: 40 % of the blocks are 24 % of the nodes.
    let mut random = Rng::new(7);
    let context = context(scale.large / 5, |turn, place| {
        let role = ["user", "user", "assistant", "tool", "system"][random.index(5)];
        plain(turn, place).role(role)
    });
    let head = context.newest().expect("there are commits");
    let plan = planned(".cb[role='user']", Edition::V0_3);
    let cycle = Some(head.cycle());
    let dense = Interned::of(head);
    let database = Database::of(head);
    let matches = find_matches(&plan, head.view(), cycle).len();
    assert_eq!(matches, dense.blocks_of("user").len(), "the loop finds the same");
    assert_eq!(matches, database.blocks_of("user"), "the peer finds the same");
    let times = 20;
    let ours = || {
        time(times, || {
            for _ in 0..times {
                black_box(find_matches(black_box(&plan), head.view(), cycle));
            }
        })
    };
    take(compare(
        "all blocks with `role='user'` in 100,000 nodes, 24 % of them: against a loop over dense interned rows",
        5.0,
        scale.rounds,
        ours,
        || {
            time(times, || {
                for _ in 0..times {
                    black_box(black_box(&dense).blocks_of("user"));
                }
            })
        },
    ));
    take(faster(
        "the same: against SQLite in memory with indexes",
        5.0,
        scale.rounds,
        ours,
        || {
            time(times, || {
                for _ in 0..times {
                    black_box(database.blocks_of("user"));
                }
            })
        },
    ));
}

/// The lower bound: adjacent rows in document order, with interned names.
struct Interned {
    names: Vec<String>,
    rows: Vec<Dense>,
}

impl Interned {
    fn of(snapshot: &Snapshot) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut number = |name: &str| {
            let known = names.iter().position(|known| known == name);
            let at = known.unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            });
            at as u32
        };
        let mut parents: Vec<u32> = Vec::new();
        let mut rows = Vec::new();
        for (level, node) in snapshot.view().nodes() {
            parents.truncate(level);
            let parent = parents.last().copied().unwrap_or(u32::MAX);
            parents.push(rows.len() as u32);
            rows.push(Dense {
                node_type: number(node.node_type()),
                role: node.role().map_or(u32::MAX, &mut number),
                kind: node.kind().map_or(u32::MAX, &mut number),
                ttl: node.ttl().unwrap_or(u32::MAX),
                parent,
                class: node.class(),
            });
        }
        // All columns are used, so the compiler cannot remove any.
        black_box(rows.iter().map(|row| row.node_type ^ row.kind ^ row.ttl ^ row.parent).max());
        Interned { names, rows }
    }

    /// Returns the row numbers of the blocks with a role.
    fn blocks_of(&self, role: &str) -> Vec<u32> {
        let role = self.names.iter().position(|name| name == role).map_or(0, |at| at as u32);
        let mut found = Vec::with_capacity(self.rows.len());
        for (number, row) in self.rows.iter().enumerate() {
            if row.class == Class::Block && row.role == role {
                found.push(number as u32);
            }
        }
        found
    }
}
