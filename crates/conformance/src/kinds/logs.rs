//! Checks the kinds `import_log`, a log of another program that is imported call by call, and `import_grown`, a log that is imported
//! again after it was written to.

use contextree::cache::{Prompt, Rendered};
use contextree::calls::order_of;
use contextree::import::{Cycles, Format, ImportOptions, Splitter, detect, import};
use contextree::provider::{Provider, RenderOptions, lint_value, render};
use contextree::query::select;
use contextree::tokens::Tokenizer;
use contextree::{AttemptStatus, Context, Cycle, Hash, SelectOptions, Store, TreeRef};
use contextree_app::command::cache::CacheRequest;
use contextree_app::command::import::{ImportRequest, ImportResponse};
use contextree_app::command::log::LogRequest;
use contextree_app::wire::Word;
use contextree_app::{Control, Error, Source, Workspace, command};
use contextree_json::{Object, Value};

use super::Got;
use super::selectors::language;
use crate::case::{Case, Edition};
use crate::document::texts;

pub(super) fn import_log(case: &Case, edition: Edition) -> Result<Got, String> {
    let lines = case.field("lines").as_array().ok_or("`lines` is not a list")?;
    let log = log_of(lines);
    let cycles = cycles(case)?;
    let options = ImportOptions { cycles, ..ImportOptions::default() };
    let imported = match import(&log, Format::Auto, options.clone()) {
        Ok(imported) => imported,
        Err(error) => {
            let detected = error.detected.map_or(Value::Null, |format| format.name().into());
            return Ok(Got::from_iter([
                ("error", Value::from(error.code())),
                ("detected", detected),
            ]));
        }
    };
    let (context, report) = (&imported.context, &imported.report);
    let history = context.history();
    let calls = context.attempts().iter().filter(|it| it.status == AttemptStatus::Completed);
    let calls: Vec<_> = calls.collect();
    let sent = |cycle: Cycle| {
        let snapshot = history.iter().find(|snapshot| snapshot.cycle() == cycle);
        snapshot.map_or(Value::Null, |snapshot| said(snapshot.view()))
    };
    let counts = |counts: &std::collections::BTreeMap<String, u64>| {
        Value::Object(counts.iter().map(|(name, count)| (&**name, Value::from(*count))).collect())
    };
    let mut got = Got::from_iter([
        ("format", report.format.map_or(Value::Null, |format| format.name().into())),
        ("calls", report.calls.into()),
        ("commits", report.commits.into()),
        ("findings", counts(&report.findings)),
        ("skipped", counts(&report.skipped)),
        ("requests", calls.iter().map(|call| sent(call.cycle_id)).collect::<Vec<_>>().into()),
        ("snapshots", history.iter().map(|it| said(it.view())).collect::<Vec<_>>().into()),
        ("said", said(context.working())),
        ("started_at", calls.iter().map(|it| it.started_at.into()).collect::<Vec<_>>().into()),
        ("tokens", tokens(context.working()).into()),
        ("exact", exact(&calls, context)),
        ("texts", logged_texts(&calls, context)),
        ("lint", lint(lines)),
        ("conversations", conversations(&log)?),
    ]);
    // Each of these costs another import, or has an expectation as its input.
    let is_wanted = |name: &str| case.expect().get(name).is_some();
    if is_wanted("digest") {
        let again = import(&log, Format::Auto, options).map_err(|error| error.to_string())?;
        let digests = [context, &again.context].map(|it| it.history_digest().to_string());
        if digests[0] != digests[1] {
            return Err(format!("two imports have the digests {} and {}", digests[0], digests[1]));
        }
        got.insert("digest", Value::from(digests[0].as_str()));
    }
    if is_wanted("select") {
        got.insert("select", selected(case.expected("select"), context, edition)?);
    }
    if is_wanted("rendered") {
        got.insert("rendered", rendered(case.expected("rendered"), context)?);
    }
    if is_wanted("cache") || is_wanted("serves") {
        let place = Place::new()?;
        place.import(&log, cycles).map_err(|error| error.to_string())?;
        got.insert("cache", place.cache().map_err(|error| error.to_string())?);
        got.insert("serves", place.serves().map_err(|error| error.to_string())?);
    }
    Ok(got)
}

/// Returns what becomes a commit: the option `cycles` of a case.
fn cycles(case: &Case) -> Result<Cycles, String> {
    match case.field("options").get("cycles").and_then(Value::as_str) {
        None => Ok(Cycles::Auto),
        Some(name) => name.parse().map_err(|_| format!("unknown cycles `{name}`")),
    }
}

/// Returns the contents of the nodes that each of these selectors matches.
fn selected(selectors: &Value, context: &Context, edition: Edition) -> Result<Value, String> {
    let selectors = selectors.as_object().ok_or("`select` is not an object")?;
    let mut found = Object::new();
    for selector in selectors.keys() {
        let answer = select(selector, language(edition), context, &SelectOptions::default());
        let nodes = answer.map_err(|error| error.to_string())?.nodes();
        let nodes = nodes.ok_or_else(|| format!("`{selector}` is a range"))?;
        let contents = nodes.nodes.iter().map(|node| node.content().as_text().unwrap_or_default());
        found.insert(selector, texts(contents.map(str::to_owned)));
    }
    Ok(found.into())
}

/// Returns the messages that each of these providers gets of the working state.
fn rendered(providers: &Value, context: &Context) -> Result<Value, String> {
    let providers = providers.as_object().ok_or("`rendered` is not an object")?;
    let mut all = Object::new();
    for name in providers.keys() {
        let provider: Provider = name.parse().map_err(|_| format!("unknown provider `{name}`"))?;
        let request = render(context.working(), provider, &RenderOptions::default());
        let request = request.map_err(|error| error.to_string())?;
        let request = contextree_json::parse(&request.bytes).map_err(|error| error.to_string())?;
        let messages = request.get(provider.messages_field()).cloned();
        all.insert(name, messages.unwrap_or_default());
    }
    Ok(all.into())
}

/// Returns the text of a log. A text is a line as it is; anything else is written as JSON.
fn log_of(lines: &[Value]) -> Vec<u8> {
    let line = |line: &Value| match line {
        Value::String(text) => text.as_bytes().to_vec(),
        value => value.to_canonical(),
    };
    lines.iter().map(line).collect::<Vec<_>>().join(&b'\n')
}

/// Imports a log into one context again and again, each time as it is by then.
pub(super) fn import_grown(case: &Case, _: Edition) -> Result<Got, String> {
    let logs = case.field("logs").as_array().ok_or("`logs` is not a list")?;
    let logs: Vec<Vec<u8>> =
        logs.iter().map(|lines| log_of(lines.as_array().unwrap_or_default())).collect();
    let grown = Place::new()?;
    let mut last = None;
    let mut imports = Vec::new();
    for log in &logs {
        let before = grown.state();
        match grown.import(log, Cycles::Auto) {
            Ok(done) => {
                let calls = done.import.map_or(0, |report| report.calls);
                imports.push(Value::Object(Object::from_iter([
                    ("calls", Value::from(calls)),
                    ("updated", Value::from(done.updated)),
                ])));
                last = Some(log);
            }
            Err(error) => {
                if grown.state() != before {
                    return Err(format!("the context changed, although: {error}"));
                }
                imports.push(Value::Object(Object::from_iter([(
                    "error",
                    Value::from(error.code().as_str()),
                )])));
            }
        }
    }
    let at_once = Place::new()?;
    let same = match last {
        None => false,
        Some(log) => {
            at_once.import(log, Cycles::Auto).map_err(|error| error.to_string())?;
            at_once.state() == grown.state()
        }
    };
    let working = grown.context().map(|context| said(context.working())).unwrap_or_default();
    Ok(Got::from_iter([
        ("imports", Value::Array(imports)),
        ("as_at_once", same.into()),
        ("said", working),
    ]))
}

/// A store in memory with the context that a log is imported into.
struct Place {
    store: Store,
    workspace: Workspace,
}

impl Place {
    fn new() -> Result<Place, String> {
        let store = contextree::open("memory:").map_err(|error| error.to_string())?;
        let workspace = Workspace::over(store.clone(), "memory:").with_context("log");
        Ok(Place { store, workspace })
    }

    fn import(&self, log: &[u8], cycles: Cycles) -> Result<ImportResponse, Error> {
        let reader = Box::new(std::io::Cursor::new(log.to_vec()));
        let source = Source { name: "log".to_owned(), length: None, reader };
        let request = ImportRequest { cycles: Word(cycles), ..ImportRequest::default() };
        command::import::import(&self.workspace, &request, source, &Control::default())
    }

    /// Returns the report on the cache, for each call: its estimated size, what is predicted to be read from the cache, what was
    /// billed for that, and the reason for a miss.
    fn cache(&self) -> Result<Value, Error> {
        let request = CacheRequest::default();
        let report = command::cache(&self.workspace, &request, &Control::default())?;
        let rows = report.calls.into_iter().map(|call| {
            let billed = call.billed.and_then(|billed| billed.cached);
            let billed = billed.map_or(Value::Null, Value::from);
            let miss = call.miss.map_or(Value::Null, |miss| miss.reason.into());
            Value::Object(Object::from_iter([
                ("tokens", Value::from(call.tokens)),
                ("predicted", Value::from(call.cached)),
                ("billed", billed),
                ("miss", miss),
            ]))
        });
        Ok(Value::Array(rows.collect()))
    }

    /// Returns the beginning of the user message that each call serves, oldest call first.
    fn serves(&self) -> Result<Value, Error> {
        let request = LogRequest { reverse: true, ..LogRequest::default() };
        let log = command::log(&self.workspace, &request, &Control::default())?;
        let calls = log.entries.into_iter().filter_map(|entry| entry.call);
        let questions = calls.map(|call| call.question.map_or(Value::Null, Value::from));
        Ok(Value::Array(questions.collect()))
    }

    fn context(&self) -> Option<Context> {
        self.store.session("log").ok()?.to_context().ok()
    }

    /// Returns everything that the context is: its history, its working state, its calls.
    fn state(&self) -> Option<(Hash, Vec<u8>, String)> {
        let context = self.context()?;
        let attempts = format!("{:?}", context.attempts());
        Some((context.history_digest(), context.export_working(), attempts))
    }
}

/// Returns the requests of the calls, as JSON, where the log has complete ones.
fn exact(calls: &[&contextree::Attempt], context: &Context) -> Value {
    let request = |call: &&contextree::Attempt| {
        let (provider, options) = RenderOptions::from_text(&call.request.as_ref()?.options)?;
        let mut history = context.history().iter();
        let snapshot = history.find(|snapshot| snapshot.cycle() == call.cycle_id)?;
        contextree_json::parse(&render(snapshot.view(), provider, &options).ok()?.bytes).ok()
    };
    Value::Array(calls.iter().map(|call| request(call).unwrap_or_default()).collect())
}

/// Returns the requests of the calls as texts, with their keys in the order of the log.
fn logged_texts(calls: &[&contextree::Attempt], context: &Context) -> Value {
    let request = |call: &&contextree::Attempt| {
        let (provider, options) = RenderOptions::from_text(&call.request.as_ref()?.options)?;
        let mut history = context.history().iter();
        let snapshot = history.find(|snapshot| snapshot.cycle() == call.cycle_id)?;
        let rendered = render(snapshot.view(), provider, &options).ok()?;
        let bytes = order_of(call)?.write(&rendered.value());
        Some(Value::from(String::from_utf8_lossy(&bytes).into_owned()))
    };
    Value::Array(calls.iter().map(|call| request(call).unwrap_or_default()).collect())
}

/// Returns what the provider of each line, a request or a list of messages, would refuse: the codes.
fn lint(lines: &[Value]) -> Value {
    let providers = lines.iter().filter_map(|line| Some((line, detect(line)?.provider())));
    let found = providers.flat_map(|(line, provider)| lint_value(line, provider));
    texts(found.map(|finding| finding.code.to_owned()))
}

/// Returns the conversations of a file with many, each in short form.
fn conversations(log: &[u8]) -> Result<Value, String> {
    let mut splitter = Splitter::new(Format::Auto, ImportOptions::default(), Context::new);
    let lines = log.split(|byte| *byte == b'\n');
    lines.into_iter().try_for_each(|line| splitter.line(line)).map_err(|it| it.to_string())?;
    let split = splitter.finish().map_err(|error| error.to_string())?;
    Ok(split.conversations.iter().map(|it| said(it.context.working())).collect::<Vec<_>>().into())
}

/// Returns the messages of a tree in short form: `user: Hi`, `assistant: [t1 f {}]`, `tool t1: noon`; without ids,
/// `assistant: [f {}]`, `function f: noon`.
fn said(tree: TreeRef<'_>) -> Value {
    let Ok(rendered) = render(tree, Provider::OpenAiChat, &RenderOptions::default()) else {
        return Value::Array(Vec::new());
    };
    let request = contextree_json::parse(&rendered.bytes).unwrap_or_default();
    let messages = request.get("messages").and_then(Value::as_array).unwrap_or_default();
    texts(messages.iter().map(short))
}

fn short(message: &Value) -> String {
    let text = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let mut line = text(message, "role");
    if message.get("tool_call_id").is_some() {
        line.push_str(&format!(" {}", text(message, "tool_call_id")));
    } else if message.get("role").and_then(Value::as_str) == Some("function") {
        line.push_str(&format!(" {}", text(message, "name")));
    }
    line.push(':');
    match message.get("content") {
        Some(Value::String(said)) => line.push_str(&format!(" {said}")),
        Some(Value::Array(parts)) => {
            parts.iter().for_each(|part| line.push_str(&format!(" {}", text(part, "text"))));
        }
        _ => {}
    }
    for call in message.get("tool_calls").and_then(Value::as_array).unwrap_or_default() {
        let function = call.get("function").cloned().unwrap_or_default();
        let (name, arguments) = (text(&function, "name"), text(&function, "arguments"));
        line.push_str(&format!(" [{} {name} {arguments}]", text(call, "id")));
    }
    // The deprecated form has no id.
    if let Some(function) = message.get("function_call") {
        line.push_str(&format!(" [{} {}]", text(function, "name"), text(function, "arguments")));
    }
    line
}

/// Returns the estimated tokens of a tree as a request for Anthropic.
fn tokens(tree: TreeRef<'_>) -> u64 {
    let rendered = render(tree, Provider::Anthropic, &RenderOptions::default());
    rendered.map_or(0, |it| Prompt::measure(Rendered::from(&it), Tokenizer::default()).tokens())
}
