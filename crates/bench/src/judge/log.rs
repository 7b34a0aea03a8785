//! Judges one log: imports it, asks for the report on its cache, and compares both with the oracle.

use contextree_app::command::cache::{BilledCall, CacheRequest, CacheResponse, cache};
use contextree_app::command::import::{ImportRequest, import};
use contextree_app::{Control, Source, Workspace};
use contextree_store::{Session, Store};

use super::content::{self, Difference};
use super::exact::{self, Exact};
use super::oracle::{Bill, Kind, Reading};

/// What was found about a log.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    /// Of its own requests.
    pub(crate) requests: Exact,
    /// Of a request log that is made of the session.
    pub(crate) written: Exact,
    /// Of request logs that the oracle made of the messages of the log, in several styles.
    pub(crate) styles: Exact,
    /// Billed calls whose size is estimated within the printed bound, and all of them.
    pub(crate) sizes: (u64, u64),
    pub(crate) content: Difference,
    /// Calls that the log has a bill for, and those of them that the report has, too.
    pub(crate) bills: (u64, u64),
    /// Bills and estimates of a session with at least two billed calls.
    pub(crate) billed: Option<Billed>,
}

/// Bills and estimates for the same calls, in tokens.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Billed {
    /// Input and its cached part, as billed.
    pub(crate) billed: Bill,
    /// The same as estimated and predicted.
    pub(crate) predicted: Bill,
    /// Both without the first call, for which nothing can be predicted.
    pub(crate) later: (Bill, Bill),
    /// How much requests grew from call to call: as estimated, and as billed.
    pub(crate) growth: (i64, i64),
    /// The error of the estimates that the report prints, in per cent.
    pub(crate) bound: u64,
}

/// Imports a log into a context of a store, and judges it.
pub(crate) fn judge(
    store: &Store,
    name: &str,
    text: &[u8],
    reading: &Reading,
) -> Result<Judged, String> {
    if reading.kind == Kind::Requests {
        let requests = exact::compare(text, &reading.requests)?;
        return Ok(Judged { requests, ..Judged::default() });
    }
    let workspace = Workspace::over(store.clone(), "the store").with_context(name);
    let source =
        Source { name: name.to_owned(), length: Some(text.len() as u64), reader: Box::new(text) };
    let control = Control::default();
    let shown = |error: contextree_app::Error| error.to_string();
    import(&workspace, &ImportRequest::default(), source, &control).map_err(shown)?;
    if reading.kind == Kind::Other {
        let mut styles = Exact::default();
        for lines in &reading.styles {
            let exact = exact::compare_texts(lines)?;
            styles.equal += exact.equal;
            styles.all += exact.all;
        }
        return Ok(Judged { styles, ..Judged::default() });
    }
    let session = store.session(name).map_err(|error| error.to_string())?;
    let report = cache(&workspace, &CacheRequest::default(), &control).map_err(shown)?;
    Ok(Judged {
        requests: Exact::default(),
        written: written(&session)?,
        styles: Exact::default(),
        sizes: sizes(&report),
        content: content::compare(&session, reading)?,
        bills: (reading.bills.len() as u64, common(&reading.bills, &report)),
        billed: billed(&reading.bills, &report),
    })
}

/// Writes the requests of a session as a log, and imports that.
fn written(session: &Session) -> Result<Exact, String> {
    let log = exact::log_of(session)?;
    let lines = log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let requests: Result<Vec<_>, _> = lines.map(serde_json::from_slice).collect();
    let requests = requests.map_err(|error| error.to_string())?;
    if requests.is_empty() { Ok(Exact::default()) } else { exact::compare(&log, &requests) }
}

/// Returns how many bills the report has, too.
fn common(bills: &[Bill], report: &CacheResponse) -> u64 {
    let mut reported: Vec<Bill> = report
        .calls
        .iter()
        .filter_map(|call| call.billed.as_ref())
        .map(|billed| Bill { input: billed.tokens, cached: billed.cached.unwrap_or(0) })
        .collect();
    reported.sort_unstable();
    let mut is_reported = |bill: &&Bill| match reported.binary_search(bill) {
        Ok(at) => {
            reported.remove(at);
            true
        }
        Err(_) => false,
    };
    bills.iter().filter(|bill| is_reported(bill)).count() as u64
}

/// Returns how many billed calls have about the size that was estimated, and how many there are.
fn sizes(report: &CacheResponse) -> (u64, u64) {
    let bills = report.calls.iter().filter_map(|call| Some((call.tokens, call.billed.as_ref()?)));
    let bound = report.error_percent;
    let is_near = |(tokens, billed): &(u64, &BilledCall)| {
        tokens.abs_diff(billed.tokens) * 100 <= billed.tokens * bound
    };
    (bills.clone().filter(is_near).count() as u64, bills.count() as u64)
}

/// Returns what was billed, and what is estimated and predicted, for all calls but the first.
fn later(report: &CacheResponse) -> (Bill, Bill) {
    let mut sums = (Bill::default(), Bill::default());
    for call in report.calls.iter().skip(1) {
        let Some(billed) = &call.billed else { continue };
        sums.0.input += billed.tokens;
        sums.0.cached += billed.cached.unwrap_or(0);
        sums.1.input += call.tokens;
        sums.1.cached += call.cached;
    }
    sums
}

fn billed(bills: &[Bill], report: &CacheResponse) -> Option<Billed> {
    let reported = report.billed.as_ref().filter(|billed| billed.calls > 1)?;
    let calls = || report.calls.iter().filter(|call| call.billed.is_some());
    Some(Billed {
        billed: Bill {
            input: bills.iter().map(|bill| bill.input).sum(),
            cached: bills.iter().map(|bill| bill.cached).sum(),
        },
        later: later(report),
        predicted: Bill {
            input: calls().map(|call| call.tokens).sum(),
            cached: calls().map(|call| call.cached).sum(),
        },
        growth: (reported.growth_estimated, reported.growth_billed),
        bound: report.error_percent,
    })
}
