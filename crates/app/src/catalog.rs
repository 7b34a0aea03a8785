//! Every command as data: what a door needs to offer all of them without naming each.
//!
//! A server makes a route of every entry, and a list of tools or a client could be made in the same way. Requests and responses are JSON
//! values here; their schemas come from the same types that check them.

use contextree_json::{Value, from_value};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::command::*;
use crate::wire::to_value;
use crate::{Control, Error, Workspace};

/// What a caller may do. A higher right includes the lower ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// Read contexts, and try changes in dry runs.
    Read,
    /// Change contexts, create and fork them.
    Write,
    /// Delete contexts and snapshots, copy and check the store.
    Admin,
}

impl Right {
    /// Returns the right as a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Right::Read => "read",
            Right::Write => "write",
            Right::Admin => "admin",
        }
    }
}

/// What a command works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The context of the workspace.
    Context,
    /// The store.
    Store,
    /// Only what is in the request.
    Request,
}

type SchemaOf = fn(&mut SchemaGenerator) -> Schema;
type Run = fn(&Workspace, Value, &Control<'_>) -> Result<Value, Error>;

/// A command: its name, what it needs, and how it is run.
#[derive(Clone, Copy)]
pub struct Command {
    /// The name: that of the command line, with `-` for a command of a command.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// What it works on.
    pub scope: Scope,
    /// What the caller must be allowed to do; see [`Command::right_for`].
    pub right: Right,
    /// The field of the response that is a list, if the response is mainly one.
    pub list: Option<&'static str>,
    request: SchemaOf,
    response: SchemaOf,
    run: Run,
}

impl std::fmt::Debug for Command {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Command").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Command {
    /// Returns the command with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Command> {
        COMMANDS.iter().find(|command| command.name == name)
    }

    /// Returns the schema of the request.
    pub fn request_schema(&self, generator: &mut SchemaGenerator) -> Schema {
        (self.request)(generator)
    }

    /// Returns the schema of the response.
    pub fn response_schema(&self, generator: &mut SchemaGenerator) -> Schema {
        (self.response)(generator)
    }

    /// Returns what the caller must be allowed to do for this request: a dry run only reads.
    #[must_use]
    pub fn right_for(&self, request: &Value) -> Right {
        let is_true = |value: Option<&Value>| value.and_then(Value::as_bool) == Some(true);
        let change = request.get("change").and_then(|change| change.get("dry_run"));
        match is_true(request.get("dry_run")) || is_true(change) {
            true => Right::Read,
            false => self.right,
        }
    }

    /// Runs the command.
    ///
    /// # Errors
    ///
    /// `E_JSON_SHAPE` if the request does not have the shape of the schema; otherwise those of the command.
    pub fn run(
        &self,
        workspace: &Workspace,
        request: Value,
        control: &Control<'_>,
    ) -> Result<Value, Error> {
        (self.run)(workspace, request, control)
    }
}

/// The request of a command that has no options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoOptions {}

fn read<R: DeserializeOwned>(request: Value) -> Result<R, Error> {
    from_value(request).map_err(|error| Error::new(error.code(), error.to_string()))
}

/// Makes the list of commands: name, scope, right, list, types, function.
macro_rules! commands {
    ($($name:literal $scope:ident $right:ident $([$list:literal])? $about:literal
       $request:ty => $response:ty, $run:expr;)*) => {
        /// Every command, in the order of the command line's help. `import` reads a stream besides its request, and is not in the list;
        /// neither is `restore`, which makes a store and does not use one.
        pub const COMMANDS: &[Command] = &[$(Command {
            name: $name,
            about: $about,
            scope: Scope::$scope,
            right: Right::$right,
            list: commands!(@list $($list)?),
            request: |generator| generator.subschema_for::<$request>(),
            response: |generator| generator.subschema_for::<$response>(),
            run: |workspace, request, control| {
                let run: fn(&Workspace, &$request, &Control<'_>) -> Result<$response, Error> = $run;
                run(workspace, &read(request)?, control).map(|response| to_value(&response))
            },
        },)*];
    };
    (@list) => { None };
    (@list $list:literal) => { Some($list) };
}

commands! {
    "new" Store Write "Creates an empty context."
        new::NewRequest => new::NewResponse, new;
    "contexts" Store Read ["contexts"] "Lists the contexts of the store, by name."
        contexts::ContextsRequest => contexts::ContextsResponse, contexts;
    "fork" Context Write "Creates a context that begins with a state of this one."
        fork::ForkRequest => fork::ForkResponse, fork;
    "rename" Store Admin "Gives a context another name."
        rename::RenameRequest => rename::RenameResponse, rename;
    "delete" Store Admin "Deletes a context, with everything that no other context needs."
        delete::DeleteRequest => delete::DeleteResponse, delete;
    "add" Context Write "Adds a node to the working state."
        add::AddRequest => add::AddResponse, add;
    "append" Context Write "Appends messages as a provider writes them: a message, a list, or a response."
        append::AppendRequest => append::AppendResponse, append;
    "apply" Context Write "Carries out operations in one durable step: all of them, or none."
        apply::ApplyRequest => apply::ApplyResponse, apply;
    "put" Context Write "Carries out operations, commits and changes side records in one durable step: all or none of it."
        put::PutRequest => put::PutResponse, put;
    "records" Context Read ["records"] "Reads side records of the context: values that programs keep beside its history."
        records::RecordsRequest => records::RecordsResponse, records;
    "edit" Context Write "Edits all nodes that the target names, or none."
        edit::EditRequest => edit::EditResponse, edit;
    "remove" Context Write "Removes nodes with everything below them. Snapshots keep them."
        remove::RemoveRequest => remove::RemoveResponse, remove;
    "recall" Context Write "Brings back what expired or was pruned, as a document that expires."
        recall::RecallRequest => recall::RecallResponse, recall;
    "move" Context Write "Moves a node."
        move_::MoveRequest => move_::MoveResponse, move_;
    "redact" Context Admin "Replaces content by a marker in every snapshot, for good."
        redact::RedactRequest => redact::RedactResponse, redact;
    "pin" Context Write "Protects nodes from pruning."
        pin::PinRequest => pin::PinResponse, pin;
    "unpin" Context Write "Removes the protection from pruning."
        pin::UnpinRequest => pin::UnpinResponse, unpin;
    "undo" Context Write "Undoes the last operation; what is undone can be redone."
        undo::UndoRequest => undo::UndoResponse, undo;
    "redo" Context Write "Redoes what was undone last."
        undo::UndoRequest => undo::UndoResponse, redo;
    "discard" Context Write "Removes what is not committed; `undo` brings it back."
        NoOptions => undo::UndoResponse, |workspace, _, control| discard(workspace, control);
    "reset" Context Write "Makes a snapshot the newest one; `undo` brings later commits back."
        undo::ResetRequest => undo::UndoResponse, reset;
    "operations" Context Read ["operations"] "Lists what was done to the context, by which command and when, newest first."
        undo::OperationsRequest => undo::OperationsResponse, operations;
    "request" Context Write "Begins a model call: returns the exact bytes to send. Nothing is sealed before the call is completed."
        call::BeginRequest => call::BeginResponse, request;
    "running" Context Read "Returns the request of the call that is running, byte for byte."
        NoOptions => call::BeginResponse, |workspace, _, control| call::running(workspace, control);
    "answer" Context Write "Completes a call: what was sent becomes a snapshot, and the answer opens the next cycle."
        call::AnswerRequest => call::AnswerResponse, answer;
    "attach" Context Write "Keeps a part of a streamed answer with the call that is running."
        call::AttachRequest => attempt::AttemptResponse, call::attach;
    "cancel" Context Write "Ends a call without an answer. Nothing is sealed."
        call::CancelRequest => attempt::AttemptResponse, cancel;
    "commit" Context Write "Commits the turn in progress: expires nodes, prunes what is over a limit, seals the turn and adds a snapshot."
        commit::CommitRequest => commit::CommitResponse, commit;
    "budget" Context Read "Returns the budget that is stored with the context."
        NoOptions => budget::BudgetResponse, |workspace, _, control| show_budget(workspace, control);
    "budget-set" Context Write "Stores a budget with the context, for every call and commit that names no other."
        budget::SetBudgetRequest => budget::BudgetResponse, set_budget;
    "budget-unset" Context Write "Removes the budget of the context."
        NoOptions => budget::BudgetResponse, |workspace, _, control| unset_budget(workspace, control);
    "attempt-start" Context Write "Records that a request is sent to a model."
        attempt::StartRequest => attempt::AttemptResponse, start_attempt;
    "attempt-end" Context Write "Records how an attempt ended."
        attempt::EndRequest => attempt::AttemptResponse, end_attempt;
    "attempts" Context Read ["attempts"] "Lists the attempts, oldest first."
        NoOptions => attempt::ListResponse, |workspace, _, control| list_attempts(workspace, control);
    "status" Context Read "Returns the newest snapshot, what is not committed, and what expires next."
        NoOptions => status::StatusResponse, |workspace, _, control| status(workspace, control);
    "show" Context Read ["nodes"] "Returns a tree, or parts of one."
        show::ShowRequest => show::ShowResponse, show;
    "rows" Context Read "Returns the nodes of a state as columns, a page at a time: for viewers of large trees."
        rows::RowsRequest => rows::RowsResponse, rows;
    "node" Context Read "Returns one node of a state."
        node::NodeRequest => node::NodeResponse, node;
    "node-history" Context Read ["events"] "Lists what happened to a node, snapshot by snapshot."
        node::NodeHistoryRequest => node::NodeHistoryResponse, node_history;
    "select" Context Read "Finds nodes by selector."
        select::SelectRequest => select::SelectResponse, select;
    "diff" Context Read "Compares two states."
        diff::DiffRequest => diff::DiffResponse, diff;
    "log" Context Read ["entries"] "Lists the snapshots, newest first."
        log::LogRequest => log::LogResponse, log;
    "timeline" Context Read ["calls"] "Lists the model calls and commits, oldest first, with the user message that each serves."
        timeline::TimelineRequest => timeline::TimelineResponse, timeline;
    "explain" Context Read "Explains how a selector is read and evaluated."
        explain::ExplainRequest => explain::ExplainResponse, explain;
    "export" Context Read "Exports a state or the history as a document."
        export::ExportRequest => export::ExportResponse, export;
    "render" Context Read "Renders a state as the request of a provider."
        render::RenderRequest => render::RenderResponse, render;
    "sent" Context Read "Returns the request that was sent in the cycle of a snapshot, byte for byte."
        render::SentRequest => render::SentResponse, sent;
    "lint" Request Read "Lists what a provider would refuse or misread in a request."
        lint::LintRequest => lint::LintResponse, |_, request, control| lint(request, control);
    "thread" Context Read "Returns the blocks of a state in document order, as one JSON array."
        thread::ThreadRequest => thread::ThreadResponse, thread;
    "tokens" Context Read "Counts tokens: of a state, or over time."
        tokens::TokensRequest => tokens::TokensResponse, tokens;
    "cache" Context Read "Reports what each call can read from the provider's prompt cache, what was billed, and the reason for every miss."
        cache::CacheRequest => cache::CacheResponse, cache;
    "backup" Store Admin "Copies the store into a file of the machine that runs the command."
        backup::BackupRequest => backup::BackupResponse, backup;
    "verify" Store Admin "Computes every digest of the store again."
        NoOptions => verify::VerifyResponse, |workspace, _, control| verify(workspace, control);
    "gc" Context Admin "Drops old snapshots of the context and returns free space."
        gc::GcRequest => gc::GcResponse, gc;
    "hash" Request Read "Computes the content hashes of nodes."
        hash::HashRequest => hash::HashResponse, |_, request, control| hash(request, control);
    "canon" Request Read "Returns the reference bytes of a root node or a snapshot."
        canon::CanonRequest => canon::CanonResponse, |_, request, control| canon(request, control);
}
