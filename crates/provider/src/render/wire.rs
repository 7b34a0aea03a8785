//! Defines what a provider's writer implements, and helpers that several writers share.

use std::borrow::Cow;

use contextree_json::{Object, Value};
use contextree_tree::Content;

pub(crate) use super::fit::{fits_call_id, fits_name};

use super::fit::fit_call_id;
use super::{LossKind, Out, Preamble, RenderOptions, Side};
use crate::parts::{Kind, Part, Role, View, names, role_of};
use crate::{Provider, read};

/// The placeholder result of a tool call without one.
pub(crate) const MISSING: &str = "[no result]";
/// The text of the user message that is inserted if the conversation would begin with the model's.
pub(crate) const FIRST: &str = "[earlier messages were removed]";

/// Parts that are sent as one message.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    pub(crate) role: Role,
    pub(crate) parts: Vec<Part<'a>>,
}

/// Writes the requests of a provider. Called by [`run`](super::run) and by the incremental
/// renderer.
pub(crate) trait Wire: Sync {
    /// Returns whether a part belongs to the same message as the part before it; `same_turn` if
    /// both are in one turn.
    fn joins(&self, before: &Part<'_>, part: &Part<'_>, same_turn: bool) -> bool;

    /// Returns whether placeholder results belong in the user message that follows the calls
    /// (Anthropic, Gemini), not in messages of their own (Chat Completions).
    fn answers_together(&self) -> bool;

    /// Returns whether results may follow their calls at any distance (Responses), so that nothing
    /// has to be moved.
    fn keeps_order(&self) -> bool {
        false
    }

    /// Returns which side of a pair a part is. Used if [`keeps_order`](Wire::keeps_order).
    fn side(&self) -> fn(&Part<'_>) -> Side {
        |part| match part.kind {
            Kind::Call => Side::Call,
            Kind::Result => Side::Result,
            _ => Side::Neither,
        }
    }

    /// Returns whether a call may be sent without a result.
    fn may_stay_open(&self, _call: &Part<'_>) -> bool {
        false
    }

    /// Returns whether the provider stores the beginning of the conversation, including calls.
    fn remembers(&self, _settings: &Object) -> bool {
        false
    }

    /// Returns whether a request may have no messages.
    fn may_be_empty(&self, _settings: &Object) -> bool {
        false
    }

    /// Returns whether the writer itself writes or reports the extra fields of merged messages.
    fn reports_merged_fields(&self) -> bool {
        false
    }

    /// Returns whether texts without a recorded form are written as lists of one.
    fn writes_lists(&self, _preamble: &Preamble<'_>) -> bool {
        false
    }

    /// Writes everything up to and including the bracket that opens the list of messages.
    fn begin(&self, out: &mut Out, preamble: &Preamble<'_>, settings: &Object);

    /// Writes a message, unless nothing in it can be expressed. `calls` are the calls that its
    /// results may answer; `missing` are those of them that need placeholder results.
    fn message(
        &self,
        out: &mut Out,
        message: &Message<'_>,
        calls: &[Part<'_>],
        missing: &[Part<'_>],
    );

    /// Writes placeholder results in messages of their own.
    fn missing(&self, out: &mut Out, calls: &[Part<'_>]);

    /// Closes the list of messages and writes what follows.
    fn end(&self, out: &mut Out, settings: &Object) {
        out.raw("]");
        out.fields(settings, &["model"]);
        out.raw("}");
    }
}

/// Returns the settings of a request: those of the tree that belong to this provider, overridden by
/// the caller's.
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
        // The list was empty when imported, but the tree has tools now.
        settings.remove("tools");
    }
    settings
}

/// Writes `,"model":…` if set. It comes first, because a cached prefix is valid only for one model.
pub(crate) fn write_model(out: &mut Out, settings: &Object) {
    if let Some(model) = settings.get("model") {
        out.key("model");
        out.value(model);
    }
}

/// Returns an id that every provider accepts: letters, digits, `_` and `-`, at most 64. Different
/// ids stay different.
pub(crate) fn safe_call_id(id: &str) -> Cow<'_, str> {
    fit_call_id(id, Provider::Anthropic)
}

/// Returns the id of a call or a result. A call without one gets an id made from its node.
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

/// Returns the id of a call or a result as the provider accepts it. An id imported from this
/// provider is unchanged.
pub(crate) fn sent_call_id<'a>(out: &mut Out, part: &Part<'a>, calls: &[Part<'a>]) -> Cow<'a, str> {
    let provider = out.rendered.provider;
    let id = wire_call_id(part, calls);
    // A result follows its call: their ids must stay equal.
    let call = call_of(part, calls).filter(|_| part.kind == Kind::Result);
    if fits_call_id(&id, provider) || call.as_ref().unwrap_or(part).view().is_from(provider) {
        return id;
    }
    if part.kind == Kind::Call {
        out.loss(LossKind::CallId, part.node.id(), &*id);
    }
    Cow::Owned(fit_call_id(&id, provider).into_owned())
}

/// Returns the tool name of a call as the provider accepts it.
pub(crate) fn sent_name<'a>(out: &mut Out, part: &Part<'a>) -> Cow<'a, str> {
    let name = tool_name(part);
    if part.view().is_from(out.rendered.provider) {
        return Cow::Borrowed(name);
    }
    sent_tool(out, name, part.node.id())
}

/// Returns a tool name as the provider accepts it; the same for a definition and its calls.
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

/// Returns the tool name of a call.
pub(crate) fn tool_name<'a>(part: &Part<'a>) -> &'a str {
    part.view().name().unwrap_or("unknown")
}

/// Returns the arguments of a call as text: unchanged if they are text, else canonical JSON.
pub(crate) fn arguments_text<'a>(view: &View<'a>) -> Cow<'a, str> {
    match view.content {
        Content::Absent => Cow::Borrowed("{}"),
        _ => view.text(),
    }
}

/// Returns the arguments of a call as an object. Wraps and reports any other value.
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

/// Calls `each` for every part of a result that was imported as a list, as read by its provider's
/// importer.
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

/// Returns a result as one text. Drops and reports everything else.
pub(crate) fn result_text<'a>(out: &mut Out, view: &View<'a>, node: &str) -> Cow<'a, str> {
    let mut texts: Vec<String> = Vec::new();
    let nested = for_each_nested(view, |part| match part.kind {
        Kind::Text => texts.push(part.text().into_owned()),
        _ => out.loss(LossKind::Media, node, part.mime.unwrap_or("not text")),
    });
    if nested { Cow::Owned(texts.join("\n")) } else { view.text() }
}

/// Returns the text of a part that is rendered as text, and reports what is lost.
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
        // Returned to its own provider unchanged, whatever it means.
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

/// Returns whether a blank text is written nevertheless: a log has the request that contained it.
pub(crate) fn is_kept_blank(view: &View<'_>, provider: Provider) -> bool {
    view.text_attribute(names::SHAPE) == Some(names::form::BLANK) && view.is_from(provider)
}

/// Writes provider-specific fields, or reports them as lost if they belong to another provider.
pub(crate) fn write_own(out: &mut Out, view: &View<'_>, attribute: &str, id: &str) {
    let provider = out.rendered.provider;
    if let Some(fields) = view.own_fields(attribute, provider) {
        out.fields(fields, &[]);
    } else if let Some(fields) = view.attribute(attribute).and_then(Value::as_object) {
        let names: Vec<&str> = fields.keys().collect();
        out.loss(LossKind::Field, id, names.join(", "));
    }
}

/// Reports fields that cannot be expressed.
pub(crate) fn lose_fields(out: &mut Out, id: &str, names: &[impl AsRef<str>]) {
    if !names.is_empty() {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        out.loss(LossKind::Field, id, names.join(", "));
    }
}

/// Returns whether a part has fields of its own that belong to this provider.
pub(crate) fn has_own(view: &View<'_>, provider: Provider) -> bool {
    view.own_fields(names::EXTRA, provider).is_some()
}

/// Returns whether a file id is valid for this provider. The two OpenAI APIs share their files.
pub(crate) fn knows_file(view: &View<'_>, provider: Provider) -> bool {
    let is_openai = |it| matches!(it, Provider::OpenAiChat | Provider::OpenAiResponses);
    view.provider().is_none_or(|own| own == provider || (is_openai(own) && is_openai(provider)))
}

/// Reports a name that cannot be expressed.
pub(crate) fn drop_name(out: &mut Out, view: &View<'_>, id: &str) {
    if let Some(name) = view.name() {
        out.loss(LossKind::Field, id, format!("name `{name}`"));
    }
}

/// Reports a signature of another provider as lost.
pub(crate) fn drop_signature(out: &mut Out, view: &View<'_>, id: &str) {
    if view.attribute(names::SIGNATURE).is_some() && !view.is_from(out.rendered.provider) {
        out.loss(LossKind::Signature, id, view.text_attribute(names::PROVIDER).unwrap_or(""));
    }
}

pub(crate) fn canonical(value: &Value) -> Cow<'static, str> {
    Cow::Owned(String::from_utf8(value.to_canonical()).expect("canonical JSON is ASCII"))
}
