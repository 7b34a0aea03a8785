//! Headers: what is passed on, and the few that the record knows.
//!
//! Everything passes but what belongs to one connection. The record never sees headers as a whole: it gets the conversation that a client
//! names and the id that a provider gives a request, each by the name of its header. Credentials are in none of them.

use contextree_app::record::Conversation;
use hyper::HeaderMap;
use hyper::header::{self, HeaderName, HeaderValue};

/// Headers of one connection, which the other has its own of.
const OF_CONNECTION: [&str; 8] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// The headers by which clients name a session.
const SESSIONS: [&str; 5] =
    ["x-claude-code-session-id", "session_id", "session-id", "conversation_id", "x-session-id"];

/// The headers by which clients name an agent within a session.
const AGENTS: [&str; 3] = ["x-claude-code-agent-id", "x-openai-subagent", "x-agent-id"];

/// The headers by which providers name a request.
const REQUESTS: [&str; 4] = ["request-id", "x-request-id", "x-goog-request-id", "apim-request-id"];

/// Removes what belongs to the connection, and what the `Connection` header names besides.
pub(crate) fn pass_on(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    // Not removed one by one, which would change the order of the others.
    let is_own = |name: &HeaderName| named.contains(name) || OF_CONNECTION.contains(&name.as_str());
    let mut passed = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers.iter().filter(|(name, _)| !is_own(name)) {
        passed.append(name.clone(), value.clone());
    }
    *headers = passed;
}

/// Removes what describes a body that is not the one that is sent.
pub(crate) fn of_another_body(headers: &mut HeaderMap) {
    let of_body = ["content-length", "content-encoding", "content-md5", "content-digest", "digest"];
    let mut passed = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers.iter().filter(|(name, _)| !of_body.contains(&name.as_str())) {
        passed.append(name.clone(), value.clone());
    }
    *headers = passed;
}

/// Sets the host of a request that is passed on.
pub(crate) fn set_host(headers: &mut HeaderMap, host: &str) {
    if let Ok(host) = HeaderValue::from_str(host) {
        headers.insert(header::HOST, host);
    }
}

/// Returns the conversation that a client names.
pub(crate) fn conversation(headers: &HeaderMap) -> Option<Conversation> {
    let session = first(headers, &SESSIONS)?;
    Some(Conversation { session, agent: first(headers, &AGENTS) })
}

/// Returns the id that a provider gave a request.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    first(headers, &REQUESTS)
}

/// Returns the encoding of a body; `None` if it is plain.
pub(crate) fn encoding(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_ENCODING)?.to_str().ok()?.trim();
    (!value.is_empty() && !value.eq_ignore_ascii_case("identity"))
        .then(|| value.to_ascii_lowercase())
}

/// Returns the value of the first of some headers that there is.
fn first(headers: &HeaderMap, names: &[&str]) -> Option<String> {
    let values = names.iter().filter_map(|name| headers.get(*name)?.to_str().ok());
    let mut values = values.map(str::trim).filter(|value| !value.is_empty() && value.len() <= 256);
    values.next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn only_headers_of_the_connection_are_removed() {
        let mut given = headers(&[
            ("connection", "keep-alive, x-hop"),
            ("x-hop", "1"),
            ("authorization", "Bearer secret"),
            ("anthropic-beta", "a,b"),
            ("transfer-encoding", "chunked"),
        ]);
        pass_on(&mut given);
        let left: Vec<&str> = given.keys().map(HeaderName::as_str).collect();
        assert_eq!(left, ["authorization", "anthropic-beta"]);
    }

    #[test]
    fn clients_name_their_conversations() {
        let claude =
            headers(&[("x-claude-code-session-id", "s1"), ("x-claude-code-agent-id", "a1")]);
        let named = Conversation { session: "s1".to_owned(), agent: Some("a1".to_owned()) };
        assert_eq!(conversation(&claude), Some(named));
        assert_eq!(conversation(&headers(&[("authorization", "x")])), None);
    }
}
