//! Carries out the steps of a model call in a session: `begin`, `complete`, `cancel`, `fail`.

use contextree::calls::{Request, complete_in};
use contextree::provider::Provider;
use contextree::{CommitOptions, Context, Error, Hash, Policy};
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

/// Returns whether the snapshot of a completed call renders to what was sent.
fn is_exact(context: &Context, id: &str) -> bool {
    let attempt = context.attempts().iter().find(|attempt| attempt.attempt_id == id);
    attempt.is_some_and(|attempt| {
        let options = attempt.request.as_ref().map(|request| request.options.as_str());
        let read = options.and_then(contextree::provider::RenderOptions::from_text);
        let snapshot = context.history().iter().find(|it| it.cycle() == attempt.cycle_id);
        let rendered = read.zip(snapshot).and_then(|((provider, options), snapshot)| {
            contextree::provider::render(snapshot.view(), provider, &options).ok()
        });
        rendered.is_some_and(|it| Some(Hash::of(&it.bytes)) == attempt.input)
    })
}
