//! Which upstream, which provider and which context a path names.
//!
//! ```text
//! /anthropic/v1/messages              the upstream `anthropic`
//! /p/research/openai/responses        the same for `openai`, into the context `research`
//! /v1/chat/completions                without an upstream: the one whose path it is
//! ```

use std::collections::BTreeMap;

use contextree::provider::Provider;
use contextree_app::Error;
use hyper::http::uri::{Authority, PathAndQuery, Scheme};
use hyper::{HeaderMap, Uri};
use percent_encoding::percent_decode_str;

/// Where calls are passed on to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    scheme: Scheme,
    authority: Authority,
    /// Without a slash at its end.
    path: String,
}

impl Upstream {
    /// Reads a base URL: `https://api.openai.com/v1`.
    ///
    /// # Errors
    ///
    /// If it is not an absolute URL with `http` or `https`, or has a password or a query.
    pub fn parse(url: &str) -> Result<Upstream, Error> {
        let invalid = || {
            let message = "an upstream is a base URL like `https://api.openai.com/v1`, without a password or a query";
            Error::usage(message).with_hint("`--upstream anthropic=https://gateway.example.org`")
        };
        let parsed: Uri = url.parse().map_err(|_| invalid())?;
        let (Some(scheme), Some(authority)) = (parsed.scheme(), parsed.authority()) else {
            return Err(invalid());
        };
        let is_known = *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS;
        if !is_known || parsed.query().is_some() || authority.as_str().contains('@') {
            return Err(invalid());
        }
        Ok(Upstream {
            scheme: scheme.clone(),
            authority: authority.clone(),
            path: parsed.path().trim_end_matches('/').to_owned(),
        })
    }

    /// Returns the host, with its port, for the header of this name.
    pub(crate) fn host(&self) -> &str {
        self.authority.as_str()
    }

    /// Returns the address of a path below the base URL.
    fn target(&self, path: &str, query: Option<&str>) -> Option<Uri> {
        // Base URLs are written with and without a version, which clients may add once more.
        let version = self.path.rsplit('/').next().filter(|last| is_version(last));
        let path = match version.and_then(|version| path.strip_prefix('/')?.strip_prefix(version)) {
            Some(rest) if rest.starts_with('/') => rest,
            _ => path,
        };
        let mut text = format!("{}{path}", self.path);
        if let Some(query) = query {
            text.push('?');
            text.push_str(query);
        }
        let target = PathAndQuery::try_from(text).ok()?;
        let built = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone());
        built.path_and_query(target).build().ok()
    }
}

fn is_version(part: &str) -> bool {
    let number = part.strip_prefix('v').unwrap_or_default();
    number.starts_with(|first: char| first.is_ascii_digit())
}

/// Upstreams by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstreams(BTreeMap<String, Upstream>);

/// The upstreams that are always there.
const KNOWN: [(&str, &str); 4] = [
    ("anthropic", "https://api.anthropic.com"),
    ("chatgpt", "https://chatgpt.com/backend-api/codex"),
    ("google", "https://generativelanguage.googleapis.com"),
    ("openai", "https://api.openai.com/v1"),
];

impl Default for Upstreams {
    fn default() -> Self {
        let parse = |(name, url): (&str, &str)| {
            (name.to_owned(), Upstream::parse(url).expect("the URL is a constant"))
        };
        Upstreams(KNOWN.into_iter().map(parse).collect())
    }
}

impl Upstreams {
    /// Sets an upstream by its text: `NAME=URL`.
    ///
    /// # Errors
    ///
    /// If the name is not made of letters, digits and `-_`, or the URL is invalid.
    pub fn set(&mut self, text: &str) -> Result<(), Error> {
        let (name, url) = text.split_once('=').unwrap_or(("", text));
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_".contains(it);
        // `p` begins the path of a context.
        if name.is_empty() || !name.chars().all(is_plain) || name == "p" || is_version(name) {
            let message = format!("`{name}` is not a name for an upstream");
            let hint = "write `NAME=URL`, such as `openai=http://localhost:11434/v1`";
            return Err(Error::usage(message).with_hint(hint));
        }
        self.0.insert(name.to_owned(), Upstream::parse(url)?);
        Ok(())
    }
}

/// Where a request belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// The context that the path names.
    pub(crate) context: Option<String>,
    pub(crate) upstream: Upstream,
    pub(crate) target: Uri,
    /// Whose call it is; `None` if it is not a model call.
    pub(crate) wire: Option<Wire>,
}

/// Whose call a request is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wire {
    pub(crate) provider: Provider,
    /// The model, if the path names it.
    pub(crate) model: Option<String>,
}

impl Upstreams {
    /// Returns where a request belongs; `None` if no upstream takes it.
    pub(crate) fn route(&self, uri: &Uri, headers: &HeaderMap) -> Option<Route> {
        let (context, path) = match uri.path().strip_prefix("/p/") {
            Some(rest) => {
                let (name, _) = rest.split_once('/')?;
                let decoded = percent_decode_str(name).decode_utf8().ok()?;
                (Some(decoded.into_owned()), &rest[name.len()..])
            }
            None => (None, uri.path()),
        };
        let first = path.strip_prefix('/').unwrap_or(path).split('/').next().unwrap_or_default();
        let (name, path) = match self.0.contains_key(first) {
            true => (first, &path[first.len() + 1..]),
            false => (usual(path, headers)?, path),
        };
        // What Codex sends with a ChatGPT account; the platform does not take its token.
        let is_chatgpt = name == "openai" && headers.contains_key("chatgpt-account-id");
        let upstream = self.0.get(if is_chatgpt { "chatgpt" } else { name })?;
        let target = upstream.target(path, uri.query())?;
        let wire = wire(target.path());
        Some(Route { context, upstream: upstream.clone(), target, wire })
    }
}

/// Returns the upstream of a path without one.
fn usual(path: &str, headers: &HeaderMap) -> Option<&'static str> {
    let version = path.strip_prefix('/')?.split('/').next()?;
    if headers.contains_key("anthropic-version") || path.contains("/v1/messages") {
        return Some("anthropic");
    }
    let is_google = headers.contains_key("x-goog-api-key")
        || version.starts_with("v1beta")
        || version.starts_with("v1alpha")
        || path.contains(":generateContent")
        || path.contains(":streamGenerateContent");
    match is_google {
        true => Some("google"),
        false => Some("openai"),
    }
}

/// Returns whose call a path is.
fn wire(path: &str) -> Option<Wire> {
    let of = |provider| Some(Wire { provider, model: None });
    let path = path.trim_end_matches('/');
    match path.rsplit('/').next()? {
        // Other interfaces have messages, too: `/v1/threads/t1/messages`.
        "messages" if path.ends_with("/v1/messages") => return of(Provider::Anthropic),
        "completions" if path.ends_with("/chat/completions") => return of(Provider::OpenAiChat),
        "responses" => return of(Provider::OpenAiResponses),
        _ => {}
    }
    let (model, action) = path.rsplit('/').next()?.split_once(':')?;
    let model = percent_decode_str(model).decode_utf8().ok().map(std::borrow::Cow::into_owned);
    match action {
        "generateContent" | "streamGenerateContent" => {
            Some(Wire { provider: Provider::Gemini, model })
        }
        "rawPredict" | "streamRawPredict" => Some(Wire { provider: Provider::Anthropic, model }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, context: Option<&str>, target: &str, provider: Option<Provider>) {
        let mut upstreams = Upstreams::default();
        upstreams.set("local=http://localhost:11434/v1/").expect("it is a URL");
        let uri: Uri = path.parse().expect("it is a path");
        let route = upstreams.route(&uri, &HeaderMap::new()).expect("it has an upstream");
        assert_eq!(route.context.as_deref(), context, "{path}");
        assert_eq!(route.target.to_string(), target, "{path}");
        assert_eq!(route.wire.map(|wire| wire.provider), provider, "{path}");
    }

    #[test]
    fn paths_name_upstream_context_and_provider() {
        let (chat, responses) = (Provider::OpenAiChat, Provider::OpenAiResponses);
        check(
            "/anthropic/v1/messages?beta=true",
            None,
            "https://api.anthropic.com/v1/messages?beta=true",
            Some(Provider::Anthropic),
        );
        check(
            "/v1/messages/count_tokens",
            None,
            "https://api.anthropic.com/v1/messages/count_tokens",
            None,
        );
        check("/openai/responses", None, "https://api.openai.com/v1/responses", Some(responses));
        check("/openai/v1/responses", None, "https://api.openai.com/v1/responses", Some(responses));
        check(
            "/v1/chat/completions",
            None,
            "https://api.openai.com/v1/chat/completions",
            Some(chat),
        );
        check(
            "/p/my%20run/local/chat/completions",
            Some("my run"),
            "http://localhost:11434/v1/chat/completions",
            Some(chat),
        );
        check(
            "/p/a/v1/responses",
            Some("a"),
            "https://api.openai.com/v1/responses",
            Some(responses),
        );
        check(
            "/openai/threads/t1/messages",
            None,
            "https://api.openai.com/v1/threads/t1/messages",
            None,
        );
        check(
            "/local/messages",
            None,
            "http://localhost:11434/v1/messages",
            Some(Provider::Anthropic),
        );
        check("/openai/models", None, "https://api.openai.com/v1/models", None);
        let gemini = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";
        check(
            "/google/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
            None,
            gemini,
            Some(Provider::Gemini),
        );
        check(
            "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
            None,
            gemini,
            Some(Provider::Gemini),
        );
    }

    #[test]
    fn calls_with_a_chatgpt_account_are_passed_on_to_its_upstream() {
        let mut headers = HeaderMap::new();
        headers.insert("chatgpt-account-id", hyper::header::HeaderValue::from_static("a1"));
        let uri: Uri = "/p/codex/openai/responses".parse().expect("it is a path");
        let route = Upstreams::default().route(&uri, &headers).expect("it has an upstream");
        let target = "https://chatgpt.com/backend-api/codex/responses";
        assert_eq!(route.target.to_string(), target);
        assert_eq!(route.wire.map(|wire| wire.provider), Some(Provider::OpenAiResponses));
    }

    #[test]
    fn invalid_upstreams_are_refused() {
        let mut upstreams = Upstreams::default();
        for text in [
            "",
            "openai",
            "openai=ftp://x",
            "p=http://x",
            "v1=http://x",
            "a b=http://x",
            "a=http://u:p@x",
            "a=http://x?y",
        ] {
            assert!(upstreams.set(text).is_err(), "{text}");
        }
    }
}
