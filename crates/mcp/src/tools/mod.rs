//! The tools, in the order in which clients list them. The order never changes: a list that moves would break the caches of prompts.

mod arguments;
mod read;
mod text;
mod write;

use contextree_app::catalog::Right;
use contextree_app::{Control, Error, Limits, Workspace};
use contextree_json::{Object, Value, from_value};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Map;

use crate::Caller;
use crate::page::{boundary, page, size};
use crate::schema;

pub(crate) use text::context_line;

/// The most nodes that one call looks at. The answer is far smaller; this bounds the work.
const NODES: usize = 100_000;

/// A tool: its description for clients, and what it does.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// What it is for, with an example: written for a model.
    pub(crate) about: &'static str,
    /// What the caller must be allowed to do.
    pub(crate) right: Right,
    pub(crate) schema: fn(Right) -> Map<String, serde_json::Value>,
    run: Run,
}

type Run = fn(&Workspace, Value, &Control<'_>) -> Result<Vec<String>, Error>;

/// The arguments that every tool has.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Common {
    context: Option<String>,
    cursor: Option<String>,
    limit: Option<u64>,
}

impl Tool {
    /// Returns the tool with a name, if the caller may use it.
    pub(crate) fn named(name: &str, caller: &Caller) -> Option<&'static Tool> {
        Tool::of(caller).find(|tool| tool.name == name)
    }

    /// Returns the tools that a caller may use.
    pub(crate) fn of(caller: &Caller) -> impl Iterator<Item = &'static Tool> {
        let right = caller.right;
        TOOLS.iter().filter(move |tool| tool.right <= right)
    }

    /// Runs the tool; returns a text within the limit.
    ///
    /// # Errors
    ///
    /// `E_JSON_SHAPE` if the arguments are not those of the schema, and those of the command.
    pub(crate) fn run(
        &self,
        workspace: &Workspace,
        arguments: Object,
        control: &Control<'_>,
    ) -> Result<String, Error> {
        let mut arguments = arguments;
        let mut common = Object::new();
        for name in ["context", "cursor", "limit"] {
            if let Some(value) = arguments.remove(name) {
                common.insert(name, value);
            }
        }
        let common: Common = read(Value::Object(common))?;
        // Before the tool runs: an error after it has written would be untrue.
        let limit = size(common.limit)?;
        let is_read = self.right == Right::Read;
        if common.cursor.is_some() && !is_read {
            return Err(Error::usage("a tool that writes takes no cursor")
                .with_hint("call it again without one only to do it again"));
        }
        let mut workspace = workspace.clone();
        if let Some(name) = &common.context {
            workspace = workspace.with_context(name);
        }
        let entries = (self.run)(&workspace, Value::Object(arguments), control)?;
        match is_read {
            true => page(&entries, common.cursor.as_deref(), limit),
            false => Ok(shortened(&entries, limit)),
        }
    }
}

/// Reads the arguments of a tool.
fn read<A: DeserializeOwned>(arguments: Value) -> Result<A, Error> {
    from_value(arguments).map_err(|error| {
        Error::new(error.code(), format!("the arguments: {error}"))
            .with_hint("the schema of the tool lists its arguments")
    })
}

/// Returns what a tool did in at most `limit` bytes; a cursor for the rest would do it again.
fn shortened(entries: &[String], limit: usize) -> String {
    let mut text = entries.join("\n");
    if text.len() > limit {
        text.truncate(boundary(&text, limit - "…".len()));
        text.push('…');
    }
    text
}

/// Returns the limits of a tool: those of the door, and never more than [`NODES`].
pub(crate) fn limits(door: Limits) -> Limits {
    Limits { results: Some(door.results.map_or(NODES, |most| most.min(NODES))), ..door }
}

const fn tool<A: DeserializeOwned + JsonSchema>(
    names: (&'static str, &'static str),
    right: Right,
    about: &'static str,
    run: Run,
) -> Tool {
    Tool { name: names.0, title: names.1, about, right, schema: schema::of::<A>, run }
}

macro_rules! tools {
    ($($name:literal $title:literal $right:ident $about:literal $arguments:ty => $run:path;)*) => {
        const TOOLS: &[Tool] = &[$(tool::<$arguments>(
            ($name, $title),
            Right::$right,
            $about,
            |workspace, value, control| $run(workspace, &read(value)?, control),
        ),)*];
    };
}

tools! {
    "contexts" "List contexts" Read
        "Lists the stored contexts with their number of snapshots. Example: {}"
        arguments::Contexts => read::contexts;
    "show" "Show a state" Read
        "Shows the tree of a state, or one node with its whole content. States: `@` is being written now, `@t0` is the last request sent, `@t-1` the one before, `@c12` call 12. Example: {\"what\": \"@t0\"} or {\"what\": \"block:3.1\", \"full\": true}"
        arguments::Show => read::show;
    "select" "Find nodes" Read
        "Finds nodes by selector. `@t0 .block[role=tool]` finds tool results in the last request; `@* .block[role=user]` user messages of all times. Example: {\"selector\": \"@t0 .block[role=tool]\"}"
        arguments::Select => read::select;
    "diff" "Compare two states" Read
        "Shows what changed between two states: + added, - removed (with the reason), ~ changed. Example: {\"from\": \"@t-1\", \"to\": \"@t0\"}"
        arguments::Diff => read::diff;
    "log" "List model calls" Read
        "Lists the model calls, newest first: tokens, cached share, stop reason, what expired or was pruned. Example: {\"calls\": 20}"
        arguments::Log => read::log;
    "tokens" "Count tokens" Read
        "Counts the tokens of a state, by region, turn, role or kind. Example: {\"at\": \"@t0\", \"by\": \"role\"}"
        arguments::Tokens => read::tokens;
    "cache" "Explain the prompt cache" Read
        "Reports how much of each call the prompt cache could reuse, what was billed, and the reason for every miss. Example: {\"misses_only\": true}"
        arguments::Cache => read::cache;
    "note" "Add a note" Write
        "Adds a note to the next request. With `ttl` 3 the next three calls see it; without, all do. Example: {\"text\": \"The user prefers metric units.\"}"
        arguments::Note => write::note;
    "pin" "Pin nodes" Write
        "Protects nodes from pruning. Example: {\"nodes\": [\"block:3.1\"]}"
        arguments::Nodes => write::pin;
    "unpin" "Unpin nodes" Write
        "Removes the protection from pruning. Example: {\"nodes\": [\"block:3.1\"]}"
        arguments::Nodes => write::unpin;
    "set_priority" "Set the priority of nodes" Write
        "Sets how long nodes are kept when space is short: lower is pruned first, 0 is usual. Example: {\"nodes\": [\"block:3.1\"], \"priority\": 5}"
        arguments::Priority => write::set_priority;
    "fork" "Fork the context" Write
        "Creates a context that begins with a state of this one. Example: {\"name\": \"what-if\", \"at\": \"@c5\"}"
        arguments::Fork => write::fork;
    "restore" "Bring back pruned content" Write
        "Brings a node that was pruned or expired back into the next request, as a document for `ttl` calls (1 if absent). Find it with `diff` or `select`. Example: {\"node\": \"block:3.2\", \"ttl\": 2}"
        arguments::Restore => write::restore;
}
