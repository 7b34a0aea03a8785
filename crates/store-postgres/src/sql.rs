//! The statements, with the schema's name in them; each text is made once per store and prepared once per connection.

use std::fmt::Write as _;

use contextree_store::{
    BranchId, CALL_KIND, ContextId, ContextRow, Cycle, Head, Revision, Step, StoreError,
};
use tokio_postgres::Row;

use crate::error::Fault;
use crate::tally;

/// How many keys of steps a context remembers, the newest first.
pub(crate) const KEYS: usize = 8;

/// The columns of a context, in the order that [`context`] reads.
pub(crate) const CONTEXT: &str = "id, name, branch, revision, head_cycle, head_digest, snapshots, settings, created_ns, written_ns";

/// Which parts a step has: each combination has a statement of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) commits: Number,
    pub(crate) head: bool,
    pub(crate) journal: bool,
    pub(crate) contents: bool,
    pub(crate) attempts: bool,
    pub(crate) settings: bool,
    /// The journal is emptied without commits.
    pub(crate) reset: bool,
    /// Side records are written.
    pub(crate) side: bool,
    /// Side records are written or deleted, so their count changes.
    pub(crate) side_count: bool,
}

/// None, one or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    None,
    One,
    Many,
}

impl Shape {
    /// Returns the shape of a step.
    pub(crate) fn of(step: &Step) -> Shape {
        Shape {
            commits: match step.commits.len() {
                0 => Number::None,
                1 => Number::One,
                _ => Number::Many,
            },
            head: step.head.is_some(),
            journal: step.journal.is_some(),
            contents: !step.contents.is_empty(),
            attempts: !step.attempts.is_empty(),
            settings: step.settings.is_some(),
            reset: step.reset_journal,
            side: step.side.iter().any(|change| change.value.is_some()),
            side_count: !step.side.is_empty(),
        }
    }

    /// True if the journal is emptied.
    pub(crate) fn empties(self) -> bool {
        self.commits != Number::None || self.reset
    }
}

/// Numbers the parameters of a statement as they come.
struct Parameters(usize);

impl Parameters {
    fn next(&mut self) -> String {
        self.0 += 1;
        format!("${}", self.0)
    }
}

/// Returns the statement that takes a step: all of it, if the context's revision is the expected one, or none. One round trip, one
/// transaction. No table is changed twice in it, which is more than some engines can do.
///
/// Parameters, in this order: context, expected revision, time, key; then, for each part that there is:
/// head (cycle, digest), number of commits, settings; what the journal's entry adds to its sum; attempts (ids, what each adds to the sum if it is
/// new); changed side records (kinds, keys, what each adds to the sum, or null if it is deleted); contents (hashes, data, first cycle); commits
/// (cycle, effects, bodies, or an array of each); journal; attempts (ids, records, places); side records (kinds, keys, values, checks, what each
/// adds to the sum).
pub(crate) fn append(schema: &str, shape: Shape) -> String {
    let mut parameters = Parameters(4);
    let mut text = format!(
        "WITH moved AS (UPDATE {schema}.context SET revision = revision + 1, written_ns = $3, keys = substr($4 || keys, 1, {})",
        16 * KEYS
    );
    if shape.head {
        let _ = write!(
            text,
            ", head_cycle = {}, head_digest = {}",
            parameters.next(),
            parameters.next()
        );
    }
    if shape.commits != Number::None {
        let _ = write!(text, ", snapshots = snapshots + {}", parameters.next());
    }
    if shape.settings {
        let _ = write!(text, ", settings = {}", parameters.next());
    }
    add_tally(&mut text, schema, shape, &mut parameters);
    let _ = write!(text, " WHERE id = $1 AND revision = $2 RETURNING {CONTEXT})");
    parts(&mut text, schema, shape, !shape.empties(), "$4", &mut parameters);
    // A step that empties the journal and writes to it changes the journal twice: that part is a statement of its own (`journal_after`).
    if shape.empties() && !shape.journal {
        let _ = write!(
            text,
            ", emptied AS (DELETE FROM {schema}.journal WHERE context IN (SELECT id FROM moved))"
        );
    }
    text.push_str(" SELECT * FROM moved");
    text
}

/// Adds what a step changes in the counts and sums of its context.
fn add_tally(text: &mut String, schema: &str, shape: Shape, parameters: &mut Parameters) {
    let _ = match (shape.empties(), shape.journal) {
        (true, true) => {
            write!(text, ", journal_rows = 1, journal_sum = {}", parameters.next())
        }
        (true, false) => write!(text, ", journal_rows = 0, journal_sum = 0"),
        (false, true) => write!(
            text,
            ", journal_rows = journal_rows + 1, journal_sum = journal_sum + {}",
            parameters.next()
        ),
        (false, false) => Ok(()),
    };
    if shape.attempts {
        // A writer that knows the revision has seen the step that made it, so the attempts that this statement sees are those of that revision.
        let (ids, sums) = (parameters.next(), parameters.next());
        let added = format!(
            "FROM unnest({ids}::text[], {sums}::bigint[]) AS part (id, sum) WHERE NOT EXISTS (SELECT 1 FROM {schema}.attempt WHERE attempt.context = $1 AND attempt.id = part.id)"
        );
        let _ = write!(
            text,
            ", attempt_rows = attempt_rows + (SELECT count(*) {added}), attempt_sum = attempt_sum + (SELECT coalesce(sum(part.sum), 0)::bigint {added})"
        );
    }
    if shape.side_count {
        let (kinds, keys, entries) = (parameters.next(), parameters.next(), parameters.next());
        let changed = |column: &str, comparison: &str| {
            let of_kind = format!("FILTER (WHERE part.kind {comparison} '{CALL_KIND}')");
            format!(
                "context.{column}_rows + count(part.entry) {of_kind} - count(old.entry) {of_kind}, context.{column}_sum + coalesce(sum(part.entry) {of_kind}, 0)::bigint - coalesce(sum(old.entry) {of_kind}, 0)::bigint"
            )
        };
        let _ = write!(
            text,
            ", (call_rows, call_sum, side_rows, side_sum) = (SELECT {}, {} FROM unnest({kinds}::text[], {keys}::text[], {entries}::bigint[]) AS part (kind, key, entry) LEFT JOIN {schema}.side AS old ON old.context = $1 AND old.kind = part.kind AND old.key = part.key)",
            changed("call", "="),
            changed("side", "<>")
        );
    }
}

/// Returns the statement that makes a context, if its name is free, with its branch and its first step.
///
/// Parameters: number (of the context and of its branch), name, settings, time, key, parent branch, its last cycle, head cycle, head digest,
/// snapshots, what it adds to the sum of all contexts, and the numbers of its tally; then, with a base: cycle, tree, bodies; then the parts as in
/// [`append`].
pub(crate) fn create(schema: &str, shape: Shape, base: bool) -> String {
    let mut parameters = Parameters(11);
    let counts: Vec<String> = tally::NAMES.iter().map(|_| parameters.next()).collect();
    let (names, counts) = (tally::NAMES.join(", "), counts.join(", "));
    let mut text = format!(
        "WITH moved AS (INSERT INTO {schema}.context (id, name, branch, revision, head_cycle, head_digest, snapshots, settings, created_ns, written_ns, keys, {names}) VALUES ($1, $2, $1, 1, $8, $9, $10, $3, $4, $4, $5, {counts}) ON CONFLICT (name) DO NOTHING RETURNING {CONTEXT}), line AS (INSERT INTO {schema}.branch (id, parent, upto, named) SELECT branch, $6::bigint, $7::bigint, $11::bigint FROM moved)"
    );
    if base {
        let (cycle, tree, bodies) = (parameters.next(), parameters.next(), parameters.next());
        let _ = write!(
            text,
            ", base AS (INSERT INTO {schema}.checkpoint (branch, cycle, tree, bodies) SELECT branch, {cycle}::bigint, {tree}::bytea, {bodies}::bytea FROM moved)"
        );
    }
    parts(&mut text, schema, shape, true, "$5", &mut parameters);
    text.push_str(" SELECT * FROM moved");
    text
}

/// Adds what a step brings, each part only if a context was `moved`. `key` is the parameter with the key of the step.
fn parts(
    text: &mut String,
    schema: &str,
    shape: Shape,
    note: bool,
    key: &str,
    parameters: &mut Parameters,
) {
    if shape.contents {
        let (hashes, data, cycle) = (parameters.next(), parameters.next(), parameters.next());
        // A content that is there already need not be sent again: its data is null.
        let _ = write!(
            text,
            ", kept AS (INSERT INTO {schema}.content (hash, data) SELECT part.hash, part.data FROM moved CROSS JOIN unnest({hashes}::bytea[], {data}::bytea[]) AS part (hash, data) WHERE part.data IS NOT NULL ON CONFLICT (hash) DO NOTHING), used AS (INSERT INTO {schema}.uses (branch, hash, cycle) SELECT moved.branch, part.hash, coalesce({cycle}::bigint, moved.head_cycle + 1, (SELECT upto + 1 FROM {schema}.branch WHERE branch.id = moved.branch), 1) FROM moved CROSS JOIN unnest({hashes}::bytea[]) AS part (hash) ON CONFLICT (branch, hash) DO NOTHING)"
        );
    }
    if shape.commits != Number::None {
        let (cycle, effects, bodies) = (parameters.next(), parameters.next(), parameters.next());
        let _ = write!(
            text,
            ", added AS (INSERT INTO {schema}.commits (branch, cycle, effects, bodies, key) "
        );
        let _ = match shape.commits {
            Number::Many => write!(
                text,
                "SELECT moved.branch, part.cycle, part.effects, part.bodies, {key} FROM moved CROSS JOIN unnest({cycle}::bigint[], {effects}::bytea[], {bodies}::bytea[]) AS part (cycle, effects, bodies))"
            ),
            _ => write!(
                text,
                "SELECT branch, {cycle}::bigint, {effects}::bytea, {bodies}::bytea, {key} FROM moved)"
            ),
        };
    }
    if shape.journal && note {
        let _ = write!(
            text,
            ", noted AS (INSERT INTO {schema}.journal (context, revision, record) SELECT id, revision, {}::bytea FROM moved)",
            parameters.next()
        );
    }
    if shape.attempts {
        let (ids, records, places) = (parameters.next(), parameters.next(), parameters.next());
        let _ = write!(
            text,
            ", tried AS (INSERT INTO {schema}.attempt (context, id, born, place, record) SELECT moved.id, part.id, moved.revision, part.place, part.record FROM moved CROSS JOIN unnest({ids}::text[], {records}::text[], {places}::bigint[]) AS part (id, record, place) ON CONFLICT (context, id) DO UPDATE SET record = excluded.record)"
        );
    }
    if shape.side {
        let (kinds, keys, values) = (parameters.next(), parameters.next(), parameters.next());
        let (sums, entries) = (parameters.next(), parameters.next());
        let _ = write!(
            text,
            ", beside AS (INSERT INTO {schema}.side (context, kind, key, value, sum, entry) SELECT moved.id, part.kind, part.key, part.value, part.sum, part.entry FROM moved CROSS JOIN unnest({kinds}::text[], {keys}::text[], {values}::bytea[], {sums}::bigint[], {entries}::bigint[]) AS part (kind, key, value, sum, entry) ON CONFLICT (context, kind, key) DO UPDATE SET value = excluded.value, sum = excluded.sum, entry = excluded.entry)"
        );
    }
}

/// Returns the statement that deletes side records, after the step has landed in the same transaction.
pub(crate) fn side_drops(schema: &str) -> String {
    format!(
        "DELETE FROM {schema}.side USING unnest($2::text[], $3::text[]) AS part (kind, key) WHERE side.context = $1 AND side.kind = part.kind AND side.key = part.key"
    )
}

/// Returns the statements that empty the journal and write to it what follows the commits of the same step.
pub(crate) fn journal_after(schema: &str) -> [String; 2] {
    let landed = format!(
        "FROM {schema}.context WHERE id = $1 AND revision = $2 AND substr(keys, 1, 16) = $3"
    );
    [
        format!(
            "DELETE FROM {schema}.journal WHERE revision < $2 AND context IN (SELECT id {landed})"
        ),
        format!(
            "INSERT INTO {schema}.journal (context, revision, record) SELECT id, revision, $4::bytea {landed} ON CONFLICT (context, revision) DO NOTHING"
        ),
    ]
}

/// Returns the beginning of a statement that looks at the lineage of the branch $1 up to the cycle $2: `line (id, parent, upto, reach, depth)`,
/// where `reach` is the last cycle of each branch that counts.
pub(crate) fn line(schema: &str) -> String {
    format!(
        "WITH RECURSIVE line (id, parent, upto, reach, depth) AS (SELECT id, parent, upto, $2::bigint, 0::bigint FROM {schema}.branch WHERE id = $1 UNION ALL SELECT branch.id, branch.parent, branch.upto, least(line.reach, line.upto), line.depth + 1 FROM line JOIN {schema}.branch ON branch.id = line.parent)"
    )
}

/// Reads a context.
pub(crate) fn context(row: &Row) -> Result<ContextRow, Fault> {
    let cycle: Option<i64> = row.try_get(4)?;
    let digest: Option<&[u8]> = row.try_get(5)?;
    let head = match (cycle, digest) {
        (Some(number), Some(bytes)) => Some(Head {
            cycle: cycle_from(number)?,
            digest: bytes.try_into().map_err(|_| odd("a digest", bytes.len()))?,
        }),
        _ => None,
    };
    Ok(ContextRow {
        id: ContextId(row.try_get(0)?),
        name: row.try_get(1)?,
        branch: BranchId(row.try_get(2)?),
        revision: revision_from(row.try_get(3)?)?,
        head,
        snapshots: count_from(row.try_get(6)?)?,
        settings: row.try_get(7)?,
        created_ns: row.try_get(8)?,
        updated_ns: row.try_get(9)?,
    })
}

/// Returns the number of a commit.
pub(crate) fn cycle_from(number: i64) -> Result<Cycle, Fault> {
    Ok(u32::try_from(number).map(Cycle).map_err(|_| odd("a cycle", number))?)
}

/// Returns a count.
pub(crate) fn count_from(number: i64) -> Result<u64, Fault> {
    Ok(u64::try_from(number).map_err(|_| odd("a count", number))?)
}

/// Returns a revision.
pub(crate) fn revision_from(number: i64) -> Result<Revision, Fault> {
    count_from(number).map(Revision)
}

/// Returns a revision as the server has it; one that no context has, if it is too high.
pub(crate) fn revision_to(revision: Revision) -> i64 {
    i64::try_from(revision.get()).unwrap_or(-1)
}

fn odd(what: &str, value: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt { record: "a row".to_owned(), message: format!("{what} of {value}") }
}
