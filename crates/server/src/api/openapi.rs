//! The description for machines: OpenAPI 3.1.

use contextree_json::{Object, Value};

use super::{Api, Body, Parameter, Route};
use crate::routes::{Shape, resolve};

/// Returns the description.
pub(super) fn document(api: &Api) -> Value {
    let mut paths = Object::new();
    for route in &api.routes {
        let operation = operation(api, route);
        let mut methods = match paths.remove(&route.path) {
            Some(Value::Object(methods)) => methods,
            _ => Object::new(),
        };
        methods.insert(route.method, operation);
        paths.insert(&*route.path, Value::Object(methods));
    }
    object([
        ("openapi", "3.1.0".into()),
        (
            "info",
            object([
                ("title", "Contextree".into()),
                ("version", env!("CARGO_PKG_VERSION").into()),
                ("description", "Every command of Contextree as a route.".into()),
                ("license", object([("name", env!("CARGO_PKG_LICENSE").into())])),
            ]),
        ),
        ("servers", Value::Array(vec![object([("url", ".".into())])])),
        (
            "security",
            Value::Array(vec![
                object([("token", Value::Array(vec![]))]),
                object([("cookie", Value::Array(vec![]))]),
            ]),
        ),
        ("paths", Value::Object(paths)),
        ("components", components(api)),
    ])
}

fn components(api: &Api) -> Value {
    let problem = object([
        ("description", "The request was refused or failed; `code` says why.".into()),
        ("content", content("application/problem+json", reference("ProblemDetails"))),
    ]);
    let token = object([("type", "http".into()), ("scheme", "bearer".into())]);
    let cookie = object([
        ("type", "apiKey".into()),
        ("in", "cookie".into()),
        // The port is part of the name.
        ("name", "contextree-8377".into()),
    ]);
    object([
        ("schemas", api.definitions.clone()),
        ("responses", object([("Problem", problem)])),
        ("securitySchemes", object([("token", token), ("cookie", cookie)])),
    ])
}

fn operation(api: &Api, route: &Route) -> Value {
    let mut parameters = Vec::new();
    if route.path.contains("{context}") {
        parameters.push(object([
            ("name", "context".into()),
            ("in", "path".into()),
            ("required", true.into()),
            ("description", "The name of the context.".into()),
            ("schema", object([("type", "string".into()), ("minLength", 1.into())])),
        ]));
    }
    parameters.extend(route.query.iter().map(|one| parameter(api, one)));
    let mut operation = Object::from_iter([
        ("operationId", Value::from(route.operation.as_str())),
        ("summary", route.about.into()),
        ("tags", Value::Array(vec![route.group.into()])),
        ("responses", responses(route)),
    ]);
    if !parameters.is_empty() {
        operation.insert("parameters", Value::Array(parameters));
    }
    match route.right {
        Some(right) => {
            let text = format!("Needs the right `{}`; a dry run needs `read`.", right.word());
            operation.insert("description", text.into());
        }
        None => {
            operation.insert("security", Value::Array(vec![]));
        }
    }
    match &route.body {
        None => {}
        Some(Body::Json { schema, is_required }) => {
            let body = object([
                ("required", (*is_required).into()),
                ("content", content("application/json", schema.clone())),
            ]);
            operation.insert("requestBody", body);
        }
        Some(Body::Document) => {
            let body = object([("required", true.into()), ("content", content("*/*", object([])))]);
            operation.insert("requestBody", body);
        }
    }
    Value::Object(operation)
}

fn parameter(api: &Api, parameter: &Parameter) -> Value {
    let mut schema = parameter.schema.clone();
    let description = match &mut schema {
        Value::Object(object) => object.remove("description"),
        _ => None,
    };
    let schema = without_null(&schema);
    let mut form = Object::from_iter([
        ("name", Value::from(parameter.name.as_str())),
        ("in", "query".into()),
        ("required", parameter.is_required.into()),
    ]);
    if let Some(description) = description {
        form.insert("description", description);
    }
    let is_simple = matches!(
        resolve(&schema, &api.definitions).get("type").and_then(Value::as_str),
        Some("integer" | "number" | "boolean")
    );
    match parameter.shape {
        Shape::Json if !is_simple => form.insert("content", content("application/json", schema)),
        _ => form.insert("schema", schema),
    };
    Value::Object(form)
}

/// Returns a schema without null: a parameter that is absent is written by leaving it out.
fn without_null(schema: &Value) -> Value {
    let Value::Object(object) = schema else { return schema.clone() };
    let mut object = object.clone();
    if let Some(types) = object.get("type").and_then(Value::as_array) {
        let mut others = types.iter().filter(|one| one.as_str() != Some("null"));
        if let (Some(only), None) = (others.next().cloned(), others.next()) {
            object.insert("type", only);
        }
    }
    if let Some(choices) = object.get("anyOf").and_then(Value::as_array) {
        let is_null = |one: &&Value| one.get("type").and_then(Value::as_str) == Some("null");
        let mut others = choices.iter().filter(|one| !is_null(one));
        if let (Some(only), None) = (others.next().cloned(), others.next()) {
            return only;
        }
    }
    if let Some(words) = object.get("enum").and_then(Value::as_array) {
        let words = words.iter().filter(|word| !word.is_null()).cloned().collect();
        object.insert("enum", Value::Array(words));
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    Value::Object(object)
}

fn responses(route: &Route) -> Value {
    let mut good = Object::from_iter([("description", Value::from("Done."))]);
    if !route.answers.is_empty() {
        let types = route.answers.iter().map(|(kind, schema)| {
            let schema = schema.clone().map(|schema| ("schema", schema));
            (*kind, Value::Object(schema.into_iter().collect()))
        });
        good.insert("content", Value::Object(types.collect()));
    }
    let status = route.status.to_string();
    object([
        (status.as_str(), Value::Object(good)),
        ("default", object([("$ref", "#/components/responses/Problem".into())])),
    ])
}

fn content(kind: &str, schema: Value) -> Value {
    object([(kind, object([("schema", schema)]))])
}

fn reference(name: &str) -> Value {
    object([("$ref", format!("#/components/schemas/{name}").into())])
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Object(entries.into_iter().collect())
}
