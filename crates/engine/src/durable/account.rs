//! Reports as JSON values, and back: the account in the record of a commit.

use contextree_canon::Hash;
use contextree_json::{Object, Value};
use contextree_tree::Cycle;

use crate::report::{Cleared, CommitReport, Deferred, Holder, Operation, Pruned, Unmet, Warning};

/// All names of operations.
const OPERATIONS: [&str; 7] = ["add", "edit", "remove", "move", "set_priority", "pin", "unpin"];
/// All names of JSON types.
const TYPES: [&str; 6] = ["null", "boolean", "number", "string", "array", "object"];

fn texts(texts: &[String]) -> Value {
    Value::Array(texts.iter().map(|text| Value::from(text.as_str())).collect())
}

fn array<const N: usize>(values: [Value; N]) -> Value {
    Value::Array(values.into())
}

fn text(text: &str) -> Value {
    Value::from(text)
}

fn number(number: u64) -> Value {
    Value::Number(contextree_json::Number::from_u64(number))
}

/// Returns the account of changes of the working tree.
pub(crate) fn work(operations: &[Operation], warnings: &[Warning]) -> Value {
    let mut object = Object::new();
    add_work(&mut object, operations, warnings);
    if object.is_empty() { Value::Null } else { Value::Object(object) }
}

fn add_work(object: &mut Object, operations: &[Operation], warnings: &[Warning]) {
    add(object, "operations", operations, |operation| {
        let mut entry = vec![text(operation.operation), text(&operation.node)];
        if !operation.on_behalf_of.is_empty() {
            entry.push(text(&operation.on_behalf_of));
        }
        Value::Array(entry)
    });
    add(object, "warnings", warnings, |warning| match warning {
        Warning::AttributeType { node, attribute, from, to } => {
            array([text("attribute"), text(node), text(attribute), text(from), text(to)])
        }
        Warning::References { node } => array([text("references"), text(node)]),
        Warning::Role { node, role } => array([text("role"), text(node), text(role)]),
    });
}

fn add<T>(object: &mut Object, name: &str, entries: &[T], entry: impl Fn(&T) -> Value) {
    if !entries.is_empty() {
        object.insert(name, Value::Array(entries.iter().map(entry).collect()));
    }
}

/// Returns the account of a commit. Empty fields are omitted.
pub(crate) fn of_report(report: &CommitReport) -> Value {
    let mut object = Object::new();
    for (name, ids) in [
        ("expired", &report.expired),
        ("along", &report.along),
        ("cascaded", &report.cascaded),
        ("dropped", &report.dropped),
    ] {
        add(&mut object, name, ids, |id| text(id));
    }
    add(&mut object, "deferred", &report.deferred, |deferred| {
        let by = match &deferred.by {
            Holder::Handle => text("handle"),
            Holder::Unknown => text("unknown"),
            Holder::Node(node) => array([text(node)]),
        };
        array([text(&deferred.id), text(&deferred.held), by])
    });
    add(&mut object, "pruned", &report.pruned, |pruned| {
        let with = pruned.with.as_deref().map_or(Value::Null, text);
        array([text(&pruned.id), number(pruned.limit as u64), texts(&pruned.along), with])
    });
    add(&mut object, "cleared", &report.cleared, |cleared| {
        array([text(&cleared.id), text(&cleared.placeholder), number(cleared.limit as u64)])
    });
    if let Some(summary) = &report.summary {
        object.insert("summary", text(summary));
    }
    add(&mut object, "unmet", &report.unmet, |unmet| {
        array([number(unmet.limit as u64), text(&unmet.scope), number(unmet.left)])
    });
    object.insert("sealed", text(&report.sealed));
    if let Some(core) = &report.core {
        object.insert("core", text(core));
    }
    add_work(&mut object, &report.operations, &report.warnings);
    Value::Object(object)
}

/// Reads the account of a commit; `None` if there is none, as for imported snapshots.
pub(crate) fn to_report(account: &Value, cycle: Cycle, digest: Hash) -> Option<CommitReport> {
    let object = account.as_object()?;
    let list = |name: &str| object.get(name).and_then(Value::as_array).unwrap_or_default();
    let ids = |name: &str| strings(list(name));
    let (operations, warnings) = to_work(account);
    Some(CommitReport {
        cycle,
        digest,
        expired: ids("expired"),
        along: ids("along"),
        deferred: list("deferred").iter().filter_map(to_deferred).collect(),
        cascaded: ids("cascaded"),
        dropped: ids("dropped"),
        pruned: list("pruned").iter().filter_map(to_pruned).collect(),
        cleared: list("cleared").iter().filter_map(to_cleared).collect(),
        summary: object.get("summary").and_then(Value::as_str).map(str::to_owned),
        unmet: list("unmet").iter().filter_map(to_unmet).collect(),
        sealed: object.get("sealed")?.as_str()?.to_owned(),
        core: object.get("core").and_then(Value::as_str).map(str::to_owned),
        operations,
        warnings,
    })
}

/// Reads the account of changes of the working tree.
pub(crate) fn to_work(account: &Value) -> (Vec<Operation>, Vec<Warning>) {
    let list = |name: &str| account.get(name).and_then(Value::as_array).unwrap_or_default();
    (
        list("operations").iter().filter_map(to_operation).collect(),
        list("warnings").iter().filter_map(to_warning).collect(),
    )
}

fn strings(values: &[Value]) -> Vec<String> {
    values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn known(word: &Value, words: &'static [&'static str]) -> Option<&'static str> {
    let word = word.as_str()?;
    words.iter().copied().find(|known| *known == word)
}

fn to_operation(value: &Value) -> Option<Operation> {
    let [operation, node, rest @ ..] = value.as_array()? else { return None };
    Some(Operation {
        operation: known(operation, &OPERATIONS)?,
        node: node.as_str()?.to_owned(),
        on_behalf_of: rest.first().and_then(Value::as_str).unwrap_or_default().to_owned(),
    })
}

fn to_warning(value: &Value) -> Option<Warning> {
    let own = |value: &Value| value.as_str().map(str::to_owned);
    match value.as_array()? {
        [_, node, attribute, from, to] => Some(Warning::AttributeType {
            node: own(node)?,
            attribute: own(attribute)?,
            from: known(from, &TYPES)?,
            to: known(to, &TYPES)?,
        }),
        [_, node] => Some(Warning::References { node: own(node)? }),
        [_, node, role] => Some(Warning::Role { node: own(node)?, role: own(role)? }),
        _ => None,
    }
}

fn to_deferred(value: &Value) -> Option<Deferred> {
    let [id, held, by] = value.as_array()? else { return None };
    let by = match by {
        Value::Array(node) => Holder::Node(node.first()?.as_str()?.to_owned()),
        word if word.as_str() == Some("handle") => Holder::Handle,
        _ => Holder::Unknown,
    };
    Some(Deferred { id: id.as_str()?.to_owned(), held: held.as_str()?.to_owned(), by })
}

fn to_pruned(value: &Value) -> Option<Pruned> {
    let [id, limit, along, with] = value.as_array()? else { return None };
    Some(Pruned {
        with: with.as_str().map(str::to_owned),
        id: id.as_str()?.to_owned(),
        limit: usize::try_from(limit.as_u64()?).ok()?,
        along: strings(along.as_array()?),
    })
}

fn to_cleared(value: &Value) -> Option<Cleared> {
    let [id, placeholder, limit] = value.as_array()? else { return None };
    Some(Cleared {
        id: id.as_str()?.to_owned(),
        placeholder: placeholder.as_str()?.to_owned(),
        limit: usize::try_from(limit.as_u64()?).ok()?,
    })
}

fn to_unmet(value: &Value) -> Option<Unmet> {
    let [limit, scope, left] = value.as_array()? else { return None };
    Some(Unmet {
        limit: usize::try_from(limit.as_u64()?).ok()?,
        scope: scope.as_str()?.to_owned(),
        left: left.as_u64()?,
    })
}
