//! A guided tour: one agent conversation, and what Contextree does with it.
//!
//! Run it with `cargo run --release -p contextree --example tour`.
#![expect(clippy::print_stdout, reason = "a tour is to be read")]

use std::error::Error;

use contextree::calls::{Answered, Call, Request, complete_in};
use contextree::provider::{Provider, RenderOptions, render};
use contextree::{
    Class, CommitOptions, Context, Limit, MeasureName, NodeRef, Place, Policy, Profile,
    SnapshotAddress, TreeRef, document, system, tool_result, user,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut context = Context::new();
    let request = Request::new(Provider::OpenAiChat, "gpt-5");

    title("1. A conversation is a tree, not a list");
    // Pinned: budgets never prune it.
    context.add(Place::system(), system("You are a travel assistant. Be brief.").pinned(true))?;
    context.add(Place::head(), user("Will it rain in Oslo?"))?;
    println!("The turn in progress is in `^ah`; nothing is sealed yet.\n");
    show(context.working());

    title("2. One cycle is one model call");
    let call = begin(&request, &mut context)?;
    println!("sent: {}\n", String::from_utf8_lossy(&call.bytes));
    let answer = complete(
        &mut context,
        &call,
        r#"{"role":"assistant","tool_calls":[{"id":"call-1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}"#,
    )?;
    println!("Call {} is sealed; its answer opens the next cycle:\n", answer.report.cycle);
    show(context.working());

    title("3. A result, and a document for exactly one call");
    context.add(Place::head(), tool_result("call-1", r#"{"rain":true,"from":"14:00"}"#))?;
    context
        .add(Place::head(), document("Yr.no: Oslo, rain from 14:00, 8 °C", 1).key("forecast"))?;
    let call = begin(&request, &mut context)?;
    complete(&mut context, &call, &said("Yes, from two o'clock on."))?;

    title("4. Time passes: the document expires by itself");
    for (question, reply) in [
        ("And tomorrow?", "Sunny, 12 degrees."),
        ("Should I take a train or a plane to Bergen?", "A train: seven hours of mountains."),
    ] {
        context.add(Place::head(), user(question))?;
        let call = begin(&request, &mut context)?;
        println!("call {}: expired {:?}", call.report.cycle, call.report.expired);
        complete(&mut context, &call, &said(reply))?;
    }

    title("5. What changed between two calls?");
    let (older, newer) = (SnapshotAddress::Back(1), SnapshotAddress::Back(0));
    println!("diff {older}..{newer}: {}", context.diff(older, newer)?.to_json());

    title("6. What did the model see in the second call? Every snapshot stays readable");
    let second = context.snapshot(SnapshotAddress::Cycle(2))?;
    let options = RenderOptions::for_model("gpt-5");
    let rendered = render(second.tree().view(), Provider::OpenAiChat, &options)?;
    println!("{}", String::from_utf8_lossy(&rendered.bytes));

    title("7. A budget that never splits a call from its result");
    let policy = Policy {
        protect_turns: 1,
        limits: vec![Limit::Total { measure: MeasureName::Bytes, max: 180 }],
        ..Policy::default()
    };
    context.add(Place::head(), user("Thanks!"))?;
    let options = CommitOptions { policy: Some(&policy), ..CommitOptions::default() };
    let preview = context.preview(&options)?;
    let pruned: Vec<&str> = preview.report.pruned.iter().map(|node| node.id.as_str()).collect();
    println!("a call with 180 bytes of content would prune {pruned:?}");
    println!("(a call and its result have the same call id, so they are pruned together)");

    title("8. A fork: try something else from the first call on");
    let mut fork = context.fork(SnapshotAddress::Cycle(1))?;
    fork.add(Place::head(), user("Forget Oslo. What about Rome?"))?;
    let call = begin(&request, &mut fork)?;
    complete(&mut fork, &call, &said("Sunny all week."))?;
    println!(
        "the fork has {} snapshots, the context still {}",
        fork.history().len(),
        context.history().len()
    );

    title("9. Out and in again: the same bytes, the same digest");
    let lines = context.export_history();
    let again =
        Context::import_history(&lines, Profile::Strict, contextree::ContextOptions::default())?;
    assert_eq!(again.history_digest(), context.history_digest(), "a history survives the journey");
    println!("{} bytes of history, digest {} on both sides", lines.len(), again.history_digest());
    Ok(())
}

fn begin(request: &Request, context: &mut Context) -> Result<Call, contextree::Error> {
    request.begin_in(context, &CommitOptions::default())
}

/// Completes a call with a scripted message of the model, where a program passes the response of its provider.
fn complete(
    context: &mut Context,
    call: &Call,
    message: &str,
) -> Result<Answered, contextree::Error> {
    let response = format!(r#"{{"id":"{}","choices":[{{"message":{message}}}]}}"#, call.attempt);
    complete_in(context, &call.attempt, response.as_bytes())
}

fn said(text: &str) -> String {
    format!(r#"{{"role":"assistant","content":"{text}"}}"#)
}

fn title(text: &str) {
    println!("\n── {text}\n");
}

/// Draws a tree.
fn show(tree: TreeRef<'_>) {
    for (depth, node) in tree.nodes() {
        println!("{}{}", "  ".repeat(depth), line(node));
    }
}

fn line(node: NodeRef<'_>) -> String {
    let ttl = node.ttl().map(|ttl| format!(" ttl {ttl}")).unwrap_or_default();
    let text =
        node.content().as_text().map(|text| format!(" \u{201c}{text}\u{201d}")).unwrap_or_default();
    match node.class() {
        Class::Root | Class::Region => node.node_type().to_owned(),
        Class::Block => {
            format!("{} [{}]{ttl}{text}", node.id(), node.role().unwrap_or("no role"))
        }
        _ => node.id().to_owned(),
    }
}
