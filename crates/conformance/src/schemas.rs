//! Compares `schemas.json` with the engine: names, shapes and orders that are not cases.

use contextree::canon::SPEC_VERSION;
use contextree::engine::Reason;
use contextree::tree::Header;
use contextree::{
    AttemptStart, AttemptStatus, Class, Context, Edit, NewNode, OpError, Place, Region, Snapshot,
    SnapshotAddress,
};
use contextree_json::{Object, Value, parse};

use super::case::Edition;
use super::document::strings;

/// Compares `schemas.json` with the engine; returns the names of the schemas that were compared,
/// and the differences. Skips schemas of the selector language.
#[must_use]
pub fn check_schemas(schemas: &Object) -> (Vec<&'static str>, Vec<String>) {
    let mut differences = Vec::new();
    let mut names = Vec::new();
    for (name, check) in CHECKS {
        names.push(*name);
        match schemas.get(name) {
            None => differences.push(format!("{name}: unknown schema")),
            Some(schema) => {
                if let Err(why) = check(schema) {
                    differences.push(format!("{name}: {why}"));
                }
            }
        }
    }
    (names, differences)
}

type SchemaCheck = fn(&Value) -> Result<(), String>;

const CHECKS: &[(&str, SchemaCheck)] = &[
    ("required_headers", required_headers),
    ("numeric_headers", numeric_headers),
    ("string_headers", string_headers),
    ("nullable_headers", nullable_headers),
    ("optional_headers", optional_headers),
    ("reserved_names", reserved_names),
    ("roles", roles),
    ("attempt_record", attempt_record),
    ("diff", diff),
    ("tracked_headers_printed", tracked_headers),
    ("export_envelope", export_envelope),
    ("commit_sequence", commit_sequence),
    ("render_order", render_order),
    ("pruning_order", pruning_order),
    ("canonical_sibling_order", sibling_order),
    ("defaults_on_missing_metadata", defaults),
    ("vocabulary", vocabulary),
];

fn equal<T: PartialEq + std::fmt::Debug>(wanted: &T, got: &T) -> Result<(), String> {
    if wanted == got { Ok(()) } else { Err(format!("expected {wanted:?}, got {got:?}")) }
}

/// Returns a session with one block that uses every feature: the export of its only snapshot.
fn sample() -> Result<Context, String> {
    let mut context = Context::new();
    let node = NewNode::text("hello").id("x").role("user").kind("text").ttl(3);
    let node = node.provenance("model:m").attribute("data_a", 1).attribute("content_b", "c");
    context.add(Place::head(), node).map_err(|error| error.to_string())?;
    context.commit().map_err(|error| error.to_string())?;
    Ok(context)
}

fn exported_node() -> Result<Object, String> {
    let context = sample()?;
    let export = parse(&context.newest().map(Snapshot::export).unwrap_or_default());
    let mut found = export.map_err(|error| error.to_string())?.get("root").cloned();
    // ^root → ^seq → turn → core → block.
    for index in [1, 0, 0, 0] {
        let children = found.as_ref().and_then(|node| node.get("children"));
        found = children.and_then(Value::as_array).and_then(|list| list.get(index)).cloned();
    }
    match found {
        Some(Value::Object(node)) => Ok(node),
        _ => Err("the export has an unexpected shape".to_owned()),
    }
}

fn required_headers(schema: &Value) -> Result<(), String> {
    let names: Vec<String> = Header::REQUIRED.iter().map(|name| name.name().to_owned()).collect();
    equal(&strings(schema)?, &names)
}

fn typed(schema: &Value, is_typed: fn(&Value) -> bool) -> Result<(), String> {
    let node = exported_node()?;
    for name in strings(schema)? {
        if !node.get(&name).is_some_and(is_typed) {
            return Err(format!("`{name}` is {:?} in an export", node.get(&name)));
        }
    }
    Ok(())
}

fn numeric_headers(schema: &Value) -> Result<(), String> {
    typed(schema, |value| value.as_number().is_some_and(contextree_json::Number::is_integer))
}

fn string_headers(schema: &Value) -> Result<(), String> {
    typed(schema, |value| value.as_str().is_some())
}

fn nullable_headers(schema: &Value) -> Result<(), String> {
    // A block without options: everything that may be null is null.
    let mut context = Context::new();
    context.add(Place::system(), NewNode::default().id("x")).map_err(|e| e.to_string())?;
    let node = context.working().get("x").ok_or("the node was not added")?;
    let nulls = Header::REQUIRED
        .iter()
        .filter(|name| node.header(name.name()) == Some(Value::Null))
        .map(|name| name.name().to_owned());
    equal(&strings(schema)?, &nulls.collect())
}

fn optional_headers(schema: &Value) -> Result<(), String> {
    let context = sample()?;
    let node = context.working().get("x").ok_or("the sample has no block")?;
    for name in strings(schema)? {
        let found = match name.as_str() {
            "content_hash" => Some(contextree::content_hash(node).to_string().into()),
            "data_*" => node.header("data_a"),
            "content_*" => node.header("content_b"),
            other => node.header(other),
        };
        if found.is_none() {
            return Err(format!("`{name}` cannot be stored"));
        }
    }
    Ok(())
}

fn reserved_names(schema: &Value) -> Result<(), String> {
    for name in strings(schema)? {
        let mut context = Context::new();
        let node = NewNode::text("x").attribute(&name, 1);
        match context.add(Place::system(), node) {
            Err(OpError::InvalidPlacement { reason: Reason::ReservedName, .. }) => {}
            other => return Err(format!("`{name}` as an attribute: {other:?}")),
        }
    }
    Ok(())
}

fn roles(schema: &Value) -> Result<(), String> {
    for role in strings(schema)? {
        let mut context = Context::new();
        let id = context.add(Place::head(), NewNode::text("x").role(&role));
        let id = id.map_err(|error| error.to_string())?;
        equal(&Some(role.as_str()), &context.working().get(&id).and_then(|node| node.role()))?;
    }
    Ok(())
}

fn attempt_record(schema: &Value) -> Result<(), String> {
    let mut context = Context::new();
    let start = AttemptStart { provider: "p", model: "m", params: b"{}", input: b"[]" };
    let attempt = context.start_attempt(start).clone();
    // The fields of the record are named here one by one, so that renaming one does not compile.
    let contextree::Attempt {
        attempt_id,
        cycle_id: _,
        status,
        started_at: _,
        ended_at,
        provider: _,
        model: _,
        params,
        token_in,
        token_out,
        ..
    } = attempt;
    let names = [
        "attempt_id",
        "cycle_id",
        "status",
        "started_at",
        "ended_at",
        "provider",
        "model",
        "params",
        "token_in",
        "token_out",
    ];
    let wanted = strings(schema.get("required").unwrap_or(&Value::Null))?;
    equal(&wanted, &names.map(str::to_owned).to_vec())?;
    if ended_at.is_some() || token_in.is_some() || token_out.is_some() {
        return Err("a running attempt has an end".to_owned());
    }
    equal(&params.to_string().len(), &64)?;
    let words = [
        status.word(),
        AttemptStatus::Completed.word(),
        AttemptStatus::Canceled.word(),
        AttemptStatus::Error(String::new()).word(),
    ];
    let wanted = strings(schema.get("status").unwrap_or(&Value::Null))?;
    equal(&wanted, &words.map(str::to_owned).to_vec())?;
    context.end_attempt(&attempt_id, AttemptStatus::Completed, None).map_err(|e| e.to_string())?;
    Ok(())
}

fn diff(schema: &Value) -> Result<(), String> {
    let mut context = sample()?;
    context.commit().map_err(|error| error.to_string())?;
    let diff = context.diff(SnapshotAddress::Back(1), SnapshotAddress::Back(0));
    let text = diff.map_err(|error| error.to_string())?.to_json();
    let diff = parse(text.as_bytes()).map_err(|error| error.to_string())?;
    let keys = |value: Option<&Value>| -> Vec<String> {
        let object = value.and_then(Value::as_object);
        object.into_iter().flat_map(|object| object.keys().map(str::to_owned)).collect()
    };
    let sorted = |value: Option<&Value>| -> Result<Vec<String>, String> {
        let mut names = strings(value.unwrap_or(&Value::Null))?;
        names.sort();
        Ok(names)
    };
    equal(&sorted(schema.get("required"))?, &keys(Some(&diff)))?;
    let item = diff.get("changed").and_then(Value::as_array).and_then(<[Value]>::first);
    let wanted = schema.get("changed_item").and_then(|item| item.get("required"));
    equal(&sorted(wanted)?, &keys(item))
}

/// Checks the order in which changed fields are reported.
fn tracked_headers(schema: &Value) -> Result<(), String> {
    let older = br#"{"cycle":1,"root":{"id":"r","children":[{"id":"a","nodeType":"^ah","children":[
        {"id":"g","nodeType":"mc","offset":1},{"id":"x","nodeType":"cb","content":"1"}]}]}}"#;
    let newer = br#"{"cycle":2,"root":{"id":"r","children":[{"id":"a","nodeType":"^ah","children":[
        {"id":"g","nodeType":"mc","offset":1,"children":[{"id":"x","nodeType":"cb:y","content":"2","ttl":1,
        "priority":1,"offset":1,"role":"r","kind":"k","created_at_ns":1,"creation_index":1}]}]}]}}"#;
    let mut lines: Vec<u8> =
        older.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }).collect();
    lines.push(b'\n');
    lines.extend(newer.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }));
    let context = Context::import_history(
        &lines,
        contextree::Profile::Lenient,
        super::document::options(Edition::E1),
    )
    .map_err(|error| error.to_string())?;
    let diff = context.diff(SnapshotAddress::Back(1), SnapshotAddress::Back(0));
    let diff = diff.map_err(|error| error.to_string())?;
    let fields = diff.changed.iter().find(|changed| changed.id == "x").map(|x| x.fields.clone());
    let fields: Vec<String> = fields.unwrap_or_default();
    let wanted = strings(schema)?;
    equal(&wanted, &fields.into_iter().filter(|field| wanted.contains(field)).collect())
}

fn export_envelope(schema: &Value) -> Result<(), String> {
    let context = sample()?;
    let export = parse(&context.newest().map(Snapshot::export).unwrap_or_default());
    let export = export.map_err(|error| error.to_string())?;
    let mut wanted = strings(schema.get("keys").unwrap_or(&Value::Null))?;
    wanted.sort();
    let keys = export.as_object().map(|object| object.keys().map(str::to_owned).collect());
    equal(&Some(wanted), &keys)?;
    let version = schema.get("spec_version_example").and_then(Value::as_str);
    equal(&version, &Some(SPEC_VERSION))?;
    equal(&version, &export.get("spec_version").and_then(Value::as_str))
}

/// Checks the order of a commit: every step leaves a trace that only its position explains.
fn commit_sequence(schema: &Value) -> Result<(), String> {
    equal(
        &strings(schema)?,
        &["ttl_expiry_and_cascade", "prune_compact", "seal", "snapshot"]
            .map(str::to_owned)
            .to_vec(),
    )?;
    let mut context = Context::new();
    let fail = |error: OpError| error.to_string();
    context.add(Place::head(), NewNode::text("a").id("due").ttl(0)).map_err(fail)?;
    context.add(Place::head(), NewNode::text("b").id("low")).map_err(fail)?;
    context.add(Place::head(), NewNode::text("c").id("high").priority(1)).map_err(fail)?;
    let policy = contextree::Policy {
        protect_turns: 0,
        limits: vec![contextree::Limit::Remove(1)],
        ..contextree::Policy::default()
    };
    let seen = std::cell::RefCell::new(Vec::new());
    let look = |tree: contextree::TreeRef<'_>| {
        // Between expiry and pruning: the expired node is removed, the others are present, and
        // nothing is sealed.
        seen.borrow_mut().extend(["due", "low"].map(|id| tree.get(id).is_some()));
        seen.borrow_mut().push(tree.turn_count() == 0);
        Vec::new()
    };
    let options = contextree::CommitOptions {
        policy: Some(&policy),
        compaction: Some(&look),
        ..Default::default()
    };
    let report = context.commit_with(&options).map_err(|error| error.to_string())?;
    equal(&vec![false, true, true], &seen.into_inner())?;
    equal(&vec!["due".to_owned()], &report.expired)?;
    equal(&Some("low"), &report.pruned.first().map(|pruned| pruned.id.as_str()))?;
    let snapshot = context.newest().ok_or("the commit left no snapshot")?;
    equal(&report.digest, &snapshot.digest())?;
    let turn = snapshot.view().get("high").and_then(|node| node.parent()?.parent());
    equal(&Some(report.sealed.as_str()), &turn.map(contextree::NodeRef::id))
}

fn render_order(schema: &Value) -> Result<(), String> {
    let words = strings(schema)?;
    let regions: Vec<&str> = words.iter().filter_map(|word| word.split(' ').next()).collect();
    equal(&regions, &Region::ALL.map(Region::word).to_vec())
}

fn pruning_order(schema: &Value) -> Result<(), String> {
    keys_in_order(schema, &["priority", "created_at_ns", "id"])
}

fn sibling_order(schema: &Value) -> Result<(), String> {
    keys_in_order(schema, &["offset", "created_at_ns", "creation_index", "id"])
}

/// Checks the names of the keys. The cases of the kinds `order` and `prune_order` show that the
/// engine sorts by them.
fn keys_in_order(schema: &Value, names: &[&str]) -> Result<(), String> {
    let words = strings(schema)?;
    let found: Vec<&str> = words.iter().filter_map(|word| word.split(' ').next()).collect();
    equal(&names.to_vec(), &found)
}

fn defaults(schema: &Value) -> Result<(), String> {
    let document = super::document::head_with(vec![super::document::object([("id", "x".into())])]);
    let context = super::document::snapshot(&document, Edition::E1)?;
    let node = context.working().get("x").ok_or("the node was not imported")?;
    for (name, wanted) in schema.as_object().ok_or("not an object")? {
        equal(&Some(wanted.clone()), &node.header(name))?;
    }
    Ok(())
}

fn vocabulary(schema: &Value) -> Result<(), String> {
    for (edition, words) in schema.as_object().ok_or("not an object")? {
        let edition = Edition::from_name(edition).ok_or("an unknown edition")?;
        let vocabulary = edition.vocabulary();
        let own = [vocabulary.turn(), vocabulary.container(), vocabulary.block()];
        equal(&strings(words)?, &own.map(str::to_owned).to_vec())?;
        let classes = own.map(Class::of);
        equal(&[Class::Turn, Class::Container, Class::Block], &classes)?;
        // Checks the node types of a session of that edition.
        let options = super::document::options(edition);
        let mut context = Context::with_options(options);
        let id = context.add(Place::head(), NewNode::text("x")).map_err(|e| e.to_string())?;
        context.edit(&id, Edit::default()).map_err(|error| error.to_string())?;
        context.commit().map_err(|error| error.to_string())?;
        let block = context.working().get(&id).ok_or("the block was removed")?;
        let found: Vec<&str> = std::iter::once(block)
            .chain(block.ancestors().take(2))
            .map(contextree::NodeRef::node_type)
            .collect();
        equal(&own.iter().rev().copied().collect::<Vec<_>>(), &found)?;
    }
    Ok(())
}
