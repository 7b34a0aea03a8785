//! The description for people: pages without a script.

use std::fmt::Write as _;

use contextree::Code;
use contextree_app::catalog::Right;
use contextree_json::Value;

use super::{Api, Body, Route};
use crate::routes::resolve;
use crate::shell::status;

/// The pages.
pub(crate) struct Pages {
    /// All routes.
    pub(crate) routes: String,
    /// All error codes.
    pub(crate) errors: String,
}

impl Pages {
    /// Writes the pages.
    pub(super) fn of(api: &Api) -> Pages {
        Pages { routes: routes(api), errors: errors() }
    }
}

fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><base href=\"/\">\
         <title>{title}</title><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <link rel=\"stylesheet\" href=\"docs.css\"></head><body>\
         <header><a href=\"docs\">Routes</a> <a href=\"docs/errors\">Errors</a> \
         <a href=\"openapi.json\">OpenAPI</a> <a href=\"\">Inspector</a></header>\
         <main><h1>{title}</h1>{body}</main></body></html>\n"
    )
}

fn routes(api: &Api) -> String {
    let mut groups: Vec<&str> = Vec::new();
    for route in &api.routes {
        if !groups.contains(&route.group) {
            groups.push(route.group);
        }
    }
    let mut body = String::from(
        "<p>Every command of <code>ctx</code> is a route with the same JSON. Commands that only read can be called by <code>GET</code>, \
         with the fields of the request as parameters: texts as they are, everything else as JSON. All commands can be called by \
         <code>POST</code> with a JSON body. Send <code>Authorization: Bearer TOKEN</code>.</p><nav>",
    );
    for group in &groups {
        write(&mut body, format_args!("<p><b>{group}:</b> "));
        for route in api.routes.iter().filter(|route| route.group == *group) {
            if route.operation.starts_with("post_") {
                continue;
            }
            let name = route.operation.replace('_', "-");
            write(&mut body, format_args!("<a href=\"docs#{}\">{name}</a> ", route.operation));
        }
        body.push_str("</p>");
    }
    body.push_str("</nav>");
    for group in groups {
        write(&mut body, format_args!("<h2>{group}</h2>"));
        for route in api.routes.iter().filter(|route| route.group == group) {
            section(api, route, &mut body);
        }
    }
    page("Routes", &body)
}

fn section(api: &Api, route: &Route, body: &mut String) {
    let Route { operation, path, about, .. } = route;
    let method = route.method.to_uppercase();
    let is_twin = operation.starts_with("post_");
    let path = escape(path);
    write(body, format_args!("<section id=\"{operation}\"><h3><code>{method} {path}</code></h3>"));
    if is_twin {
        body.push_str("<p>The same, with the request as the body.</p></section>");
        return;
    }
    write(body, format_args!("<p>{}</p>", escape(about)));
    match route.right {
        Some(Right::Read) => body.push_str("<p class=\"right\">Needs the right <b>read</b>.</p>"),
        Some(right) => write(
            body,
            format_args!(
                "<p class=\"right\">Needs the right <b>{}</b>; a dry run needs <b>read</b>.</p>",
                right.word()
            ),
        ),
        None => body.push_str("<p class=\"right\">Needs no token.</p>"),
    }
    if !route.query.is_empty() {
        body.push_str("<table><tr><th>parameter</th><th>type</th><th>meaning</th></tr>");
        for one in &route.query {
            let name = if one.is_required { format!("{} *", one.name) } else { one.name.clone() };
            row(body, &name, &one.schema);
        }
        body.push_str("</table>");
    }
    match &route.body {
        Some(Body::Json { schema, .. }) => fields(api, "field of the body", schema, body),
        Some(Body::Document) => body.push_str("<p>The body is the document.</p>"),
        None => {}
    }
    if let Some((_, Some(schema))) = route.answers.first() {
        fields(api, "field of the response", schema, body);
    }
    body.push_str("</section>");
}

/// Writes the fields of an object as a table, those of the objects in it as details.
fn fields(api: &Api, title: &str, schema: &Value, body: &mut String) {
    let schema = resolve(schema, &api.definitions);
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    if properties.is_empty() {
        return;
    }
    write(body, format_args!("<table><tr><th>{title}</th><th>type</th><th>meaning</th></tr>"));
    for (name, schema) in properties {
        row(body, name, schema);
    }
    body.push_str("</table>");
    let text = String::from_utf8_lossy(&schema.to_canonical()).into_owned();
    write(
        body,
        format_args!("<details><summary>Schema</summary><pre>{}</pre></details>", escape(&text)),
    );
}

fn row(body: &mut String, name: &str, schema: &Value) {
    let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let (kind, about) = (escape(&kind(schema)), escape(about));
    let name = escape(name);
    write(
        body,
        format_args!("<tr><td><code>{name}</code></td><td>{kind}</td><td>{about}</td></tr>"),
    );
}

/// Returns the type of a value in a word or two.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        return name.rsplit('/').next().unwrap_or_default().to_owned();
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return words.join(", ");
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(choices) = schema.get(key).and_then(Value::as_array) {
            let choices: Vec<String> = choices.iter().map(kind).collect();
            return choices.join(" or ");
        }
    }
    match schema.get("type") {
        Some(Value::String(name)) if &**name == "array" => {
            format!("list of {}", schema.get("items").map(kind).unwrap_or_default())
        }
        Some(Value::String(name)) => name.to_string(),
        Some(Value::Array(names)) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            names.join(" or ")
        }
        _ => match schema.get("const").and_then(Value::as_str) {
            Some(word) => word.to_owned(),
            None => "any".to_owned(),
        },
    }
}

fn errors() -> String {
    let mut body = String::from(
        "<p>Errors are <code>application/problem+json</code>. <code>code</code> never changes its meaning.</p>\
         <table><tr><th>code</th><th>status</th><th>kind</th><th>meaning</th></tr>",
    );
    for code in Code::ALL {
        let (status, kind) = (status(*code).as_u16(), code.kind());
        let meaning = escape(code.meaning());
        write(
            &mut body,
            format_args!(
                "<tr id=\"{code}\"><td><code>{code}</code></td><td>{status}</td><td>{kind}</td><td>{meaning}</td></tr>"
            ),
        );
    }
    body.push_str("</table>");
    page("Errors", &body)
}

fn write(body: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = body.write_fmt(text);
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
