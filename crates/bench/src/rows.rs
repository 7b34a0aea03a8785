//! Measures the rows of the table.

use std::hint::black_box;

use contextree::canon::Limits;
use contextree::canon::thread::ThreadRenderer;
use contextree::json::{Object, Value};
use contextree::{Context, ContextOptions, Cycle, Profile, SnapshotAddress};
use sha2::{Digest, Sha256};

use crate::measure::{Row, compare, time};
use crate::provider_rows;
use crate::work::{Layout, chat, mortal, text, turn};

/// The sizes of the workloads.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// The number of turns of the large context.
    pub large: usize,
    /// The number of turns of the small one.
    pub small: usize,
    /// The number of rounds of each comparison.
    pub rounds: usize,
}

impl Scale {
    /// The sizes for which the bars are defined.
    pub const FULL: Scale = Scale { large: 100_000, small: 1_000, rounds: 9 };
    /// A tenth of it, for a check that everything runs.
    pub const QUICK: Scale = Scale { large: 10_000, small: 1_000, rounds: 3 };
}

/// Measures every row.
pub fn all(scale: Scale, mut done: impl FnMut(&Row)) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut take = |row: Row| {
        done(&row);
        rows.push(row);
    };
    let mut large = chat(scale.large, 120);
    take(append(&mut large, scale));
    take(diff(&large, scale));
    take(traversal(&large, scale));
    drop(large);
    LAYOUTS.into_iter().for_each(|layout| take(expiry(scale, layout)));
    take(thread(scale));
    take(hash(1 << 10, 2.0, scale));
    take(hash(1 << 20, 1.3, scale));
    let (import, export) = documents(scale);
    take(import);
    take(export);
    take(fork(scale));
    crate::tokens::rows(scale).into_iter().for_each(&mut take);
    provider_rows::all(scale, &mut take);
    crate::selectors::rows(scale, &mut take);
    rows
}

/// Measures only the rows about expiry.
pub fn expiries(scale: Scale, done: impl FnMut(&Row)) -> Vec<Row> {
    LAYOUTS.into_iter().map(|layout| expiry(scale, layout)).inspect(done).collect()
}

/// Measures only the rows about selectors.
pub fn selectors(scale: Scale, mut done: impl FnMut(&Row)) -> Vec<Row> {
    let mut rows = Vec::new();
    crate::selectors::rows(scale, &mut |row| {
        done(&row);
        rows.push(row);
    });
    rows
}

fn append(large: &mut Context, scale: Scale) -> Row {
    let turns = 300;
    let mut number = scale.large;
    compare(
        "append a turn (1 core, 3 blocks) and commit: large against small",
        2.0,
        scale.rounds,
        || {
            time(turns, || {
                for _ in 0..turns {
                    number += 1;
                    turn(large, number, 120);
                }
            })
        },
        || {
            let mut small = chat(scale.small, 120);
            time(turns, || (0..turns).for_each(|number| turn(&mut small, number, 120)))
        },
    )
}

fn diff(large: &Context, scale: Scale) -> Row {
    let small = chat(scale.small, 120);
    let adjacent = |context: &Context| {
        time(200, || {
            for back in 0..200 {
                let diff =
                    context.diff(SnapshotAddress::Back(back), SnapshotAddress::Back(back + 1));
                black_box(diff.is_ok());
            }
        })
    };
    compare(
        "diff of adjacent snapshots: large against small",
        2.0,
        scale.rounds,
        || adjacent(large),
        || adjacent(&small),
    )
}

/// The same fields as a node, in the plainest form.
struct Plain {
    id: String,
    node_type: String,
    role: Option<String>,
    kind: Option<String>,
    content: Option<String>,
    parent: u32,
    offset: i64,
    ttl: Option<u32>,
    priority: i64,
    cycle: Cycle,
    created_at_ns: i64,
    creation_index: u32,
    removable: bool,
    pinned: bool,
}

fn traversal(large: &Context, scale: Scale) -> Row {
    let head = large.newest().expect("there are commits");
    let plain: Vec<Plain> = head
        .view()
        .nodes()
        .map(|(_, node)| Plain {
            id: node.id().to_owned(),
            node_type: node.node_type().to_owned(),
            role: node.role().map(str::to_owned),
            kind: node.kind().map(str::to_owned),
            content: node.content().as_text().map(str::to_owned),
            parent: 0,
            offset: node.offset().as_int().unwrap_or(0),
            ttl: node.ttl(),
            priority: node.priority().as_int().unwrap_or(0),
            cycle: node.cycle(),
            created_at_ns: node.created_at_ns(),
            creation_index: node.creation_index(),
            removable: node.is_removable(),
            pinned: node.is_pinned(),
        })
        .collect();
    let count = plain.len();
    compare(
        "full traversal, per node: against a Vec of structs with the same fields",
        4.0,
        scale.rounds,
        || {
            time(count, || {
                let mut sum = 0_i64;
                for (_, node) in head.view().nodes() {
                    sum = sum
                        .wrapping_add(node.created_at_ns())
                        .wrapping_add(i64::from(node.creation_index()))
                        .wrapping_add(i64::from(node.ttl().unwrap_or(1)))
                        .wrapping_add(i64::from(node.cycle()))
                        .wrapping_add(i64::from(node.is_pinned()));
                }
                black_box(sum);
            })
        },
        || {
            time(count, || {
                let mut sum = 0_i64;
                for node in black_box(&plain) {
                    sum = sum
                        .wrapping_add(node.created_at_ns)
                        .wrapping_add(i64::from(node.creation_index))
                        .wrapping_add(i64::from(node.ttl.unwrap_or(1)))
                        .wrapping_add(i64::from(node.cycle))
                        .wrapping_add(i64::from(node.pinned));
                }
                black_box(sum);
                black_box(plain.first().map(Plain::weight));
            })
        },
    )
}

impl Plain {
    /// Uses the fields that the loop does not, so that the compiler cannot remove them.
    fn weight(&self) -> usize {
        let texts = [&self.role, &self.kind, &self.content];
        self.id.len()
            + self.node_type.len()
            + texts.into_iter().flatten().map(String::len).sum::<usize>()
            + self.parent as usize
            + usize::from(self.removable)
            + usize::from(self.offset == self.priority)
    }
}

const LAYOUTS: [Layout; 3] = [Layout::Together, Layout::OneList, Layout::Scattered];

fn expiry(scale: Scale, layout: Layout) -> Row {
    const COMMITS: usize = 60;
    // A context is measured while it has about the stated number of nodes. A small one allows few
    // commits, so there are several of them, each created just before it is measured, so that it is
    // warm.
    let run = |nodes: usize| {
        let commits = (nodes / 160).clamp(1, COMMITS);
        let contexts = COMMITS / commits;
        let mut taken = 0.0;
        for _ in 0..contexts {
            let mut context = mortal(nodes, commits, layout);
            let mut expired = 0;
            taken += time(commits * contexts, || {
                for _ in 0..commits {
                    expired += context.commit().map_or(0, |report| report.expired.len());
                }
            });
            assert_eq!(expired, commits * 10, "ten nodes expire at each commit");
        }
        taken
    };
    // The bar applies to any ten nodes of a tree.
    let name = match layout {
        Layout::Together => "a commit in which 10 of the nodes expire: large against small",
        Layout::OneList => "the same, all nodes in one list of `^sys`: large against small",
        Layout::Scattered => {
            "the same, the 10 spread evenly over the whole history: large against small"
        }
    };
    compare(name, 2.0, scale.rounds, || run(scale.large), || run(scale.small))
}

fn thread(scale: Scale) -> Row {
    let mut context = chat(scale.large / 10, 300);
    let mut renderer = ThreadRenderer::new();
    let mut number = scale.large;
    if let Some(tree) = context.newest_tree() {
        renderer.render(tree);
    }
    let bytes = context.newest().expect("there are commits").thread();
    let mut copy = vec![0; bytes.len()];
    compare(
        "thread bytes after one more turn at a tenth of the large: against a memcpy of them",
        3.0,
        scale.rounds * 3,
        || {
            number += 1;
            turn(&mut context, number, 300);
            let tree = context.newest_tree().expect("there are commits");
            time(1, || {
                black_box(renderer.render(tree).len());
            })
        },
        || time(1, || black_box(&mut copy).copy_from_slice(black_box(&bytes))),
    )
}

fn hash(length: usize, bar: f64, scale: Scale) -> Row {
    let content = text(0, length);
    let node: Object = [
        ("role", Value::from("user")),
        ("kind", Value::from("text")),
        ("content", Value::from(content.as_str())),
    ]
    .into_iter()
    .collect();
    let times = (32 << 20) / length;
    compare(
        &format!("content hash of {} KiB of text: against SHA-256 of the same bytes", length >> 10),
        bar,
        scale.rounds,
        || {
            time(times, || {
                for _ in 0..times {
                    black_box(contextree::canon::content_hash_of_document(black_box(&node)));
                }
            })
        },
        || {
            time(times, || {
                for _ in 0..times {
                    black_box(Sha256::digest(black_box(content.as_bytes())));
                }
            })
        },
    )
}

fn documents(scale: Scale) -> (Row, Row) {
    // Five nodes per turn.
    let context = chat(scale.large / 5, 120);
    let head = context.newest().expect("there are commits");
    let document = head.export();
    let value: serde_json::Value =
        serde_json::from_slice(&document).expect("an export is valid JSON");
    let import = compare(
        "import of a snapshot of 100,000 nodes: against parsing it as generic JSON",
        2.0,
        scale.rounds,
        || {
            time(1, || {
                let options = ContextOptions { limits: Limits::default(), ..Default::default() };
                let imported = Context::import_snapshot(&document, Profile::Strict, options);
                assert!(imported.is_ok(), "an export can be imported");
            })
        },
        || {
            time(1, || {
                let value = serde_json::from_slice::<serde_json::Value>(&document);
                assert!(value.is_ok(), "an export is valid JSON");
            })
        },
    );
    let export = compare(
        "export of a snapshot of 100,000 nodes: against printing it as generic JSON",
        2.0,
        scale.rounds,
        || {
            time(1, || {
                black_box(head.export().len());
            })
        },
        || {
            time(1, || {
                black_box(serde_json::to_vec(&value).map_or(0, |bytes| bytes.len()));
            })
        },
    );
    (import, export)
}

fn fork(scale: Scale) -> Row {
    let (large, small) = (chat(scale.large / 10, 40), chat(scale.small / 10, 40));
    let fork = |context: &Context| {
        let middle = SnapshotAddress::Back(context.history().len() as u64 / 2);
        time(200, || {
            for _ in 0..200 {
                black_box(context.fork(middle).is_ok());
            }
        })
    };
    compare(
        "fork at the middle of the history: large against small",
        2.0,
        scale.rounds,
        || fork(&large),
        || fork(&small),
    )
}
