//! Lints one request after another, looking only at messages that changed.

use contextree_json::{Reader, Value, parse};

use super::finding::Finding;
use super::pass::AnyPass;
use super::{findings, lint, name_nodes, passes};
use crate::Rendered;
use crate::render::Layout;

/// The distance of the states that are kept for a request that changes far from its end.
const FAR: usize = 256;

/// How many states are kept before the end, where requests usually change.
const NEAR: usize = 8;

/// Lints successive requests of one renderer. The findings equal those of [`lint`].
pub(crate) struct RequestLinter {
    passes: Vec<Box<dyn AnyPass>>,
    /// Where the passes can resume, in order: the first is the beginning.
    places: Vec<Place>,
    /// Everything but the messages, as bytes and as a value.
    envelope: (Vec<u8>, Value),
}

/// A place between two messages.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The number of messages before it.
    messages: usize,
    /// The end of the last of them in the request.
    end: usize,
}

impl std::fmt::Debug for RequestLinter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("RequestLinter")
            .field("places", &self.places)
            .finish_non_exhaustive()
    }
}

impl RequestLinter {
    /// Returns a linter that has looked at nothing yet.
    pub(crate) fn new() -> Self {
        RequestLinter {
            passes: Vec::new(),
            places: Vec::new(),
            envelope: (Vec::new(), Value::Null),
        }
    }

    /// Lints a request, of which the first `kept` messages are those of the last call.
    pub(crate) fn lint(
        &mut self,
        rendered: &Rendered,
        layout: Layout,
        kept: usize,
    ) -> Vec<Finding> {
        let Some((start, end)) = layout.list else {
            // The only message is not in a list.
            self.places.clear();
            return lint(rendered);
        };
        let is_same = self.read_envelope(rendered, start, end);
        if self.places.is_empty() || !is_same {
            // Settings decide what the passes accept.
            self.passes = passes(rendered.provider, &self.envelope.1);
            self.places = vec![Place { messages: 0, end: start }];
            self.passes.iter_mut().for_each(|pass| pass.save());
        }
        let number = self.places.partition_point(|place| place.messages <= kept) - 1;
        self.places.truncate(number + 1);
        self.passes.iter_mut().for_each(|pass| pass.rewind(number));
        self.look(rendered, self.places[number], end, layout.messages);
        for pass in &mut self.passes {
            pass.each(&mut |finding| name_nodes(std::slice::from_mut(finding), rendered));
        }
        let mut findings =
            findings(&self.passes, &self.envelope.1, rendered.provider, layout.messages);
        name_nodes(&mut findings, rendered);
        findings
    }

    /// Reads everything but the messages. Returns whether it is what it was.
    fn read_envelope(&mut self, rendered: &Rendered, start: usize, end: usize) -> bool {
        let (before, after) = (&rendered.bytes[..start], &rendered.bytes[end..]);
        let known = &self.envelope.0;
        let is_same = known.len() == before.len() + after.len()
            && known.starts_with(before)
            && known.ends_with(after);
        if !is_same {
            let bytes = [before, after].concat();
            let value = parse(&bytes).expect("a request without its messages is valid JSON");
            self.envelope = (bytes, value);
        }
        is_same
    }

    /// Looks at the messages after a place.
    fn look(&mut self, rendered: &Rendered, place: Place, end: usize, messages: usize) {
        let rest = &rendered.bytes[place.end..end];
        let begin = place.end + usize::from(rest.starts_with(b","));
        let list = [b"[", &rendered.bytes[begin..end], b"]"].concat();
        let mut reader = Reader::new(&list);
        let is_valid = "a rendered request is valid JSON";
        reader.begin_array().expect(is_valid);
        let is_far = |messages: usize| messages.is_multiple_of(FAR);
        let is_near = |before: usize| before + NEAR >= messages;
        let mut index = place.messages;
        while reader.next_element().expect(is_valid) {
            // The reader is at the end of the message before this one.
            let at = Place { messages: index, end: begin + reader.offset() - 1 };
            if index > place.messages && (is_far(index) || is_near(index)) {
                self.places.push(at);
                self.passes.iter_mut().for_each(|pass| pass.save());
            }
            let message = reader.read_value().expect(is_valid);
            self.passes.iter_mut().for_each(|pass| pass.message(&message, index));
            index += 1;
        }
        debug_assert_eq!(index, messages, "the renderer counts the messages that it writes");
        let keep: Vec<bool> = self
            .places
            .iter()
            .map(|place| is_far(place.messages) || is_near(place.messages))
            .collect();
        self.passes.iter_mut().for_each(|pass| pass.thin(&|number| keep[number]));
        self.places.retain(|place| is_far(place.messages) || is_near(place.messages));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{List, Provider, Slot, Span};

    /// Messages that follow and break the rules which depend on what is around them.
    const CHAT: &[&str] = &[
        r#"{"role":"user","content":"x"}"#,
        r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"a","content":"x"}"#,
        r#"{"role":"user","content":[{"type":"text","text":"x","prompt_cache_breakpoint":{"mode":"explicit"}}]}"#,
        r#"{"role":"assistant","content":null}"#,
    ];
    const RESPONSES: &[&str] = &[
        r#"{"role":"user","content":"x"}"#,
        r#"{"type":"function_call","id":"i","call_id":"a","name":"f","arguments":"{}"}"#,
        r#"{"type":"reasoning","id":"r","summary":[]}"#,
        r#"{"type":"reasoning","summary":0}"#,
        r#"{"type":"function_call_output","call_id":"a","output":"x"}"#,
        r#"{"type":"compaction_trigger"}"#,
        r#"{"type":"mcp_approval_request","id":"q"}"#,
        r#"{"type":"mcp_approval_response","approval_request_id":"q"}"#,
        r#"{"type":"additional_tools","tools":[{"type":"function","name":"g"}]}"#,
        r#"{"role":"assistant","content":[{"type":"output_text","text":"x"}]}"#,
    ];
    const ANTHROPIC: &[&str] = &[
        r#"{"role":"user","content":"x"}"#,
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s"},{"type":"tool_use","id":"a","name":"f","input":{}}]}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#,
        r#"{"role":"assistant","content":" "}"#,
        r#"{"role":"system","content":"x"}"#,
        r#"{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}}]}"#,
        r#"{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"s","content":[]}]}"#,
        r#"{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}]}"#,
        r#"{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}"#,
    ];
    const GEMINI: &[&str] = &[
        r#"{"role":"user","parts":[{"text":"x"}]}"#,
        r#"{"role":"model","parts":[{"functionCall":{"name":"f","id":"a","args":{}}}]}"#,
        r#"{"role":"user","parts":[{"functionResponse":{"name":"f","id":"a","response":{},"willContinue":true}}]}"#,
        r#"{"role":"model","parts":[{"text":"x"}]}"#,
        r#"{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"s"}]}"#,
        r#"{"role":"user","parts":[]}"#,
    ];

    /// Builds a request; each message is a node.
    fn request(provider: Provider, messages: &[&str], after: &str) -> (Rendered, Layout) {
        let head = format!("{{\"model\":\"gemini-3\",\"{}\":[", provider.messages_field());
        let mut bytes = head.clone().into_bytes();
        let mut spans = Vec::new();
        for (index, message) in messages.iter().enumerate() {
            if index > 0 {
                bytes.push(b',');
            }
            let start = bytes.len();
            bytes.extend_from_slice(message.as_bytes());
            let slot = Slot { list: List::Messages, index: index as u32, inner: None };
            let node = format!("node {index}").into();
            spans.push(Span { start, end: bytes.len(), node, slot });
        }
        let list = Some((head.len(), bytes.len()));
        bytes.extend_from_slice(after.as_bytes());
        let rendered = Rendered { provider, bytes, spans, losses: Vec::new() };
        (rendered, Layout { list, messages: messages.len() })
    }

    #[test]
    fn findings_of_a_changing_request_equal_those_of_linting_it_anew() {
        let after =
            r#"],"thinking":{"type":"enabled"},"tool_choice":{"type":"function","name":"g"}}"#;
        for (provider, pool) in [
            (Provider::OpenAiChat, CHAT),
            (Provider::OpenAiResponses, RESPONSES),
            (Provider::Anthropic, ANTHROPIC),
            (Provider::Gemini, GEMINI),
        ] {
            let (mut linter, mut messages) = (RequestLinter::new(), Vec::new());
            let (mut found, mut kept) = (0, 0);
            for step in 0..700_usize {
                let removed = [0, 1, 0, 2, 0, 0, 5, if step % 61 == 0 { 300 } else { 0 }][step % 8];
                messages.truncate(messages.len().saturating_sub(removed));
                kept = kept.min(messages.len());
                for more in 0..1 + step % 5 {
                    messages.push(pool[(step * step * 3 + step * 7 + more * more) % pool.len()]);
                }
                // Sometimes a request is not linted, and what was kept since then counts.
                if step % 7 == 3 {
                    continue;
                }
                let after = if step / 100 % 2 == 0 { after } else { "]}" };
                let (rendered, layout) = request(provider, &messages, after);
                let findings = linter.lint(&rendered, layout, kept);
                assert_eq!(findings, lint(&rendered), "{provider}, step {step}");
                found = found.max(findings.len());
                kept = messages.len();
                assert!(linter.places.len() < 2 * NEAR + messages.len() / FAR, "few are kept");
            }
            assert!(found > 100, "{provider}: the messages break rules");
        }
    }
}
