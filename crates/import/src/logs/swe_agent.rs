//! Reads trajectories of SWE-agent (`.traj`) and mini-SWE-agent: a history of messages, and the
//! steps of the agent, each of which is a model call.
//!
//! A step that recorded its `query` has exactly what was sent. Otherwise everything before an answer
//! was. Demonstrations are messages that no call ended with. The history lacks the last answer if
//! the agent submitted with it; the steps have it.

use contextree_json::{Object, Value, parse};
use contextree_provider::Provider;
use contextree_provider::parts::names;
use contextree_provider::read::{Fields, Incoming, Role, Shape, read_usage};
use contextree_tree::NewNode;

use super::requests::outcome_of;
use super::{Log, chat, foreign};
use crate::error::ImportErrorKind;
use crate::fingerprint::fingerprint;
use crate::session::{About, CallInfo, Listed, Session, numbered, settings_node};
use crate::time::time_of;

/// Reads trajectories.
#[derive(Debug, Clone)]
pub(crate) struct SweAgent;

const NAME: &str = "swe-agent";

/// A message of the history.
#[derive(Debug)]
struct Message {
    listed: Listed,
    /// Whether a call ended with it.
    is_answer: bool,
}

/// A step of the agent.
#[derive(Debug, Default)]
struct Step {
    /// What was sent, if it was recorded.
    query: Option<Vec<Message>>,
    /// What the model said, and its result.
    answer: Option<Message>,
    observation: Option<Message>,
}

#[derive(Debug)]
struct Trajectory {
    about: Vec<NewNode>,
    history: Vec<Message>,
    steps: Vec<Step>,
}

impl Log for SweAgent {
    fn entry(&mut self, value: Value, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        let list = match value {
            Value::Array(list) => list,
            value => vec![value],
        };
        // Read everything before adding anything.
        let read: Vec<Trajectory> = list.into_iter().map(read).collect::<Result<_, Shape>>()?;
        read.into_iter().try_for_each(|trajectory| add(trajectory, session))
    }
}

fn read(value: Value) -> Result<Trajectory, Shape> {
    let mut fields = Fields::of(value)?;
    let steps = fields.take_list("trajectory").unwrap_or_default();
    let name = if fields.0.contains_key("history") { "history" } else { "messages" };
    let history = fields.take_list(name);
    if history.is_none() && steps.is_empty() {
        return Err(Shape::new("a list").within("trajectory"));
    }
    let history = read_list(history.unwrap_or_default(), name)?;
    let steps = steps.into_iter().enumerate().map(|(index, step)| {
        read_step(step).map_err(|shape| shape.within(&format!("trajectory[{index}]")))
    });
    let steps = steps.collect::<Result<_, Shape>>()?;
    let mut about = Vec::new();
    if let Some(model) = model_of(&fields) {
        let settings = Object::from_iter([("model", model)]);
        about.push(settings_node(settings, Provider::OpenAiChat));
    }
    if !fields.0.is_empty() {
        let rest = NewNode::container(names::REQUEST_TYPE);
        about.push(rest.attribute(names::ENTRY, Value::Object(fields.0)));
    }
    Ok(Trajectory { about, history, steps })
}

/// Returns the model that the configuration names.
fn model_of(fields: &Fields) -> Option<Value> {
    let replay = match fields.0.get("replay_config") {
        Some(Value::String(text)) => parse(text.as_bytes()).ok(),
        other => other.cloned(),
    };
    let agent = replay.as_ref().and_then(|replay| replay.get("agent"));
    let config = agent.or_else(|| fields.0.get("info")?.get("config"));
    let model = config?.get("model")?;
    let names = ["name", "model_name"].into_iter();
    names.filter_map(|name| model.get(name)).find(|name| name.as_str().is_some()).cloned()
}

fn read_list(list: Vec<Value>, name: &str) -> Result<Vec<Message>, Shape> {
    let read = |(index, message): (usize, Value)| {
        read_message(message).map_err(|shape| shape.within(&format!("{name}[{index}]")))
    };
    list.into_iter().enumerate().map(read).collect()
}

fn read_message(message: Value) -> Result<Message, Shape> {
    let own = fingerprint(&message);
    // The program ends a conversation with a message that it does not send.
    if message.get("role").and_then(Value::as_str) == Some("exit") {
        let listed = (own, Incoming::new(Role::User, vec![foreign(NAME, message)]));
        return Ok(Message { listed, is_answer: false });
    }
    let is_demo = message.get("is_demo").and_then(Value::as_bool) == Some(true);
    let message = chat::read(message, NAME)?;
    let is_answer = message.role == Role::Assistant && !is_demo;
    Ok(Message { listed: (own, message), is_answer })
}

fn read_step(step: Value) -> Result<Step, Shape> {
    let mut fields = Fields::of(step)?;
    let query = fields.take_list("query").filter(|query| !query.is_empty());
    let query = query.map(|query| read_list(query, "query")).transpose()?;
    let observation = fields.0.get("observation").filter(|it| it.as_str().is_some());
    let observation = observation.map(|text| {
        let said = [("role", Value::from("user")), ("content", text.clone())];
        read_message(Value::Object(said.into_iter().collect()))
    });
    let observation = observation.transpose()?;
    let Some(response) = fields.take_text("response") else {
        return Ok(Step { query, answer: None, observation });
    };
    let said = [("role", Value::from("assistant")), ("content", Value::String(response))];
    for (name, value) in said {
        fields.0.insert(name, value);
    }
    let answer = read_message(Value::Object(fields.0))?;
    Ok(Step { query, answer: Some(answer), observation })
}

fn add(trajectory: Trajectory, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
    let Trajectory { about, history, steps } = trajectory;
    let has_history = !history.is_empty();
    let leading = history.iter().take_while(|it| it.listed.1.role == Role::System).count();
    let mut history = history.into_iter();
    let system: Vec<Message> = history.by_ref().take(leading).collect();
    session.system(with_system(&about, system))?;
    if steps.first().is_none_or(|step| step.query.is_none()) {
        session.start_conversation()?;
    }
    let mut history = history.peekable();
    let mut steps = steps.into_iter();
    let mut observation = None;
    for step in steps.by_ref() {
        // Everything up to the next answer was sent, unless the step recorded what was.
        let mut sent: Vec<Message> = Vec::new();
        while let Some(message) = history.next_if(|it| !it.is_answer) {
            sent.push(message);
        }
        let answer = history.next();
        match step.query {
            Some(mut query) => {
                let leading = query.iter().take_while(|it| it.listed.1.role == Role::System);
                let system = query.drain(..leading.count()).collect();
                session.system(with_system(&about, system))?;
                session.sent(query.into_iter().map(|it| it.listed).collect())?;
            }
            None => {
                sent.extend(observation.take());
                sent.into_iter().try_for_each(|it| place(it, session))?;
            }
        }
        if let Some(answer) = answer.or(step.answer) {
            place(answer, session)?;
        }
        observation = step.observation.filter(|_| !has_history);
    }
    history.chain(observation).try_for_each(|message| place(message, session))?;
    session.settle()
}

/// Returns the content of `^sys`: what is known about the trajectory, and the system messages.
fn with_system(about: &[NewNode], messages: Vec<Message>) -> Vec<NewNode> {
    let mut nodes = about.to_vec();
    for (index, message) in messages.into_iter().enumerate() {
        nodes.extend(numbered(message.listed.1.into_nodes(), index as u64));
    }
    nodes
}

/// Adds a message; if it is an answer, the call that ended with it comes first.
fn place(message: Message, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
    let Message { listed: (own, message), is_answer } = message;
    let entry = chat::entry_of(&message);
    let extra = entry.and_then(|entry| entry.get("extra")?.as_object());
    let time = entry.and_then(time_of).or_else(|| extra.and_then(time_of));
    if is_answer {
        let response = extra.and_then(|extra| extra.get("response"));
        let usage = response.map(|response| read_usage(Provider::OpenAiChat, response));
        let model = usage.as_ref().and_then(|usage| usage.model.as_deref().map(Box::from));
        let outcome = usage.map(|usage| Box::new(outcome_of(usage)));
        session.begin_call(CallInfo { model, outcome, ended_at: time, ..CallInfo::default() })?;
    }
    session.state.at(time);
    let is_context = chat::is_foreign(&message);
    session.add(message, &About { is_context, ..About::default() })?;
    session.recognize(own);
    Ok(())
}
