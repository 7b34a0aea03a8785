//! `ctx diff`: what changed between two states.

use contextree::diff::{self, Changes, FieldChange};
use contextree::query::{diff_selected, plan, resolve_on_tree};
use contextree_json::{Object, Value};
use contextree_selector::parse;

use super::Call;
use crate::args::parse_range;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::source::{Address, Range, Source, State};
use crate::view::{difference, report};

/// Show what changed between two states; exits with 1 if something did
///
/// Without arguments: from the newest snapshot to the working state. With one: from that snapshot to the working state. With
/// two, or `A..B`: from the older to the newer.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx diff                         what is not committed yet
  ctx diff @t-1..@t0               what the newest commit did
  ctx diff 3 7                     between commits 3 and 7
  ctx diff 3 7 --select '^sys *'   only nodes that a selector matches
  ctx diff 3 7 --json              {\"added\":[…],\"changed\":[…],\"removed\":[…]}")]
pub(crate) struct Args {
    /// The first state, or both as `A..B`
    #[arg(value_parser = parse_range)]
    from: Option<Range>,

    /// The second state
    #[arg(value_parser = crate::args::parse_address)]
    to: Option<Address>,

    /// Compare only nodes that this selector matches
    #[arg(long, value_name = "SELECTOR")]
    select: Option<String>,

    /// With --json: old and new values, parents and children
    #[arg(long, conflicts_with = "select")]
    values: bool,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let source = Source::open(call)?;
    let (left, right) = states(args, &source)?;
    let (older, newer) = in_order(left, right);
    let found = match &args.select {
        None => diff::diff(older.tree(), newer.tree()),
        Some(text) => selected(text, &source, &older, &newer)?,
    };
    let exit = if found.is_empty() { Exit::Ok } else { Exit::No };
    match call.output.format() {
        Format::Human if found.is_empty() => {
            call.output.note(&format!("{} and {} are equal", older.label, newer.label));
        }
        Format::Human => {
            let last = newer.cycle().or(older.cycle()).unwrap_or(0);
            let reports = source.reports(older.cycle().unwrap_or(0), last)?;
            let causes = report::causes_of(&reports);
            let text = difference::draw(&found, (&older, &newer), &causes, call.output.width());
            call.output.text(&text);
        }
        _ if args.values => {
            let changes = diff::changes(older.tree(), newer.tree());
            call.output.value(&changes_value(&changes));
        }
        _ => call.output.value(&diff_value(&found)),
    }
    Ok(exit)
}

fn states(args: &Args, source: &Source) -> Result<(State, State), Failure> {
    match (args.from, args.to) {
        (None, _) => Ok((source.newest()?, source.working()?)),
        (Some(Range { from, to: None }), to) => {
            Ok((source.state(from)?, source.state(to.unwrap_or(Address::Working))?))
        }
        (Some(Range { from, to: Some(to) }), None) => Ok((source.state(from)?, source.state(to)?)),
        (Some(_), Some(_)) => Err(Failure::usage("three states are given, two can be compared")
            .hint("write `ctx diff A..B`, or `ctx diff A B`")),
    }
}

/// The older one first; the working state is the newest of all.
fn in_order(left: State, right: State) -> (State, State) {
    let age = |state: &State| state.cycle().unwrap_or(u32::MAX);
    if age(&left) <= age(&right) { (left, right) } else { (right, left) }
}

fn selected(
    text: &str,
    source: &Source,
    older: &State,
    newer: &State,
) -> Result<diff::Diff, Failure> {
    let selector =
        parse(text, source.edition()).map_err(|errors| Failure::selector(&errors, text))?;
    let query = resolve_on_tree(&selector).map_err(|error| Failure::query(&error.into(), text))?;
    Ok(diff_selected(&plan(query), (older.tree(), older.cycle()), (newer.tree(), newer.cycle())))
}

fn diff_value(found: &diff::Diff) -> Value {
    let changed = found.changed.iter().map(|changed| {
        Value::Object(Object::from_iter([
            ("id", Value::from(changed.id.as_str())),
            ("fields", texts(&changed.fields)),
        ]))
    });
    Value::Object(Object::from_iter([
        ("added", texts(&found.added)),
        ("removed", texts(&found.removed)),
        ("changed", Value::Array(changed.collect())),
    ]))
}

fn texts(texts: &[String]) -> Value {
    Value::Array(texts.iter().map(|text| Value::from(text.as_str())).collect())
}

fn changes_value(changes: &Changes) -> Value {
    let children = |lists: &std::collections::BTreeMap<String, Vec<String>>| {
        Value::Object(lists.iter().map(|(parent, ids)| (parent.as_str(), texts(ids))).collect())
    };
    let field = |change: &FieldChange| {
        let mut object = Object::from_iter([("field", Value::from(change.field.as_str()))]);
        if let Some(value) = &change.from {
            object.insert("from", value.clone());
        }
        if let Some(value) = &change.to {
            object.insert("to", value.clone());
        }
        Value::Object(object)
    };
    let modified = changes.components_modified.iter().map(|(id, fields)| {
        Value::Object(Object::from_iter([
            ("id", Value::from(id.as_str())),
            ("fields", Value::Array(fields.iter().map(field).collect())),
        ]))
    });
    let parents = changes.parent_changed.iter().map(|change| {
        Value::Object(Object::from_iter([
            ("id", Value::from(change.id.as_str())),
            ("previous_parent_id", change.previous_parent_id.as_str().into()),
            ("new_parent_id", change.new_parent_id.as_str().into()),
        ]))
    });
    Value::Object(Object::from_iter([
        ("components_added", texts(&changes.components_added)),
        ("components_removed", texts(&changes.components_removed)),
        ("components_modified", Value::Array(modified.collect())),
        ("children_added", children(&changes.children_added)),
        ("children_removed", children(&changes.children_removed)),
        ("parent_changed", Value::Array(parents.collect())),
    ]))
}
