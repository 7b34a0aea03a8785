//! The page as one file: its scripts, styles and fonts, and the answers to everything that it asks for a context.
//!
//! ```text
//! timeline ─ for each call → rows, request, diff, tokens ─┐
//! newest states ─ for each node → content, history ───────┴→ JSON in a copy of the page
//! ```
//!
//! The file needs no server. What it does not have, such as a comparison of two calls that do not follow each other, it says.

use std::collections::BTreeSet;

use contextree_app::catalog::Command;
use contextree_app::{Control, Error, Workspace};
use contextree_json::{Object, Value};

use crate::routes::page_file;

/// How many bytes of answers a file has at most; older calls are left out beyond it.
const LARGEST: usize = 48 << 20;
/// How many calls the page lists.
const CALLS: u64 = 400;

/// Answers of commands, by what was asked.
struct Recorder<'w> {
    workspace: &'w Workspace,
    control: &'w Control<'w>,
    answers: Vec<Value>,
    bytes: usize,
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Object {
    Object::from_iter(entries)
}

impl Recorder<'_> {
    fn ask(&self, command: &str, request: Object) -> Result<Value, Error> {
        let found = Command::named(command)
            .ok_or_else(|| Error::usage(format!("there is no command `{command}`")))?;
        found.run(self.workspace, Value::Object(request), self.control)
    }

    /// Keeps the answer to a request. One that is refused is not kept: the page shows that it is missing.
    fn keep(&mut self, command: &str, request: Object) -> Option<Value> {
        let answer = self.ask(command, request.clone()).ok()?;
        let mut entry = request;
        entry.insert("command", Value::from(command));
        entry.insert("answer", answer.clone());
        let entry = Value::Object(entry);
        self.bytes += entry.to_canonical().len();
        self.answers.push(entry);
        Some(answer)
    }
}

/// Returns the page with everything that it shows of the workspace's context.
///
/// # Errors
///
/// If the context cannot be read.
pub fn export_html(workspace: &Workspace, control: &Control<'_>) -> Result<String, Error> {
    let mut recorder = Recorder { workspace, control, answers: Vec::new(), bytes: 0 };
    let mut timeline = recorder.ask("timeline", object([("limit", CALLS.into())]))?;
    let word = |name: &str| timeline.get(name).and_then(Value::as_str).map(str::to_owned);
    let (provider, model) = (word("provider"), word("tokenizer").unwrap_or_default());
    let calls = timeline.get("calls").and_then(Value::as_array).unwrap_or_default();
    let cycles: Vec<u64> = calls
        .iter()
        .filter(|call| call.get("committed").and_then(Value::as_bool) == Some(true))
        .filter_map(|call| call.get("cycle")?.as_u64())
        .collect();
    let mut states: Vec<String> = cycles.iter().map(|cycle| format!("@c{cycle}")).collect();
    states.push("@".to_owned());
    let mut seen = BTreeSet::new();
    let mut oldest = 0;
    for (index, at) in states.iter().enumerate().rev() {
        let before = index.checked_sub(1).and_then(|index| states.get(index));
        keep_state(&mut recorder, at, before, (&provider, &model), &mut seen);
        oldest = index;
        if recorder.bytes > LARGEST {
            break;
        }
    }
    if let Some(provider) = provider {
        recorder.keep("cache", object([("format", provider.into())]));
    }
    if oldest > 0 {
        leave_out(&mut timeline, cycles.get(oldest).copied().unwrap_or_default(), oldest);
    }
    let data = object([
        ("context", Value::from(workspace.context())),
        ("timeline", timeline),
        ("answers", Value::Array(recorder.answers)),
    ]);
    page(&Value::Object(data))
}

/// Keeps what the page shows of a state, and the nodes that no newer state has.
fn keep_state(
    recorder: &mut Recorder<'_>,
    at: &str,
    before: Option<&String>,
    (provider, model): (&Option<String>, &str),
    seen: &mut BTreeSet<String>,
) {
    let state = |more: Object| {
        let mut request = object([("at", Value::from(at))]);
        more.iter().for_each(|(name, value)| _ = request.insert(name, value.clone()));
        request
    };
    let mut rows = object([("model", Value::from(model)), ("limit", Value::from(100_000_u64))]);
    if let Some(before) = before {
        rows.insert("against", Value::from(before.as_str()));
        let sides = [("from", Value::from(before.as_str())), ("to", at.into())];
        let mut diff = object(sides);
        diff.insert("detail", true.into());
        recorder.keep("diff", diff);
    }
    let rows = recorder.keep("rows", state(rows));
    let sent = recorder.keep("sent", state(object([("spans", true.into())])));
    if let (None, Some(provider)) = (sent, provider) {
        let format = Value::from(provider.as_str());
        recorder.keep("render", state(object([("format", format), ("spans", true.into())])));
    }
    for by in ["region", "kind"] {
        let more = [("model", Value::from(model)), ("by", by.into())];
        recorder.keep("tokens", state(object(more)));
    }
    let ids = rows.as_ref().and_then(|rows| rows.get("columns")?.get("id")?.as_array());
    for id in ids.unwrap_or_default().iter().filter_map(Value::as_str) {
        if !seen.contains(id) {
            let request = object([("id", Value::from(id)), ("model", model.into())]);
            // A removed node is in an older state, which follows.
            if recorder.keep("node", state(request)).is_some() {
                seen.insert(id.to_owned());
                recorder.keep("node-history", object([("id", Value::from(id))]));
            }
        }
    }
}

/// Removes calls before a cycle from the timeline.
fn leave_out(timeline: &mut Value, first: u64, count: usize) {
    let Value::Object(fields) = timeline else { return };
    let left = fields.get("left_out").and_then(Value::as_u64).unwrap_or(0) + count as u64;
    let calls = fields.get("calls").and_then(Value::as_array).unwrap_or_default().iter();
    let is_kept = |call: &&Value| call.get("cycle").and_then(Value::as_u64) >= Some(first);
    let kept: Vec<Value> = calls.filter(is_kept).cloned().collect();
    fields.insert("calls", Value::Array(kept));
    fields.insert("left_out", Value::from(left));
}

/// Puts scripts, styles, fonts and data into the page.
fn page(data: &Value) -> Result<String, Error> {
    let file = |name: &str| {
        page_file(name).ok_or_else(|| Error::usage(format!("the page has no file `{name}`")))
    };
    let text = |name: &str| Ok::<_, Error>(String::from_utf8_lossy(file(name)?).into_owned());
    let mut style = text("inspector.css")?;
    for font in ["inter.woff2", "jetbrains-mono.woff2"] {
        let url = format!("data:font/woff2;base64,{}", base64(file(font)?));
        style = style
            .replace(&format!("./{font}"), &url)
            .replace(&format!("({font})"), &format!("({url})"));
    }
    // A text of a script ends at the first `</script`, wherever it is.
    let script = text("inspector.js")?.replace("</script", "<\\/script");
    let data = String::from_utf8_lossy(&data.to_canonical())
        .replace("</", "<\\/")
        .replace("<!--", "<\\!--");
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Contextree</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"content-security-policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; \
         style-src 'unsafe-inline'; font-src data:; img-src data: blob:\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>{style}</style>\n</head>\n<body>\n<div id=\"inspector\"></div>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script type=\"module\">{script}</script>\n\
         </body>\n</html>\n"
    ))
}

/// Returns bytes in Base64.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let index = (group >> (18 - 6 * digit) & 63) as usize;
            text.push(if digit <= chunk.len() { char::from(DIGITS[index]) } else { '=' });
        }
    }
    text
}
