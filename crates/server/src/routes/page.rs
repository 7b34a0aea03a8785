//! The page of the inspector: files that are part of the program.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use contextree::Code;
use sha2::{Digest as _, Sha256};

use super::Server;
use crate::shell::Problem;

/// What the page may load: its own files, and pictures that are part of a content.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; \
                      img-src 'self' data: blob:; connect-src 'self'; base-uri 'self'; \
                      form-action 'none'; frame-ancestors 'none'";

/// The media type of a page.
pub(crate) const HTML: &str = "text/html; charset=utf-8";

/// A file of the page.
struct File {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

/// The files of the page. The first is the page itself.
const FILES: [File; 6] = [
    File { name: "index.html", kind: HTML, bytes: include_bytes!("../../page/index.html") },
    File {
        name: "inspector.js",
        kind: "text/javascript; charset=utf-8",
        bytes: include_bytes!("../../page/inspector.js"),
    },
    File {
        name: "inspector.css",
        kind: "text/css; charset=utf-8",
        bytes: include_bytes!("../../page/inspector.css"),
    },
    File {
        name: "inter.woff2",
        kind: "font/woff2",
        bytes: include_bytes!("../../page/inter.woff2"),
    },
    File {
        name: "jetbrains-mono.woff2",
        kind: "font/woff2",
        bytes: include_bytes!("../../page/jetbrains-mono.woff2"),
    },
    File {
        name: "docs.css",
        kind: "text/css; charset=utf-8",
        bytes: include_bytes!("../../page/docs.css"),
    },
];

/// Returns the bytes of a file of the page.
pub(crate) fn bytes(name: &str) -> Option<&'static [u8]> {
    FILES.iter().find(|file| file.name == name).map(|file| file.bytes)
}

/// Answers with a file of the page, or, for every other address that a browser asks for a page, with the page itself: it shows what its
/// address says.
pub(crate) fn answer(server: &Arc<Server>, request: &Request<Body>) -> Response {
    let path = request.uri().path();
    let name = path.trim_start_matches('/');
    if let Some(file) = FILES.iter().find(|file| file.name == name) {
        return respond(server, file, request);
    }
    let accepts = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let wants_page = accepts.is_some_and(|accepts| accepts.contains("text/html"));
    let is_ours = ["v1", "docs"].contains(&name.split('/').next().unwrap_or_default());
    let is_get = matches!(*request.method(), Method::GET | Method::HEAD);
    match is_get && (name.is_empty() || (wants_page && !is_ours)) {
        true => respond(server, &FILES[0], request),
        false => Problem::new(Code::Route, "there is no such route").into_response(),
    }
}

/// Answers with something that anyone may see.
pub(crate) fn open(kind: &'static str, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
}

fn respond(server: &Server, file: &File, request: &Request<Body>) -> Response {
    let bytes = match file.name {
        "index.html" => based(&String::from_utf8_lossy(file.bytes), server.shell.site.prefix()),
        _ => Bytes::from_static(file.bytes),
    };
    let digits: String =
        Sha256::digest(&bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let tag = format!("W/\"{digits}\"");
    let is_known = request.headers().get(header::IF_NONE_MATCH).is_some_and(|known| *known == *tag);
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => Response::new(Body::from(bytes)),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.kind));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// Returns the page with the address that its links are relative to.
pub(crate) fn based(page: &str, prefix: &str) -> Bytes {
    page.replacen("<base href=\"/\">", &format!("<base href=\"{prefix}/\">"), 1).into()
}
