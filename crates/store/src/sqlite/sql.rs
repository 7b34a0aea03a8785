//! Every statement, by name. All are prepared once per connection.

/// A context has the number of its own branch. `h.*`, because a file of an older format that can only be read has no `seal`.
pub(super) const CONTEXT_BY_ID: &str = "SELECT c.id, c.name, c.settings, c.created_ns, h.*
     FROM contexts c JOIN heads h ON h.context = c.id WHERE c.id = ?1";
/// The name is read from the row, not from the index that led to it, so that the two can be compared.
pub(super) const CONTEXT_BY_NAME: &str = "SELECT c.id, c.name, c.settings, c.created_ns, h.*
     FROM contexts c JOIN heads h ON h.context = c.id
     WHERE c.id = (SELECT id FROM contexts WHERE name = ?1)";
/// Answered from the index alone, so that it finds an entry that leads to no row.
pub(super) const ID_BY_NAME: &str = "SELECT id FROM contexts WHERE name = ?1";
/// A context without a head is not left out: its columns are null, which is damage. No name is empty, so that every name comes after the empty
/// text; an `OR` instead would read all names before the first one.
pub(super) const CONTEXTS: &str =
    "SELECT c.id, c.name, c.settings, c.created_ns, h.*
     FROM contexts c LEFT JOIN heads h ON h.context = c.id WHERE c.name > coalesce(?1, '') ORDER BY c.name LIMIT ?2";
/// The same with the count of all contexts, which belongs to the same moment because it is one statement.
pub(super) const CONTEXTS_AND_TOTALS: &str =
    "SELECT c.id, c.name, c.settings, c.created_ns, h.*, (SELECT contexts FROM totals WHERE id = 1)
     FROM contexts c LEFT JOIN heads h ON h.context = c.id WHERE c.name > coalesce(?1, '') ORDER BY c.name LIMIT ?2";
pub(super) const NAMES: &str = "SELECT id, name FROM contexts ORDER BY name";
pub(super) const TOTALS: &str = "SELECT contexts FROM totals WHERE id = 1";
pub(super) const SET_TOTALS: &str = "INSERT INTO totals(id, contexts) VALUES (1, ?1)
     ON CONFLICT (id) DO UPDATE SET contexts = excluded.contexts";
pub(super) const CONTEXTS_WITHIN: &str = "SELECT c.id, c.name, c.settings, c.created_ns, h.*
     FROM contexts c LEFT JOIN heads h ON h.context = c.id
     WHERE c.name >= ?1 AND c.name < ?2 ORDER BY c.name LIMIT ?3";
pub(super) const CONTEXT_OF_BRANCH: &str = "SELECT id FROM contexts WHERE id = ?1";

pub(super) const NEW_BRANCH: &str = "INSERT INTO branches(parent, upto) VALUES (?1, ?2)";
pub(super) const NEW_CONTEXT: &str =
    "INSERT INTO contexts(id, name, settings, created_ns) VALUES (?1, ?2, ?3, ?4)";
pub(super) const NEW_HEAD: &str =
    "INSERT INTO heads(context, revision, snapshots, updated_ns) VALUES (?1, 0, ?2, ?3)";
pub(super) const SET_HEAD: &str =
    "UPDATE heads SET revision = ?2, snapshots = ?3, updated_ns = ?4, cycle = ?5, digest = ?6, step = ?7, seal = ?8
     WHERE context = ?1";
pub(super) const OLD_SEALS: &str = "SELECT context, seal FROM heads";
pub(super) const SET_SEAL: &str = "UPDATE heads SET seal = ?2 WHERE context = ?1";
pub(super) const SET_SETTINGS: &str = "UPDATE contexts SET settings = ?2 WHERE id = ?1";

pub(super) const ADD_COMMIT: &str =
    "INSERT INTO commits(branch, cycle, effects, bodies) VALUES (?1, ?2, ?3, ?4)";
pub(super) const PUT_COMMIT: &str =
    "INSERT INTO commits(branch, cycle, effects, bodies) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (branch, cycle) DO UPDATE SET effects = excluded.effects, bodies = excluded.bodies";
pub(super) const DROP_COMMIT: &str = "DELETE FROM commits WHERE branch = ?1 AND cycle = ?2";
pub(super) const CUT_COMMITS: &str = "DELETE FROM commits WHERE branch = ?1 AND cycle > ?2";
/// The index is a table of its own here, so that `branch` and `cycle` are read from the row that it leads to, and can be compared.
pub(super) const COMMITS: &str = "SELECT t.branch, i.cycle, t.cycle, t.bodies, t.effects FROM commits i LEFT JOIN commits t ON t.id = i.id
     WHERE i.branch = ?1 AND i.cycle BETWEEN ?2 AND ?3 ORDER BY i.cycle";
pub(super) const BODIES: &str =
    "SELECT t.branch, i.cycle, t.cycle, t.bodies FROM commits i LEFT JOIN commits t ON t.id = i.id
     WHERE i.branch = ?1 AND i.cycle BETWEEN ?2 AND ?3 ORDER BY i.cycle";
/// Both are answered from indexes alone: the rows with their blobs are not touched.
pub(super) const COUNT: &str =
    "SELECT (SELECT count(*) FROM commits WHERE branch = ?1 AND cycle <= ?2)
          - (SELECT count(*) FROM commits WHERE branch = ?1 AND cycle <= ?2 AND effects IS NULL)";
pub(super) const HAS_SNAPSHOT: &str =
    "SELECT EXISTS (SELECT 1 FROM commits WHERE branch = ?1 AND cycle = ?2 AND effects IS NOT NULL)
         OR EXISTS (SELECT 1 FROM checkpoints WHERE branch = ?1 AND cycle = ?2)";

pub(super) const ADD_CHECKPOINT: &str =
    "INSERT INTO checkpoints(branch, cycle, tree, bodies) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (branch, cycle) DO NOTHING";
pub(super) const PUT_CHECKPOINT: &str =
    "INSERT INTO checkpoints(branch, cycle, tree, bodies) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (branch, cycle) DO UPDATE SET tree = excluded.tree, bodies = excluded.bodies";
pub(super) const DROP_CHECKPOINT: &str = "DELETE FROM checkpoints WHERE branch = ?1 AND cycle = ?2";
pub(super) const CUT_CHECKPOINTS: &str = "DELETE FROM checkpoints WHERE branch = ?1 AND cycle > ?2";
pub(super) const CHECKPOINT: &str =
    "SELECT t.branch, i.cycle, t.cycle, t.bodies, t.tree FROM checkpoints i LEFT JOIN checkpoints t ON t.id = i.id
     WHERE i.branch = ?1 AND i.cycle <= ?2 ORDER BY i.cycle DESC LIMIT 1";
pub(super) const CHECKPOINT_BODIES: &str =
    "SELECT t.branch, i.cycle, t.cycle, t.bodies FROM checkpoints i LEFT JOIN checkpoints t ON t.id = i.id
     WHERE i.branch = ?1 AND i.cycle = ?2";

/// `*`, because a file of an older format that can only be read has no `seal`.
pub(super) const BRANCH: &str = "SELECT * FROM branches WHERE id = ?1";
pub(super) const BRANCHES: &str = "SELECT id, parent, upto FROM branches";
pub(super) const SET_BRANCH_CHECK: &str = "UPDATE branches SET seal = ?2 WHERE id = ?1";
pub(super) const PARENT: &str = "SELECT parent FROM branches WHERE id = ?1";
pub(super) const DETACH: &str =
    "UPDATE branches SET parent = NULL, upto = NULL, seal = ?2 WHERE id = ?1";
pub(super) const CHILDREN: &str = "SELECT id, upto FROM branches WHERE parent = ?1 ORDER BY id";
pub(super) const DROP_BRANCH: &str = "DELETE FROM branches WHERE id = ?1";

pub(super) const CONTENT_BY_HASH: &str = "SELECT id FROM contents WHERE hash = ?1";
pub(super) const CONTENT: &str = "SELECT data FROM contents WHERE hash = ?1";
pub(super) const ADD_CONTENT: &str = "INSERT INTO contents(hash, data) VALUES (?1, ?2)";
/// A use that is known already changes nothing, unless an earlier commit needs it.
pub(super) const ADD_USE: &str = "INSERT INTO uses(branch, content, cycle) VALUES (?1, ?2, ?3)
     ON CONFLICT (branch, content) DO UPDATE SET cycle = excluded.cycle WHERE excluded.cycle < uses.cycle";
pub(super) const USERS: &str =
    "SELECT branch FROM uses WHERE content = (SELECT id FROM contents WHERE hash = ?1)";
pub(super) const USES: &str = "SELECT content FROM uses WHERE branch = ?1";
pub(super) const DROP_USE: &str = "DELETE FROM uses WHERE branch = ?1 AND content = ?2";
pub(super) const CUT_USES: &str =
    "DELETE FROM uses WHERE branch = ?1 AND cycle > ?2 RETURNING content";
pub(super) const DROP_UNUSED: &str = "DELETE FROM contents
     WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM uses WHERE content = ?1)";

pub(super) const ADD_JOURNAL: &str =
    "INSERT INTO journal(context, revision, data) VALUES (?1, ?2, ?3)";
pub(super) const ANY_JOURNAL: &str = "SELECT 1 FROM journal WHERE context = ?1 LIMIT 1";
pub(super) const EMPTY_JOURNAL: &str = "DELETE FROM journal WHERE context = ?1";
/// One statement, so that the revision is the one that the rows belong to.
pub(super) const JOURNAL: &str = "SELECT j.revision, j.data, h.* FROM heads h
     LEFT JOIN journal j ON j.context = h.context WHERE h.context = ?1 ORDER BY j.revision";
pub(super) const JOURNAL_ROWS: &str =
    "SELECT revision, data FROM journal WHERE context = ?1 ORDER BY revision";

pub(super) const SET_ATTEMPT: &str =
    "UPDATE attempts SET record = ?3 WHERE context = ?1 AND attempt = ?2";
pub(super) const ADD_ATTEMPT: &str =
    "INSERT INTO attempts(context, attempt, record) VALUES (?1, ?2, ?3)";
pub(super) const ATTEMPTS: &str = "SELECT a.id, a.attempt, a.record, h.* FROM heads h
     LEFT JOIN attempts a ON a.context = h.context WHERE h.context = ?1 ORDER BY a.id";
pub(super) const ATTEMPT_PLACES: &str =
    "SELECT id, attempt FROM attempts WHERE context = ?1 ORDER BY id";

pub(super) const PUT_SIDE: &str =
    "INSERT INTO side(context, kind, key, sum, value) VALUES (?1, ?2, ?3, ?4, ?5)
     ON CONFLICT (context, kind, key) DO UPDATE SET sum = excluded.sum, value = excluded.value";
pub(super) const DROP_SIDE: &str = "DELETE FROM side WHERE context = ?1 AND kind = ?2 AND key = ?3";
pub(super) const SIDE_SUM: &str =
    "SELECT sum FROM side WHERE context = ?1 AND kind = ?2 AND key = ?3";
pub(super) const SIDE_SUMS: &str = "SELECT kind, key, sum, context FROM side WHERE context = ?1";
pub(super) const SIDE_VALUE: &str =
    "SELECT kind, key, value, sum FROM side WHERE context = ?1 AND kind = ?2 AND key = ?3";
pub(super) const SIDE: &str = "SELECT kind, key, value, sum FROM side
     WHERE context = ?1 ORDER BY kind, key";
pub(super) const SIDE_OF_KIND: &str = "SELECT kind, key, value, sum FROM side
     WHERE context = ?1 AND kind = ?2 ORDER BY key";
pub(super) const SIDE_PAGE: &str = "SELECT kind, key, value, sum FROM side
     WHERE context = ?1 AND kind = ?2 AND key >= ?3 AND key < ?5 ORDER BY key LIMIT ?4";
pub(super) const SIDE_PAGE_BACK: &str = "SELECT kind, key, value, sum FROM side
     WHERE context = ?1 AND kind = ?2 AND key >= ?3 AND key < ?5 ORDER BY key DESC LIMIT ?4";
// Without an upper bound ?5 is null, which `IS` keeps in the statement.
pub(super) const SIDE_REST: &str = "SELECT kind, key, value, sum FROM side
     WHERE context = ?1 AND kind = ?2 AND key >= ?3 AND ?5 IS NULL ORDER BY key LIMIT ?4";
pub(super) const SIDE_REST_BACK: &str = "SELECT kind, key, value, sum FROM side
     WHERE context = ?1 AND kind = ?2 AND key >= ?3 AND ?5 IS NULL ORDER BY key DESC LIMIT ?4";
/// In a file of an older format that can only be read, rows have no check.
pub(super) const SUM: &str = "value, sum FROM";
pub(super) const NO_SUM: &str = "value, NULL FROM";
pub(super) const OLD_SIDE: &str = "SELECT context, kind, key, value FROM old_side";
pub(super) const DROP_OLD_SIDE: &str = "DROP TABLE old_side";

/// What leaves a context's branch ?1 after the cycle ?2 for the branch ?3; and all of it back from ?3 to ?1, with -1 for ?2.
pub(super) const MOVE_COMMITS: &str =
    "UPDATE commits SET branch = ?3 WHERE branch = ?1 AND cycle > ?2";
pub(super) const MOVE_CHECKPOINTS: &str =
    "UPDATE checkpoints SET branch = ?3 WHERE branch = ?1 AND cycle > ?2";
pub(super) const MOVE_CHILDREN: &str = "UPDATE branches SET parent = ?3 WHERE parent = ?1 AND upto > ?2 AND id <> ?3 RETURNING id, upto";
pub(super) const MOVE_PINS: &str =
    "UPDATE OR REPLACE pins SET context = ?3 WHERE context = ?1 AND cycle > ?2";
pub(super) const COPY_USES: &str = "INSERT INTO uses(branch, content, cycle)
     SELECT ?2, content, cycle FROM uses WHERE branch = ?1 ON CONFLICT (branch, content) DO NOTHING";
pub(super) const DROP_USES: &str = "DELETE FROM uses WHERE branch = ?1";
pub(super) const MOVE_ATTEMPT: &str =
    "UPDATE attempts SET context = ?3 WHERE context = ?1 AND attempt = ?2";
pub(super) const MOVE_ATTEMPTS: &str =
    "UPDATE OR IGNORE attempts SET context = ?2 WHERE context = ?1";
pub(super) const ANY_AFTER: &str = "SELECT 1 FROM commits WHERE branch = ?1 AND cycle > ?2 LIMIT 1";
pub(super) const RENAME: &str = "UPDATE contexts SET name = ?2 WHERE id = ?1";

pub(super) const PUT_PIN: &str = "INSERT INTO pins(context, cycle, label) VALUES (?1, ?2, ?3)
     ON CONFLICT (context, cycle) DO UPDATE SET label = excluded.label";
pub(super) const UNPIN: &str = "DELETE FROM pins WHERE context = ?1 AND cycle = ?2";
pub(super) const PIN_ROWS: &str = "SELECT cycle, label FROM pins WHERE context = ?1";
pub(super) const PIN_LABEL: &str = "SELECT label FROM pins WHERE context = ?1 AND cycle = ?2";
pub(super) const PINS: &str = "SELECT p.cycle, p.label, h.* FROM heads h
     LEFT JOIN pins p ON p.context = h.context WHERE h.context = ?1 ORDER BY p.cycle";
/// The head alone, for its tally.
pub(super) const HEAD: &str = "SELECT * FROM heads WHERE context = ?1";

pub(super) const DROP_CONTEXT: [&str; 6] = [
    EMPTY_JOURNAL,
    "DELETE FROM attempts WHERE context = ?1",
    "DELETE FROM side WHERE context = ?1",
    "DELETE FROM pins WHERE context = ?1",
    "DELETE FROM heads WHERE context = ?1",
    "DELETE FROM contexts WHERE id = ?1",
];
