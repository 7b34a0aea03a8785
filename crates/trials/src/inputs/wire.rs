//! Requests, as JSON.

use contextree::json::Value;
use contextree_app::catalog::COMMANDS;
use contextree_app::{Control, Limits, Workspace};

use super::Choices;
use super::json::{self, Names};
use crate::script::step;
use contextree::ContextSettings;
use contextree_store::{Store, StoreOptions};

/// What touches files of the machine.
const LEFT_OUT: [&str; 1] = ["backup"];

/// Returns a store in memory with a context that has a history and a working state.
fn workspace() -> Workspace {
    let store =
        Store::open_with("memory:", StoreOptions::deterministic()).expect("memory can be opened");
    let mut session = store.create("main", &ContextSettings::default()).expect("the name is free");
    for revision in 2..=12 {
        let done = session.write(|context| step(context, revision));
        done.expect("the engine accepts the script");
    }
    drop(session);
    store.fork("main", None, "fork").expect("the name is free");
    Workspace::over(store, "memory:")
}

/// Runs requests for one store: of each command that the bytes name, the JSON that follows, or one that is made of the bytes and the names of its
/// fields.
pub fn wire(data: &[u8]) {
    let workspace = workspace();
    let mut choices = Choices::new(data);
    for _ in 0..3 {
        let command = &COMMANDS[choices.index(COMMANDS.len())];
        let request = match choices.byte() {
            0..=7 => contextree::json::parse(choices.rest()).unwrap_or_default(),
            _ => json::request(&mut choices, Names::of(command)),
        };
        run(&workspace, command.name, request);
    }
}

/// Runs a request, whatever it says.
pub fn request(workspace: &Workspace, command: &str, request: Value) {
    run(workspace, command, request);
}

/// Returns the names of all fields, and the words, that a request may have.
#[must_use]
pub fn fields(command: &str) -> Vec<String> {
    contextree_app::catalog::Command::named(command).map_or_else(Vec::new, json::names)
}

fn run(workspace: &Workspace, name: &str, request: Value) {
    let Some(command) = contextree_app::catalog::Command::named(name) else { return };
    if LEFT_OUT.contains(&name) {
        return;
    }
    let limits = Limits { results: Some(10_000), selector_cost: Some(1_000_000) };
    match command.run(workspace, request, &Control::default().with_limits(limits)) {
        Ok(response) => drop(response.to_canonical()),
        Err(error) => {
            assert!(error.code().as_str().starts_with("E_"), "{error:?}");
            drop(error.to_string());
        }
    }
}
