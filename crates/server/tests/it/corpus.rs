//! The conformance corpus over HTTP: every case runs with its contexts read back through the server, and what a command can answer
//! is answered by its route.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use contextree::store::{ContextSettings, StoreOptions};
use contextree::{Context, ContextOptions, Hash, Profile, Store};
use contextree_conformance::{Case, Corpus, Edition, Got, Runner, set_detour};
use contextree_json::{Object, Value, parse};

use crate::client::Answer;
use crate::support::{Served, encoded};

/// A server, and the number of contexts and answers that passed through it.
struct Http {
    served: Served,
    contexts: Cell<usize>,
    answers: Cell<usize>,
}

fn version(edition: Edition) -> &'static str {
    match edition {
        Edition::E1 => "0.1",
        Edition::E2 => "0.2",
        Edition::E3 => "0.3",
    }
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Object(Object::from_iter(entries))
}

fn text<'v>(value: &'v Value, name: &str) -> Result<&'v str, String> {
    value.get(name).and_then(Value::as_str).ok_or_else(|| format!("no `{name}` in {value:?}"))
}

impl Http {
    fn new() -> Rc<Http> {
        let served = Served::with(&Default::default());
        Rc::new(Http { served, contexts: Cell::new(0), answers: Cell::new(0) })
    }

    /// Stores a context in the server's store; returns its name.
    fn store(&self, context: Context) -> Result<(String, Context), String> {
        self.contexts.set(self.contexts.get() + 1);
        let name = format!("case/{}", self.contexts.get());
        let settings = ContextSettings {
            edition: context.edition(),
            vocabulary: context.vocabulary(),
            ..ContextSettings::default()
        };
        // Cases may generate their own ids.
        let options =
            StoreOptions { ids: Some(Arc::clone(context.ids())), ..StoreOptions::deterministic() };
        let store = Store::over(Arc::clone(self.served.store.backend()), options);
        let session = store.adopt(&name, context, &settings).map_err(|error| error.to_string())?;
        let context = session.to_context().map_err(|error| error.to_string())?;
        Ok((name, context))
    }

    fn post(&self, path: &str, edition: Edition, body: &Value) -> Result<Value, Answer> {
        self.answers.set(self.answers.get() + 1);
        let path = format!("{path}?edition={}", version(edition));
        let body = String::from_utf8(body.to_canonical()).unwrap();
        let answer = self.served.post(&path, &body);
        if answer.status == 200 { Ok(answer.json()) } else { Err(answer) }
    }

    fn command(
        &self,
        context: &str,
        command: &str,
        edition: Edition,
        body: &Value,
    ) -> Result<Value, Answer> {
        self.post(&format!("/v1/contexts/{}/{command}", encoded(context)), edition, body)
    }

    /// Reads everything of a context back, and compares it with what was stored.
    fn through(&self, context: Context) -> Result<Context, String> {
        let (name, context) = self.store(context)?;
        let read = |command: &str, at: String| {
            let answer =
                self.served.get(&format!("/v1/contexts/{}/{command}?at={at}", encoded(&name)));
            if answer.status == 200 { Ok(answer.json()) } else { Err(format!("{answer:?}")) }
        };
        let is_same = |found: &Value, key: &str, wanted: &[u8]| match text(found, key)?.as_bytes()
            == wanted
        {
            true => Ok(()),
            false => Err(format!("the {key} of {name} differs over HTTP")),
        };
        is_same(&read("export", "@".into())?, "document", &context.export_working())?;
        is_same(&read("thread", "@".into())?, "thread", &contextree::thread(context.working()))?;
        for snapshot in context.history().iter() {
            let at = format!("@c{}", snapshot.cycle());
            is_same(&read("export", at.clone())?, "document", &snapshot.export_with_digest())?;
            is_same(&read("thread", at)?, "thread", &snapshot.thread())?;
        }
        Ok(context)
    }

    /// Stores documents as the history of a context, oldest first.
    fn history(&self, documents: &[&Value], edition: Edition) -> Result<String, String> {
        let mut lines = Vec::new();
        for (index, document) in documents.iter().enumerate() {
            let mut document = document.as_object().ok_or("not an object")?.clone();
            if !document.contains_key("cycle") {
                document.insert("cycle", Value::from(index as u64 + 1));
            }
            lines.extend(Value::Object(document).to_canonical());
            lines.push(b'\n');
        }
        let options = ContextOptions {
            edition: version(edition).parse().map_err(|_| "no such edition")?,
            vocabulary: edition.vocabulary(),
            ..ContextOptions::default()
        };
        let context = Context::import_history(&lines, Profile::Lenient, options);
        self.store(context.map_err(|error| error.to_string())?).map(|(name, _)| name)
    }

    /// Answers `select`, `range` and `content_diff`.
    fn select(&self, case: &Case, edition: Edition) -> Result<Result<Value, String>, String> {
        let fixture = case.fixture.as_ref().ok_or("no fixture")?;
        let documents: Vec<&Value> = match fixture.get("snapshots").and_then(Value::as_array) {
            Some(documents) => documents.iter().collect(),
            None => vec![fixture],
        };
        let name = self.history(&documents, edition)?;
        let given = case.field("options");
        let mut body = Object::from_iter([
            ("selector", case.field("query").clone()),
            ("what", Value::from("ids")),
        ]);
        let mut range = Object::new();
        for (key, name) in [("skip", "skip"), ("limit", "limit"), ("where", "where")] {
            given.get(key).map(|value| body.insert(name, value.clone()));
        }
        for (key, name) in [
            ("includeContent", "content"),
            ("contentMode", "content_mode"),
            ("maxSnapshots", "max_snapshots"),
            ("maxChangesPerSnapshot", "max_changes"),
        ] {
            given.get(key).map(|value| range.insert(name, value.clone()));
        }
        if given.get("select_range_returns_diff") == Some(&Value::Bool(false)) {
            range.insert("as_nodes", true.into());
        }
        body.insert("range", Value::Object(range));
        Ok(match self.command(&name, "select", edition, &Value::Object(body)) {
            Ok(answer) => {
                let found = answer.get("found").ok_or("no `found`")?;
                let found = found.get("ids").or(found.get("range"));
                Ok(found.cloned().ok_or_else(|| format!("{answer:?}"))?)
            }
            Err(answer) => Err(answer.code()),
        })
    }
}

fn refused(code: String) -> Got {
    Got::from_iter([("error", Value::from(code))])
}

/// Returns the runner whose answers come from the routes, where a route can answer.
fn runner(http: &Rc<Http>) -> Runner {
    let local = Rc::new(Runner::all());
    // A fixture with a working state of its own is no history: only its trees pass through the server.
    let answers = |name: &'static str| {
        let (http, local) = (Rc::clone(http), Rc::clone(&local));
        move |case: &Case, edition: Edition| {
            if case.fixture.as_ref().is_some_and(|fixture| fixture.get("working").is_some()) {
                return local.answer(case, edition);
            }
            Ok(match (name, http.select(case, edition)?) {
                (_, Err(code)) => refused(code),
                ("select", Ok(ids)) => Got::from_iter([("ids", ids)]),
                ("range", Ok(Value::Object(range))) => range,
                ("range", Ok(ids)) => Got::from_iter([("ids", ids)]),
                (_, Ok(range)) => changed_content(case, &range)?,
            })
        }
    };
    let with = |check: fn(&Http, &Case, Edition) -> Result<Got, String>| {
        let http = Rc::clone(http);
        move |case: &Case, edition: Edition| check(&http, case, edition)
    };
    Runner::all()
        .with("select", answers("select"))
        .with("range", answers("range"))
        .with("content_diff", answers("content_diff"))
        .with("parse", with(explain))
        .with("thread", with(thread))
        .with("serialize_snapshot", with(canon))
}

fn changed_content(case: &Case, range: &Value) -> Result<Got, String> {
    let named = case.expected("changed_id");
    let blocks = range.get("diffs").and_then(Value::as_array).ok_or("there are no diffs")?;
    let changed = blocks.iter().filter_map(|block| block.get("changed")?.as_array()).flatten();
    let mut got = Got::new();
    for node in changed.filter(|node| node.get("id") == Some(named)) {
        for (name, key) in [("changed_id", "id"), ("content_diff", "content_diff")] {
            node.get(key).map(|value| got.insert(name, value.clone()));
        }
    }
    Ok(got)
}

fn explain(http: &Http, case: &Case, edition: Edition) -> Result<Got, String> {
    let empty = object([("root", object([("id", "root".into())]))]);
    // Selectors of the cases name snapshots up to here.
    let name = http.history(&[&empty; 42], edition)?;
    let body = object([("selector", case.field("query").clone())]);
    match http.command(&name, "explain", edition, &body) {
        Ok(answer) => {
            let explanation = answer.get("explanation").ok_or("no explanation")?;
            let is_range =
                explanation.get("comparison").is_some_and(|comparison| !comparison.is_null());
            Ok(Got::from_iter([("result", Value::from(if is_range { "range" } else { "ids" }))]))
        }
        Err(answer) => Ok(refused(answer.code())),
    }
}

fn thread(http: &Http, case: &Case, edition: Edition) -> Result<Got, String> {
    let name = http.history(&[case.field("tree")], edition)?;
    let body = object([("at", Value::from("@t0"))]);
    let answer = http.command(&name, "thread", edition, &body).map_err(|answer| answer.text())?;
    let compact = text(&answer, "thread")?;
    let thread = parse(compact.as_bytes()).map_err(|error| error.to_string())?;
    let ids = thread.as_array().unwrap_or_default().iter();
    let ids: Vec<Value> = ids.filter_map(|block| block.get("id").cloned()).collect();
    Ok(Got::from_iter([
        ("ids", Value::Array(ids)),
        ("sha256", Value::from(Hash::of(compact.as_bytes()).to_string())),
        ("compact", Value::from(compact)),
        ("thread", thread.clone()),
    ]))
}

fn canon(http: &Http, case: &Case, edition: Edition) -> Result<Got, String> {
    let document = String::from_utf8(case.field("tree").to_canonical()).unwrap();
    let body = object([("node", object([("text", Value::from(document))]))]);
    let answer = http.post("/v1/canon", edition, &body).map_err(|answer| answer.text())?;
    let bytes = text(&answer, "text")?;
    Ok(Got::from_iter([
        ("bytes_ascii", Value::from(bytes)),
        ("length", Value::from(bytes.len() as u64)),
        ("sha256", Value::from(Hash::of(bytes.as_bytes()).to_string())),
    ]))
}

#[test]
fn every_case_passes_over_http() {
    let http = Http::new();
    let own = Rc::clone(&http);
    set_detour(Some(Box::new(move |context| own.through(context))));
    let corpus = Corpus::embedded().unwrap();
    let runner = runner(&http);
    let mut failures = Vec::new();
    for case in &corpus.cases {
        for edition in &case.editions {
            let verdict = runner.run(case, *edition);
            if !verdict.is_pass() {
                failures.push(format!("{} {edition}: {verdict}", case.id));
            }
        }
    }
    set_detour(None);
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
    let (contexts, answers) = (http.contexts.get(), http.answers.get());
    assert!(contexts > 900 && answers > 450, "{contexts} contexts, {answers} answers");
}

/// Sends the operations of a session and compares each result with the engine's own.
#[test]
fn sessions_give_the_same_thread_and_errors_over_http() {
    let http = Http::new();
    let corpus = Corpus::embedded().unwrap();
    let mut compared = 0;
    for case in corpus.cases.iter().filter(|case| case.kind == "session") {
        let steps = case.field("steps").as_array().unwrap_or_default();
        let is_local = |step: &Value| {
            let op = step.get("op").and_then(Value::as_str).unwrap_or_default();
            ["retain", "release", "begin", "complete", "cancel", "fail"].contains(&op)
        };
        if !case.field("document").is_null() || steps.iter().any(is_local) {
            continue;
        }
        let edition = case.editions[0];
        let options =
            ContextOptions { vocabulary: edition.vocabulary(), ..ContextOptions::default() };
        let (name, _) = http.store(Context::with_options(options)).unwrap();
        for step in steps {
            let wanted = step.get("expect").and_then(|expect| expect.get("error"));
            let sent = send(&http, &name, edition, step);
            let got = sent.err().map(|answer| Value::from(answer.code()));
            assert_eq!(got.as_ref(), wanted, "{}: {step:?}", case.id);
            compared += 1;
        }
        if let Some(wanted) = case.expect().get("thread_ids") {
            let body = object([("at", Value::from("@"))]);
            let answer = http.command(&name, "thread", edition, &body).unwrap();
            let thread = parse(text(&answer, "thread").unwrap().as_bytes()).unwrap();
            let ids =
                thread.as_array().unwrap().iter().filter_map(|block| block.get("id").cloned());
            assert_eq!(Value::Array(ids.collect()), *wanted, "{}", case.id);
        }
    }
    assert!(compared > 50, "{compared} steps");
}

/// Sends one step of a session: a commit, one operation, or several as one.
fn send(http: &Http, name: &str, edition: Edition, step: &Value) -> Result<Value, Answer> {
    if step.get("op").and_then(Value::as_str) == Some("commit") {
        let policy = step.get("policy").map(|policy| object([("policy", policy.clone())]));
        let body = policy.unwrap_or_else(|| object([("no_policy", true.into())]));
        return http.command(name, "commit", edition, &body);
    }
    let steps = step.get("steps").and_then(Value::as_array);
    let mut lines = Vec::new();
    for step in steps.unwrap_or(std::slice::from_ref(step)) {
        let mut operation = step.as_object().unwrap().clone();
        operation.remove("expect");
        lines.extend(Value::Object(operation).to_canonical());
        lines.push(b'\n');
    }
    let lines = String::from_utf8(lines).unwrap();
    http.command(
        name,
        "apply",
        edition,
        &object([("operations", object([("text", lines.into())]))]),
    )
}
