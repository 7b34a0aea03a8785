//! The protocol: requests of clients to tools and resources.

use std::sync::{Arc, Mutex, PoisonError};

use contextree::Code;
use contextree_app::catalog::Right;
use contextree_app::{Control, Error, Hint, Workspace};
use contextree_json::Object;
use http::request::Parts;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, InitializeResult, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, ServerCapabilities, Tool as Described, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};

use crate::tools::{Tool, limits};
use crate::{Caller, resources};

/// What clients are told when they connect.
const INSTRUCTIONS: &str = "Contextree keeps what the model saw: every call is a snapshot. Use `log` to see the calls, `show` and `select` to read \
what was sent, `diff` to see what changed, `tokens` and `cache` to see what uses the tokens. Addresses of states: `@` is the request in \
progress, `@t0` the last one sent, `@t-1` the one before, `@c12` call 12. If `restore` is offered, it brings back what was pruned.";

/// Answers one client.
#[derive(Clone)]
pub(crate) struct Handler {
    workspace: Workspace,
    caller: Caller,
}

impl Handler {
    pub(crate) fn new(workspace: Workspace, caller: Caller) -> Handler {
        Handler { workspace, caller }
    }

    /// Returns who calls: over HTTP, the caller of this request.
    fn caller(&self, context: &RequestContext<RoleServer>) -> Caller {
        let parts = context.extensions.get::<Parts>();
        let caller = parts.and_then(|parts| parts.extensions.get::<Caller>());
        caller.unwrap_or(&self.caller).clone()
    }

    /// Runs work that needs a right, for a caller and within their limits. Work that reads ends when the client cancels the request; what
    /// writes is finished.
    async fn run<T: Send + 'static>(
        &self,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
        right: Right,
        work: impl FnOnce(&Workspace, &Control<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let workspace = self.workspace.clone().with_names(caller.names.clone());
        let limits = limits(caller.limits);
        let done = Arc::new(Mutex::new(None));
        let result = Arc::clone(&done);
        let work = move |cancel| {
            let control = Control::default().with_cancel(cancel).with_limits(limits);
            let value = work(&workspace, &control)?;
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            Ok(())
        };
        let running = caller.runner.run(right, Box::new(work));
        match right {
            // What is dropped is canceled. The library sends no answer then.
            Right::Read => tokio::select! {
                ended = running => ended?,
                () = context.ct.cancelled() => {
                    return Err(Error::new(Code::Canceled.as_str(), "the client canceled the request"));
                }
            },
            _ => running.await?,
        }
        let value = done.lock().unwrap_or_else(PoisonError::into_inner).take();
        value.ok_or_else(|| Error::new(Code::Internal.as_str(), "the work was not done"))
    }
}

/// The longest error that a client gets, in bytes: errors quote what they refuse.
const LONGEST_ERROR: usize = 4_000;

/// Returns an error as a model reads it: the code, what is wrong, and what to do.
fn words(error: &Error) -> String {
    let mut text = whole_words(error);
    if text.len() > LONGEST_ERROR {
        let mut end = LONGEST_ERROR;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}

fn whole_words(error: &Error) -> String {
    let plain = || format!("{}: {}", error.code().as_str(), error.message());
    let mut text = error.drawing().map_or_else(plain, str::to_owned);
    for hint in error.hints() {
        // Advice names commands of other doors.
        if let Hint::Text(hint) = hint {
            text = format!("{text}\nhint: {hint}");
        }
    }
    text
}

/// Returns an error of a request that is not a call of a tool.
fn refusal(error: &Error, uri: Option<&str>) -> ErrorData {
    let is_missing = matches!(
        error.code(),
        Code::ContextNotFound | Code::SnapshotNotFound | Code::NodeNotFound | Code::Usage
    );
    match is_missing {
        true => {
            let data = uri.map(|uri| serde_json::json!({ "uri": uri }));
            ErrorData::resource_not_found(words(error), data)
        }
        false => ErrorData::internal_error(words(error), None),
    }
}

fn described(tool: &Tool) -> Described {
    let is_read = tool.right == Right::Read;
    let mut annotations = ToolAnnotations::default();
    annotations.read_only_hint = Some(is_read);
    annotations.destructive_hint = Some(false);
    annotations.open_world_hint = Some(false);
    Described::new(tool.name, tool.about, Arc::new((tool.schema)(tool.right)))
        .with_title(tool.title)
        .with_annotations(annotations)
}

impl ServerHandler for Handler {
    fn get_info(&self) -> InitializeResult {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let mut info = InitializeResult::new(capabilities);
        info.server_info = Implementation::new("contextree", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    fn get_tool(&self, name: &str) -> Option<Described> {
        Tool::named(name, &Caller::with_right(Right::Write)).map(described)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = self.caller(&context);
        Ok(ListToolsResult::with_all_items(Tool::of(&caller).map(described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context);
        let Some(tool) = Tool::named(&request.name, &caller) else {
            return Err(ErrorData::invalid_params(
                format!("unknown tool `{}`", request.name),
                None,
            ));
        };
        let arguments = Object::from(request.arguments.unwrap_or_default());
        let work =
            |workspace: &Workspace, control: &Control<'_>| tool.run(workspace, arguments, control);
        let done = self.run(&caller, &context, tool.right, work).await;
        let result = match done {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(words(&error))]),
        };
        Ok(result.into())
    }

    /// There are no prompts, and the capabilities say so: the library would answer with an empty list.
    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let caller = self.caller(&context);
        let after = request.and_then(|request| request.cursor);
        let work = |workspace: &Workspace, control: &Control<'_>| {
            resources::list(workspace, after, control)
        };
        let listed = self.run(&caller, &context, Right::Read, work).await;
        let (entries, next) = listed.map_err(|error| refusal(&error, None))?;
        let resource = |entry: resources::Entry| {
            Resource::new(entry.uri, entry.name)
                .with_description(entry.about)
                .with_mime_type("application/json")
        };
        let mut list =
            ListResourcesResult::with_all_items(entries.into_iter().map(resource).collect());
        list.next_cursor = next;
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let about =
            "The messages of a state: `t0` is the last request sent, `c12` that of call 12.";
        let template = ResourceTemplate::new(resources::TEMPLATE, "state")
            .with_description(about)
            .with_mime_type("application/json");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = self.caller(&context);
        let uri = request.uri.clone();
        let work = move |workspace: &Workspace, control: &Control<'_>| {
            resources::read(workspace, &uri, control)
        };
        let read = self.run(&caller, &context, Right::Read, work).await;
        let text = read.map_err(|error| refusal(&error, Some(&request.uri)))?;
        let contents = ResourceContents::text(text, request.uri).with_mime_type("application/json");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}
