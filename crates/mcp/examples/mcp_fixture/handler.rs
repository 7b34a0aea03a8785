//! The requests of the suite.
#![expect(deprecated, reason = "the suite asks for what earlier versions of the protocol have")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities, ClientResult,
    CompleteRequestParams, CompleteResult, CreateMessageRequestParams, ElicitRequest,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, GetTaskParams, GetTaskResult,
    InitializeResult, InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, LoggingLevel, LoggingMessageNotificationParam,
    PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, SamplingMessage, ServerCapabilities, ServerRequest,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{
    RequestContext, RoleServer, ServiceError, SubscriptionContext, SubscriptionSink,
};
use rmcp::task_manager::TaskManager;
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};

use crate::content::{self, complete, read};
use crate::input::{self, question, required, respond, text};
use crate::task;

type Context = RequestContext<RoleServer>;

/// How long clients may keep lists.
const FRESH: u64 = 60_000;

/// The server of one client. Tasks and listeners belong to all clients.
#[derive(Clone)]
pub(crate) struct Fixture {
    tasks: TaskManager,
    listeners: Arc<Mutex<BTreeMap<u64, SubscriptionSink>>>,
    next: Arc<AtomicU64>,
}

impl Default for Fixture {
    fn default() -> Self {
        Fixture { tasks: TaskManager::new(), listeners: Arc::default(), next: Arc::default() }
    }
}

impl Fixture {
    fn listeners(&self) -> Vec<SubscriptionSink> {
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.values().cloned().collect()
    }

    async fn tool(
        &self,
        request: &CallToolRequestParams,
        context: &Context,
    ) -> Result<Value, ErrorData> {
        let name = request.name.as_ref();
        let argument = |name: &str| {
            let all = request.arguments.as_ref();
            all.and_then(|all| all.get(name)?.as_str()).unwrap_or_default().to_owned()
        };
        if let Some(answer) = content::answer(name) {
            return Ok(answer);
        }
        Ok(match name {
            "greet" => text(format!("Hello, {}!", argument("name"))),
            "test_custom_header" => text(argument("value")),
            "test_tool_with_logging" => {
                for said in
                    ["Tool execution started", "Tool processing data", "Tool execution completed"]
                {
                    log(context, LoggingLevel::Info, said).await;
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                text("Logging test completed")
            }
            "test_logging_tool" => {
                if let Some(level) = context.meta.log_level() {
                    log(context, level, "A level was asked for").await;
                }
                text("Logging test completed")
            }
            "test_tool_with_progress" => {
                for progress in [0.0, 50.0, 100.0] {
                    if let Some(token) = context.meta.get_progress_token() {
                        let said =
                            ProgressNotificationParam::new(token, progress).with_total(100.0);
                        // It fails if the client has disconnected.
                        let _ = context.peer.notify_progress(said.with_message("working")).await;
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                text("Progress test completed")
            }
            "test_sampling" => sample(context, &argument("prompt")).await,
            "test_elicitation" => {
                let fields = json!({"username": {"type": "string"}, "email": {"type": "string"}});
                elicit(context, &argument("message"), fields, json!(["username", "email"])).await?
            }
            "test_elicitation_sep1034_defaults" => {
                elicit(context, "Every field has a default", defaults(), json!([])).await?
            }
            "test_elicitation_sep1330_enums" => {
                elicit(context, "Every form of a choice", choices(), json!([])).await?
            }
            "test_trigger_tool_change" => {
                for listener in self.listeners() {
                    // It fails if the listener has disconnected.
                    let _ = listener.notify_tool_list_changed().await;
                }
                text("The list of tools changed")
            }
            "test_trigger_prompt_change" => {
                for listener in self.listeners() {
                    // It fails if the listener has disconnected.
                    let _ = listener.notify_prompt_list_changed().await;
                }
                text("The list of prompts changed")
            }
            "test_missing_capability" => {
                let able = context.meta.client_capabilities().unwrap_or_default();
                if able.sampling.is_none() {
                    let needed = ClientCapabilities::builder().enable_sampling().build();
                    return Err(ErrorData::missing_required_client_capability(needed));
                }
                text("The capability was declared")
            }
            "test_streaming_elicitation" => {
                required(json!({"value": question("Provide a value", "value", "string")}), None)
            }
            _ => return Err(ErrorData::invalid_params(format!("unknown tool `{name}`"), None)),
        })
    }
}

async fn log(context: &Context, level: LoggingLevel, said: &str) {
    let message = LoggingMessageNotificationParam::new(level, said.into()).with_logger("fixture");
    // It fails if the client has disconnected.
    let _ = context.peer.notify_logging_message(message).await;
}

async fn sample(context: &Context, prompt: &str) -> Value {
    let messages = vec![SamplingMessage::user_text(prompt)];
    let asked = context.peer.create_message(CreateMessageRequestParams::new(messages, 100)).await;
    match asked {
        Ok(answer) => {
            let said = answer.message.content.first().and_then(|part| part.as_text());
            text(format!("LLM response: {}", said.map_or("", |said| &said.text)))
        }
        Err(error) => failed(&error),
    }
}

async fn elicit(
    context: &Context,
    message: &str,
    properties: Value,
    names: Value,
) -> Result<Value, ErrorData> {
    let schema = json!({"type": "object", "properties": properties, "required": names});
    let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(read(params)?));
    Ok(match context.peer.send_request(request).await {
        Ok(ClientResult::ElicitResult(given)) => {
            let action = serde_json::to_value(&given.action).unwrap_or_default();
            let action = action.as_str().unwrap_or_default();
            let content = given.content.unwrap_or_default();
            text(format!("Elicitation completed: action={action}, content={content}"))
        }
        Ok(_) => failed(&ServiceError::UnexpectedResponse),
        Err(error) => failed(&error),
    })
}

fn failed(error: &ServiceError) -> Value {
    let content = [json!({"type": "text", "text": error.to_string()})];
    json!({"content": content, "isError": true})
}

fn defaults() -> Value {
    json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    })
}

fn choices() -> Value {
    let titled = |names: [&str; 3]| {
        let titled = names.map(|name| json!({"const": name, "title": format!("Choice {name}")}));
        json!(titled)
    };
    let values = ["value1", "value2", "value3"];
    json!({
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": titled(values)},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {
            "type": "array",
            "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
        },
        "titledMulti": {"type": "array", "items": {"anyOf": titled(values)}},
    })
}

/// Returns a list with the hints for caches that newer versions of the protocol have.
fn hinted(mut list: Value) -> Value {
    list["ttlMs"] = FRESH.into();
    list["cacheScope"] = "public".into();
    list
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> InitializeResult {
        let able = ServerCapabilities::builder()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_logging()
            .enable_completions()
            .enable_tasks()
            .build();
        InitializeResult::new(able)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        content::tools().into_iter().find(|tool| tool.name == name)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        complete(hinted(json!({ "tools": content::tools() })))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name.starts_with("test_input_required_result_") {
            return input::call(&request, &context.meta);
        }
        if let Some(answered) = task::call(&self.tasks, &request, &context).await {
            return answered;
        }
        respond(self.tool(&request, &context).await?)
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: Context,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&request.task_id)?))
    }

    async fn update_task(&self, request: UpdateTaskParams, _: Context) -> Result<(), ErrorData> {
        self.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(&self, request: CancelTaskParams, _: Context) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&request.task_id)
    }

    fn accepted_subscription_filter(
        &self,
        wanted: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(wanted.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        let sink = context.sink().clone();
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).insert(key, sink);
        context.cancelled().await;
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        complete(hinted(json!({ "prompts": content::prompts() })))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name == "test_input_required_result_prompt" {
            let given = request.input_responses.as_ref().and_then(|all| all.get("user_context"));
            let Some(given) = given else {
                let asked = question("What context should the prompt use?", "context", "string");
                return Ok(read::<InputRequiredResult>(required(
                    json!({ "user_context": asked }),
                    None,
                ))?
                .into());
            };
            let said = format!("The context: {}", given["content"]["context"]);
            let message = json!({"role": "user", "content": {"type": "text", "text": said}});
            return Ok(complete::<GetPromptResult>(json!({ "messages": [message] }))?.into());
        }
        let prompt = content::prompt(&request.name, &request.arguments.unwrap_or_default());
        let unknown =
            || ErrorData::invalid_params(format!("unknown prompt `{}`", request.name), None);
        Ok(complete::<GetPromptResult>(prompt.ok_or_else(unknown)?)?.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        complete(hinted(json!({ "resources": content::resources() })))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = json!({"uriTemplate": "test://template/{id}/data", "name": "template"});
        complete(hinted(json!({ "resourceTemplates": [template] })))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = &request.uri;
        let missing = || {
            ErrorData::resource_not_found(
                format!("no resource `{uri}`"),
                Some(json!({ "uri": uri })),
            )
        };
        let found = content::resource(uri).ok_or_else(missing)?;
        Ok(complete::<ReadResourceResult>(hinted(found))?.into())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: Context,
    ) -> Result<CompleteResult, ErrorData> {
        complete(json!({"completion": {"values": ["paris", "park"], "hasMore": false}}))
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }
}
