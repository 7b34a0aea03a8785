//! A conversation to look at: the files that every transcript finds in its folder.

use std::sync::Arc;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};

use contextree::{
    Clock, CommitOptions, Context, ContextOptions, Edit, Limit, NewNode, Place, Policy,
};

/// The time at which transcripts run: 15 March 2026, 12:00 UTC.
pub(crate) const NOW: i64 = 1_773_576_000_000_000_000;

/// A clock that goes on by twenty seconds whenever somebody asks it, and ends a little before [`NOW`].
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now_ns(&self) -> i64 {
        self.0.fetch_add(20_000_000_000, Ordering::Relaxed)
    }
}

/// Returns a conversation of three turns with tools, a document that expires, a budget that pruned, and changes that are not
/// committed.
pub(crate) fn conversation() -> Context {
    let clock = Ticking(AtomicI64::new(NOW - 1_800_000_000_000));
    let options = ContextOptions { clock: Some(Arc::new(clock)), ..ContextOptions::default() };
    let mut context = Context::with_options(options);
    let add = |context: &mut Context, place: Place, node: NewNode| {
        context.add(place, node).expect("the conversation follows the rules")
    };
    let text = |role: &str, text: &str| NewNode::text(text).role(role).kind("text");
    let rules = text("system", "You are a travel assistant.\nBe brief.").pinned(true);
    add(&mut context, Place::system(), rules.key("rules"));

    add(&mut context, Place::head(), text("user", "Will it rain in Oslo?"));
    let call = NewNode::text("weather(city=\"Oslo\")").role("assistant").kind("call").priority(-1);
    add(&mut context, Place::head(), call.attribute("data_call_id", "call-1"));
    let result = NewNode::text("{\"rain\":true}").role("tool").kind("result").priority(-1);
    add(&mut context, Place::head(), result.attribute("data_call_id", "call-1"));
    add(&mut context, Place::head(), text("assistant", "Yes, from two o'clock on."));
    let forecast = text("tool", "Yr.no: Oslo, rain from 14:00, 8 °C").ttl(1).key("forecast");
    add(&mut context, Place::at("^ah", 1), forecast.tag("retrieved"));
    context.commit().expect("the first commit");

    add(&mut context, Place::head(), text("user", "And tomorrow?"));
    add(&mut context, Place::head(), text("assistant", "Sunny, 12 degrees."));
    let note = NewNode::text("The user plans a trip to Oslo.").role("assistant").kind("summary");
    add(&mut context, Place::at("^ah", 1), note.key("summary").tag("note"));
    context.commit().expect("the second commit");

    add(&mut context, Place::head(), text("user", "Thanks! Is there a train to Bergen?"));
    let limit = Limit::Total { measure: "bytes".into(), max: 180 };
    let policy = Policy { limits: vec![limit], ..Policy::default() };
    let options = CommitOptions { policy: Some(&policy), ..CommitOptions::default() };
    context.commit_with(&options).expect("the third commit");

    let draft = add(&mut context, Place::head(), text("assistant", "Every two hours."));
    let content = Some("Every two hours;\nseven hours in all.".into());
    context.edit(&draft, Edit { content, ..Edit::default() }).expect("it is active");
    let hint = text("system", "Mention the price.").ttl(0);
    add(&mut context, Place::at("^ah", -1), hint);
    context
}

/// Returns a log of Claude Code: one question, eleven files that are read to answer it, and the answer. Twelve calls, of which the eighth was made
/// after a pause of twenty minutes and read nothing from the cache.
fn claude_code_log() -> String {
    let mut log = String::new();
    let mut before = "null".to_owned();
    for call in 1..=12 {
        let minute = call + if call > 7 { 20 } else { 0 };
        let mut entry = |who: &str, second: u32, message: &str| {
            let id = format!("{who}-{call}");
            log.push_str(&format!(
                r#"{{"type":"{who}","uuid":"{id}","parentUuid":{before},"sessionId":"s","timestamp":"2026-03-01T10:{minute:02}:{second:02}Z","message":{{"role":"{who}",{message}}}}}"#
            ));
            log.push('\n');
            before = format!("\"{id}\"");
        };
        let text = format!("let part_{call} = {call}; ").repeat(200);
        let asked = match call {
            1 => r#""content":"Which of the eleven parts is wrong?""#.to_owned(),
            _ => format!(
                r#""content":[{{"type":"tool_result","tool_use_id":"t{}","content":"{text}"}}]"#,
                call - 1
            ),
        };
        entry("user", 0, &asked);
        let said = match call {
            12 => r#"{"type":"text","text":"Part 7."}"#.to_owned(),
            _ => format!(
                r#"{{"type":"tool_use","id":"t{call}","name":"Read","input":{{"file_path":"src/part_{call}.rs"}}}}"#
            ),
        };
        let sent = call * 2_700;
        let read = if call == 8 { 0 } else { sent - 2_700 };
        entry(
            "assistant",
            30,
            &format!(
                r#""id":"msg_{call}","model":"claude-opus-5","content":[{said}],"usage":{{"input_tokens":10,"cache_read_input_tokens":{read},"cache_creation_input_tokens":{},"output_tokens":20}}"#,
                sent - read
            ),
        );
    }
    log
}

/// Writes the conversation into a folder: `trip.jsonl` (history), `trip.json` (newest snapshot), `draft.json` (a fixture with the
/// working state), `nodes.jsonl` (loose nodes). Also `claude.jsonl`, a log of Claude Code with twelve calls.
pub(crate) fn write(folder: &Path) {
    let context = conversation();
    let write = |name: &str, bytes: &[u8]| {
        fs::write(folder.join(name), bytes).expect("the folder can be written");
    };
    write("trip.jsonl", &context.export_history());
    write("claude.jsonl", claude_code_log().as_bytes());
    write("trip.json", &context.newest().expect("three commits").export());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("exports are ASCII");
    let snapshots: Vec<String> =
        context.history().iter().map(|snapshot| text(snapshot.export())).collect();
    let working = text(context.export_working());
    let fixture = format!("{{\"snapshots\":[{}],\"working\":{working}}}", snapshots.join(","));
    write("draft.json", fixture.as_bytes());
    write(
        "nodes.jsonl",
        b"{\"id\":\"test1\",\"content\":\"Hello world\",\"role\":\"user\",\"ttl\":5}\n\n\
          {\"id\":\"n\",\"content\":{\"b\":[1,1.0],\"a\":null},\"kind\":\"json\",\"data_x\":true}\n",
    );
}
