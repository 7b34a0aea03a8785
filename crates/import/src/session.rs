//! The state of an import: messages become blocks, turns become commits.

use std::collections::{HashMap, HashSet};

use contextree_engine::{
    CommitOptions, Context, Edit, Limit, NewNode, Place, Policy, PreparedNode,
};
use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{Incoming, Kind, Role, kind_of_node, set};

use crate::error::ImportErrorKind;
use crate::fingerprint::Fingerprint;

/// A message of the last request.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) fingerprint: Fingerprint,
    /// The ids of its blocks.
    pub(crate) nodes: Vec<String>,
    /// For a message of a single text: whether its block is recorded as a list.
    pub(crate) listed: Option<bool>,
}

impl From<Fingerprint> for Seen {
    fn from(fingerprint: Fingerprint) -> Self {
        Seen { fingerprint, nodes: Vec::new(), listed: None }
    }
}

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

/// The context that is being filled.
pub(crate) struct Session {
    pub(crate) context: Context,
    pub(crate) provider: Provider,
    pub(crate) commits: u64,
    pub(crate) conversations: u64,
    /// The number of the last message.
    pub(crate) messages: u64,
    /// The last message: its role, its blocks, and whether they carry its number.
    last: Option<(Role, Vec<String>, bool)>,
    /// Whether the current turn has an answer of the model.
    answered: bool,
    /// Whether the current turn replaces all earlier ones.
    replaces: bool,
    /// Whether the head is empty.
    blank: bool,
    /// The unit of every call, by call id. Never iterated, so its order cannot affect output.
    units: HashMap<Box<str>, Box<str>>,
    /// All unit names in use.
    taken: HashSet<Box<str>>,
    /// The content of `^sys`: blocks, whose order matters, and groups.
    system: Vec<(NewNode, String)>,
    groups: Vec<(NewNode, String)>,
    marks: Option<(NewNode, String)>,
    /// Whether the client writes a text as a string again, not as a list, once its breakpoint has
    /// moved on.
    pub(crate) unmarked_is_text: bool,
    /// System messages before any other, in a log of single messages.
    leading: Vec<NewNode>,
    /// The messages of the last request, used to determine which messages of the next are new.
    pub(crate) seen: Vec<Seen>,
    /// Calls of the last assistant message that have no results.
    calls: Vec<OpenCall>,
    /// The unit of the last message, if it was the model's.
    unit: Option<OpenUnit>,
}

impl Session {
    pub(crate) fn new(context: Context, provider: Provider) -> Self {
        Session {
            context,
            provider,
            commits: 0,
            conversations: 0,
            messages: 0,
            last: None,
            answered: false,
            replaces: false,
            blank: true,
            units: HashMap::new(),
            taken: HashSet::new(),
            system: Vec::new(),
            groups: Vec::new(),
            marks: None,
            unmarked_is_text: false,
            leading: Vec::new(),
            seen: Vec::new(),
            calls: Vec::new(),
            unit: None,
        }
    }

    /// Returns whether nothing was imported.
    pub(crate) fn is_empty(&self) -> bool {
        self.messages == 0 && self.commits == 0 && self.blank && self.system.is_empty()
    }

    /// Sets the content of `^sys`: settings, tools, system text. Leading nodes that did not change
    /// stay.
    pub(crate) fn system(&mut self, nodes: Vec<NewNode>) -> Result<(), ImportErrorKind> {
        let (groups, blocks) = nodes.into_iter().partition(|node| node.node_type.is_some());
        let old = std::mem::take(&mut self.groups);
        self.groups = self.exchange(old, groups)?;
        let old = std::mem::take(&mut self.system);
        self.system = self.exchange(old, blocks)?;
        Ok(())
    }

    /// Replaces nodes of `^sys`, starting with the first that differs.
    fn exchange(
        &mut self,
        mut old: Vec<(NewNode, String)>,
        new: Vec<NewNode>,
    ) -> Result<Vec<(NewNode, String)>, ImportErrorKind> {
        let same = old.iter().zip(&new).take_while(|((old, _), new)| old == *new).count();
        for (_, id) in old.drain(same..) {
            self.context.remove(&id).map_err(refused)?;
        }
        for mut node in new.into_iter().skip(same) {
            let kept = node.clone();
            if node.role.is_none() && node.node_type.is_none() {
                node.role = Some("system".to_owned());
            }
            // These are the oldest blocks, so a policy would prune them first.
            node.pinned = true;
            let id = self.context.add(Place::system(), node).map_err(refused)?;
            old.push((kept, id));
        }
        Ok(old)
    }

    /// Records which blocks the newest request marks, and which it writes in another form than the
    /// imported one.
    pub(crate) fn marks(&mut self, marks: Object, forms: Object) -> Result<(), ImportErrorKind> {
        let mut node = NewNode::container(names::MARKS_TYPE);
        for (name, fields) in [(names::MARKS, marks), (names::FORMS, forms)] {
            if !fields.is_empty() {
                set(&mut node, name, Value::Object(fields));
            }
        }
        let new = (!node.attributes.is_empty()).then(|| {
            let provider = self.provider.name();
            node.attribute(names::PROVIDER, provider)
        });
        let old = self.marks.take().into_iter().collect();
        self.marks = self.exchange(old, new.into_iter().collect())?.pop();
        Ok(())
    }

    /// Returns the number of leading messages that the previous request had as well: a log of
    /// requests repeats the conversation so far in every line.
    pub(crate) fn known(&self, messages: &[Fingerprint]) -> usize {
        let seen = self.seen.iter().map(|seen| &seen.fingerprint);
        let continues =
            messages.len() >= self.seen.len() && seen.zip(messages).all(|(a, b)| a == b);
        if continues { self.seen.len() } else { 0 }
    }

    /// Starts a request. One that does not continue the previous request replaces it in the tree,
    /// because a model sees only one request; the history keeps the others.
    pub(crate) fn begin_request(
        &mut self,
        messages: Vec<Fingerprint>,
    ) -> Result<(), ImportErrorKind> {
        let known = self.known(&messages);
        if known == 0 {
            self.conversations += 1;
            self.begin_window()?;
            self.seen.clear();
        }
        self.seen.extend(messages.into_iter().skip(known).map(Seen::from));
        Ok(())
    }

    /// Adds a message of a log without requests. System messages before any other are added to
    /// `^sys`.
    pub(crate) fn single(&mut self, message: Incoming) -> Result<(), ImportErrorKind> {
        // Responses has items of every role in its list.
        let leads = self.messages == 0 && self.provider != Provider::OpenAiResponses;
        if message.role == Role::System && leads {
            let number = self.leading.len() as u64;
            self.leading.extend(numbered(message.into_nodes(), number));
            return self.system(self.leading.clone());
        }
        self.message(message)
    }

    /// Adds a message.
    pub(crate) fn message(&mut self, message: Incoming) -> Result<(), ImportErrorKind> {
        let Incoming { role, mut parts } = message;
        self.messages += 1;
        let number = self.messages;
        let answers = parts.iter().any(|part| part.kind.as_deref() == Some("result"));
        let mut marked = parts.len() > 1 && role != Role::Assistant && role != Role::Tool;
        if self.side(role) == self.last.as_ref().map(|(role, ..)| self.side(*role)).unwrap_or(None)
            && self.side(role).is_some()
        {
            marked = true;
            self.number_last(number - 1)?;
        }
        if role == Role::User && !answers && self.answered {
            self.commit()?;
        }
        self.answered |= role == Role::Assistant;
        self.blank = false;
        self.assign_units(role, &mut parts, number);
        let mut ids = Vec::with_capacity(parts.len());
        for mut part in parts {
            if marked {
                set(&mut part, names::MESSAGE, number);
            }
            if part.role.is_none() {
                let word = role_word(role, part.kind.as_deref());
                part.set_role(word);
            }
            ids.push(self.context.add(Place::head(), part).map_err(refused)?);
        }
        self.last = Some((role, ids, marked));
        Ok(())
    }

    /// Returns the ids of the blocks of the last message.
    pub(crate) fn last_nodes(&self) -> Vec<String> {
        self.last.as_ref().map(|(_, ids, _)| ids.clone()).unwrap_or_default()
    }

    /// Adds a block to `^sys` unchanged.
    pub(crate) fn add_system(&mut self, node: NewNode) -> Result<(), ImportErrorKind> {
        self.context.add(Place::system(), node).map_err(refused)?;
        self.blank = false;
        Ok(())
    }

    /// Adds the block of a flat log unchanged.
    pub(crate) fn flat(&mut self, message: Incoming) -> Result<(), ImportErrorKind> {
        if message.role == Role::User && self.answered {
            self.commit()?;
        }
        self.messages += 1;
        self.answered |= message.role == Role::Assistant;
        self.blank = false;
        for part in message.parts {
            self.context.add(Place::head(), part).map_err(refused)?;
        }
        Ok(())
    }

    /// Returns which side speaks, if consecutive messages of one side have to be distinguished by
    /// number.
    fn side(&self, role: Role) -> Option<bool> {
        match (self.provider, role) {
            (Provider::OpenAiResponses, _) => None,
            (_, Role::Assistant) => Some(true),
            (Provider::Anthropic | Provider::Gemini, Role::User | Role::Tool) => Some(false),
            _ => None,
        }
    }

    /// Records the number of the last message on its blocks.
    fn number_last(&mut self, number: u64) -> Result<(), ImportErrorKind> {
        let Some((_, ids, marked)) = &mut self.last else { return Ok(()) };
        if !*marked {
            for id in ids.iter() {
                let set = vec![(names::MESSAGE.to_owned(), Value::from(number))];
                self.context.edit(id, Edit { set, ..Edit::default() }).map_err(refused)?;
            }
            *marked = true;
        }
        Ok(())
    }

    /// Assigns units. Reasoning, calls and results of one assistant message form a unit, and so do
    /// server-side tools, whose results are in the message.
    fn assign_units(&mut self, role: Role, parts: &mut [PreparedNode], number: u64) {
        self.name_calls(role, parts, number);
        if role != Role::Assistant {
            self.unit = None;
            for part in parts.iter_mut() {
                let Some(own) = call_id(part).map(Box::<str>::from) else { continue };
                // A result without a call must not join an existing unit.
                let unit = self.units.get(&own).cloned();
                let unit = unit.unwrap_or_else(|| self.free_unit(own.clone()));
                set_unit(part, Some(own), &unit);
            }
            return;
        }
        let bound =
            |part: &PreparedNode| matches!(kind_of_node(part), Kind::Reasoning | Kind::Opaque);
        // Consecutive items of the model form one message.
        let goes_on = self.unit.take().filter(|_| self.provider == Provider::OpenAiResponses);
        let whole = parts.iter().any(bound) || goes_on.as_ref().is_some_and(|unit| unit.whole);
        let first = parts.iter().find_map(|part| call_id(part));
        if !whole && first.is_none() {
            return;
        }
        let wanted: Box<str> = first.map_or_else(|| format!("step:{number}").into(), Into::into);
        let unit = goes_on.map_or_else(|| self.free_unit(wanted), |unit| unit.name);
        for part in parts.iter_mut() {
            let own = call_id(part).map(Box::<str>::from);
            if let Some(own) = &own {
                self.units.insert(own.clone(), unit.clone());
            } else if !whole {
                continue;
            }
            set_unit(part, own, &unit);
        }
        self.taken.insert(unit.clone());
        self.unit = Some(OpenUnit { name: unit, whole });
    }

    /// Creates ids for calls without one, and finds the calls of results without one: by name, else
    /// by order.
    fn name_calls(&mut self, role: Role, parts: &mut [PreparedNode], number: u64) {
        if role == Role::Assistant {
            self.calls.clear();
        }
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
                let same = self.calls.iter().find(|call| !is_call && call.name == name);
                let call = same.or(self.calls.first().filter(|_| !is_call));
                call.map_or_else(|| format!("call_{number}_{index}").into(), |call| call.id.clone())
            });
            if is_call {
                self.calls.push(OpenCall { name, id: id.clone() });
            } else {
                self.calls.retain(|call| call.id != id);
            }
            if !has_id {
                set(part, names::CALL_ID, Value::String(id));
            }
        }
    }

    fn free_unit(&self, wanted: Box<str>) -> Box<str> {
        if !self.taken.contains(&wanted) {
            return wanted;
        }
        let free = (2u64..).map(|number| format!("{wanted}~{number}").into_boxed_str());
        free.into_iter().find(|unit| !self.taken.contains(unit)).expect("the range is unbounded")
    }

    /// Ends a window: the next commit removes all turns before it.
    pub(crate) fn begin_window(&mut self) -> Result<(), ImportErrorKind> {
        self.commit()?;
        self.replaces = self.commits > 0;
        self.last = None;
        // Later results cannot answer earlier calls.
        self.units.clear();
        self.calls.clear();
        self.unit = None;
        Ok(())
    }

    /// Commits the head.
    pub(crate) fn commit(&mut self) -> Result<(), ImportErrorKind> {
        if self.blank {
            return Ok(());
        }
        let policy = Policy { limits: vec![Limit::Depth(1)], ..Policy::default() };
        let policy = std::mem::take(&mut self.replaces).then_some(&policy);
        let options = CommitOptions { policy, ..CommitOptions::default() };
        let done = self.context.commit_with(&options);
        done.map_err(|error| ImportErrorKind::Commit(Box::new(error)))?;
        self.commits += 1;
        self.answered = false;
        self.blank = true;
        Ok(())
    }
}

/// Returns a group that holds settings.
pub(crate) fn settings_node(settings: Object, provider: Provider) -> NewNode {
    NewNode::container(names::REQUEST_TYPE)
        .attribute(names::SETTINGS, Value::Object(settings))
        .attribute(names::PROVIDER, provider.name())
}

fn refused(error: contextree_engine::OpError) -> ImportErrorKind {
    ImportErrorKind::Refused(Box::new(error))
}

fn call_id(part: &NewNode) -> Option<&str> {
    let found = part.attributes.iter().find(|(name, _)| name == names::CALL_ID)?;
    found.1.as_str()
}

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

fn role_word(role: Role, kind: Option<&str>) -> &'static str {
    match (role, kind) {
        (_, Some("result")) => "tool",
        (Role::System, _) => "system",
        (Role::User, _) => "user",
        (Role::Assistant, _) => "assistant",
        (Role::Tool, _) => "tool",
    }
}

/// Numbers the blocks of a system message, if there are several.
pub(crate) fn numbered(mut parts: Vec<NewNode>, number: u64) -> Vec<NewNode> {
    if parts.len() > 1 {
        parts.iter_mut().for_each(|part| set(part, names::MESSAGE, number));
    }
    parts
}
