//! Reading side records: each is checked, and so is that none is missing.

use contextree_store::{
    CALL_KIND, COUNTED, ContextId, Result, SidePage, SideRecord, Tally, check_side_row, side_entry,
    side_sum,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::error::Fault;
use crate::link::Kind;
use crate::read::Reader;
use crate::sql::count_from;
use crate::tally;
use crate::write::{all, one};

impl Reader<'_> {
    pub(crate) async fn side_record(
        &self,
        context: ContextId,
        kind: &str,
        key: &str,
    ) -> Result<Option<Vec<u8>>> {
        let text = format!(
            "SELECT kind, key, value, sum FROM {}.side WHERE context = $1 AND kind = $2 AND key = $3",
            self.schema
        );
        let work = async |client: &mut _, _| {
            let row = one(&*client, &text, &[&context.get(), &kind, &key]).await?;
            row.map(|row| checked(context, &row)).transpose()
        };
        match self.link.run(Kind::Read, work).await? {
            Some(record) => Ok(Some(record.value)),
            // A record that is there has a check of its own. Whether one is missing, only the number of all can tell.
            None => self.count_side(context, kind).await.map(|()| None),
        }
    }

    pub(crate) async fn side_records(
        &self,
        context: ContextId,
        kind: Option<&str>,
    ) -> Result<Vec<SideRecord>> {
        let text = format!(
            "SELECT side.kind, side.key, side.value, side.sum, {1} FROM {0}.context LEFT JOIN {0}.side ON side.context = context.id AND ($2::text IS NULL OR side.kind = $2) WHERE context.id = $1 ORDER BY side.kind, side.key",
            self.schema,
            tally::COLUMNS
        );
        let counts_all = kind.is_none_or(|kind| kind == CALL_KIND);
        let work = async |client: &mut _, _| {
            let rows = all(&*client, &text, &[&context.get(), &kind]).await?;
            let (mut records, mut found) = (Vec::new(), Tally::default());
            for row in rows.iter().filter(|row| matches!(row.try_get(0), Ok(Some::<&str>(_)))) {
                let record = checked(context, row)?;
                let SideRecord { kind, key, value } = &record;
                let sum = side_sum(context, kind, key, value);
                found.side_of_mut(kind).add(side_entry(kind, key, sum));
                records.push(record);
            }
            // Who asks for all records of what is counted together has them here already.
            if let Some(first) = rows.first().filter(|_| counts_all) {
                tally::read(first, 4)?.check_side(context, kind, &found)?;
            }
            Ok(records)
        };
        let records = self.link.run(Kind::Read, work).await?;
        if let Some(kind) = kind.filter(|_| !counts_all) {
            self.count_side(context, kind).await?;
        }
        Ok(records)
    }

    pub(crate) async fn side_page(
        &self,
        context: ContextId,
        page: &SidePage<'_>,
    ) -> Result<Vec<SideRecord>> {
        let order = if page.reverse { "DESC" } else { "ASC" };
        let text = format!(
            "SELECT kind, key, value, sum FROM {}.side WHERE context = $1 AND kind = $2 AND key >= $3 AND ($4::text IS NULL OR key < $4) ORDER BY key {order} LIMIT $5",
            self.schema
        );
        let (low, high) = page.bounds();
        // PostgreSQL has no text with a zero: what is after a key is found by leaving the key itself out.
        let (low, leave_out) = match low.strip_suffix('\0') {
            Some(key) => (key.to_owned(), Some(key.to_owned())),
            None => (low, None),
        };
        let limit = page.limit.saturating_add(usize::from(leave_out.is_some()));
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let work = async |client: &mut _, _| {
            let id = context.get();
            let values: [&(dyn ToSql + Sync); 5] = [&id, &page.kind, &low, &high, &limit];
            let rows = all(&*client, &text, &values).await?;
            let records = rows.iter().map(|row| checked(context, row));
            let mut records = records.collect::<Result<Vec<SideRecord>, Fault>>()?;
            records.retain(|record| Some(&record.key) != leave_out.as_ref());
            records.truncate(page.limit);
            Ok(records)
        };
        let records = self.link.run(Kind::Read, work).await?;
        self.count_side(context, page.kind).await?;
        Ok(records)
    }

    /// Counts the records that are counted together with a kind, unless they are too many.
    async fn count_side(&self, context: ContextId, kind: &str) -> Result<()> {
        let (column, comparison) = match kind == CALL_KIND {
            true => ("call_rows", "="),
            false => ("side_rows", "<>"),
        };
        // One statement, so that the records and their number are of the same moment.
        let text = format!(
            "SELECT side.kind, side.key, side.sum, {1} FROM {0}.context LEFT JOIN {0}.side ON side.context = context.id AND side.kind {comparison} '{CALL_KIND}' WHERE context.id = $1 AND context.{column} <= {COUNTED}",
            self.schema,
            tally::COLUMNS
        );
        let work = async |client: &mut _, _| {
            let rows = all(&*client, &text, &[&context.get()]).await?;
            let mut found = Tally::default();
            for row in &rows {
                if let Some(kind) = row.try_get::<_, Option<&str>>(0)? {
                    let (key, sum) = (row.try_get(1)?, count_from(row.try_get(2)?)?);
                    found.side_of_mut(kind).add(side_entry(kind, key, sum));
                }
            }
            if let Some(first) = rows.first() {
                tally::read(first, 3)?.check_side(context, Some(kind), &found)?;
            }
            Ok(())
        };
        self.link.run(Kind::Read, work).await
    }
}

/// Returns the side record in the first columns of a row, after comparing it with its check.
fn checked(context: ContextId, row: &Row) -> Result<SideRecord, Fault> {
    let record = SideRecord { kind: row.try_get(0)?, key: row.try_get(1)?, value: row.try_get(2)? };
    let sum = count_from(row.try_get(3)?)?;
    check_side_row(context, (&record.kind, &record.key, &record.value), sum)?;
    Ok(record)
}
