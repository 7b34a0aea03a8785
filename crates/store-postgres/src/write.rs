//! Writing: making a context, taking a step.

use std::collections::BTreeMap;

use contextree_store::{
    ContextId, ContextRow, NewContext, Result, Revision, SideChange, Step, StoreError, Stretch,
    Tally, attempt_sum, context_sum, journal_sum, side_entry, side_sum,
};
use deadpool_postgres::{GenericClient, Object};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::error::Fault;
use crate::lines;
use crate::link::{Before, Kind, Link};
use crate::sql::{self, CONTEXT, Number, Shape};
use crate::tally;

/// From how many bytes of contents on it is worth asking first which of them the server has already.
const WORTH_ASKING: usize = 8 * 1024;

type Value<'a> = &'a (dyn ToSql + Sync);

/// Runs a prepared statement that returns one row or none.
pub(crate) async fn one(
    client: &impl GenericClient,
    text: &str,
    values: &[Value<'_>],
) -> Result<Option<Row>, Fault> {
    let statement = client.prepare_cached(text).await?;
    Ok(client.query_opt(&statement, values).await?)
}

/// Runs a prepared statement that returns rows.
pub(crate) async fn all(
    client: &impl GenericClient,
    text: &str,
    values: &[Value<'_>],
) -> Result<Vec<Row>, Fault> {
    let statement = client.prepare_cached(text).await?;
    Ok(client.query(&statement, values).await?)
}

/// Runs a prepared statement that returns nothing but how many rows it changed.
pub(crate) async fn execute(
    client: &impl GenericClient,
    text: &str,
    values: &[Value<'_>],
) -> Result<u64, Fault> {
    let statement = client.prepare_cached(text).await?;
    Ok(client.execute(&statement, values).await?)
}

/// The side records that a step writes, one list per column.
#[derive(Default)]
struct SideParts<'a> {
    kinds: Vec<&'a str>,
    keys: Vec<&'a str>,
    values: Vec<&'a [u8]>,
    sums: Vec<i64>,
    /// What each record adds to the sum of its context.
    entries: Vec<i64>,
}

/// The parts of a step, as the statements want them.
struct Parts<'a> {
    hashes: Vec<&'a [u8]>,
    data: Vec<Option<&'a [u8]>>,
    first_cycle: Option<i64>,
    cycles: Vec<i64>,
    effects: Vec<Option<&'a [u8]>>,
    bodies: Vec<&'a [u8]>,
    attempts: Vec<&'a str>,
    records: Vec<&'a str>,
    places: Vec<i64>,
    journal: Option<&'a [u8]>,
    side: SideParts<'a>,
    /// Side records that are deleted: kinds, keys.
    side_drops: (Vec<&'a str>, Vec<&'a str>),
    /// Both: kinds, keys, what each adds to the sum, if it is written.
    side_changes: (Vec<&'a str>, Vec<&'a str>, Vec<Option<i64>>),
}

impl<'a> Parts<'a> {
    fn of(context: ContextId, step: &'a Step) -> Parts<'a> {
        // All writers take contents in the same order, so that none waits for another that waits for it.
        let mut contents: Vec<_> = step.contents.iter().collect();
        contents.sort_by_key(|content| content.hash);
        contents.dedup_by_key(|content| content.hash);
        let mut parts = Parts {
            hashes: contents.iter().map(|content| &content.hash[..]).collect(),
            data: contents.iter().map(|content| Some(&content.data[..])).collect(),
            first_cycle: step.commits.first().map(|commit| i64::from(commit.cycle)),
            cycles: step.commits.iter().map(|commit| i64::from(commit.cycle)).collect(),
            effects: step.commits.iter().map(|commit| commit.effects.as_deref()).collect(),
            bodies: step.commits.iter().map(|commit| &commit.bodies[..]).collect(),
            attempts: Vec::new(),
            records: Vec::new(),
            places: Vec::new(),
            journal: step.journal.as_deref(),
            side: SideParts::default(),
            side_drops: Default::default(),
            side_changes: Default::default(),
        };
        // Of two changes of one record the later counts.
        let mut changes = BTreeMap::new();
        for SideChange { kind, key, value } in &step.side {
            changes.insert((kind.as_str(), key.as_str()), value.as_deref());
        }
        for ((kind, key), value) in changes {
            let sum = value.map(|value| side_sum(context, kind, key, value));
            let entry = sum.map(|sum| tally::number(side_entry(kind, key, sum)));
            parts.side_changes.0.push(kind);
            parts.side_changes.1.push(key);
            parts.side_changes.2.push(entry);
            match value {
                Some(value) => {
                    parts.side.kinds.push(kind);
                    parts.side.keys.push(key);
                    parts.side.values.push(value);
                    parts.side.sums.extend(sum.map(tally::number));
                    parts.side.entries.extend(entry);
                }
                None => {
                    parts.side_drops.0.push(kind);
                    parts.side_drops.1.push(key);
                }
            }
        }
        for attempt in &step.attempts {
            // The same one twice in a step: the later record, at the earlier place.
            match parts.attempts.iter().position(|id| *id == attempt.id) {
                Some(at) => parts.records[at] = &attempt.record,
                None => {
                    parts.places.push(i64::try_from(parts.places.len()).unwrap_or(i64::MAX));
                    parts.attempts.push(&attempt.id);
                    parts.records.push(&attempt.record);
                }
            }
        }
        parts
    }

    /// Leaves out the data of contents that the server has already. Should one of them vanish before the statement, a foreign key says so.
    async fn leave_out(&mut self, client: &Object, schema: &str) -> Result<(), Fault> {
        let size: usize = self.data.iter().flatten().map(|data| data.len()).sum();
        if size < WORTH_ASKING {
            return Ok(());
        }
        let text = format!("SELECT hash FROM {schema}.content WHERE hash = ANY($1)");
        for row in all(client, &text, &[&self.hashes]).await? {
            let hash: &[u8] = row.try_get(0)?;
            if let Ok(at) = self.hashes.binary_search(&hash) {
                self.data[at] = None;
            }
        }
        Ok(())
    }

    /// Returns what each attempt adds to the sum of its context, if it is new.
    fn attempt_sums(&self, revision: Revision) -> Vec<i64> {
        let born = sql::revision_to(revision);
        let attempts = self.attempts.iter().zip(&self.places);
        attempts.map(|(id, place)| tally::number(attempt_sum(id, &[born, *place]))).collect()
    }

    /// Returns what the rows of the first step of a context add up to.
    fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        if let Some(data) = self.journal {
            tally.journal.add(journal_sum(Revision::FIRST, data));
        }
        for sum in self.attempt_sums(Revision::FIRST) {
            tally.attempts.add(sum.unsigned_abs());
        }
        let SideParts { kinds, keys, sums, .. } = &self.side;
        for ((kind, key), sum) in kinds.iter().zip(keys).zip(sums) {
            tally.side_of_mut(kind).add(side_entry(kind, key, sum.unsigned_abs()));
        }
        tally
    }

    /// Adds the values in the order of [`sql::append`].
    fn push<'b>(&'b self, shape: Shape, note: bool, values: &mut Vec<Value<'b>>) {
        if shape.contents {
            values.extend([&self.hashes as Value<'b>, &self.data, &self.first_cycle]);
        }
        match shape.commits {
            Number::None => {}
            Number::One => {
                values.extend([&self.cycles[0] as Value<'b>, &self.effects[0], &self.bodies[0]]);
            }
            Number::Many => values.extend([&self.cycles as Value<'b>, &self.effects, &self.bodies]),
        }
        if note && let Some(journal) = &self.journal {
            values.push(journal);
        }
        if shape.attempts {
            values.extend([&self.attempts as Value<'b>, &self.records, &self.places]);
        }
        if shape.side {
            let side = &self.side;
            values.extend([&side.kinds as Value<'b>, &side.keys, &side.values]);
            values.extend([&side.sums as Value<'b>, &side.entries]);
        }
    }
}

/// Takes a step; see [`Backend::append`](contextree_store::Backend::append).
///
/// `line` is the number of the context that commits leave for, if the step has such a change. `doubtful` says that this step was tried before and it is unknown whether it was stored.
pub(crate) async fn append(
    link: &Link,
    schema: &str,
    (context, expected): (ContextId, Revision),
    step: &Step,
    line: Option<ContextId>,
    doubtful: bool,
) -> Result<ContextRow> {
    let shape = Shape::of(step);
    let text = sql::append(schema, shape);
    let (id, revision) = (context.get(), sql::revision_to(expected));
    let head = step.head.map(|head| (i64::from(head.cycle), head.digest.to_vec()));
    let number = i64::try_from(step.commits.len()).unwrap_or(i64::MAX);
    link.run_after(Kind::Write, Before { lost: doubtful }, async |client, before| {
        let mut parts = Parts::of(context, step);
        parts.leave_out(client, schema).await?;
        let key = &step.key[..];
        let mut values: Vec<Value<'_>> = vec![&id, &revision, &step.now_ns, &key];
        if let Some((cycle, digest)) = &head {
            values.extend([cycle as Value<'_>, digest]);
        }
        if shape.commits != Number::None {
            values.push(&number);
        }
        if let Some(settings) = &step.settings {
            values.push(settings);
        }
        let now = expected.next();
        let noted = parts.journal.map(|data| tally::number(journal_sum(now, data)));
        let tried = parts.attempt_sums(now);
        if let Some(noted) = &noted {
            values.push(noted);
        }
        if shape.attempts {
            values.extend([&parts.attempts as Value<'_>, &tried]);
        }
        if shape.side_count {
            let (kinds, keys, entries) = &parts.side_changes;
            values.extend([kinds as Value<'_>, keys, entries]);
        }
        let twice = shape.journal && shape.empties();
        parts.push(shape, !twice, &mut values);
        let (kinds, keys) = &parts.side_drops;
        let row = if twice || !kinds.is_empty() || step.line.is_some() {
            let transaction = client.transaction().await?;
            let mut row = one(&transaction, &text, &values).await?;
            let mut recount = false;
            if let (Some(changed), Some(line)) = (&row, step.line.as_ref().zip(line)) {
                let changed = sql::context(changed)?;
                row = lines::change(&transaction, schema, &changed, line, step.now_ns).await?;
                // A line is changed before the rest of the step, which the sums in the row have already.
                recount = true;
            }
            if row.is_some() && twice {
                let now = revision + 1;
                let [emptied, noted] = sql::journal_after(schema);
                execute(&transaction, &emptied, &[&id, &now, &key]).await?;
                execute(&transaction, &noted, &[&id, &now, &key, &parts.journal]).await?;
            }
            if row.is_some() && !kinds.is_empty() {
                execute(&transaction, &sql::side_drops(schema), &[&id, kinds, keys]).await?;
            }
            if recount {
                tally::recount(&transaction, schema, context).await?;
            }
            transaction.commit().await?;
            row
        } else {
            one(client, &text, &values).await?
        };
        match row {
            Some(row) => sql::context(&row),
            None => {
                let trace = Trace { key: &step.key, commit: parts.cycles.first().copied() };
                landed(client, schema, context, expected, &trace, before).await
            }
        }
    })
    .await
}

/// What a step stores so that it can be recognised.
pub(crate) struct Trace<'a> {
    pub(crate) key: &'a [u8; 16],
    /// The first commit, if there are any.
    pub(crate) commit: Option<i64>,
}

/// Finds out why no row was changed: an earlier attempt was stored, or another writer was faster.
///
/// If an answer was lost, it does not matter how many steps were taken since: a context remembers the keys of its last steps, a commit that of
/// its step for good. Then the row has the revision that the step made: a writer that builds on it gets a conflict, as it should.
pub(crate) async fn landed(
    client: &impl GenericClient,
    schema: &str,
    context: ContextId,
    expected: Revision,
    trace: &Trace<'_>,
    before: Before,
) -> Result<ContextRow, Fault> {
    let text = format!("SELECT {CONTEXT}, keys FROM {schema}.context WHERE id = $1");
    let Some(row) = one(client, &text, &[&context.get()]).await? else {
        return Err(StoreError::NotFound { context: format!("#{context}") }.into());
    };
    let keys: &[u8] = row.try_get(10)?;
    let found = sql::context(&row)?;
    // How many steps were taken since; the newest key belongs to the present revision.
    let steps = found.revision.get().saturating_sub(expected.get());
    if *trace.key == [0; 16] || steps == 0 || (steps > 1 && !before.lost) {
        return Err(conflict(&found, expected).into());
    }
    let remembered = usize::try_from(steps - 1).ok().and_then(|at| keys.chunks_exact(16).nth(at));
    let stored: Option<Vec<u8>> = match (remembered, trace.commit) {
        (Some(key), _) => Some(key.to_vec()),
        (None, Some(cycle)) => {
            let text = format!("SELECT key FROM {schema}.commits WHERE branch = $1 AND cycle = $2");
            let row = one(client, &text, &[&found.branch.get(), &cycle]).await?;
            row.map(|row| row.try_get(0)).transpose()?.flatten()
        }
        (None, None) => None,
    };
    match stored {
        Some(stored) if stored == trace.key => {
            Ok(ContextRow { revision: expected.next(), ..found })
        }
        Some(_) => Err(conflict(&found, expected).into()),
        None => {
            let message = format!("{steps} steps were taken meanwhile");
            Err(StoreError::Unavailable { message, unknown: true }.into())
        }
    }
}

/// Returns the error of a writer that lost.
pub(crate) fn conflict(found: &ContextRow, expected: Revision) -> StoreError {
    StoreError::Conflict {
        context: found.name.clone(),
        expected,
        found: found.revision,
        head: found.head,
    }
}

/// Makes a context; see [`Backend::create`](contextree_store::Backend::create).
pub(crate) async fn create(
    link: &Link,
    schema: &str,
    context: ContextId,
    new: &NewContext,
) -> Result<ContextRow> {
    let id = context.get();
    let first = &new.first;
    let shape = Shape::of(first);
    let text = sql::create(schema, shape, new.base.is_some());
    let settings = first.settings.as_ref().unwrap_or(&new.settings);
    let parent = new.from.map(|from| from.branch.get());
    let upto = new.from.map(|from| i64::from(from.upto));
    let head_cycle = first.head.map(|head| i64::from(head.cycle));
    let head_digest = first.head.map(|head| head.digest.to_vec());
    let own = i64::try_from(first.commits.len()).unwrap_or(i64::MAX);
    let named = tally::number(context_sum(context, &new.name));
    let base = new.base.as_ref().map(|base| (i64::from(base.cycle), &base.tree, &base.bodies));
    link.run(Kind::Write, async |client, _| {
        let mut parts = Parts::of(context, first);
        parts.leave_out(client, schema).await?;
        parts.first_cycle = parts.first_cycle.or(Some(upto.unwrap_or(0) + 1));
        let key = &first.key[..];
        let mut head: Vec<Value<'_>> =
            vec![&id, &new.name, settings, &new.created_ns, &key, &parent, &upto];
        head.extend([&head_cycle as Value<'_>, &head_digest]);
        let counts = tally::numbers(&parts.tally());
        let mut tail: Vec<Value<'_>> = vec![&named];
        tail.extend(counts.iter().map(|count| count as Value<'_>));
        if let Some((cycle, tree, bodies)) = &base {
            tail.extend([cycle as Value<'_>, *tree, *bodies]);
        }
        parts.push(shape, true, &mut tail);
        let row = match new.from {
            Some(from) => {
                // Of two reasons to refuse, the name comes first.
                if is_taken(client, schema, &new.name).await? {
                    return taken(client, schema, context, new).await;
                }
                let transaction = client.transaction().await?;
                let snapshots = own + fork(&transaction, schema, from).await?;
                let values = [&head[..], &[&snapshots], &tail[..]].concat();
                let row = one(&transaction, &text, &values).await?;
                transaction.commit().await?;
                row
            }
            None => one(client, &text, &[&head[..], &[&own], &tail[..]].concat()).await?,
        };
        match row {
            Some(row) => sql::context(&row),
            None => taken(client, schema, context, new).await,
        }
    })
    .await
}

async fn is_taken(client: &Object, schema: &str, name: &str) -> Result<bool, Fault> {
    let text = format!("SELECT id FROM {schema}.context WHERE name = $1");
    Ok(one(client, &text, &[&name]).await?.is_some())
}

/// Finds out why no context was made: an earlier attempt landed, or there is one of this name.
async fn taken(
    client: &Object,
    schema: &str,
    context: ContextId,
    new: &NewContext,
) -> Result<ContextRow, Fault> {
    let text = format!("SELECT {CONTEXT}, keys FROM {schema}.context WHERE name = $1");
    // Deleted in between: the name is free now.
    let Some(row) = one(client, &text, &[&new.name]).await? else { return Err(Fault::Again) };
    let keys: &[u8] = row.try_get(10)?;
    let mut found = sql::context(&row)?;
    let same_key =
        new.first.key != [0; 16] && found.revision == Revision::FIRST && keys == new.first.key;
    if found.id == context || same_key {
        found.revision = Revision::FIRST;
        return Ok(found);
    }
    Err(StoreError::Exists { context: new.name.clone() }.into())
}

/// Holds the branches that a fork builds on, so that none of them is removed meanwhile, and returns how many snapshots it begins with.
async fn fork(client: &impl GenericClient, schema: &str, from: Stretch) -> Result<i64, Fault> {
    let upto = i64::from(from.upto);
    let line = sql::line(schema);
    let missing = || StoreError::NotFound { context: format!("branch {} @c{upto}", from.branch) };
    let text = format!("{line} SELECT id FROM line");
    let rows = all(client, &text, &[&from.branch.get(), &upto]).await?;
    let branches: Vec<i64> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let text = format!("SELECT id FROM {schema}.branch WHERE id = ANY($1) ORDER BY id FOR SHARE");
    if branches.is_empty() || all(client, &text, &[&branches]).await?.len() < branches.len() {
        return Err(missing().into());
    }
    if upto > 0 && !is_visible(client, schema, from).await? {
        return Err(missing().into());
    }
    // As in `count_commits`, indexes alone are read.
    let count = format!(
        "SELECT count(*) FROM line JOIN {schema}.commits ON commits.branch = line.id AND commits.cycle <= line.reach"
    );
    let text = format!("{line} SELECT ({count}) - ({count} WHERE commits.effects IS NULL)");
    match one(client, &text, &[&from.branch.get(), &upto]).await? {
        Some(row) => Ok(row.try_get(0)?),
        None => Ok(0),
    }
}

/// Returns true if there is a snapshot at the last cycle of a stretch, in the branch or in one that it builds on.
pub(crate) async fn is_visible(
    client: &impl GenericClient,
    schema: &str,
    at: Stretch,
) -> Result<bool, Fault> {
    let text = format!(
        "{} SELECT 1 FROM line WHERE line.reach >= $2 AND (EXISTS (SELECT 1 FROM {schema}.commits WHERE commits.branch = line.id AND commits.cycle = $2 AND commits.effects IS NOT NULL) OR EXISTS (SELECT 1 FROM {schema}.checkpoint WHERE checkpoint.branch = line.id AND checkpoint.cycle = $2))",
        sql::line(schema)
    );
    Ok(!all(client, &text, &[&at.branch.get(), &i64::from(at.upto)]).await?.is_empty())
}
