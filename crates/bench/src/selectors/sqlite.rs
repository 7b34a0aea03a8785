//! The peer: the nodes of a snapshot in an SQLite table in memory, with an index for each query.

use std::hint::black_box;

use contextree::{Class, Snapshot};
use rusqlite::{Connection, params};

/// A table of nodes.
pub(super) struct Database(Connection);

impl Database {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let connection = Connection::open_in_memory().expect("memory can be allocated");
        let run = |sql: &str| connection.execute_batch(sql).expect("the statements are valid");
        run(
            "CREATE TABLE node (id TEXT, class TEXT, type TEXT, role TEXT, kind TEXT, ttl INT, content TEXT); BEGIN",
        );
        {
            let mut insert = connection
                .prepare("INSERT INTO node VALUES (?, ?, ?, ?, ?, ?, ?)")
                .expect("the statement is valid");
            for (_, node) in snapshot.view().nodes() {
                let class = if node.class() == Class::Block { "block" } else { "other" };
                let content = node.content().as_text();
                let (node_type, role) = (node.node_type(), node.role());
                insert
                    .execute(params![
                        node.id(),
                        class,
                        node_type,
                        role,
                        node.kind(),
                        node.ttl(),
                        content
                    ])
                    .expect("a node fits into the table");
            }
        }
        run(
            "COMMIT; CREATE UNIQUE INDEX by_id ON node (id); CREATE INDEX by_role ON node (class, role); \
             CREATE INDEX by_ttl ON node (ttl); ANALYZE",
        );
        Database(connection)
    }

    /// Reads the row numbers of the blocks with a role, and returns their count. The index covers
    /// the query.
    pub(super) fn blocks_of(&self, role: &str) -> usize {
        let mut query = self
            .0
            .prepare_cached("SELECT rowid FROM node WHERE class = 'block' AND role = ?")
            .expect("the statement is valid");
        let mut rows = query.query([role]).expect("the query runs");
        let mut count = 0;
        while let Some(row) = rows.next().expect("the rows can be read") {
            black_box(row.get_ref(0).is_ok());
            count += 1;
        }
        count
    }
}
