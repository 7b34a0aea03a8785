//! What a provider has to say about writing, and what several of them say alike.

use std::borrow::Cow;

use contextree_json::{Object, Value};
use contextree_tree::Content;

pub(crate) use super::fit::{fits_call_id, fits_name};

use super::fit::fit_call_id;
use super::{LossKind, Out, Preamble, RenderOptions, Side};
use crate::parts::{Kind, Part, Role, View, names, role_of};
use crate::{Provider, read};

/// What a call without a result is answered with.
pub(crate) const MISSING: &str = "[no result]";
/// What a conversation begins with if its first message was the model's.
pub(crate) const FIRST: &str = "[earlier messages were removed]";

/// Parts that are sent together.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    pub(crate) role: Role,
    pub(crate) parts: Vec<Part<'a>>,
}

/// How a provider's requests are written.
pub(crate) trait Wire: Sync {
    /// True if a part belongs to the same message as the one before it; `same_turn` if they stand in one turn.
    fn joins(&self, before: &Part<'_>, part: &Part<'_>, same_turn: bool) -> bool;

    /// True if results that are missing stand in the message of the user that follows the calls, and not by themselves.
    fn answers_together(&self) -> bool;

    /// True if results may stand anywhere behind their calls; nothing is moved then.
    fn keeps_order(&self) -> bool {
        false
    }

    /// Returns what a part is for the pairing of calls and results, where they may stand anywhere.
    fn side(&self) -> fn(&Part<'_>) -> Side {
        |part| match part.kind {
            Kind::Call => Side::Call,
            Kind::Result => Side::Result,
            _ => Side::Neither,
        }
    }

    /// True if a call may be sent without a result.
    fn may_stay_open(&self, _call: &Part<'_>) -> bool {
        false
    }

    /// True if the provider has the beginning of the conversation, calls included.
    fn remembers(&self, _settings: &Object) -> bool {
        false
    }

    /// True if there may be a request without a message.
    fn may_be_empty(&self, _settings: &Object) -> bool {
        false
    }

    /// True if the fields of every message that was joined to another are written or noted by the writer itself.
    fn minds_fields(&self) -> bool {
        false
    }

    /// True if texts are lists of one, where they did not come otherwise.
    fn writes_lists(&self, _preamble: &Preamble<'_>) -> bool {
        false
    }

    /// Writes everything up to and including the bracket that opens the list of messages.
    fn begin(&self, out: &mut Out, preamble: &Preamble<'_>, settings: &Object);

    /// Writes a message; nothing if nothing of it can be expressed. `calls` wait for results, and `missing` of them get none.
    fn message(
        &self,
        out: &mut Out,
        message: &Message<'_>,
        calls: &[Part<'_>],
        missing: &[Part<'_>],
    );

    /// Writes results that say that there are none, by themselves.
    fn missing(&self, out: &mut Out, calls: &[Part<'_>]);

    /// Closes the list of messages and writes what follows.
    fn end(&self, out: &mut Out, settings: &Object) {
        out.raw("]");
        out.fields(settings, &["model"]);
        out.raw("}");
    }
}

/// Returns the settings of a request: those of the tree that are this provider's, and above them the caller's.
pub(crate) fn settings_of(
    out: &mut Out,
    provider: Provider,
    preamble: &Preamble<'_>,
    options: &RenderOptions,
) -> Object {
    let mut settings = Object::new();
    for (node, owner, fields) in &preamble.settings {
        if owner.is_none_or(|owner| owner == provider.name()) {
            for (name, value) in *fields {
                settings.insert(name, value.clone());
            }
        } else if !fields.is_empty() {
            let names: Vec<&str> = fields.keys().collect();
            out.loss(LossKind::Settings, node, names.join(", "));
        }
    }
    for (name, value) in &options.settings {
        settings.insert(name, value.clone());
    }
    if !preamble.tools.is_empty() {
        // A list that was empty when it was imported.
        settings.remove("tools");
    }
    settings
}

/// Appends `,"model":…` if the settings have one: it decides what can be cached, so it comes first.
pub(crate) fn write_model(out: &mut Out, settings: &Object) {
    if let Some(model) = settings.get("model") {
        out.key("model");
        out.value(model);
    }
}

/// Returns an id that every provider accepts: letters, digits, `_` and `-`, at most 64. Two ids do not become one.
pub(crate) fn safe_call_id(id: &str) -> Cow<'_, str> {
    fit_call_id(id, Provider::Anthropic)
}

/// Returns the id of a call or result; one is made of the call's node if it has none.
pub(crate) fn wire_call_id<'a>(part: &Part<'a>, calls: &[Part<'a>]) -> Cow<'a, str> {
    let id = match part.call_id() {
        Some(Value::String(id)) => Cow::Borrowed(&**id),
        Some(other) => canonical(other),
        None => {
            let answered = calls.iter().find(|call| call.call_id().is_none());
            let call = answered.filter(|_| part.kind != Kind::Call).unwrap_or(part);
            Cow::Owned(safe_call_id(call.node.id()).into_owned())
        }
    };
    match part.repeat {
        0 => id,
        number => Cow::Owned(format!("{id}_{number}")),
    }
}

/// Returns the id of a call or result as the provider accepts it. What came from the provider itself goes back as it came.
pub(crate) fn sent_call_id<'a>(out: &mut Out, part: &Part<'a>, calls: &[Part<'a>]) -> Cow<'a, str> {
    let provider = out.rendered.provider;
    let id = wire_call_id(part, calls);
    // A result goes by its call: they must not part.
    let call = call_of(part, calls).filter(|_| part.kind == Kind::Result);
    if fits_call_id(&id, provider) || call.as_ref().unwrap_or(part).view().is_from(provider) {
        return id;
    }
    if part.kind == Kind::Call {
        out.loss(LossKind::CallId, part.node.id(), &*id);
    }
    Cow::Owned(fit_call_id(&id, provider).into_owned())
}

/// Returns the name of the tool of a call as the provider accepts it.
pub(crate) fn sent_name<'a>(out: &mut Out, part: &Part<'a>) -> Cow<'a, str> {
    let name = tool_name(part);
    if part.view().is_from(out.rendered.provider) {
        return Cow::Borrowed(name);
    }
    sent_tool(out, name, part.node.id())
}

/// Returns the name of a tool as the provider accepts it, the same for its definition and its calls.
pub(crate) fn sent_tool<'a>(out: &mut Out, name: &'a str, node: &str) -> Cow<'a, str> {
    let sent = out.names.sent(name, out.rendered.provider);
    if *sent != *name {
        out.loss(LossKind::Name, node, name);
    }
    sent
}

/// Returns the call that a result answers.
pub(crate) fn call_of<'a>(result: &Part<'a>, calls: &[Part<'a>]) -> Option<Part<'a>> {
    calls.iter().find(|call| call.call_id() == result.call_id()).copied()
}

/// Returns the name of the tool of a call.
pub(crate) fn tool_name<'a>(part: &Part<'a>) -> &'a str {
    part.view().name().unwrap_or("unknown")
}

/// Returns the arguments of a call as text: exactly as they came, or canonical JSON.
pub(crate) fn arguments_text<'a>(view: &View<'a>) -> Cow<'a, str> {
    match view.content {
        Content::Absent => Cow::Borrowed("{}"),
        _ => view.text(),
    }
}

/// Returns the arguments of a call as an object. Anything else is wrapped, and that is noted.
pub(crate) fn arguments_object<'a>(out: &mut Out, view: &View<'a>, node: &str) -> Cow<'a, Value> {
    let value: Cow<'a, Value> = match view.content {
        Content::Absent => return Cow::Owned(Value::Object(Object::new())),
        Content::Json(value) => Cow::Borrowed(&**value),
        Content::Text(text) if text.trim().is_empty() => {
            return Cow::Owned(Value::Object(Object::new()));
        }
        Content::Text(text) => match contextree_json::parse(text.as_bytes()) {
            Ok(value) => Cow::Owned(value),
            Err(_) => Cow::Owned(Value::String(text.clone())),
        },
    };
    if value.as_object().is_some() {
        return value;
    }
    out.loss(LossKind::Arguments, node, "");
    let wrapped = Object::from_iter([("arguments", value.into_owned())]);
    Cow::Owned(Value::Object(wrapped))
}

/// Calls back for each part of a result that came as a list: as its provider's importer reads it.
pub(crate) fn for_each_nested(view: &View<'_>, mut each: impl FnMut(View<'_>)) -> bool {
    let Content::Json(value) = view.content else { return false };
    let (Some(elements), Some(provider)) = (value.as_array(), view.provider()) else {
        return false;
    };
    for element in elements {
        let node = read::read_part(provider, element.clone());
        each(View::of_new(&node));
    }
    true
}

/// Returns a result as one text. What is not text is left out, and that is noted.
pub(crate) fn result_text<'a>(out: &mut Out, view: &View<'a>, node: &str) -> Cow<'a, str> {
    let mut texts: Vec<String> = Vec::new();
    let nested = for_each_nested(view, |part| match part.kind {
        Kind::Text => texts.push(part.text().into_owned()),
        _ => out.loss(LossKind::Media, node, part.mime.unwrap_or("not text")),
    });
    if nested { Cow::Owned(texts.join("\n")) } else { view.text() }
}

/// Returns the text of a part that is rendered as text, and notes what it is no more.
pub(crate) fn plain_text<'a>(out: &mut Out, part: &Part<'a>) -> Cow<'a, str> {
    let id = part.node.id();
    if part.orphan {
        out.loss(LossKind::OrphanResult, id, "");
        let mut view = part.view();
        view.kind = Kind::Result;
        return result_text(out, &view, id);
    }
    let own = part.own_role(out.rendered.provider).is_some();
    let word = part.node.attribute(names::ROLE).and_then(Value::as_str);
    if own {
        // Whatever it means, it goes back to where it came from.
    } else if part.is_stray_tool() {
        out.loss(LossKind::StrayTool, id, "");
    } else if part.role == Role::User
        && let Some(role) = word.or_else(|| part.node.role())
        && !matches!(role, "user" | "human")
        && role_of(role) == Role::User
    {
        out.loss(LossKind::Role, id, role);
    }
    part.view().text()
}

/// Appends fields of the provider's own, or notes that they are another's.
pub(crate) fn write_own(out: &mut Out, view: &View<'_>, attribute: &str, id: &str) {
    let provider = out.rendered.provider;
    if let Some(fields) = view.own_fields(attribute, provider) {
        out.fields(fields, &[]);
    } else if let Some(fields) = view.attribute(attribute).and_then(Value::as_object) {
        let names: Vec<&str> = fields.keys().collect();
        out.loss(LossKind::Field, id, names.join(", "));
    }
}

/// Notes fields that have no place.
pub(crate) fn lose_fields(out: &mut Out, id: &str, names: &[impl AsRef<str>]) {
    if !names.is_empty() {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        out.loss(LossKind::Field, id, names.join(", "));
    }
}

/// Returns true if a part has fields of its own that this provider wants back.
pub(crate) fn has_own(view: &View<'_>, provider: Provider) -> bool {
    view.own_fields(names::EXTRA, provider).is_some()
}

/// Returns true if an id of a file means something to this provider. The two of OpenAI have their files in one place.
pub(crate) fn knows_file(view: &View<'_>, provider: Provider) -> bool {
    let is_openai = |it| matches!(it, Provider::OpenAiChat | Provider::OpenAiResponses);
    view.provider().is_none_or(|own| own == provider || (is_openai(own) && is_openai(provider)))
}

/// Notes a name that has no place.
pub(crate) fn drop_name(out: &mut Out, view: &View<'_>, id: &str) {
    if let Some(name) = view.name() {
        out.loss(LossKind::Field, id, format!("name `{name}`"));
    }
}

/// Notes a signature that another provider gave.
pub(crate) fn drop_signature(out: &mut Out, view: &View<'_>, id: &str) {
    if view.attribute(names::SIGNATURE).is_some() && !view.is_from(out.rendered.provider) {
        out.loss(LossKind::Signature, id, view.text_attribute(names::PROVIDER).unwrap_or(""));
    }
}

pub(crate) fn canonical(value: &Value) -> Cow<'static, str> {
    Cow::Owned(String::from_utf8(value.to_canonical()).expect("canonical JSON is ASCII"))
}
