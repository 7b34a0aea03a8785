//! What the routes are, for machines (OpenAPI) and for people (pages).
//!
//! Everything comes from the catalogue of commands and from the types that check requests: there is no second list of routes, and no
//! second description of what they accept.

mod bounds;
mod openapi;
mod pages;

use contextree_app::catalog::{COMMANDS, Command, Right, Scope};
use contextree_app::command::import::{ImportRequest, ImportResponse};
use contextree_app::wire::{ContextRow, to_lines};
use contextree_json::Value;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};

pub(crate) use pages::Pages;

use crate::routes::{Form, SessionRequest, SessionResponse, Shape, is_readable, path_of};
use crate::shell::ProblemForm;

/// The description of the routes.
pub(crate) struct Api {
    routes: Vec<Route>,
    /// Every schema that others refer to, by name.
    definitions: Value,
}

/// One method of one path.
struct Route {
    path: String,
    method: &'static str,
    /// A name for programs.
    operation: String,
    /// What belongs together.
    group: &'static str,
    about: &'static str,
    /// What the caller must be allowed to do; `None` if anyone may call.
    right: Option<Right>,
    /// Parameters of the query: name, shape, schema, and whether it must be there.
    query: Vec<Parameter>,
    body: Option<Body>,
    /// The media types of the response, each with its schema.
    answers: Vec<(&'static str, Option<Value>)>,
    /// The status of the response.
    status: u16,
}

struct Parameter {
    name: String,
    shape: Shape,
    schema: Value,
    is_required: bool,
}

/// The body of a request.
enum Body {
    Json {
        schema: Value,
        is_required: bool,
    },
    /// A document of any kind.
    Document,
}

impl Api {
    /// Describes all routes.
    pub(crate) fn new() -> Api {
        let mut generator = SchemaSettings::draft2020_12()
            .with(|settings| {
                settings.definitions_path = "/components/schemas".into();
                settings.meta_schema = None;
            })
            .with_transform(bounds::Bounds)
            .into_generator();
        let mut schemas = Vec::new();
        for command in COMMANDS {
            let request = value_of(&command.request_schema(&mut generator));
            schemas.push((command, request, value_of(&command.response_schema(&mut generator))));
        }
        let import = [
            schema_of::<ImportRequest>(&mut generator),
            schema_of::<ImportResponse>(&mut generator),
        ];
        let session = [
            schema_of::<SessionRequest>(&mut generator),
            schema_of::<SessionResponse>(&mut generator),
        ];
        schema_of::<ContextRow>(&mut generator);
        schema_of::<ProblemForm>(&mut generator);
        let definitions = generator.take_definitions(true);
        let definitions = contextree_json::to_value(&definitions)
            .unwrap_or_else(|error| unreachable!("a schema is JSON: {error}"));
        let mut api = Api { routes: Vec::new(), definitions };
        for (command, request, response) in schemas {
            api.add_command(command, &request, &response);
        }
        api.add_own(import, session);
        api
    }

    /// Returns how the request of a command is written in a query.
    pub(crate) fn form_of(&self, command: &Command) -> Form {
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        Form::of(&value_of(&command.request_schema(&mut generator)), &self.definitions)
    }

    /// Returns how the options of an import are written in a query.
    pub(crate) fn form_of_import(&self) -> Form {
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        Form::of(&schema_of::<ImportRequest>(&mut generator), &self.definitions)
    }

    /// Returns the description for machines.
    pub(crate) fn to_json(&self) -> String {
        to_lines(&openapi::document(self))
    }

    /// Returns the description for people.
    pub(crate) fn to_pages(&self) -> Pages {
        Pages::of(self)
    }

    fn add_command(&mut self, command: &Command, request: &Value, response: &Value) {
        let mut answers = vec![("application/json", Some(response.clone()))];
        if command.list.is_some() {
            answers.push(("application/x-ndjson", None));
        }
        let route = |method: &'static str, prefix: &str| Route {
            path: path_of(command),
            method,
            operation: format!("{prefix}{}", command.name.replace('-', "_")),
            group: match command.scope {
                Scope::Context => "One context",
                Scope::Store => "The store",
                Scope::Request => "Without a context",
            },
            about: command.about,
            right: Some(command.right),
            query: Vec::new(),
            body: None,
            answers: answers.clone(),
            status: 200,
        };
        if is_readable(command) {
            let mut get = route("get", "");
            get.query = self.parameters(request);
            if command.scope == Scope::Context {
                get.query.push(edition());
            }
            self.routes.push(get);
        }
        let mut post = route("post", if is_readable(command) { "post_" } else { "" });
        let required = crate::routes::resolve(request, &self.definitions).get("required");
        let is_required = required.is_some();
        post.body = Some(Body::Json { schema: request.clone(), is_required });
        if command.scope == Scope::Context {
            post.query.push(edition());
        }
        self.routes.push(post);
    }

    /// Returns the fields of a request as parameters of a query.
    fn parameters(&self, request: &Value) -> Vec<Parameter> {
        let schema = crate::routes::resolve(request, &self.definitions);
        let required = schema.get("required").and_then(Value::as_array).unwrap_or_default();
        let properties = schema.get("properties").and_then(Value::as_object);
        Form::of(request, &self.definitions)
            .fields()
            .map(|(name, shape)| Parameter {
                name: name.to_owned(),
                shape,
                schema: properties.and_then(|all| all.get(name)).cloned().unwrap_or_default(),
                is_required: required.iter().any(|field| field.as_str() == Some(name)),
            })
            .collect()
    }

    /// Adds the routes that are not commands.
    fn add_own(&mut self, import: [Value; 2], session: [Value; 2]) {
        let [import_request, import_response] = import;
        let [session_request, session_response] = session;
        let json = |schema: &Value| vec![("application/json", Some(schema.clone()))];
        let route = |method, path: &str, operation: &str, about, right| Route {
            path: path.to_owned(),
            method,
            operation: operation.to_owned(),
            group: "The server",
            about,
            right,
            query: Vec::new(),
            body: None,
            answers: Vec::new(),
            status: 200,
        };
        let read = Some(Right::Read);
        let query = self.parameters(&import_request);
        self.routes.extend([
            Route {
                group: "One context",
                query,
                body: Some(Body::Document),
                answers: json(&import_response),
                ..route(
                    "post",
                    "/v1/contexts/{context}/import",
                    "import",
                    "Imports the body, a document or a log, into a new context, or what is new in a log into its context.",
                    Some(Right::Write),
                )
            },
            Route {
                group: "One context",
                answers: vec![("text/event-stream", None)],
                ..route(
                    "get",
                    "/v1/contexts/{context}/events",
                    "events_of_context",
                    "Sends an event for every change of the context, by any process: `changed` with its row, or `deleted`.",
                    read,
                )
            },
            Route {
                group: "The store",
                answers: vec![("text/event-stream", None)],
                ..route(
                    "get",
                    "/v1/events",
                    "events",
                    "Sends an event for every change of any context: `changed`, `deleted`, or `reset` if the client was too slow.",
                    read,
                )
            },
            Route {
                answers: json(&session_response),
                ..route("get", "/v1/session", "session", "Returns who calls, and what they may do.", read)
            },
            Route {
                body: Some(Body::Json { schema: session_request, is_required: true }),
                answers: json(&session_response),
                ..route(
                    "post",
                    "/v1/session",
                    "begin_session",
                    "Exchanges a token for a cookie, for pages.",
                    None,
                )
            },
            Route {
                status: 204,
                ..route("delete", "/v1/session", "end_session", "Takes the cookie back.", None)
            },
            Route {
                answers: vec![("text/plain", None)],
                ..route("get", "/health", "health", "Answers if the process lives.", None)
            },
            Route {
                answers: vec![("text/plain", None)],
                ..route("get", "/ready", "ready", "Answers if the store can be read.", None)
            },
            Route {
                answers: vec![("application/openmetrics-text", None)],
                ..route("get", "/metrics", "metrics", "Returns the counters, for Prometheus.", read)
            },
            Route {
                answers: vec![("application/json", None)],
                ..route("get", "/openapi.json", "openapi", "Returns this description.", None)
            },
        ]);
    }
}

/// The parameter that every route of a context has.
fn edition() -> Parameter {
    let schema = schemars::json_schema!({
        "type": "string",
        "enum": ["0.1", "0.2", "0.3"],
        "description": "The edition of selectors; that of the context if it is absent.",
    });
    Parameter {
        name: "edition".to_owned(),
        shape: Shape::Text,
        schema: value_of(&schema),
        is_required: false,
    }
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    value_of(&generator.subschema_for::<T>())
}

fn value_of(schema: &Schema) -> Value {
    contextree_json::to_value(schema)
        .unwrap_or_else(|error| unreachable!("a schema is JSON: {error}"))
}
