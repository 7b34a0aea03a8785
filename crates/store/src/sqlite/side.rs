//! Side records: each is checked, and so is that none is missing.

use rusqlite::{Connection, params};

use super::read::{all, at_once, tally};
use super::seal::count_side;
use super::sql;
use crate::calls;
use crate::error::Result;
use crate::rows::{ContextId, SidePage, SideRecord};
use crate::tally::{COUNTED, Tally, check_side_row, side_entry, side_sum};

/// The side records of a context.
pub(super) struct SideRows<'c> {
    pub(super) connection: &'c Connection,
    pub(super) context: ContextId,
    /// False if the file is of a format without these checks.
    pub(super) checks: bool,
}

impl SideRows<'_> {
    pub(super) fn value(&self, kind: &str, key: &str) -> Result<Option<Vec<u8>>> {
        at_once(self.connection, || {
            let mut found = self.rows(sql::SIDE_VALUE, params![self.context, kind, key])?;
            // A record that is there has a check of its own. Whether one is missing, only the number of all can tell.
            match found.pop() {
                Some(record) => Ok(Some(record.value)),
                None => self.count(kind).map(|()| None),
            }
        })
    }

    pub(super) fn all(&self, kind: Option<&str>) -> Result<Vec<SideRecord>> {
        at_once(self.connection, || {
            let records = match kind {
                Some(kind) => self.rows(sql::SIDE_OF_KIND, params![self.context, kind])?,
                None => self.rows(sql::SIDE, params![self.context])?,
            };
            match kind {
                // Who asks for all records of what is counted together need not read them twice.
                None | Some(calls::KIND) => self.compare(kind, &self.tally_of(&records))?,
                Some(kind) => self.count(kind)?,
            }
            Ok(records)
        })
    }

    pub(super) fn page(&self, page: &SidePage<'_>) -> Result<Vec<SideRecord>> {
        let (low, high) = page.bounds();
        let limit = i64::try_from(page.limit).unwrap_or(i64::MAX);
        let text = match (high.is_some(), page.reverse) {
            (true, false) => sql::SIDE_PAGE,
            (true, true) => sql::SIDE_PAGE_BACK,
            (false, false) => sql::SIDE_REST,
            (false, true) => sql::SIDE_REST_BACK,
        };
        at_once(self.connection, || {
            let records = self.rows(text, params![self.context, page.kind, low, limit, high])?;
            self.count(page.kind)?;
            Ok(records)
        })
    }

    fn rows(&self, text: &str, parameters: impl rusqlite::Params) -> Result<Vec<SideRecord>> {
        let text = if self.checks { text } else { &text.replace(sql::SUM, sql::NO_SUM) };
        let rows = all(self.connection, text, parameters, |row| {
            let record = SideRecord { kind: row.get(0)?, key: row.get(1)?, value: row.get(2)? };
            Ok((record, row.get::<_, Option<u32>>(3)?))
        })?;
        let checked = rows.into_iter().map(|(record, sum)| {
            if self.checks {
                let SideRecord { kind, key, value } = &record;
                // No check is so large: a record without one is damaged, too.
                let sum = sum.map_or(u64::MAX, u64::from);
                check_side_row(self.context, (kind, key, value), sum)?;
            }
            Ok(record)
        });
        checked.collect()
    }

    fn tally_of(&self, records: &[SideRecord]) -> Tally {
        let mut found = Tally::default();
        for SideRecord { kind, key, value } in records {
            let sum = side_sum(self.context, kind, key, value);
            found.side_of_mut(kind).add(side_entry(kind, key, sum));
        }
        found
    }

    /// Counts the records that are counted together with a kind, unless they are too many.
    fn count(&self, kind: &str) -> Result<()> {
        let is_small = |tally: Tally| tally.side_of(kind).rows <= COUNTED;
        if !self.checks || !tally(self.connection, self.context)?.is_some_and(is_small) {
            return Ok(());
        }
        let mut found = Tally::default();
        count_side(self.connection, self.context, &mut found)?;
        self.compare(Some(kind), &found)
    }

    /// Compares what was counted with what the head says.
    fn compare(&self, kind: Option<&str>, found: &Tally) -> Result<()> {
        if !self.checks {
            return Ok(());
        }
        match tally(self.connection, self.context)? {
            Some(tally) => tally.check_side(self.context, kind, found),
            None => Ok(()),
        }
    }
}
