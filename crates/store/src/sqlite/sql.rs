//! Every statement, by name. All are prepared once per connection.

/// A context has the number of its own branch. `h.*`, because a file of an older format that can only be read has no `seal`.
pub(super) const CONTEXT_BY_ID: &str = "SELECT c.id, c.name, c.settings, c.created_ns, h.*
     FROM contexts c JOIN heads h ON h.context = c.id WHERE c.id = ?1";
/// The name is read from the row, not from the index that led to it, so that the two can be compared.
pub(super) const CONTEXT_BY_NAME: &str = "SELECT c.id, c.name, c.settings, c.created_ns, h.*
     FROM contexts c JOIN heads h ON h.context = c.id
     WHERE c.id = (SELECT id FROM contexts WHERE name = ?1)";
pub(super) const CONTEXTS: &str =
    "SELECT c.id, c.name, c.settings, c.created_ns, h.*
     FROM contexts c JOIN heads h ON h.context = c.id WHERE c.name > ?1 OR ?1 IS NULL ORDER BY c.name LIMIT ?2";
pub(super) const CONTEXT_OF_BRANCH: &str = "SELECT id FROM contexts WHERE id = ?1";

pub(super) const NEW_BRANCH: &str = "INSERT INTO branches(parent, upto) VALUES (?1, ?2)";
pub(super) const NEW_CONTEXT: &str =
    "INSERT INTO contexts(id, name, settings, created_ns) VALUES (?1, ?2, ?3, ?4)";
pub(super) const NEW_HEAD: &str =
    "INSERT INTO heads(context, revision, snapshots, updated_ns) VALUES (?1, 0, ?2, ?3)";
pub(super) const SET_HEAD: &str =
    "UPDATE heads SET revision = ?2, snapshots = ?3, updated_ns = ?4, cycle = ?5, digest = ?6, step = ?7, seal = ?8
     WHERE context = ?1";
pub(super) const SET_SEAL: &str = "UPDATE heads SET seal = ?2 WHERE context = ?1";
pub(super) const SET_SETTINGS: &str = "UPDATE contexts SET settings = ?2 WHERE id = ?1";

pub(super) const ADD_COMMIT: &str =
    "INSERT INTO commits(branch, cycle, effects, bodies) VALUES (?1, ?2, ?3, ?4)";
pub(super) const PUT_COMMIT: &str =
    "INSERT INTO commits(branch, cycle, effects, bodies) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (branch, cycle) DO UPDATE SET effects = excluded.effects, bodies = excluded.bodies";
pub(super) const DROP_COMMIT: &str = "DELETE FROM commits WHERE branch = ?1 AND cycle = ?2";
pub(super) const CUT_COMMITS: &str = "DELETE FROM commits WHERE branch = ?1 AND cycle > ?2";
pub(super) const COMMITS: &str = "SELECT cycle, effects, bodies FROM commits WHERE branch = ?1 AND cycle BETWEEN ?2 AND ?3 ORDER BY cycle";
pub(super) const BODIES: &str = "SELECT cycle, bodies FROM commits WHERE branch = ?1 AND cycle BETWEEN ?2 AND ?3 ORDER BY cycle";
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
    "SELECT cycle, tree, bodies FROM checkpoints WHERE branch = ?1 AND cycle <= ?2
     ORDER BY cycle DESC LIMIT 1";
pub(super) const CHECKPOINT_BODIES: &str =
    "SELECT bodies FROM checkpoints WHERE branch = ?1 AND cycle = ?2";

pub(super) const BRANCH: &str = "SELECT parent, upto FROM branches WHERE id = ?1";
pub(super) const PARENT: &str = "SELECT parent FROM branches WHERE id = ?1";
pub(super) const DETACH: &str = "UPDATE branches SET parent = NULL, upto = NULL WHERE id = ?1";
pub(super) const CHILDREN: &str = "SELECT id, upto FROM branches WHERE parent = ?1 ORDER BY id";
pub(super) const DROP_BRANCH: &str = "DELETE FROM branches WHERE id = ?1";

pub(super) const CONTENT_BY_HASH: &str = "SELECT id FROM contents WHERE hash = ?1";
pub(super) const CONTENT: &str = "SELECT data FROM contents WHERE hash = ?1";
pub(super) const ADD_CONTENT: &str = "INSERT INTO contents(hash, data) VALUES (?1, ?2)";
/// A use that is known already changes nothing, unless an earlier commit needs it.
pub(super) const ADD_USE: &str = "INSERT INTO uses(branch, content, cycle) VALUES (?1, ?2, ?3)
     ON CONFLICT (branch, content) DO UPDATE SET cycle = excluded.cycle WHERE excluded.cycle < uses.cycle";
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
    "INSERT INTO side(context, kind, key, value) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (context, kind, key) DO UPDATE SET value = excluded.value";
pub(super) const DROP_SIDE: &str = "DELETE FROM side WHERE context = ?1 AND kind = ?2 AND key = ?3";
pub(super) const SIDE_VALUE: &str =
    "SELECT value FROM side WHERE context = ?1 AND kind = ?2 AND key = ?3";
pub(super) const SIDE: &str = "SELECT kind, key, value FROM side
     WHERE context = ?1 AND (kind = ?2 OR ?2 IS NULL) ORDER BY kind, key";
pub(super) const SIDE_PAGE: &str = "SELECT kind, key, value FROM side
     WHERE context = ?1 AND kind = ?2 AND key >= ?3 AND key < ?5 ORDER BY key LIMIT ?4";
pub(super) const SIDE_PAGE_BACK: &str = "SELECT kind, key, value FROM side
     WHERE context = ?1 AND kind = ?2 AND key >= ?3 AND key < ?5 ORDER BY key DESC LIMIT ?4";
// Without an upper bound ?5 is null, which `IS` keeps in the statement.
pub(super) const SIDE_REST: &str = "SELECT kind, key, value FROM side
     WHERE context = ?1 AND kind = ?2 AND key >= ?3 AND ?5 IS NULL ORDER BY key LIMIT ?4";
pub(super) const SIDE_REST_BACK: &str = "SELECT kind, key, value FROM side
     WHERE context = ?1 AND kind = ?2 AND key >= ?3 AND ?5 IS NULL ORDER BY key DESC LIMIT ?4";
pub(super) const HAS_SIDE: &str =
    "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'side')";

/// What leaves a context's branch ?1 after the cycle ?2 for the branch ?3; and all of it back from ?3 to ?1, with -1 for ?2.
pub(super) const MOVE_COMMITS: &str =
    "UPDATE commits SET branch = ?3 WHERE branch = ?1 AND cycle > ?2";
pub(super) const MOVE_CHECKPOINTS: &str =
    "UPDATE checkpoints SET branch = ?3 WHERE branch = ?1 AND cycle > ?2";
pub(super) const MOVE_CHILDREN: &str =
    "UPDATE branches SET parent = ?3 WHERE parent = ?1 AND upto > ?2 AND id <> ?3";
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
pub(super) const PINS: &str = "SELECT cycle, label FROM pins WHERE context = ?1 ORDER BY cycle";

pub(super) const DROP_CONTEXT: [&str; 6] = [
    EMPTY_JOURNAL,
    "DELETE FROM attempts WHERE context = ?1",
    "DELETE FROM side WHERE context = ?1",
    "DELETE FROM pins WHERE context = ?1",
    "DELETE FROM heads WHERE context = ?1",
    "DELETE FROM contexts WHERE id = ?1",
];
