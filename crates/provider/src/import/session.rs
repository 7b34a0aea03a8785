//! What is imported so far: messages become blocks, turns become commits.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use contextree_engine::{
    CommitOptions, Context, Edit, Limit, NewNode, Place, Policy, PreparedNode,
};
use contextree_json::{Object, Value};

use super::error::ImportErrorKind;
use super::fields::set;
use crate::Provider;
use crate::parts::{Kind, Role, View, names};
use crate::requests::numbered;

/// A message that was read.
#[derive(Clone, Debug)]
pub(crate) struct Incoming {
    pub(crate) role: Role,
    /// Its blocks. Calls and results have the provider's id as `data_call_id`.
    pub(crate) parts: Vec<PreparedNode>,
}

impl Incoming {
    pub(crate) fn new(role: Role, parts: Vec<NewNode>) -> Self {
        Incoming { role, parts: parts.into_iter().map(PreparedNode::from).collect() }
    }

    /// Hashes what the blocks say, which a commit would have to do otherwise.
    pub(crate) fn hash_contents(&mut self) {
        self.parts.iter_mut().for_each(PreparedNode::hash_content);
    }

    /// Returns the blocks alone.
    pub(crate) fn into_nodes(self) -> Vec<NewNode> {
        self.parts.into_iter().map(PreparedNode::into_node).collect()
    }
}

/// What a message is known again by.
pub(crate) type Digest = (u64, u64);

/// Returns what messages are known again by.
pub(crate) fn digests(messages: &[Value]) -> Vec<Digest> {
    let digest = |value: &Value| {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        let first = hasher.finish();
        0x9e37_79b9_u32.hash(&mut hasher);
        (first, hasher.finish())
    };
    messages.iter().map(digest).collect()
}

/// A context that is being filled.
pub(crate) struct Session {
    pub(crate) context: Context,
    pub(crate) provider: Provider,
    pub(crate) commits: u64,
    pub(crate) conversations: u64,
    /// The number of the last message.
    pub(crate) messages: u64,
    /// The last message: its role, its blocks, and whether they have its number.
    last: Option<(Role, Vec<String>, bool)>,
    /// The turn in progress has an answer of the model.
    answered: bool,
    /// The turn in progress takes the place of all before it.
    replaces: bool,
    /// Nothing is in the head.
    blank: bool,
    /// The unit of every call, by its id. Asked for by id alone, so its order shows nowhere.
    units: HashMap<Box<str>, Box<str>>,
    /// Units there are.
    taken: HashSet<Box<str>>,
    system: Vec<(NewNode, String)>,
    /// Messages of the system before any other, in a log of single messages.
    leading: Vec<NewNode>,
    /// Digests of the messages of the last request, to know what is new in the next.
    seen: Vec<Digest>,
    /// Calls without an id of the last message of the model: name and the id that was made.
    anonymous: Vec<(Box<str>, Box<str>)>,
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
            leading: Vec::new(),
            seen: Vec::new(),
            anonymous: Vec::new(),
        }
    }

    /// Says what stands in `^sys`: settings, tools, system text. What is there already, and the same, stays.
    pub(crate) fn system(&mut self, nodes: Vec<NewNode>) -> Result<(), ImportErrorKind> {
        if self.system.len() == nodes.len()
            && self.system.iter().zip(&nodes).all(|((old, _), new)| old == new)
        {
            return Ok(());
        }
        for (_, id) in std::mem::take(&mut self.system) {
            self.context.remove(&id).map_err(refused)?;
        }
        for mut node in nodes {
            let kept = node.clone();
            if node.role.is_none() && node.node_type.is_none() {
                node.role = Some("system".to_owned());
            }
            // The oldest blocks of all are the first that a policy would take.
            node.pinned = true;
            let id = self.context.add(Place::system(), node).map_err(refused)?;
            self.system.push((kept, id));
        }
        Ok(())
    }

    /// Returns how many of a request's messages were in the request before it: a log of requests repeats the conversation so far in
    /// every line.
    pub(crate) fn known(&self, messages: &[Digest]) -> usize {
        let continues = !self.seen.is_empty() && messages.starts_with(&self.seen);
        if continues { self.seen.len() } else { 0 }
    }

    /// Begins with a request; one that does not continue the one before it is another conversation.
    pub(crate) fn begin_request(&mut self, messages: Vec<Digest>) -> Result<(), ImportErrorKind> {
        if self.known(&messages) == 0 {
            self.conversations += 1;
            self.commit()?;
            self.last = None;
        }
        self.seen = messages;
        Ok(())
    }

    /// Adds a message of a log that has no requests. Those of the system that come before any other stand in `^sys`.
    pub(crate) fn single(&mut self, message: Incoming) -> Result<(), ImportErrorKind> {
        if message.role == Role::System && self.messages == 0 {
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

    /// Adds a block to `^sys` as it is.
    pub(crate) fn add_system(&mut self, node: NewNode) -> Result<(), ImportErrorKind> {
        self.context.add(Place::system(), node).map_err(refused)?;
        self.blank = false;
        Ok(())
    }

    /// Adds the block of a flat log as it is.
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

    /// Returns the side that speaks, if messages of one side in a row have to be told apart by their numbers.
    fn side(&self, role: Role) -> Option<bool> {
        match (self.provider, role) {
            (Provider::OpenAiResponses, _) => None,
            (_, Role::Assistant) => Some(true),
            (Provider::Anthropic | Provider::Gemini, Role::User | Role::Tool) => Some(false),
            _ => None,
        }
    }

    /// Gives the blocks of the last message its number.
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

    /// Reasoning, calls and results of one message of the model are one unit.
    fn assign_units(&mut self, role: Role, parts: &mut [PreparedNode], number: u64) {
        self.name_calls(parts, number);
        if role == Role::Assistant {
            let reasons = parts.iter().any(|part| View::of_new(part).kind == Kind::Reasoning);
            let first = parts.iter().find_map(|part| call_id(part));
            if !reasons && first.is_none() {
                return;
            }
            let wanted: Box<str> =
                first.map_or_else(|| format!("step:{number}").into(), Into::into);
            let unit = self.free_unit(wanted);
            for part in parts.iter_mut() {
                let own = call_id(part).map(Box::<str>::from);
                if let Some(own) = &own {
                    self.units.insert(own.clone(), unit.clone());
                } else if !reasons {
                    continue;
                }
                set_unit(part, own, &unit);
            }
            self.taken.insert(unit);
        } else {
            for part in parts.iter_mut() {
                let Some(own) = call_id(part).map(Box::<str>::from) else { continue };
                let unit = self.units.get(&own).cloned().unwrap_or_else(|| own.clone());
                set_unit(part, Some(own), &unit);
            }
        }
    }

    /// Makes ids for calls that came without, and finds them for their results: by name, else by order.
    fn name_calls(&mut self, parts: &mut [PreparedNode], number: u64) {
        let mut fresh = Vec::new();
        for (index, part) in parts.iter_mut().enumerate() {
            let is_call = part.kind.as_deref() == Some("call");
            if call_id(part).is_some() || !(is_call || part.kind.as_deref() == Some("result")) {
                continue;
            }
            let name = part.attributes.iter().find(|(name, _)| name == names::NAME);
            let name: Box<str> = name.and_then(|(_, it)| it.as_str()).unwrap_or_default().into();
            let made: Box<str> = format!("call_{number}_{index}").into();
            let id = if is_call {
                fresh.push((name, made.clone()));
                made
            } else {
                let same = self.anonymous.iter().position(|(own, _)| *own == name);
                let found = same.or((!self.anonymous.is_empty()).then_some(0));
                found.map_or(made, |found| self.anonymous.remove(found).1)
            };
            set(part, names::CALL_ID, Value::String(id));
        }
        if !fresh.is_empty() {
            self.anonymous = fresh;
        }
    }

    fn free_unit(&self, wanted: Box<str>) -> Box<str> {
        if !self.taken.contains(&wanted) {
            return wanted;
        }
        let free = (2u64..).map(|number| format!("{wanted}~{number}").into_boxed_str());
        free.into_iter().find(|unit| !self.taken.contains(unit)).expect("numbers do not end")
    }

    /// Ends a window: with the next commit, all turns before it go.
    pub(crate) fn begin_window(&mut self) -> Result<(), ImportErrorKind> {
        self.commit()?;
        self.replaces = self.commits > 0;
        self.last = None;
        Ok(())
    }

    /// Commits what stands in the head.
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

/// Returns a group of settings.
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
