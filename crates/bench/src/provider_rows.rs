//! Measures the rows about provider requests and about logs.

use std::hint::black_box;
use std::io::Write as _;

use contextree::{Context, NewNode, Place};
use contextree_import::{Format, ImportOptions, import as import_text};
use contextree_provider::{Provider, RenderOptions, RequestRenderer};

use crate::measure::{Row, compare, time};
use crate::rows::Scale;
use crate::work::text;

/// Measures every row.
pub fn all(scale: Scale, mut take: impl FnMut(Row)) {
    take(render(scale));
    take(import(scale, Format::OpenAiChat, Values::Kept));
    take(import(scale, Format::OpenAiChat, Values::Dropped));
    take(import(scale, Format::ClaudeCode, Values::Kept));
}

/// Adds a turn with a tool: a question, a call, its result, an answer.
fn turn(context: &mut Context, number: usize) {
    let id = format!("call_{number}");
    let say = |role: &str, part: usize| NewNode::text(text(number * 4 + part, 300)).role(role);
    let call = NewNode::text("{\"city\": \"Oslo\"}").role("assistant").kind("call");
    let nodes = [
        say("user", 0).kind("text"),
        call.attribute("data_call_id", id.as_str()).attribute("data_name", "get_weather"),
        say("tool", 1).kind("result").attribute("data_call_id", id.as_str()),
        say("assistant", 2).kind("text"),
    ];
    for node in nodes {
        context.add(Place::head(), node).expect("a block fits into the head");
    }
    context.commit().expect("a commit without a policy cannot fail");
}

fn render(scale: Scale) -> Row {
    let mut context = Context::new();
    let mut number = 0;
    while number < scale.large / 10 {
        turn(&mut context, number);
        number += 1;
    }
    let mut renderer = RequestRenderer::new(Provider::OpenAiChat, RenderOptions::default());
    let tree = context.newest_tree().expect("there are commits");
    let bytes = renderer.render(tree).expect("there are messages").bytes.clone();
    let mut copy = vec![0; bytes.len()];
    compare(
        "openai-chat request after one more turn at a tenth of the large: against a memcpy of it",
        5.0,
        scale.rounds * 3,
        || {
            number += 1;
            turn(&mut context, number);
            let tree = context.newest_tree().expect("there are commits");
            time(1, || {
                black_box(renderer.render(tree).map_or(0, |rendered| rendered.bytes.len()));
            })
        },
        || time(1, || black_box(&mut copy).copy_from_slice(black_box(&bytes))),
    )
}

/// Returns a log of an agent that works with tools, of about this size.
fn log(format: Format, bytes: usize) -> Vec<u8> {
    let mut log = Vec::with_capacity(bytes + 10_000);
    let mut number = 0;
    let mut last = "null".to_owned();
    while log.len() < bytes {
        // A question, four steps with a tool, an answer.
        for step in 0..10 {
            number += 1;
            let call = format!("call_{}", number - usize::from(step % 2 == 0 && step > 0));
            let message = message(format, step, &call, number);
            if format == Format::ClaudeCode {
                let kind = if step == 0 || step % 2 == 0 { "user" } else { "assistant" };
                let line = format!(
                    "{{\"parentUuid\":{last},\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"/home/user/project\",\"sessionId\":\"2f6c7e0a-1f0b-4c8e-9d57-3b1a2c4d5e6f\",\"version\":\"2.1.0\",\"gitBranch\":\"main\",\"type\":\"{kind}\",\"message\":{message},\"uuid\":\"00000000-0000-4000-8000-{number:012}\",\"timestamp\":\"2026-11-01T10:00:00.000Z\"}}"
                );
                last = format!("\"00000000-0000-4000-8000-{number:012}\"");
                writeln!(log, "{line}").expect("memory");
            } else {
                writeln!(log, "{message}").expect("memory");
            }
        }
    }
    log
}

fn message(format: Format, step: usize, call: &str, number: usize) -> String {
    let anthropic = format == Format::ClaudeCode;
    let words = |length| text(number, length).replace("dog ", "dog.\\n\\\"Indeed\\\" ");
    match step {
        0 => format!("{{\"role\":\"user\",\"content\":\"{}\"}}", words(400)),
        9 if anthropic => format!(
            "{{\"id\":\"msg_{number}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"{}\"}}],\"usage\":{{\"input_tokens\":12345,\"output_tokens\":321}}}}",
            words(1200)
        ),
        9 => format!("{{\"role\":\"assistant\",\"content\":\"{}\"}}", words(1200)),
        _ if step % 2 == 1 && anthropic => format!(
            "{{\"id\":\"msg_{number}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"{call}\",\"name\":\"Bash\",\"input\":{{\"command\":\"{}\",\"description\":\"look\"}}}}],\"usage\":{{\"input_tokens\":12345,\"output_tokens\":321}}}}",
            words(300)
        ),
        _ if step % 2 == 1 => format!(
            "{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"{call}\",\"type\":\"function\",\"function\":{{\"name\":\"bash\",\"arguments\":\"{{\\\"command\\\": \\\"{}\\\"}}\"}}}}]}}",
            text(number, 300)
        ),
        _ if anthropic => format!(
            "{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"{call}\",\"type\":\"tool_result\",\"content\":\"{}\"}}]}}",
            words(3000)
        ),
        _ => format!(
            "{{\"role\":\"tool\",\"tool_call_id\":\"{call}\",\"content\":\"{}\"}}",
            words(3000)
        ),
    }
}

/// What happens to the values of the reference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    /// They are kept until the end, like imported values.
    Kept,
    /// Each is dropped at once, and its memory is reused. Without a bar, because an import keeps
    /// what it reads.
    Dropped,
}

fn import(scale: Scale, format: Format, values: Values) -> Row {
    let megabytes = scale.large / 1_000;
    let log = log(format, megabytes * 1_000_000);
    let lines: Vec<&[u8]> =
        log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let is_answer = |line: &&&[u8]| line.windows(11).any(|part| part == b"\"assistant\"");
    let answers = lines.iter().filter(is_answer).count() as u64;
    let (name, bar) = match values {
        Values::Kept => (
            format!(
                "import of {megabytes} MB with one cycle per call ({format}): against parsing its lines as generic JSON"
            ),
            3.0,
        ),
        Values::Dropped => (
            "the same, against parsing and dropping one line after the other".to_owned(),
            f64::INFINITY,
        ),
    };
    compare(
        &name,
        bar,
        scale.rounds.min(5),
        || {
            time(1, || {
                let imported = import_text(&log, format, ImportOptions::default());
                let imported = imported.expect("the log is well-formed");
                assert_eq!(imported.report.messages, lines.len() as u64, "nothing is left out");
                assert_eq!(imported.report.calls, answers, "each answer ends a call");
                black_box(imported);
            })
        },
        || {
            time(1, || {
                let parsed = lines
                    .iter()
                    .map(|line| serde_json::from_slice(line).expect("the log is well-formed"));
                match values {
                    Values::Kept => drop(black_box(parsed.collect::<Vec<serde_json::Value>>())),
                    Values::Dropped => parsed.for_each(|value: serde_json::Value| {
                        black_box(value);
                    }),
                }
            })
        },
    )
}
