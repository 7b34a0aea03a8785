//! Carries out the steps of a model call in a session: `begin`, `attach`, `complete`, `cancel`, `fail`; and `reopen`, after a
//! process that ended without a word.

use std::sync::Arc;

use contextree::calls::{Request, complete_in};
use contextree::provider::Provider;
use contextree::store::{ContextSettings, Memory, Store, StoreOptions};
use contextree::{Attempt, CommitOptions, Context, Error, Hash, Policy, Snapshot};
use contextree_json::{Object, Value, parse};

use crate::document::texts;

/// Carries out a step. `begin` returns the request that is to be sent, under a policy if there is
/// one; `complete` returns whether the new snapshot renders to it, byte for byte.
pub(super) fn carry_out(
    context: &mut Context,
    step: &Value,
    policy: Option<&Policy>,
) -> Result<Object, Error> {
    let text = |name: &str| step.get(name).and_then(Value::as_str).unwrap_or_default();
    let running = context.running_call().map(|call| call.attempt.attempt_id.clone());
    let id = step.get("attempt").and_then(Value::as_str).map(str::to_owned);
    // Without a running call, the newest one is meant, which has ended.
    let last = || context.attempts().last().map(|attempt| attempt.attempt_id.clone());
    let id = id.or(running).or_else(last).unwrap_or_default();
    match text("op") {
        "begin" => {
            let provider = text("provider").parse::<Provider>().unwrap_or(Provider::OpenAiChat);
            let request = Request::new(provider, text("model"));
            let options = CommitOptions { policy, ..CommitOptions::default() };
            let call = request.begin_in(context, &options)?;
            let sent = parse(&call.bytes).unwrap_or_default();
            Ok(Object::from_iter([
                ("attempt", Value::from(call.attempt.as_str())),
                ("request", sent),
                ("expired", texts(call.report.expired)),
            ]))
        }
        "complete" => {
            let response = match step.get("response") {
                Some(Value::String(stream)) => stream.as_bytes().to_vec(),
                response => response.cloned().unwrap_or_default().to_canonical(),
            };
            let answered = complete_in(context, &id, &response)?;
            Ok(Object::from_iter([
                ("added", texts(answered.nodes)),
                ("exact", Value::from(is_exact(context, &id))),
            ]))
        }
        "attach" => {
            context.attach_partial(&id, text("partial"))?;
            Ok(Object::new())
        }
        "cancel" => {
            context.cancel_call(&id)?;
            Ok(Object::new())
        }
        _ => {
            context.fail_call(&id, text("why"))?;
            Ok(Object::new())
        }
    }
}

/// Returns a context as another process finds it: read from the rows of a store. Nothing but what was stored is left.
pub(super) fn reopened(context: Context) -> Result<Context, String> {
    let settings = ContextSettings {
        edition: context.edition(),
        vocabulary: context.vocabulary(),
        ..ContextSettings::default()
    };
    let options =
        StoreOptions { ids: Some(Arc::clone(context.ids())), ..StoreOptions::deterministic() };
    let store = Store::over(Arc::new(Memory::new()), options);
    let session = store.adopt("case", context, &settings).map_err(|error| error.to_string())?;
    drop(session);
    let session = store.session("case").map_err(|error| error.to_string())?;
    session.to_context().map_err(|error| error.to_string())
}

/// Returns the calls that were begun, in order: how each ended, what was kept of its answer, and the request of one that is
/// running.
pub(super) fn attempts(context: &Context) -> Value {
    let attempts = context.attempts().iter().map(|attempt| {
        let partial = attempt.partial.as_deref().map_or(Value::Null, Value::from);
        let running =
            context.running_call().filter(|call| call.attempt.attempt_id == attempt.attempt_id);
        let request = running.and_then(|call| rendered(call.attempt, call.snapshot));
        Value::Object(Object::from_iter([
            ("status", Value::from(attempt.status.word())),
            ("partial", partial),
            ("request", request.and_then(|bytes| parse(&bytes).ok()).unwrap_or_default()),
        ]))
    });
    Value::Array(attempts.collect())
}

/// Returns the request of a call, rendered from its snapshot as it was begun.
fn rendered(attempt: &Attempt, snapshot: &Snapshot) -> Option<Vec<u8>> {
    let options = attempt.request.as_ref()?.options.as_str();
    let (provider, options) = contextree::provider::RenderOptions::from_text(options)?;
    Some(contextree::provider::render(snapshot.view(), provider, &options).ok()?.bytes)
}

/// Returns whether the snapshot of a completed call renders to what was sent.
fn is_exact(context: &Context, id: &str) -> bool {
    let attempt = context.attempts().iter().find(|attempt| attempt.attempt_id == id);
    attempt.is_some_and(|attempt| {
        let snapshot = context.history().iter().find(|it| it.cycle() == attempt.cycle_id);
        let bytes = snapshot.and_then(|snapshot| rendered(attempt, snapshot));
        bytes.is_some_and(|bytes| Some(Hash::of(&bytes)) == attempt.input)
    })
}
