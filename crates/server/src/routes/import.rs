//! `import`: the document is the body, the options are in the query.

use std::sync::Arc;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Request, header};
use axum::response::{IntoResponse as _, Response};
use contextree_app::catalog::Right;
use contextree_app::command::import::{ImportRequest, import};
use contextree_app::wire::to_value;
use contextree_app::{Control, Error, Source};
use contextree_json::from_value;

use super::Server;
use super::command::{Received, collect, context_of};
use super::form::{Form, parameters};
use crate::shell::{Identity, Late, Problem, note_caller, require};

/// Answers a request to import its body.
pub(crate) async fn answer(
    server: Arc<Server>,
    form: Arc<Form>,
    request: Request<Body>,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let identity = match server.shell.identify(&parts.method, &parts.headers) {
        Ok(identity) => identity.clone(),
        Err(problem) => return problem.into_response(),
    };
    let done = run(&server, &form, &identity, &mut parts, body).await;
    let mut response = done.unwrap_or_else(Problem::into_response);
    note_caller(&identity, &mut response);
    response
}

async fn run(
    server: &Server,
    form: &Form,
    identity: &Identity,
    parts: &mut Parts,
    body: Body,
) -> Result<Response, Problem> {
    let request = form.read(parameters(parts.uri.query())?)?;
    let request: ImportRequest =
        from_value(request).map_err(|error| Error::new(error.code(), error.to_string()))?;
    require(identity, if request.dry_run { Right::Read } else { Right::Write })?;
    let workspace = server.workspace.clone().with_names(identity.names.clone());
    let workspace = workspace.with_context(context_of(parts).await?);
    let Received { bytes: document, room } =
        collect(server, &parts.headers, body, server.shell.limits.body).await?;
    let late = if request.dry_run { Late::Abandon } else { Late::Await };
    let limits = server.shell.limits.into();
    let work = move |cancel| {
        let _room = room;
        let source = Source {
            name: "the body".to_owned(),
            length: Some(document.len() as u64),
            reader: Box::new(&*document),
        };
        let control = Control::default().with_cancel(cancel).with_limits(limits);
        import(&workspace, &request, source, &control)
    };
    let imported = server.shell.pool.run(&identity.lane, late, work).await?;
    server.hub.wrote();
    let mut response = Response::new(Body::from(to_value(&imported).to_canonical()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
