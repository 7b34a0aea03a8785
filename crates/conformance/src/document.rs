//! Converts the trees of cases to documents of the engine, and nodes of the engine to JSON.

use std::cell::RefCell;

use contextree::{Context, ContextOptions, Cycle, NodeRef, Profile};
use contextree_json::{Object, Value, parse};

use super::case::Edition;

/// Returns the options of a context for an edition.
pub(super) fn options(edition: Edition) -> ContextOptions {
    let language = super::kinds::language(edition);
    ContextOptions {
        edition: language,
        vocabulary: edition.vocabulary(),
        ..ContextOptions::default()
    }
}

thread_local! {
    static DETOUR: RefCell<Option<Detour>> = const { RefCell::new(None) };
}

/// A transformation of every context of a case before it is used.
pub type Detour = Box<dyn Fn(Context) -> Result<Context, String>>;

/// Passes every context of the cases that this thread runs through a transformation first, for
/// example through a store. Stays in effect until it is set again.
pub fn set_detour(detour: Option<Detour>) {
    DETOUR.with(|place| *place.borrow_mut() = detour);
}

pub(super) fn through(context: Context) -> Result<Context, String> {
    DETOUR.with(|place| match &*place.borrow() {
        Some(detour) => detour(context),
        None => Ok(context),
    })
}

/// Returns a context whose only snapshot is a tree of a case.
pub(super) fn snapshot(tree: &Value, edition: Edition) -> Result<Context, String> {
    Context::import_snapshot(&tree.to_canonical(), Profile::Lenient, options(edition))
        .map_err(|error| format!("import: {error}"))
        .and_then(through)
}

/// Returns a context whose working state is a tree of a case.
pub(super) fn working(
    tree: &Value,
    next_cycle: Cycle,
    options: ContextOptions,
) -> Result<Context, String> {
    Context::import_working(&tree.to_canonical(), Profile::Lenient, next_cycle, options)
        .map_err(|error| format!("import: {error}"))
        .and_then(through)
}

/// Returns an empty context whose next commit has this number.
pub(super) fn empty(next_cycle: Cycle, edition: Edition) -> Result<Context, String> {
    working(&object([("root", object([("id", "root".into())]))]), next_cycle, options(edition))
}

/// Returns a document with these nodes in its head.
pub(super) fn head_with(nodes: Vec<Value>) -> Value {
    let head = object([
        ("id", "ah".into()),
        ("nodeType", "^ah".into()),
        ("children", Value::Array(nodes)),
    ]);
    let root = object([("id", "root".into()), ("children", Value::Array(vec![head]))]);
    object([("root", root)])
}

pub(super) fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Object(Object::from_iter(entries))
}

pub(super) fn texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Value {
    Value::Array(texts.into_iter().map(|text| Value::from(text.as_ref())).collect())
}

pub(super) fn ids<'a>(nodes: impl IntoIterator<Item = NodeRef<'a>>) -> Value {
    texts(nodes.into_iter().map(NodeRef::id))
}

/// Returns the strings of a list; a missing list is empty.
pub(super) fn strings(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect::<Option<_>>()
            .ok_or_else(|| "not a list of strings".to_owned()),
        _ => Err("not a list".to_owned()),
    }
}

pub(super) fn number(value: &Value, name: &str) -> Result<u32, String> {
    value
        .as_u64()
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| format!("`{name}` is not a whole number in range"))
}

/// Returns the thread as a value, and its ids as another.
pub(super) fn thread_value(bytes: &[u8]) -> Result<(Value, Value), String> {
    let thread = parse(bytes).map_err(|error| format!("the thread is not JSON: {error}"))?;
    let blocks = thread.as_array().ok_or("the thread is not a list")?;
    let ids = blocks
        .iter()
        .map(|block| block.get("id").cloned().ok_or("a block of the thread has no id"))
        .collect::<Result<Vec<_>, _>>()?;
    Ok((thread.clone(), Value::Array(ids)))
}

/// Returns a header of a node by the name used in expectations, including `content` and `parent`;
/// null if it is missing.
pub(super) fn header(node: NodeRef<'_>, name: &str) -> Value {
    match name {
        "content" => node.content().to_value().unwrap_or(Value::Null),
        "parent" => node.parent_id().map_or(Value::Null, Value::from),
        "children" => ids(node.children()),
        _ => node.header(name).unwrap_or(Value::Null),
    }
}
