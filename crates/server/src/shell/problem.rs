//! Errors as `application/problem+json` (RFC 9457), with our codes.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use contextree::{Code, Kind};
use contextree_app::Error;
use contextree_json::{Object, Value};

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::advice;

/// The media type of an error.
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");

/// Why a request failed, as a response.
///
/// ```text
/// {"code":"E_SELECTOR_INVALID","detail":"…","details":{"errors":[…],"hints":[…]},"status":400,"title":"…","type":"docs/errors#E_SELECTOR_INVALID"}
/// ```
///
/// `code` and `details` are those of the command line's JSON.
#[derive(Debug)]
pub struct Problem {
    error: Error,
    allow: Option<HeaderValue>,
}

impl Problem {
    /// Returns the problem for a code and a message.
    pub fn new(code: Code, message: impl Into<String>) -> Problem {
        Problem::from(Error::new(code.as_str(), message))
    }

    /// Adds the methods that the route has.
    #[must_use]
    pub fn with_allow(mut self, allow: Option<HeaderValue>) -> Problem {
        self.allow = allow;
        self
    }

    /// Returns the code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.error.code()
    }

    /// Returns the status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self.error.details().get("limit").and_then(Value::as_str) {
            // The request is short; answering it is too much work.
            Some("steps" | "steps_per_snapshot") => StatusCode::UNPROCESSABLE_ENTITY,
            _ => status(self.code()),
        }
    }

    /// Returns the body. The text of an internal error stays in the log.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let (code, status) = (self.code(), self.status());
        let wire = self.error.to_wire_with(advice::words).error;
        let (detail, details) = match status.is_server_error() && code.kind() == Kind::Internal {
            true => (code.meaning().to_owned(), Object::new()),
            false => (wire.message, wire.details),
        };
        Value::Object(Object::from_iter([
            ("type", Value::from(format!("docs/errors#{code}"))),
            ("title", code.meaning().into()),
            ("status", u64::from(status.as_u16()).into()),
            ("detail", detail.into()),
            ("code", code.as_str().into()),
            ("details", Value::Object(details)),
        ]))
    }
}

/// Why a request failed.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
// `Problem` is what `verify` finds in a store.
#[schemars(rename = "ProblemDetails")]
pub struct ProblemForm {
    /// Where the code is explained.
    r#type: String,
    /// What the code means.
    title: String,
    /// The status of the response.
    status: u16,
    /// The message.
    detail: String,
    /// The stable code, such as `E_SNAPSHOT_NOT_FOUND`.
    code: String,
    /// What the code calls for: `place`, `line`, `selector`, `errors`, `hints` …
    #[schemars(schema_with = "any_object")]
    details: (),
}

fn any_object(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "type": "object" })
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Problem { error, allow: None }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (code, status) = (self.code(), self.status());
        if status.is_server_error() {
            tracing::error!(code = code.as_str(), error = ?self.error, "a request failed");
        }
        let mut response = Response::new(Body::from(self.to_value().to_canonical()));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, PROBLEM);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if code == Code::Token {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if code.kind() == Kind::Unavailable {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if let Some(allow) = self.allow {
            headers.insert(header::ALLOW, allow);
        }
        response.extensions_mut().insert(code);
        response
    }
}

/// Returns the status of a code: that of its kind, unless HTTP has a better one.
#[must_use]
pub fn status(code: Code) -> StatusCode {
    match code {
        Code::Token => StatusCode::UNAUTHORIZED,
        Code::Method => StatusCode::METHOD_NOT_ALLOWED,
        Code::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::Host => StatusCode::MISDIRECTED_REQUEST,
        Code::JsonShape => StatusCode::UNPROCESSABLE_ENTITY,
        // The document is damaged, not the server.
        Code::DigestMismatch => StatusCode::UNPROCESSABLE_ENTITY,
        // The answer would be too large, or a selector too expensive, not the request.
        Code::ResultLimit => StatusCode::UNPROCESSABLE_ENTITY,
        Code::Deadline => StatusCode::SERVICE_UNAVAILABLE,
        Code::StoreReadOnly => StatusCode::FORBIDDEN,
        _ => match code.kind() {
            Kind::Usage => StatusCode::BAD_REQUEST,
            Kind::NotFound => StatusCode::NOT_FOUND,
            Kind::Exists | Kind::Conflict | Kind::Sealed => StatusCode::CONFLICT,
            Kind::Denied => StatusCode::FORBIDDEN,
            Kind::Limit => StatusCode::PAYLOAD_TOO_LARGE,
            Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        },
    }
}
