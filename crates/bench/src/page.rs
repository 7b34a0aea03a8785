//! The page `docs/performance.md`, written from what was measured.

use std::fmt::Write as _;

use crate::growth::Point;
use crate::measure::Row;
use crate::table;

/// Returns the page.
#[must_use]
pub fn page(rows: &[Row], heap: &str, points: &[Point]) -> String {
    let mut out = String::from(
        "# Performance\n\n\
         Cost follows the change, not the history. This page is written by `cargo xtask bench`; every number is a ratio between two pieces\n\
         of work that took turns in one process, so that it means the same on any machine. The median of the rounds is given, and the\n\
         smallest and the largest ratio beside it. \u{201c}Large\u{201d} is a context of 100,000 turns (or nodes, where nodes are named),\n\
         \u{201c}small\u{201d} one of 1,000. A turn is one core with three blocks of 120 bytes.\n\n\
         ## Time\n\n",
    );
    out.push_str(&table::markdown(rows));
    out.push_str("\n## Memory\n\n```text\n");
    out.push_str(heap);
    out.push_str(
        "```\n\nEverything is counted: rows, ids, child lists, digests, the snapshot itself; only the texts are taken off.\n\n\
         ## Growth to a million turns\n\n\
         One context, measured on the way; each column against its own value at 1,000 turns.\n\n\
         ![Cost of one more turn against the length of the history](growth.svg)\n\n\
         | turns | append and commit a turn | diff of adjacent snapshots | find a node by id |\n|--:|--:|--:|--:|\n",
    );
    for Point { turns, append, diff, find } in points {
        let _ = writeln!(out, "| {turns} | {append:.2}× | {diff:.2}× | {find:.2}× |");
    }
    out.push_str(
        "\nFinding a node by its id is a probe of a hash table and a look at the row: what grows is the share of both that is not in the\n\
         processor's cache.\n\n\
         ## What is behind the numbers\n\n\
         - **Append, commit.** The new rows are appended to a log; of the child lists only the last run is copied. See\n  `ARCHITECTURE.md`.\n\
         - **Expiry.** Rows hold the commit at which they expire, so no ttl is ever counted down; lists hold the earliest expiry\n  of each run, so nothing else is visited. The nodes that go leave their lists in one pass, and digests\n  stand beside the runs, so that what stands beside them is not fetched. Ten nodes that stand together share the runs that are\n  copied; one list of 100,000 nodes is deeper than one of 1,000; and ten nodes spread evenly over the whole history share\n  nothing, and in a large context none of it is in the cache: this is the dearest layout there is.\n\
         - **Diff.** The rows between two trees of one branch are what changed between them.\n\
         - **Thread.** The renderer keeps what it rendered; an unchanged beginning is not touched.\n\
         - **Traversal.** Rows of a turn lie side by side, in document order.\n",
    );
    out
}
