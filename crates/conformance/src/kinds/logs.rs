//! Checks the kind `import_log`: a log of another program, imported call by call.

use contextree::cache::{Prompt, Rendered};
use contextree::import::{Format, ImportOptions, Splitter, detect, import};
use contextree::provider::{Provider, RenderOptions, lint_value, render};
use contextree::tokens::Tokenizer;
use contextree::{AttemptStatus, Context, TreeRef};
use contextree_json::Value;

use super::Got;
use crate::case::{Case, Edition};
use crate::document::texts;

pub(super) fn import_log(case: &Case, _: Edition) -> Result<Got, String> {
    let lines = case.field("lines").as_array().ok_or("`lines` is not a list")?;
    // A text is a line as it is; anything else is written as JSON.
    let line = |line: &Value| match line {
        Value::String(text) => text.as_bytes().to_vec(),
        value => value.to_canonical(),
    };
    let log = lines.iter().map(line).collect::<Vec<_>>().join(&b'\n');
    let imported = match import(&log, Format::Auto, ImportOptions::default()) {
        Ok(imported) => imported,
        Err(error) => return Ok(Got::from_iter([("error", Value::from(error.code()))])),
    };
    let (context, report) = (&imported.context, &imported.report);
    let history = context.history();
    let calls = context.attempts().iter().filter(|it| it.status == AttemptStatus::Completed);
    let calls: Vec<_> = calls.collect();
    let sent = |cycle: u32| {
        let snapshot = history.iter().find(|snapshot| snapshot.cycle() == cycle);
        snapshot.map_or(Value::Null, |snapshot| said(snapshot.view()))
    };
    let counts = |counts: &std::collections::BTreeMap<String, u64>| {
        Value::Object(counts.iter().map(|(name, count)| (&**name, Value::from(*count))).collect())
    };
    Ok(Got::from_iter([
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
        ("lint", lint(lines)),
        ("conversations", conversations(&log)?),
    ]))
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

/// Returns the messages of a tree in short form: `user: Hi`, `assistant: [t1 f {}]`, `tool t1: noon`.
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
    line
}

/// Returns the estimated tokens of a tree as a request for Anthropic.
fn tokens(tree: TreeRef<'_>) -> u64 {
    let rendered = render(tree, Provider::Anthropic, &RenderOptions::default());
    rendered.map_or(0, |it| Prompt::measure(Rendered::from(&it), Tokenizer::default()).tokens())
}
