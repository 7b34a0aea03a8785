//! A guided tour: one agent conversation, and what Contextree does with it.
//!
//! Run it with `cargo run --release -p contextree --example tour`.
#![expect(clippy::print_stdout, reason = "a tour is to be read")]

use std::error::Error;

use contextree::canon::thread::ThreadRenderer;
use contextree::{
    Class, CommitOptions, Context, Limit, MeasureName, NewNode, NodeRef, Place, Policy, Profile,
    SnapshotAddress, TreeRef,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut context = Context::new();

    title("1. A conversation is a tree, not a list");
    // Pinned: no budget may take it.
    let instructions = NewNode::text("You are a travel assistant. Be brief.").role("system");
    context.add(Place::system(), instructions.kind("text").pinned(true))?;
    context.add(Place::head(), NewNode::text("Will it rain in Oslo?").role("user").kind("text"))?;
    let call = NewNode::text("weather(city=\"Oslo\")")
        .role("assistant")
        .kind("call")
        .attribute("data_call_id", "call-1");
    context.add(Place::head(), call)?;
    let result = NewNode::text("{\"rain\": true, \"from\": \"14:00\"}")
        .role("tool")
        .kind("result")
        .attribute("data_call_id", "call-1");
    context.add(Place::head(), result)?;
    context.add(
        Place::head(),
        NewNode::text("Yes, from two o'clock on.").role("assistant").kind("text"),
    )?;
    println!("The turn in progress stands in `^ah`; nothing is sealed yet.\n");
    show(context.working());

    title("2. A document that is worth keeping for two commits");
    context.add(
        Place::at("^ah", 1),
        NewNode::text("Yr.no: Oslo, rain from 14:00, 8 °C")
            .role("tool")
            .kind("text")
            .ttl(2)
            .key("forecast"),
    )?;
    let report = context.commit()?;
    println!(
        "commit {} sealed the turn `{}`, digest {}…\n",
        report.cycle,
        report.sealed,
        short(&report)
    );
    show(context.working());

    title("3. Time passes: the document expires by itself");
    for question in ["And tomorrow?", "Should I take a train or a plane to Bergen?"] {
        context.add(Place::head(), NewNode::text(question).role("user").kind("text"))?;
        context.add(
            Place::head(),
            NewNode::text(format!("About \u{201c}{question}\u{201d}: let me see …"))
                .role("assistant")
                .kind("text"),
        )?;
        let report = context.commit()?;
        println!("commit {}: expired {:?}", report.cycle, report.expired);
    }

    title("4. What changed between two snapshots?");
    let (older, newer) = (SnapshotAddress::Back(1), SnapshotAddress::Back(0));
    println!("diff {older}..{newer}: {}", context.diff(older, newer)?.to_json());

    title("5. What did the model see after the first commit? Nothing is ever lost");
    println!("{}", String::from_utf8(context.snapshot(SnapshotAddress::Cycle(1))?.thread())?);

    title("6. A budget that never splits a call from its result");
    let policy = Policy {
        protect_turns: 1,
        limits: vec![Limit::Total { measure: MeasureName::Bytes, max: 240 }],
        ..Policy::default()
    };
    let options = CommitOptions { policy: Some(&policy), ..CommitOptions::default() };
    let preview = context.preview(&options)?;
    let would_go: Vec<&str> = preview.report.pruned.iter().map(|node| node.id.as_str()).collect();
    println!("a commit under 240 bytes of content would prune {would_go:?}");
    println!("(the call and its result share `data_call_id`, so they go together)");

    title("7. A fork: try something else from the first commit on");
    let mut fork = context.fork(SnapshotAddress::Cycle(1))?;
    fork.add(Place::head(), NewNode::text("Forget Oslo. What about Rome?").role("user"))?;
    fork.commit()?;
    println!(
        "the fork has {} snapshots, the context still {}",
        fork.history().len(),
        context.history().len()
    );

    title("8. The prompt's beginning stays byte for byte");
    let mut renderer = ThreadRenderer::new();
    let mut before: Option<Vec<u8>> = None;
    for snapshot in context.history().iter() {
        let bytes = renderer.render(snapshot.tree()).to_vec();
        if let Some(before) = &before {
            let common =
                before.iter().zip(&bytes).take_while(|(left, right)| left == right).count();
            println!(
                "commit {}: {common} of {} bytes are as they were",
                snapshot.cycle(),
                before.len()
            );
        }
        before = Some(bytes);
    }

    title("9. Out and in again: the same bytes, the same digest");
    let lines = context.export_history();
    let again =
        Context::import_history(&lines, Profile::Strict, contextree::ContextOptions::default())?;
    assert_eq!(again.history_digest(), context.history_digest(), "a history survives the journey");
    println!("{} bytes of history, digest {} on both sides", lines.len(), again.history_digest());
    Ok(())
}

fn title(text: &str) {
    println!("\n── {text}\n");
}

fn short(report: &contextree::CommitReport) -> String {
    report.digest.to_string().chars().take(12).collect()
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
