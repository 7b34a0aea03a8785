//! Continues the recording of a context that was stored.
//!
//! The working state renders to the last request with its answer. Reading that rendering as if it were a request gives everything that
//! the next request is compared with; the spans of the rendering say which nodes each message consists of.

use std::collections::BTreeMap;

use contextree_engine::Context;
use contextree_json::{Object, Value};
use contextree_provider::parts::names::{self, form};
use contextree_provider::read::{Fields, Request, Role, read_request, role_of};
use contextree_provider::{Provider, RenderOptions, Rendered, render};
use contextree_tree::{Cycle, NodeRef, Region};

use super::left_out::{Entry, LeftOut, entries, left_out_of, nodes_of, placeholders};
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

        let nodes = nodes_of(rendered);
        let nodes = |index: usize| nodes.get(&(index + leading)).cloned().unwrap_or_default();
        let tree = context.working();
        let placeholders = placeholders(tree);
        let entries = entries(messages.len(), nodes, left_out_of(tree), &placeholders);
        let forms = forms_of(context);
        let mut answer = Vec::new();
        for entry in entries {
            let (index, mut message) = match entry {
                Entry::Rendered(index) => (index, messages[index].clone()),
                Entry::LeftOut(left_out) => {
                    self.fill_left_out(context, left_out, &placeholders);
                    continue;
                }
            };
            let nodes = nodes(index);
            let found = || nodes.iter().filter_map(|id| tree.resolve(id));
            let essence = essence_of(&message);
            let unmarked = Unmarked::take(provider, &mut message);
            let cycle = found().next().map_or(Cycle::ZERO, NodeRef::cycle);
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

    /// Notes a message that was not sent as the agent wrote it. The tree may have all of it again, because the call failed.
    fn fill_left_out(
        &mut self,
        context: &Context,
        left_out: LeftOut,
        placeholders: &BTreeMap<String, String>,
    ) {
        let tree = context.working();
        let LeftOut { fingerprint, role, nodes, .. } = left_out;
        let now = |id: String| placeholders.get(&id).cloned().unwrap_or(id);
        let nodes: Vec<String> = nodes.into_iter().map(now).collect();
        let found = || nodes.iter().filter_map(|id| tree.resolve(id));
        let cycle = found().next().map_or(Cycle::ZERO, NodeRef::cycle);
        let is_prompt = role == Role::User && !found().any(|node| node.kind() == Some("result"));
        let opened = self.state.resume_units(role, found());
        if let Some(node) = found().next().filter(|_| is_prompt) {
            self.state.resume_prompt(Some(&node.id().to_owned()));
        }
        let seen = Seen { fingerprint, listed: None, essence: None };
        self.state.window.push(Placed::resumed(role, nodes, cycle, is_prompt, opened, seen));
    }
}

/// Returns the outline of the last request: the newest snapshot, or what is in the head if its call failed.
fn last_sent(provider: Provider, context: &Context) -> Option<Outline> {
    let head = context.newest()?;
    let rendered = render(head.view(), provider, &RenderOptions::default()).ok()?;
    let Value::Object(object) = rendered.value() else { return None };
    let mut outline = Outline::of(provider, &object).ok()?;
    let left_out = left_out_of(head.view());
    if !left_out.is_empty() {
        let all = object.get(provider.messages_field()).and_then(Value::as_array);
        let leading = all.map_or(0, <[Value]>::len).saturating_sub(outline.len());
        let nodes = nodes_of(&rendered);
        let nodes = |index: usize| nodes.get(&(index + leading)).cloned().unwrap_or_default();
        let entries = entries(outline.len(), nodes, left_out, &placeholders(head.view()));
        let own = |entry: Entry| match entry {
            Entry::Rendered(index) => outline.messages[index],
            Entry::LeftOut(left_out) => left_out.fingerprint,
        };
        outline.messages = entries.into_iter().map(own).collect();
    }
    Some(outline)
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
