//! Checks kinds that need the selector language: select, parse, ranges, content diffs, and diffs by
//! selector.

use contextree::diff::Diff;
use contextree::query::{
    ContentMode, Moment, QueryError, QueryLimits, RangeOptions, Timeline, diff_selected, plan,
    resolve_on_tree, select,
};
use contextree::{Answer, Context, Cycle, SelectOptions, Snapshot, TreeRef};
use contextree_json::Value;
use contextree_selector::{parse as parse_selector, parse_on_snapshots};

use super::{DiffSelector, Got};
use crate::case::{Case, Edition};
use crate::document::{options as context_options, snapshot, texts, working};

/// A fixture of the corpus as a history.
struct Fixture {
    snapshots: Vec<Context>,
    working: Context,
}

impl Fixture {
    fn load(case: &Case, edition: Edition) -> Result<Fixture, String> {
        let fixture = case.fixture.as_ref().ok_or("the case does not name a fixture")?;
        let documents = match fixture.get("snapshots") {
            Some(Value::Array(documents)) => documents.as_slice(),
            _ => std::slice::from_ref(fixture),
        };
        let snapshots = documents
            .iter()
            .map(|document| snapshot(document, edition))
            .collect::<Result<Vec<_>, _>>()?;
        let next = snapshots.last().map_or(Cycle::FIRST, Context::next_cycle);
        // After an import, the working state equals the newest snapshot until it is changed.
        let live = fixture.get("working").or(documents.last()).ok_or("the fixture is empty")?;
        Ok(Fixture { working: working(live, next, context_options(edition))?, snapshots })
    }
}

impl Timeline for Fixture {
    type Error = QueryError;

    fn snapshot_count(&self) -> usize {
        self.snapshots.len()
    }

    fn snapshot(&self, position: usize) -> Result<Option<Moment<'_>>, QueryError> {
        let snapshot = self.snapshots.get(position).and_then(Context::newest);
        Ok(snapshot.map(|found| Moment { cycle: found.cycle(), tree: found.view() }))
    }

    fn working(&self) -> Result<Option<TreeRef<'_>>, QueryError> {
        Ok(Some(self.working.working()))
    }
}

/// Returns the edition of the selector language.
pub(crate) fn language(edition: Edition) -> contextree::Edition {
    match edition {
        Edition::E1 => contextree::Edition::V0_1,
        Edition::E2 => contextree::Edition::V0_2,
        Edition::E3 => contextree::Edition::V0_3,
    }
}

fn options(case: &Case, edition: Edition) -> Result<SelectOptions, String> {
    let given = case.field("options");
    let number = |name: &str| {
        given.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok())
    };
    let query = case.field("query").as_str().unwrap_or_default();
    let reads_snapshots = parse_selector(query, language(edition))
        .is_ok_and(|selector| !selector.reads_working_state());
    let filter = match given.get("where").and_then(Value::as_str) {
        Some(text) if reads_snapshots => Some(parse_on_snapshots(text, language(edition))),
        Some(text) => Some(parse_selector(text, language(edition))),
        None => None,
    };
    let filter = filter.transpose().map_err(|error| error.to_string())?;
    let mode = given.get("contentMode").and_then(Value::as_str).unwrap_or("unified");
    let content_mode: ContentMode =
        mode.parse().map_err(|_| format!("unknown content mode `{mode}`"))?;
    Ok(SelectOptions {
        skip: number("skip").unwrap_or(0),
        limit: number("limit"),
        filter,
        range: RangeOptions {
            include_content: given.get("includeContent").and_then(Value::as_bool) == Some(true),
            content_mode,
            max_snapshots: number("maxSnapshots"),
            max_changes_per_snapshot: number("maxChangesPerSnapshot"),
            ..RangeOptions::default()
        },
        range_as_nodes: given.get("select_range_returns_diff") == Some(&Value::Bool(false)),
        limits: None,
    })
}

/// Runs the query of a case; returns ids, the object of a range, or an error code.
fn answer(case: &Case, edition: Edition) -> Result<Result<Value, &'static str>, String> {
    let fixture = Fixture::load(case, edition)?;
    let query = case.field("query").as_str().ok_or("the case has no query")?;
    let options = options(case, edition)?;
    Ok(match select(query, language(edition), &fixture, &options) {
        Ok(Answer::Nodes(selection)) => Ok(texts(selection.ids())),
        Ok(Answer::Range(range)) => Ok(range.to_value()),
        Err(error) => Err(error.code()),
    })
}

pub(super) fn select_nodes(case: &Case, edition: Edition) -> Result<Got, String> {
    Ok(match answer(case, edition)? {
        Ok(ids) => Got::from_iter([("ids", ids)]),
        Err(code) => Got::from_iter([("error", Value::from(code))]),
    })
}

pub(super) fn parse(case: &Case, edition: Edition) -> Result<Got, String> {
    let query = case.field("query").as_str().ok_or("the case has no query")?;
    Ok(match parse_selector(query, language(edition)) {
        Ok(selector) => {
            let result = if selector.is_range() { "range" } else { "ids" };
            Got::from_iter([("result", Value::from(result))])
        }
        Err(errors) => Got::from_iter([("error", Value::from(errors.code().as_str()))]),
    })
}

/// Returns the whole object of a range.
pub(super) fn range(case: &Case, edition: Edition) -> Result<Got, String> {
    match answer(case, edition)? {
        Ok(Value::Object(found)) => Ok(found),
        Ok(ids) => Ok(Got::from_iter([("ids", ids)])),
        Err(code) => Ok(Got::from_iter([("error", Value::from(code))])),
    }
}

/// Returns the content diff of the node that the case names, if that is among the changed ones.
pub(super) fn content_diff(case: &Case, edition: Edition) -> Result<Got, String> {
    let found = match answer(case, edition)? {
        Ok(found) => found,
        Err(code) => return Ok(Got::from_iter([("error", Value::from(code))])),
    };
    let named = case.expected("changed_id");
    let blocks = found.get("diffs").and_then(Value::as_array).ok_or("there are no diffs")?;
    let changed = blocks.iter().filter_map(|block| block.get("changed")?.as_array()).flatten();
    let mut got = Got::new();
    for node in changed.filter(|node| node.get("id") == Some(named)) {
        for (name, key) in [("changed_id", "id"), ("content_diff", "content_diff")] {
            if let Some(value) = node.get(key) {
                got.insert(name, value.clone());
            }
        }
    }
    Ok(got)
}

/// Compares snapshots by the selector language.
pub(crate) struct BySelector;

impl DiffSelector for BySelector {
    fn diff(
        &self,
        older: &Snapshot,
        newer: &Snapshot,
        selector: &str,
        edition: Edition,
    ) -> Result<Diff, String> {
        let selector =
            parse_on_snapshots(selector, language(edition)).map_err(|error| error.to_string())?;
        let plan = plan(resolve_on_tree(&selector).map_err(|error| error.to_string())?);
        let side = |snapshot: &'_ Snapshot| Some(snapshot.cycle());
        let sides = ((older.view(), side(older)), (newer.view(), side(newer)));
        diff_selected(&plan, sides.0, sides.1, &QueryLimits::default())
            .map_err(|error| error.to_string())
    }
}
