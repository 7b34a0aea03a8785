//! Prints requests to be checked against the types of the official SDKs: `requests SAMPLES
//! [PRODUCED]`.
//!
//! Renders every sample for every provider, renders random sessions while random budgets prune
//! them, and imports and renders again what the SDK types produced (a JSON Lines file).
#![expect(clippy::print_stdout, reason = "the program's output")]
#![expect(clippy::unwrap_used, reason = "a test program")]

#[path = "../tests/it/session.rs"]
mod session;

use std::path::Path;

use contextree_import::{Format, ImportOptions, import};
use contextree_json::{Object, Value};
use contextree_provider::{Provider, RenderError, RenderOptions, Severity, lint_value, render};
use contextree_tree::TreeRef;
use session::Session;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    samples(Path::new(&arguments[0]));
    if let Some(file) = arguments.get(1) {
        produced(Path::new(file));
    }
    sessions();
}

/// Returns the settings that a request needs besides the tree.
fn options(provider: Provider) -> RenderOptions {
    let mut settings = Object::new();
    settings.insert("model", Value::from("a-model"));
    if provider == Provider::Anthropic {
        settings.insert("max_tokens", Value::from(1000));
    }
    RenderOptions { settings, ..RenderOptions::default() }
}

fn print(name: &str, tree: TreeRef<'_>, provider: Provider, original: Option<&Value>, own: bool) {
    let options = match original {
        Some(_) => RenderOptions::default(),
        None => options(provider),
    };
    let rendered = match render(tree, provider, &options) {
        Ok(rendered) => rendered,
        Err(RenderError::Empty) => return,
        Err(error) => panic!("{name}: {error}"),
    };
    let mut line = Object::from_iter([
        ("name", Value::from(name)),
        ("provider", Value::from(provider.name())),
        ("request", rendered.value()),
        ("own", Value::from(own)),
    ]);
    if let Some(original) = original {
        line.insert("original", original.clone());
    }
    println!("{}", String::from_utf8(Value::Object(line).to_canonical()).unwrap());
}

fn samples(folder: &Path) {
    for format in Format::ALL.into_iter().filter(|format| *format != Format::Auto) {
        let mut files: Vec<_> = std::fs::read_dir(folder.join(format.name()))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| !path.to_string_lossy().ends_with(".expected.json"))
            .collect();
        files.sort();
        for file in files {
            let text = std::fs::read(&file).unwrap();
            let imported = import(&text, format, ImportOptions::default()).unwrap();
            let name = format!("{format} {}", file.file_name().unwrap().to_string_lossy());
            for provider in Provider::ALL {
                let tree = imported.context.newest().unwrap().view();
                print(&name, tree, provider, None, provider == format.provider());
            }
        }
    }
}

fn produced(file: &Path) {
    let text = std::fs::read(file).unwrap();
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let line = contextree_json::parse(line).unwrap();
        let name = line.get("name").unwrap().as_str().unwrap();
        let own: Provider = line.get("provider").unwrap().as_str().unwrap().parse().unwrap();
        let request = line.get("request").unwrap();
        // Generated types also allow what the service refuses: a file without its data.
        if !name.starts_with("types of ") {
            assert_accepted(name, request, own);
        }
        let format: Format = own.name().parse().unwrap();
        let imported = import(&request.to_canonical(), format, ImportOptions::default()).unwrap();
        let tree = imported.context.newest().unwrap().view();
        print(name, tree, own, Some(request), true);
        for provider in Provider::ALL.into_iter().filter(|provider| *provider != own) {
            print(name, tree, provider, None, false);
        }
    }
}

/// Checks that the linter accepts what the SDK types produce.
fn assert_accepted(name: &str, request: &Value, provider: Provider) {
    let mut findings = lint_value(request, provider);
    findings.retain(|finding| finding.severity == Severity::Error);
    assert!(findings.is_empty(), "{name}: {findings:?}");
}

fn sessions() {
    for seed in 1000..1008 {
        let mut session = Session::new(seed, Provider::ALL[seed as usize % 4]);
        let mut policy = session.policy();
        for turn in 0..300 {
            session.ask();
            if turn % 30 == 29 {
                for provider in Provider::ALL {
                    let name = format!("session {seed}, turn {turn}");
                    print(&name, session.context.working(), provider, None, false);
                }
            }
            session.answer();
            if session.random.chance(5) {
                policy = session.policy();
            }
            session.commit(&policy);
        }
    }
}
