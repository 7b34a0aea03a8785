//! Continues the recording of a context that was stored.
//!
//! The working state renders to the last request with its answer. Reading that rendering as if it were a request gives everything that
//! the next request is compared with; the spans of the rendering say which nodes each message consists of.

use std::collections::BTreeMap;

use contextree_engine::Context;
use contextree_json::{Object, Value};
use contextree_provider::parts::names::{self, form};
use contextree_provider::read::{Fields, Request, Role, read_request, role_of};
use contextree_provider::{List, Provider, RenderOptions, Rendered, render};
use contextree_tree::{NodeRef, Region};

use super::{Outline, Recording, Trace};
use crate::fingerprint::{Unmarked, essence_of};
use crate::logs::requests::is_system;
use crate::session::{Placed, Seen, numbered, settings_node};

impl Recording {
    /// Continues the recording of a context. Returns its newest call, too.
    #[must_use]
    pub fn resume(provider: Provider, context: &Context) -> (Self, Trace) {
        let mut recording = Recording::new(provider);
        let rendered = render(context.working(), provider, &RenderOptions::default()).ok();
        let read = rendered.as_ref().and_then(|rendered| {
            let Value::Object(object) = rendered.value() else { return None };
            Some((read_request(provider, Fields(object)).ok()?, rendered))
        });
        let Some((request, rendered)) = read else {
            recording.state.resume_system(context, Vec::new());
            return (recording, Trace::default());
        };
        let mut trace = Trace::default();
        trace.send(last_sent(provider, context).unwrap_or_default());
        let answer = recording.fill(context, request, rendered);
        let response = context.attempts().iter().rev().find_map(|it| it.response.as_ref());
        let id = response.and_then(|response| response.response_id.clone());
        trace.resume_answer(&answer, id);
        recording.log.resume();
        (recording, trace)
    }

    /// Notes what the context has. Returns the messages of the last answer.
    fn fill(&mut self, context: &Context, request: Request, rendered: &Rendered) -> Vec<Value> {
        let provider = self.provider;
        let Request { settings, tools, mut system, mut messages } = request;
        let leading = match provider {
            Provider::OpenAiChat => messages.iter().take_while(|it| is_system(it)).count(),
            _ => 0,
        };
        for message in messages.drain(..leading) {
            let read = contextree_provider::read_message(provider, message);
            let number = system.len() as u64;
            system.extend(read.into_iter().flat_map(|it| numbered(it.into_nodes(), number)));
        }
        let mut preamble = vec![settings_node(settings, provider)];
        preamble.extend(tools);
        preamble.append(&mut system);
        self.state.resume_system(context, preamble);

        let mut nodes: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for span in rendered.spans.iter().filter(|span| span.slot.list == List::Messages) {
            let of_message = nodes.entry(span.slot.index as usize).or_default();
            if of_message.last().map(String::as_str) != Some(&*span.node) {
                of_message.push(span.node.clone().into());
            }
        }
        let tree = context.working();
        let forms = forms_of(context);
        let mut answer = Vec::new();
        for (index, mut message) in messages.into_iter().enumerate() {
            let nodes = nodes.remove(&(index + leading)).unwrap_or_default();
            let found = || nodes.iter().filter_map(|id| tree.resolve(id));
            let essence = essence_of(&message);
            let unmarked = Unmarked::take(provider, &mut message);
            let cycle = found().next().map_or(0, NodeRef::cycle);
            let role = found().next().map_or_else(|| role_in(&message), role_of_node);
            // Only the answer is in the head.
            let is_answer = role == Role::Assistant && cycle == context.next_cycle();
            if is_answer {
                answer.push(message.clone());
            }
            let listed = match found().next().and_then(|node| forms.get(node.id())) {
                Some(form) => Some(form.as_str() != Some(form::LIST)),
                None if !unmarked.marks.is_empty() => unmarked
                    .listed
                    .and(found().next().map(|node| shape_of(node) == Some(form::LIST))),
                None => unmarked.listed,
            };
            let seen = Seen {
                fingerprint: unmarked.fingerprint,
                listed,
                essence: is_answer.then_some(essence),
            };
            let is_prompt =
                role == Role::User && !found().any(|node| node.kind() == Some("result"));
            let opened = self.state.resume_units(role, found());
            if is_prompt {
                self.state.resume_prompt(nodes.first());
            }
            let placed = Placed::resumed(role, nodes, cycle, is_prompt, opened, seen);
            self.state.window.push(placed);
        }
        answer
    }
}

/// Returns the outline of the last request: the newest snapshot, or what is in the head if its call failed.
fn last_sent(provider: Provider, context: &Context) -> Option<Outline> {
    let head = context.newest()?;
    let rendered = render(head.view(), provider, &RenderOptions::default()).ok()?;
    match rendered.value() {
        Value::Object(object) => Outline::of(provider, &object).ok(),
        _ => None,
    }
}

fn forms_of(context: &Context) -> Object {
    let groups = context.working().region(Region::Sys).children();
    let mut forms = groups.filter_map(|group| group.attribute(names::FORMS)?.as_object());
    forms.next().cloned().unwrap_or_default()
}

fn shape_of(node: NodeRef<'_>) -> Option<&str> {
    node.attribute(names::SHAPE).or_else(|| node.attribute(names::FORM))?.as_str()
}

fn role_in(message: &Value) -> Role {
    message.get("role").and_then(Value::as_str).map_or(Role::User, role_of)
}

fn role_of_node(node: NodeRef<'_>) -> Role {
    match node.role() {
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        Some("system") => Role::System,
        _ => Role::User,
    }
}
