//! Reading. Long answers come in pages, so that no connection is held while the caller processes rows, and a dropped connection
//! costs at most one page.

use std::collections::BTreeMap;

use contextree_store::{
    AttemptRow, BranchId, Checkpoint, Commit, ContextId, ContextRow, Count, Cycle, Pin, Result,
    Revision, SidePage, StoreError, Stretch, attempt_sum, journal_sum, pin_sum,
};

use crate::census;
use crate::error::Fault;
use crate::link::{Kind, Link};
use crate::sql::{self, CONTEXT, count_from, cycle_from, revision_from};
use crate::tally;
use crate::write::{all, one};

/// How many commits, bodies or contents are asked for at once.
const PAGE: usize = 256;

/// How many contexts are listed at once.
const LONG_PAGE: usize = 1000;

/// Everything that reads, for one schema.
pub(crate) struct Reader<'a> {
    pub(crate) link: &'a Link,
    pub(crate) schema: &'a str,
    /// True if the account sees the whole store, not only the contexts of a tenant.
    pub(crate) whole: bool,
}

impl Reader<'_> {
    pub(crate) async fn find(&self, name: &str) -> Result<Option<ContextRow>> {
        let text = format!("SELECT {CONTEXT} FROM {}.context WHERE name = $1", self.schema);
        let work = async |client: &mut _, _| {
            one(&*client, &text, &[&name]).await?.as_ref().map(sql::context).transpose()
        };
        match self.link.run(Kind::Read, work).await? {
            None if self.whole => self.find_again(&text, name).await,
            found => Ok(found),
        }
    }

    /// Looks again for a context that was not found, and checks that no damage hides it: otherwise another one of that name would be created.
    async fn find_again(&self, text: &str, name: &str) -> Result<Option<ContextRow>> {
        let text = census::counted(self.schema, text);
        let work = async |client: &mut _, _| {
            census::check_one(&all(&*client, &text, &[&name]).await?, name)
        };
        self.link.run(Kind::Read, work).await
    }

    pub(crate) async fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<ContextRow>> {
        let pages = ["WHERE name > $2", ""].map(|rest| {
            format!("SELECT {CONTEXT} FROM {}.context {rest} ORDER BY name LIMIT $1", self.schema)
        });
        let mut found: Vec<ContextRow> = Vec::new();
        while found.len() < limit {
            let last = found.last().map(|row| row.name.clone());
            let after = last.as_deref().or(after);
            let page = (limit - found.len()).min(LONG_PAGE);
            let number = i64::try_from(page).unwrap_or(i64::MAX);
            // An account of a tenant sees contexts and branches of others only in part, so it cannot count them.
            let counts = self.whole && found.is_empty();
            let text = &pages[usize::from(after.is_none())];
            let text = if counts { &census::counted(self.schema, text) } else { text };
            let work = async |client: &mut _, _| {
                let rows = match after {
                    Some(after) => all(&*client, text, &[&number, &after]).await?,
                    None => all(&*client, text, &[&number]).await?,
                };
                match counts {
                    true => census::check(&rows, after.is_none(), page),
                    false => rows.iter().map(sql::context).collect::<Result<Vec<_>, Fault>>(),
                }
            };
            let rows = self.link.run(Kind::Read, work).await?;
            let end = rows.len() < page;
            found.extend(rows);
            if end {
                break;
            }
        }
        Ok(found)
    }

    /// Lists contexts whose names begin with a prefix.
    pub(crate) async fn list_within(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ContextRow>> {
        // A name after the prefix, or the prefix itself: both are bounds of the index, which a condition that may be null would not be.
        let (mut low, high) = SidePage { prefix, ..SidePage::of("") }.bounds();
        let mut is_after = false;
        if let Some(after) = after.filter(|after| *after >= prefix) {
            (low, is_after) = (after.to_owned(), true);
        }
        let end = if high.is_some() { "AND name < $3" } else { "" };
        let pages = [">=", ">"].map(|than| {
            format!(
                "SELECT {CONTEXT} FROM {}.context WHERE name {than} $2 {end} ORDER BY name LIMIT $1",
                self.schema
            )
        });
        let mut found: Vec<ContextRow> = Vec::new();
        while found.len() < limit {
            if let Some(last) = found.last() {
                (low, is_after) = (last.name.clone(), true);
            }
            let page = (limit - found.len()).min(LONG_PAGE);
            let number = i64::try_from(page).unwrap_or(i64::MAX);
            let text = &pages[usize::from(is_after)];
            let work = async |client: &mut _, _| {
                let rows = match &high {
                    Some(high) => all(&*client, text, &[&number, &low, high]).await?,
                    None => all(&*client, text, &[&number, &low]).await?,
                };
                rows.iter().map(sql::context).collect::<Result<Vec<_>, Fault>>()
            };
            let rows = self.link.run(Kind::Read, work).await?;
            let end = rows.len() < page;
            found.extend(rows);
            if end {
                break;
            }
        }
        Ok(found)
    }

    /// Lists contexts without those whose rows are damaged.
    pub(crate) async fn list_intact(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ContextRow>> {
        let text = format!(
            "SELECT {CONTEXT} FROM {}.context WHERE name > $2 ORDER BY name LIMIT $1",
            self.schema
        );
        let number = i64::try_from(limit.min(LONG_PAGE)).unwrap_or(i64::MAX);
        // No name is empty.
        let after = after.unwrap_or_default();
        let work = async |client: &mut _, _| {
            let rows = all(&*client, &text, &[&number, &after]).await?;
            Ok(rows.iter().filter_map(|row| sql::context(row).ok()).collect())
        };
        self.link.run(Kind::Read, work).await
    }

    /// Returns the branches that use a content.
    pub(crate) async fn users(&self, hash: &[u8; 32]) -> Result<Vec<BranchId>> {
        let text = format!("SELECT branch FROM {}.uses WHERE hash = $1", self.schema);
        let work = async |client: &mut _, _| {
            let rows = all(&*client, &text, &[&&hash[..]]).await?;
            rows.iter().map(|row| Ok(BranchId(row.try_get(0)?))).collect::<Result<Vec<_>, Fault>>()
        };
        self.link.run(Kind::Read, work).await
    }

    pub(crate) async fn lineage(&self, branch: BranchId) -> Result<Vec<Stretch>> {
        let line = sql::line(self.schema);
        let text = format!("{line} SELECT id, reach FROM line ORDER BY depth DESC");
        let most = i64::from(u32::MAX);
        let work = async |client: &mut _, _| {
            let rows = all(&*client, &text, &[&branch.get(), &most]).await?;
            rows.iter().map(stretch).collect::<Result<Vec<_>, Fault>>()
        };
        let found = self.link.run(Kind::Read, work).await?;
        if found.is_empty() { Err(no_branch(branch)) } else { Ok(found) }
    }

    pub(crate) async fn children(&self, branch: BranchId) -> Result<Vec<Stretch>> {
        let text = children(self.schema);
        let work = async |client: &mut _, _| {
            let rows = all(&*client, &text, &[&branch.get()]).await?;
            rows.iter().map(stretch).collect::<Result<Vec<_>, Fault>>()
        };
        self.link.run(Kind::Read, work).await
    }

    pub(crate) async fn checkpoint(
        &self,
        branch: BranchId,
        cycle: Cycle,
    ) -> Result<Option<Checkpoint>> {
        let text = format!(
            "SELECT cycle, tree, bodies FROM {}.checkpoint WHERE branch = $1 AND cycle <= $2 ORDER BY cycle DESC LIMIT 1",
            self.schema
        );
        let cycle = i64::from(cycle);
        let work = async |client: &mut _, _| {
            let Some(row) = one(&*client, &text, &[&branch.get(), &cycle]).await? else {
                return Ok(None);
            };
            Ok(Some(Checkpoint {
                cycle: cycle_from(row.try_get(0)?)?,
                tree: row.try_get(1)?,
                bodies: row.try_get(2)?,
            }))
        };
        self.link.run(Kind::Read, work).await
    }

    pub(crate) async fn checkpoint_bodies(
        &self,
        branch: BranchId,
        cycle: Cycle,
    ) -> Result<Option<Vec<u8>>> {
        let text = format!(
            "SELECT bodies FROM {}.checkpoint WHERE branch = $1 AND cycle = $2",
            self.schema
        );
        let cycle = i64::from(cycle);
        let work = async |client: &mut _, _| {
            let row = one(&*client, &text, &[&branch.get(), &cycle]).await?;
            Ok(row.map(|row| row.try_get(0)).transpose()?)
        };
        self.link.run(Kind::Read, work).await
    }

    /// Returns one page of commits.
    pub(crate) async fn commits(
        &self,
        branch: BranchId,
        first: Cycle,
        last: Cycle,
    ) -> Result<Vec<Commit>> {
        let text = format!(
            "SELECT cycle, effects, bodies FROM {}.commits WHERE branch = $1 AND cycle >= $2 AND cycle <= $3 ORDER BY cycle LIMIT {PAGE}",
            self.schema
        );
        let (first, last) = (i64::from(first), i64::from(last));
        let work = async |client: &mut _, _| {
            let mut commits = Vec::new();
            for row in all(&*client, &text, &[&branch.get(), &first, &last]).await? {
                commits.push(Commit {
                    cycle: cycle_from(row.try_get(0)?)?,
                    effects: row.try_get(1)?,
                    bodies: row.try_get(2)?,
                });
            }
            Ok(commits)
        };
        self.link.run(Kind::Read, work).await
    }

    /// Returns one page of bodies, and how many of the cycles are done with it.
    pub(crate) async fn bodies(
        &self,
        branch: BranchId,
        cycles: &[Cycle],
    ) -> Result<(usize, Vec<(Cycle, Vec<u8>)>)> {
        let text = format!(
            "SELECT cycle, bodies FROM {}.commits WHERE branch = $1 AND cycle = ANY($2) ORDER BY cycle",
            self.schema
        );
        let wanted: Vec<i64> = cycles.iter().take(PAGE).map(|cycle| i64::from(*cycle)).collect();
        let work = async |client: &mut _, _| {
            let mut bodies = Vec::new();
            for row in all(&*client, &text, &[&branch.get(), &wanted]).await? {
                bodies.push((cycle_from(row.try_get(0)?)?, row.try_get(1)?));
            }
            Ok(bodies)
        };
        Ok((wanted.len(), self.link.run(Kind::Read, work).await?))
    }

    pub(crate) async fn count_commits(&self, branch: BranchId, cycle: Cycle) -> Result<u64> {
        // Both counts read only an index. Rows without effects are few: retention removed their snapshots.
        let text = format!(
            "SELECT (SELECT count(*) FROM {0}.commits WHERE branch = $1 AND cycle <= $2) - (SELECT count(*) FROM {0}.commits WHERE branch = $1 AND cycle <= $2 AND effects IS NULL)",
            self.schema
        );
        let cycle = i64::from(cycle);
        let work =
            async |client: &mut _, _| match one(&*client, &text, &[&branch.get(), &cycle]).await? {
                Some(row) => count_from(row.try_get(0)?),
                None => Ok(0),
            };
        self.link.run(Kind::Read, work).await
    }

    pub(crate) async fn journal(&self, context: ContextId) -> Result<(Revision, Vec<Vec<u8>>)> {
        // One statement, so that the revision and the records are of the same moment.
        let text = format!(
            "SELECT context.revision, journal.record, journal.revision, {1} FROM {0}.context LEFT JOIN {0}.journal ON journal.context = context.id WHERE context.id = $1 ORDER BY journal.revision",
            self.schema,
            tally::COLUMNS
        );
        let work = async |client: &mut _, _| {
            let rows = all(&*client, &text, &[&context.get()]).await?;
            let Some(first) = rows.first() else { return Err(no_context(context).into()) };
            let revision = revision_from(first.try_get(0)?)?;
            let (mut records, mut found) = (Vec::new(), Count::default());
            for row in &rows {
                let record: Option<Vec<u8>> = row.try_get(1)?;
                if let Some((record, number)) = record.zip(row.try_get(2)?) {
                    found.add(journal_sum(revision_from(number)?, &record));
                    records.push(record);
                }
            }
            let tally = tally::read(first, 3)?;
            tally.journal.check(&found, &format_args!("context #{context}, journal"))?;
            Ok((revision, records))
        };
        self.link.run(Kind::Read, work).await
    }

    pub(crate) async fn contents(&self, hashes: &[[u8; 32]]) -> Result<Vec<Option<Vec<u8>>>> {
        let text = format!("SELECT hash, data FROM {}.content WHERE hash = ANY($1)", self.schema);
        let mut found = Vec::with_capacity(hashes.len());
        for page in hashes.chunks(PAGE) {
            let wanted: Vec<&[u8]> = page.iter().map(|hash| &hash[..]).collect();
            let work = async |client: &mut _, _| {
                let mut data = BTreeMap::new();
                for row in all(&*client, &text, &[&wanted]).await? {
                    data.insert(row.try_get::<_, Vec<u8>>(0)?, row.try_get::<_, Vec<u8>>(1)?);
                }
                Ok(data)
            };
            let data = self.link.run(Kind::Read, work).await?;
            found.extend(page.iter().map(|hash| data.get(&hash[..]).cloned()));
        }
        Ok(found)
    }

    pub(crate) async fn attempts(&self, context: ContextId) -> Result<Vec<AttemptRow>> {
        let text = format!(
            "SELECT attempt.id, attempt.record, attempt.born, attempt.place, {1} FROM {0}.context LEFT JOIN {0}.attempt ON attempt.context = context.id WHERE context.id = $1 ORDER BY attempt.born, attempt.place, attempt.id",
            self.schema,
            tally::COLUMNS
        );
        let work = async |client: &mut _, _| {
            let rows = all(&*client, &text, &[&context.get()]).await?;
            let Some(first) = rows.first() else { return Ok(Vec::new()) };
            let (mut attempts, mut found) = (Vec::new(), Count::default());
            for row in &rows {
                if let Some(id) = row.try_get::<_, Option<String>>(0)? {
                    found.add(attempt_sum(&id, &[row.try_get(2)?, row.try_get(3)?]));
                    attempts.push(AttemptRow { id, record: row.try_get(1)? });
                }
            }
            let tally = tally::read(first, 4)?;
            tally.attempts.check(&found, &format_args!("context #{context}, attempts"))?;
            Ok(attempts)
        };
        self.link.run(Kind::Read, work).await
    }

    pub(crate) async fn pins(&self, context: ContextId) -> Result<Vec<Pin>> {
        let text = format!(
            "SELECT pin.cycle, pin.label, {1} FROM {0}.context LEFT JOIN {0}.pin ON pin.context = context.id WHERE context.id = $1 ORDER BY pin.cycle",
            self.schema,
            tally::COLUMNS
        );
        let work = async |client: &mut _, _| {
            let rows = all(&*client, &text, &[&context.get()]).await?;
            let Some(first) = rows.first() else { return Ok(Vec::new()) };
            let (mut pins, mut found) = (Vec::new(), Count::default());
            for row in &rows {
                if let Some(cycle) = row.try_get::<_, Option<i64>>(0)? {
                    let pin = Pin { cycle: cycle_from(cycle)?, label: row.try_get(1)? };
                    found.add(pin_sum(pin.cycle, &pin.label));
                    pins.push(pin);
                }
            }
            let tally = tally::read(first, 2)?;
            tally.pins.check(&found, &format_args!("context #{context}, pins"))?;
            Ok(pins)
        };
        self.link.run(Kind::Read, work).await
    }
}

/// Returns the statement for the branches that begin in a branch.
pub(crate) fn children(schema: &str) -> String {
    format!("SELECT id, upto FROM {schema}.branch WHERE parent = $1 ORDER BY id")
}

/// Returns the statement for the pins of a context.
pub(crate) fn pins(schema: &str) -> String {
    format!("SELECT cycle, label FROM {schema}.pin WHERE context = $1 ORDER BY cycle")
}

/// Reads a branch and the last cycle of it that counts.
pub(crate) fn stretch(row: &tokio_postgres::Row) -> Result<Stretch, Fault> {
    Ok(Stretch { branch: BranchId(row.try_get(0)?), upto: cycle_from(row.try_get(1)?)? })
}

/// Returns the error of a number that no context has.
pub(crate) fn no_context(context: ContextId) -> StoreError {
    StoreError::NotFound { context: format!("#{context}") }
}

/// Returns the error of a number that no branch has.
pub(crate) fn no_branch(branch: BranchId) -> StoreError {
    StoreError::NotFound { context: format!("branch {branch}") }
}
