//! The description of the routes is what the routes are.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use contextree_app::catalog::COMMANDS;
use contextree_json::{Value, parse};

use crate::support::Served;

#[expect(clippy::disallowed_methods, reason = "a test is an edge, too")]
fn updates() -> bool {
    std::env::var("CONTEXTREE_UPDATE").is_ok()
}

#[test]
fn the_committed_description_is_the_one_that_is_served() {
    let served = Served::new().get("/openapi.json").text();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    if updates() {
        fs::write(&file, &served).unwrap();
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    assert!(committed == served, "openapi.json is out of date: run `cargo xtask schema`");
}

#[test]
fn every_command_is_described_and_every_reference_is_defined() {
    let document = parse(Served::new().get("/openapi.json").text().as_bytes()).unwrap();
    let paths = document.get("paths").and_then(Value::as_object).unwrap();
    for command in COMMANDS {
        let suffix = format!("/{}", command.name);
        assert!(paths.iter().any(|(path, _)| path.ends_with(&suffix)), "{command:?}");
    }
    let mut operations = BTreeSet::new();
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().unwrap() {
            let id = operation.get("operationId").and_then(Value::as_str).unwrap();
            assert!(operations.insert(id.to_owned()), "{method} {path}: `{id}` is not unique");
        }
    }
    let schemas = document.get("components").and_then(|it| it.get("schemas")).unwrap();
    let mut names = Vec::new();
    references(&document, &mut names);
    assert!(names.len() > 100);
    for name in names.iter().filter_map(|name| name.strip_prefix("#/components/schemas/")) {
        assert!(schemas.get(name).is_some(), "`{name}` is defined");
        // The generator numbers types of the same name; a reference by name would find the wrong one.
        assert!(
            !name.ends_with(|last: char| last.is_ascii_digit()),
            "`{name}` has a name of its own"
        );
    }
}

fn references<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                match (key, value.as_str()) {
                    ("$ref", Some(name)) => found.push(name),
                    _ => references(value, found),
                }
            }
        }
        Value::Array(elements) => elements.iter().for_each(|each| references(each, found)),
        _ => {}
    }
}

#[test]
fn the_pages_for_people_need_nothing_from_elsewhere() {
    let served = Served::new();
    for path in ["/docs", "/docs/errors", "/"] {
        let page = served.get(path);
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        let text = page.text();
        assert!(!text.contains("http://") && !text.contains("https://"), "{path}");
        assert!(!text.contains("<style") && !text.contains(" style="), "{path}");
    }
    let page = served.get("/docs").text();
    for command in COMMANDS {
        assert!(
            page.contains(&format!("id=\"{}\"", command.name.replace('-', "_"))),
            "{command:?}"
        );
    }
    let errors = served.get("/docs/errors").text();
    for code in contextree::Code::ALL {
        assert!(errors.contains(&format!("id=\"{code}\"")), "{code}");
    }
}

#[test]
fn a_proxy_may_mount_the_server_below_a_path() {
    let served = Served::with(&crate::support::Setup {
        change: |config| config.public_url = Some("https://example.org/ctx".to_owned()),
        ..Default::default()
    });
    let get = |path: &str| served.call("GET", path).header("host", "example.org").send();
    for path in ["/ctx/health", "/health", "/ctx/inspector.js"] {
        assert_eq!(get(path).status, 200, "{path}");
    }
    assert!(get("/ctx/").text().contains("<base href=\"/ctx/\">"));
    assert!(get("/ctx/docs").text().contains("<base href=\"/ctx/\">"));
    let body = format!(r#"{{"token":"{}"}}"#, crate::support::OWNER);
    let session = served.call("POST", "/ctx/v1/session").header("host", "example.org").json(&body);
    let cookie = session.send().header("set-cookie").unwrap().to_owned();
    assert!(cookie.contains("Path=/ctx;") && cookie.contains("; Secure"), "{cookie}");
}
