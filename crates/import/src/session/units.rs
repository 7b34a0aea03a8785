//! Units: which blocks belong together, so that a policy prunes all of them or none.
//!
//! A unit is opened by an answer with calls, reasoning or provider-specific items, and named after
//! its first call. Results join the unit of their call.

use std::collections::{HashMap, HashSet};

use contextree_engine::{NewNode, PreparedNode};
use contextree_json::Value;
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{Kind, Role, kind_of_node, set};
use contextree_tree::NodeRef;

/// A call that has no result yet.
#[derive(Clone, Debug)]
struct OpenCall {
    name: Box<str>,
    id: Box<str>,
}

/// A unit that the next message of the model may belong to.
#[derive(Clone, Debug)]
struct OpenUnit {
    name: Box<str>,
    /// Whether it contains reasoning or a provider-specific item, so that everything the model adds
    /// belongs to it.
    whole: bool,
}

/// What a message added to the units; to be closed when the message is dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Opened {
    unit: Option<Box<str>>,
    calls: Vec<Box<str>>,
}

/// The units of an import.
#[derive(Clone, Debug, Default)]
pub(super) struct Units {
    /// The units of every call of the tree, by call id: more than one if the id was used again. Results answer the last. Never
    /// iterated, so its order cannot affect output.
    by_call: HashMap<Box<str>, Vec<Box<str>>>,
    /// All unit names in use.
    taken: HashSet<Box<str>>,
    /// Calls of the last assistant message that have no results.
    open_calls: Vec<OpenCall>,
    /// The unit of the last message, if it was the model's.
    open_unit: Option<OpenUnit>,
}

impl Units {
    /// Releases what a message opened, because it is dropped: later results cannot answer its calls,
    /// and its name may be used again.
    pub(super) fn close(&mut self, opened: &Opened) {
        let Some(unit) = &opened.unit else { return };
        for call in &opened.calls {
            // The same id of an earlier message stays.
            if let Some(units) = self.by_call.get_mut(call) {
                units.retain(|other| other != unit);
            }
        }
        self.taken.remove(unit);
        self.open_calls.retain(|open| !opened.calls.contains(&open.id));
        if self.open_unit.as_ref().is_some_and(|open| open.name == *unit) {
            self.open_unit = None;
        }
    }

    /// Notes the units of a message that a stored context has.
    pub(super) fn resume<'n>(
        &mut self,
        role: Role,
        nodes: impl Iterator<Item = NodeRef<'n>>,
    ) -> Opened {
        let mut opened = Opened::default();
        if role == Role::Assistant {
            self.open_calls.clear();
        }
        for node in nodes {
            let text = |name: &str| node.attribute(name).and_then(Value::as_str);
            let Some(unit) = text(names::CALL_ID) else { continue };
            let own: Box<str> = text(names::TOOL_CALL_ID).unwrap_or(unit).into();
            match (role, node.kind()) {
                (Role::Assistant, kind) => {
                    self.taken.insert(unit.into());
                    opened.unit = Some(unit.into());
                    if kind == Some("call") {
                        self.by_call.entry(own.clone()).or_default().push(unit.into());
                        opened.calls.push(own.clone());
                        let name = text(names::NAME).unwrap_or_default().into();
                        self.open_calls.push(OpenCall { name, id: own });
                    }
                }
                _ => self.open_calls.retain(|call| call.id != own),
            }
        }
        opened
    }

    /// Assigns units to the blocks of a message. Reasoning, calls and results of one assistant
    /// message form a unit, and so do server-side tools, whose results are in the message.
    pub(super) fn assign(
        &mut self,
        provider: Provider,
        role: Role,
        parts: &mut [PreparedNode],
        number: u64,
    ) -> Opened {
        if role == Role::Assistant {
            self.open_calls.clear();
            self.name_calls(parts, number);
            self.assign_to_answer(provider, parts, number)
        } else {
            self.name_calls(parts, number);
            self.open_unit = None;
            self.assign_to_results(parts);
            Opened::default()
        }
    }

    /// Assigns results to the units of their calls.
    fn assign_to_results(&mut self, parts: &mut [PreparedNode]) {
        for part in parts.iter_mut() {
            let Some(own) = call_id(part).map(Box::<str>::from) else { continue };
            // A result without a call must not join an existing unit.
            let unit = self.by_call.get(&own).and_then(|units| units.last()).cloned();
            let unit = unit.unwrap_or_else(|| self.free_name(own.clone()));
            set_unit(part, Some(own), &unit);
        }
    }

    /// Assigns the blocks of an answer to a new unit, or to the open one that it continues.
    fn assign_to_answer(
        &mut self,
        provider: Provider,
        parts: &mut [PreparedNode],
        number: u64,
    ) -> Opened {
        let bound =
            |part: &PreparedNode| matches!(kind_of_node(part), Kind::Reasoning | Kind::Opaque);
        // Consecutive items of the model form one message.
        let continued = self.open_unit.take().filter(|_| provider == Provider::OpenAiResponses);
        let whole = parts.iter().any(bound) || continued.as_ref().is_some_and(|unit| unit.whole);
        let first = parts.iter().find_map(|part| call_id(part));
        if !whole && first.is_none() {
            return Opened::default();
        }
        let wanted: Box<str> = first.map_or_else(|| format!("step:{number}").into(), Into::into);
        let unit = continued.map_or_else(|| self.free_name(wanted), |unit| unit.name);
        let mut opened = Opened { unit: Some(unit.clone()), calls: Vec::new() };
        for part in parts.iter_mut() {
            let own = call_id(part).map(Box::<str>::from);
            if let Some(own) = &own {
                let units = self.by_call.entry(own.clone()).or_default();
                let is_repeated = !units.is_empty();
                units.push(unit.clone());
                // A client that sent the same id twice does so again: it is written like that for its provider.
                if is_repeated && !part.attributes.iter().any(|(name, _)| name == names::PROVIDER) {
                    set(part, names::PROVIDER, provider.name());
                }
                opened.calls.push(own.clone());
            } else if !whole {
                continue;
            }
            set_unit(part, own, &unit);
        }
        self.taken.insert(unit.clone());
        self.open_unit = Some(OpenUnit { name: unit, whole });
        opened
    }

    /// Creates ids for calls without one, and finds the calls of results without one: by name, else
    /// by order.
    fn name_calls(&mut self, parts: &mut [PreparedNode], number: u64) {
        for (index, part) in parts.iter_mut().enumerate() {
            let is_call = part.kind.as_deref() == Some("call");
            if !(is_call || part.kind.as_deref() == Some("result")) {
                continue;
            }
            let name = part.attributes.iter().find(|(name, _)| name == names::NAME);
            let name: Box<str> = name.and_then(|(_, it)| it.as_str()).unwrap_or_default().into();
            let own = call_id(part).map(Box::<str>::from);
            let has_id = own.is_some();
            let id = own.unwrap_or_else(|| {
                let same = self.open_calls.iter().find(|call| !is_call && call.name == name);
                let call = same.or(self.open_calls.first().filter(|_| !is_call));
                call.map_or_else(|| format!("call_{number}_{index}").into(), |call| call.id.clone())
            });
            if is_call {
                self.open_calls.push(OpenCall { name, id: id.clone() });
            } else {
                self.open_calls.retain(|call| call.id != id);
            }
            if !has_id {
                set(part, names::CALL_ID, Value::String(id));
            }
        }
    }

    /// Returns the wanted name, or the first free one with a number added.
    fn free_name(&self, wanted: Box<str>) -> Box<str> {
        if !self.taken.contains(&wanted) {
            return wanted;
        }
        let free = (2u64..).map(|number| format!("{wanted}~{number}").into_boxed_str());
        free.into_iter().find(|unit| !self.taken.contains(unit)).expect("the range is unbounded")
    }
}

fn call_id(part: &NewNode) -> Option<&str> {
    let found = part.attributes.iter().find(|(name, _)| name == names::CALL_ID)?;
    found.1.as_str()
}

/// Writes the unit of a block. A call or result whose own id differs keeps that in another
/// attribute.
fn set_unit(part: &mut PreparedNode, own: Option<Box<str>>, unit: &str) {
    match own {
        Some(own) if *own == *unit => {}
        Some(own) => {
            for (name, value) in part.attributes_mut() {
                if name == names::CALL_ID {
                    *value = Value::from(unit);
                }
            }
            set(part, names::TOOL_CALL_ID, Value::String(own));
        }
        None => set(part, names::CALL_ID, unit),
    }
}
