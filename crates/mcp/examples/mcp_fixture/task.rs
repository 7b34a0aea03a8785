//! Tools that become tasks: the client asks for their state until they end.

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    CreateTaskResult,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use serde_json::{Value, json};

use crate::content::{complete, read};
use crate::input::{question, required, respond, text};

/// Tools that may become tasks, and whether they can do nothing else.
const TASKS: [(&str, bool); 6] = [
    ("slow_compute", false),
    ("protocol_error_job", false),
    ("failing_job", true),
    ("confirm_delete", true),
    ("multi_input", true),
    ("test_tool_with_task", true),
];

/// What a tool does, as a task or not.
#[derive(Clone)]
enum Work {
    Compute { seconds: f64, label: String },
    Fail,
    Break,
    Confirm { file: String },
    Collect,
    Greet { name: String },
}

/// Answers a call of a tool that may become a task; `None` if it is another tool.
pub(crate) async fn call(
    tasks: &TaskManager,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let (name, is_required) = TASKS.into_iter().find(|(name, _)| *name == request.name)?;
    let is_able = context.client_capabilities().is_some_and(|able| able.supports_tasks());
    if is_required && !is_able {
        let needed = ClientCapabilities::builder().enable_tasks().build();
        return Some(Err(ErrorData::missing_required_client_capability(needed)));
    }
    let work = match work(name, request) {
        Ok(work) => work,
        Err(asked) => return Some(*asked),
    };
    if is_able {
        let task = tasks.spawn(TaskOptions::default(), move |context| {
            Box::pin(async move { work.run(Some(&context)).await })
        });
        return Some(Ok(CreateTaskResult::new(task).into()));
    }
    Some(match work.run(None).await {
        Ok(result) => Ok(result.into()),
        Err(TaskExit::Error(error)) => Err(error),
        Err(_) => Err(ErrorData::internal_error("canceled", None)),
    })
}

/// Returns what a call asks for, or the result that asks for an input first.
fn work(
    name: &str,
    request: &CallToolRequestParams,
) -> Result<Work, Box<Result<CallToolResponse, ErrorData>>> {
    let argument = |name: &str| request.arguments.as_ref().and_then(|all| all.get(name));
    let text_of =
        |name: &str| argument(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(match name {
        "slow_compute" => Work::Compute {
            seconds: argument("seconds").and_then(Value::as_f64).unwrap_or(1.0).clamp(0.0, 60.0),
            label: text_of("label"),
        },
        "failing_job" => Work::Fail,
        "protocol_error_job" => Work::Break,
        "confirm_delete" => Work::Confirm { file: text_of("filename") },
        "multi_input" => Work::Collect,
        _ => {
            let given = request.input_responses.as_ref().and_then(|given| given.get("user_name"));
            let Some(given) = given else {
                let name = question("What is your name?", "name", "string");
                return Err(Box::new(respond(required(json!({ "user_name": name }), None))));
            };
            let name = given["content"]["name"].as_str().unwrap_or("friend").to_owned();
            Work::Greet { name }
        }
    })
}

impl Work {
    async fn run(self, task: Option<&TaskContext>) -> Result<CallToolResult, TaskExit> {
        match self {
            Work::Compute { seconds, label } => {
                rest(seconds, task).await?;
                done(format!("{label} done after {seconds} s"))
            }
            Work::Fail => {
                rest(0.2, task).await?;
                let text = ContentBlock::text("failing_job: intentional tool execution error");
                Ok(CallToolResult::error(vec![text]))
            }
            Work::Break => {
                rest(0.2, task).await?;
                let why = "protocol_error_job: intentional protocol error";
                Err(TaskExit::Error(ErrorData::internal_error(why, None)))
            }
            Work::Confirm { file } => {
                let given = ask(task, "confirm", &format!("Delete {file}?"), "boolean").await?;
                done(format!("confirmed: {given}"))
            }
            Work::Collect => {
                let one = ask(task, "input-a", "Provide value A", "string");
                let two = ask(task, "input-b", "Provide value B", "string");
                let (one, two) = tokio::join!(one, two);
                done(format!("a = {}, b = {}", one?, two?))
            }
            Work::Greet { name } => {
                rest(0.2, task).await?;
                done(format!("Hello, {name}!"))
            }
        }
    }
}

fn done(said: String) -> Result<CallToolResult, TaskExit> {
    complete(text(said)).map_err(TaskExit::Error)
}

/// Waits, unless the task is canceled.
async fn rest(seconds: f64, task: Option<&TaskContext>) -> Result<(), TaskExit> {
    let rest = tokio::time::sleep(Duration::from_secs_f64(seconds));
    let Some(task) = task else {
        rest.await;
        return Ok(());
    };
    tokio::select! {
        () = rest => Ok(()),
        _ = task.cancelled() => Err(TaskExit::Cancelled),
    }
}

/// Asks the client of a task for a value.
async fn ask(
    task: Option<&TaskContext>,
    key: &str,
    message: &str,
    kind: &str,
) -> Result<Value, TaskExit> {
    let field = if kind == "boolean" { "confirm" } else { "value" };
    let request = read(question(message, field, kind)).map_err(TaskExit::Error)?;
    match task {
        Some(task) => Ok(task.request_input(key, request).await?["content"][field].take()),
        None => Err(TaskExit::Error(ErrorData::internal_error("only a task can ask", None))),
    }
}
