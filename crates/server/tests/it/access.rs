//! Who may call what: every route with no token, a wrong one, a reader's, a writer's, an administrator's and another tenant's.

use contextree_app::catalog::{COMMANDS, Command, Right, Scope};
use contextree_json::Value;

use crate::client::Answer;
use crate::support::{ADMIN, OTHER, OWNER, READER, Served, Setup, WRITER, damage};

/// Returns a request that the command understands, as far as it matters for access.
fn body_of(command: &Command) -> &'static str {
    match command.name {
        "new" => r#"{"name":"acme/new"}"#,
        "fork" => r#"{"name":"acme/fork"}"#,
        "delete" => r#"{"name":"acme/spare"}"#,
        "add" => r#"{"node":{"content":"x"}}"#,
        "edit" => r#"{"target":"block:2.1","set":{"key":"k"}}"#,
        "remove" | "pin" | "unpin" => r#"{"targets":["block:2.1"]}"#,
        "move" => r#"{"target":"block:2.1","place":{"parent":"^sys"}}"#,
        "request" => r#"{"provider":"anthropic","settings":{"model":"m","max_tokens":9}}"#,
        "answer" => r#"{"response":{"text":"{}"}}"#,
        "attach" => r#"{"partial":{"text":"x"}}"#,
        "attempt-start" => r#"{"provider":"p","model":"m"}"#,
        "attempt-end" => r#"{"outcome":"canceled"}"#,
        "select" | "explain" => r#"{"selector":".block"}"#,
        "render" => r#"{"format":"thread"}"#,
        "cache" => r#"{"format":"anthropic"}"#,
        "node" | "node-history" => r#"{"id":"block:1.0"}"#,
        "lint" => r#"{"document":{"text":"{}"}}"#,
        "hash" => r#"{"nodes":{"text":"{}"}}"#,
        "canon" => r#"{"node":{"text":"{}"}}"#,
        "backup" => r#"{"path":"/nowhere/at/all"}"#,
        _ => "{}",
    }
}

fn path_of(command: &Command, context: &str) -> String {
    match command.scope {
        Scope::Context => format!("/v1/contexts/{}/{}", context.replace('/', "%2F"), command.name),
        _ => format!("/v1/{}", command.name),
    }
}

fn post(served: &Served, command: &Command, context: &str, token: Option<&str>) -> Answer {
    let call = served.call("POST", &path_of(command, context)).json(body_of(command));
    match token {
        Some(token) => call.token(token).send(),
        None => call.send(),
    }
}

/// What the token's right says about a command.
fn is_refused(answer: &Answer) -> bool {
    answer.status == 403 && answer.code() == "E_FORBIDDEN"
}

#[test]
fn every_command_refuses_callers_without_a_token_or_with_a_wrong_one() {
    let served = Served::new();
    for command in COMMANDS {
        for token in [None, Some("ctx_wrong_0123456789abcdef"), Some("")] {
            let answer = post(&served, command, "acme/main", token);
            assert_eq!((answer.status, answer.code()), (401, "E_TOKEN".into()), "{command:?}");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        }
    }
    let again = served.get("/v1/contexts/acme%2Fmain/status").json();
    assert_eq!(again.get("snapshots"), Some(&1.into()), "nothing was changed");
}

/// Returns every method of every route of the description, with a path of a context and whether anyone may call it.
fn described(served: &Served, context: &str) -> Vec<(String, String, bool)> {
    let document = served.get("/openapi.json").json();
    let paths = document.get("paths").and_then(Value::as_object).unwrap();
    let mut routes = Vec::new();
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().unwrap() {
            let path = path.replace("{context}", &context.replace('/', "%2F"));
            let is_open = operation.get("security").is_some();
            routes.push((method.to_uppercase(), path, is_open));
        }
    }
    routes
}

/// The commands above are called with requests that they understand; this is about every route there is, also those that are none.
#[test]
fn every_route_but_the_open_ones_needs_a_token() {
    let served = Served::new();
    let mut open = Vec::new();
    let mut routes = described(&served, "acme/main");
    assert!(routes.len() > COMMANDS.len(), "{routes:?}");
    routes.extend(["GET", "POST", "DELETE"].map(|it| (it.to_owned(), "/mcp".to_owned(), false)));
    for (method, path, is_open) in &routes {
        for token in ["", "ctx_wrong_0123456789abcdef"] {
            let authorization = format!("Bearer {token}");
            let value = if token.is_empty() { "" } else { authorization.as_str() };
            let answer = served.call(method, path).header("authorization", value).send();
            let is_refused = answer.status == 401 && answer.code() == "E_TOKEN";
            assert_eq!(is_refused, !is_open, "{method} {path}: {answer:?}");
        }
        if *is_open {
            open.push(format!("{method} {path}"));
        }
    }
    let expected = [
        "POST /v1/session",
        "DELETE /v1/session",
        "GET /health",
        "GET /ready",
        "GET /openapi.json",
    ];
    open.sort();
    let mut expected = expected.map(str::to_owned);
    expected.sort();
    assert_eq!(open, expected, "the page and its documentation are the only others");
}

#[test]
fn routes_that_are_no_commands_know_rights_and_tenants() {
    let served = Served::new();
    let import = |token: &str, name: &str| {
        let path = format!("/v1/contexts/{}/import", name.replace('/', "%2F"));
        let body = br#"{"messages":[{"role":"user","content":"Hello"}]}"#;
        served.call("POST", &path).token(token).bytes(body).send()
    };
    assert!(is_refused(&import(READER, "acme/log")));
    assert_eq!(import(WRITER, "acme/log").status, 200);
    assert_eq!(import(OTHER, "acme/log").code(), "E_CONTEXT_NAME");
    assert_eq!(import(OTHER, "acme/nada").code(), "E_CONTEXT_NAME");
    let events = |token: &str, path: &str| served.call("GET", path).token(token).open().read_head();
    for token in [READER, WRITER, ADMIN, OWNER] {
        assert_eq!(events(token, "/v1/contexts/acme%2Fmain/events").status, 200);
    }
    assert_eq!(events(OTHER, "/v1/contexts/acme%2Fmain/events").status, 404);
    for token in [READER, WRITER, ADMIN, OTHER, OWNER] {
        assert_eq!(events(token, "/v1/events").status, 200);
        assert_eq!(served.call("GET", "/v1/session").token(token).send().status, 200);
        let metrics = served.call("GET", "/metrics").token(token).send();
        assert_eq!(metrics.status, if token == OWNER { 200 } else { 403 });
    }
}

#[test]
fn a_token_gives_its_right_and_no_higher_one() {
    let served = Served::new();
    for command in COMMANDS {
        for (token, right) in [(READER, Right::Read), (WRITER, Right::Write)] {
            let answer = post(&served, command, "acme/main", Some(token));
            assert_eq!(is_refused(&answer), command.right > right, "{command:?}: {answer:?}");
        }
    }
}

#[test]
fn a_read_only_server_refuses_changes_by_anyone() {
    let served = Served::with(&Setup { read_only: true, ..Setup::default() });
    served.create("acme/main");
    for command in COMMANDS {
        let answer = post(&served, command, "acme/main", Some(OWNER));
        assert_eq!(is_refused(&answer), command.right > Right::Read, "{command:?}: {answer:?}");
    }
}

#[test]
fn a_dry_run_needs_only_the_right_to_read() {
    let served = Served::new();
    let call = |body: &str| {
        let path = "/v1/contexts/acme%2Fmain/commit";
        served.call("POST", path).token(READER).json(body).send()
    };
    assert_eq!(call(r#"{"change":{"dry_run":true}}"#).status, 200);
    assert_eq!(call(r#"{"change":{"dry_run":false}}"#).status, 403);
    assert_eq!(
        served.get("/v1/contexts/acme%2Fmain/status").json().get("snapshots"),
        Some(&1.into())
    );
}

/// Another tenant gets for a context that exists exactly what it gets for one that does not.
#[test]
fn contexts_of_another_tenant_cannot_be_told_from_missing_ones() {
    let served = Served::new();
    for command in COMMANDS.iter().filter(|command| command.scope == Scope::Context) {
        let there = post(&served, command, "acme/main", Some(OTHER));
        let missing = post(&served, command, "acme/nada", Some(OTHER));
        let text = |answer: &Answer| answer.text().replace("acme/main", "acme/nada");
        assert_eq!(text(&there), text(&missing), "{command:?}");
        assert_eq!(there.status, missing.status);
        assert!(there.status >= 400, "{command:?}: {there:?}");
        assert!(!there.text().contains("spare"), "{there:?}");
    }
    let delete = |name: &str| {
        let body = format!(r#"{{"name":"{name}"}}"#);
        served.call("POST", "/v1/delete").token(OTHER).json(&body).send()
    };
    assert_eq!(delete("acme/main").code(), "E_CONTEXT_NOT_FOUND");
    assert_eq!(
        delete("acme/main").text().replace("acme/main", "acme/nada"),
        delete("acme/nada").text()
    );
    for (path, body) in [
        ("/v1/new", r#"{"name":"acme/mine"}"#),
        ("/v1/new", r#"{"name":"acme/main"}"#),
        ("/v1/contexts/other%2Fmain/fork", r#"{"name":"acme/main"}"#),
    ] {
        let answer = served.call("POST", path).token(OTHER).json(body).send();
        assert_eq!(answer.code(), "E_CONTEXT_NAME", "{path} {body}");
    }
    let list = served.call("GET", "/v1/contexts").token(OTHER).send();
    assert!(list.text().contains("other/main") && !list.text().contains("acme"), "{list:?}");
    let events = served.call("GET", "/v1/contexts/acme%2Fmain/events").token(OTHER).send();
    assert_eq!(events.code(), "E_CONTEXT_NOT_FOUND");
}

/// The names of tools that an answer lists.
fn tools(answer: &Answer) -> Vec<String> {
    let list = answer.json();
    let list = list.get("result").and_then(|it| it.get("tools")?.as_array()).unwrap();
    let name = |tool: &Value| tool.get("name").and_then(Value::as_str).unwrap().to_owned();
    list.iter().map(name).collect()
}

fn is_error(answer: &Answer) -> bool {
    let answer = answer.json();
    let is_error = answer.get("result").and_then(|it| it.get("isError")?.as_bool());
    answer.get("error").is_some() || is_error == Some(true)
}

#[test]
fn tools_for_models_know_rights_and_tenants() {
    let served = Served::new();
    let writing = ["note", "pin", "unpin", "set_priority", "fork", "restore"];
    let note = r#"{"context":"acme/main","text":"Metric units."}"#;
    let show = r#"{"context":"acme/main"}"#;
    for (token, right) in [
        (READER, Right::Read),
        (WRITER, Right::Write),
        (ADMIN, Right::Admin),
        (OTHER, Right::Admin),
        (OWNER, Right::Admin),
    ] {
        let is_of_tenant = token != OTHER;
        let listed = tools(&served.ask_mcp(token, "tools/list", "{}"));
        for tool in writing {
            let is_listed = listed.iter().any(|name| name == tool);
            assert_eq!(is_listed, right >= Right::Write, "{token} {tool}");
        }
        assert_eq!(is_error(&served.tool(token, "show", show)), !is_of_tenant, "{token}");
        let may_write = is_of_tenant && right >= Right::Write;
        assert_eq!(is_error(&served.tool(token, "note", note)), !may_write, "{token}");
        let contexts = served.tool(token, "contexts", "{}").text();
        let resources = served.ask_mcp(token, "resources/list", "{}").text();
        for list in [contexts, resources.replace("%2F", "/")] {
            assert_eq!(list.contains("acme/main"), is_of_tenant, "{token}: {list}");
            assert_eq!(
                list.contains("other/main"),
                [OTHER, OWNER].contains(&token),
                "{token}: {list}"
            );
        }
    }
    let nodes =
        served.get("/v1/contexts/acme%2Fmain/thread?at=@").text().matches("Metric units.").count();
    assert_eq!(nodes, 3, "the writer, the administrator and the owner each added one");
}

/// Another tenant gets for a context that exists exactly what it gets for one that does not, from every tool and as a resource.
#[test]
fn tools_for_models_cannot_tell_contexts_of_another_tenant_from_missing_ones() {
    let served = Served::new();
    let same = |ask: &dyn Fn(&str) -> Answer| {
        let (there, missing) = (ask("acme/main"), ask("acme/nada"));
        let text = |answer: &Answer| {
            answer.text().replace("acme/main", "acme/nada").replace("acme%2Fmain", "acme%2Fnada")
        };
        assert_eq!((there.status, text(&there)), (missing.status, text(&missing)));
        assert!(is_error(&there) && !there.text().contains("rain"), "{there:?}");
    };
    for tool in tools(&served.ask_mcp(OTHER, "tools/list", "{}")) {
        let more = match tool.as_str() {
            "contexts" => continue,
            "select" => r#","selector":".block""#,
            "note" => r#","text":"x""#,
            "pin" | "unpin" => r#","nodes":["block:1.1"]"#,
            "set_priority" => r#","nodes":["block:1.1"],"priority":1"#,
            "fork" => r#","name":"other/fork""#,
            "restore" => r#","node":"block:1.1""#,
            _ => "",
        };
        same(&|name| served.tool(OTHER, &tool, &format!(r#"{{"context":"{name}"{more}}}"#)));
    }
    for state in ["", "/t0"] {
        same(&|name| {
            let name = name.replace('/', "%2F");
            let params = format!(r#"{{"uri":"contextree://{name}{state}"}}"#);
            served.ask_mcp(OTHER, "resources/read", &params)
        });
    }
    let fork = r#"{"context":"other/main","name":"acme/mine"}"#;
    assert!(is_error(&served.tool(OTHER, "fork", fork)), "names of others cannot be taken");
}

#[test]
fn what_concerns_the_whole_store_is_refused_to_tenants() {
    let served = Served::new();
    for (method, path) in [("POST", "/v1/verify"), ("POST", "/v1/backup"), ("GET", "/metrics")] {
        let call = served.call(method, path).token(ADMIN).json(r#"{"path":"/nowhere/at/all"}"#);
        let call = if path == "/v1/verify" { call.json("{}") } else { call };
        assert_eq!(call.send().code(), "E_FORBIDDEN", "{path}");
    }
    let gc = served.call("POST", "/v1/contexts/acme%2Fmain/gc").token(ADMIN).json("{}").send();
    assert_eq!(gc.json().get("bytes"), Some(&Value::Null), "the size of the store is not theirs");
    assert_eq!(served.get("/metrics").status, 200);
}

#[test]
fn a_page_exchanges_its_token_for_a_strict_cookie() {
    let served = Served::new();
    let body = format!(r#"{{"token":"{WRITER}"}}"#);
    let answer = served.call("POST", "/v1/session").json(&body).send();
    assert_eq!(answer.json().get("right"), Some(&"write".into()));
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict") && !cookie.contains(WRITER), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let origin = format!("http://{}", served.address);
    let with = |method: &str, path: &str| served.call(method, path).header("cookie", cookie);
    assert_eq!(with("GET", "/v1/contexts/acme%2Fmain/status").send().status, 200);
    let add = || with("POST", "/v1/contexts/acme%2Fmain/add").json(r#"{"node":{"content":"x"}}"#);
    assert_eq!(add().send().code(), "E_ORIGIN", "a page says where it is from");
    assert_eq!(add().header("origin", "http://evil.example").send().code(), "E_ORIGIN");
    assert_eq!(add().header("origin", &origin).send().status, 200);
    let wrong = served.call("POST", "/v1/session").json(r#"{"token":"no"}"#).send();
    assert_eq!(wrong.code(), "E_TOKEN");
    let end = with("DELETE", "/v1/session").send();
    assert!(end.header("set-cookie").unwrap().contains("Max-Age=0"));
}

/// Returns the cookie of a token.
fn cookie_of(served: &Served, token: &str) -> String {
    let body = format!(r#"{{"token":"{token}"}}"#);
    let answer = served.call("POST", "/v1/session").json(&body).send();
    answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
}

#[test]
fn pages_of_an_allowed_origin_call_with_a_token_and_never_with_a_cookie() {
    const OTHER_SITE: &str = "http://localhost:3000";
    let change = |config: &mut contextree_server::Config| {
        config.origins.push(OTHER_SITE.to_owned());
    };
    let served = Served::with(&Setup { change, ..Setup::default() });
    served.create("acme/main");
    let cookie = cookie_of(&served, OWNER);
    let from = |method: &str, path: &str| served.call(method, path).header("origin", OTHER_SITE);
    let status = "/v1/contexts/acme%2Fmain/status";
    let commit = "/v1/contexts/acme%2Fmain/commit";
    // What a browser sends without asking first: no token, no type of content.
    for (method, path) in [("GET", status), ("POST", commit), ("GET", "/v1/events")] {
        let answer = from(method, path).header("cookie", &cookie).send();
        assert_eq!((answer.status, answer.code()), (403, "E_ORIGIN".into()), "{method} {path}");
    }
    assert_eq!(served.get(status).json().get("snapshots"), Some(&1.into()), "nothing was changed");
    let login = format!(r#"{{"token":"{OWNER}"}}"#);
    assert_eq!(from("POST", "/v1/session").json(&login).send().code(), "E_ORIGIN");
    assert_eq!(from("DELETE", "/v1/session").send().code(), "E_ORIGIN");
    // With a token it may call, and its scripts may read the answer.
    let answer = from("POST", commit).token(OWNER).send();
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("access-control-allow-origin"), Some(OTHER_SITE));
    assert_eq!(answer.header("access-control-allow-credentials"), None, "no cookies");
    let ask = from("OPTIONS", commit).header("access-control-request-method", "POST");
    let asked = ask.header("access-control-request-headers", "authorization,content-type").send();
    assert_eq!(asked.header("access-control-allow-origin"), Some(OTHER_SITE));
    assert!(asked.header("access-control-allow-headers").unwrap().contains("authorization"));
    // The server's own pages go on as before, and pages of a third site are refused.
    let own = format!("http://{}", served.address);
    let with = |origin: &str| {
        served.call("POST", commit).header("cookie", &cookie).header("origin", origin).send()
    };
    assert_eq!(with(&own).status, 200);
    assert_eq!(with("http://localhost:3001").code(), "E_ORIGIN");
    let third = served.call("GET", status).token(OWNER).header("origin", "http://localhost:3001");
    assert_eq!(third.send().code(), "E_ORIGIN");
}

#[test]
fn a_damaged_context_of_another_tenant_is_not_felt() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let url = format!("sqlite:{}", path.display());
    let served = Served::with(&Setup { url, ..Setup::default() });
    for name in ["acme/main", "acme/spare", "other/main"] {
        served.create(name);
    }
    damage(&path, "other/main");
    let get = |path: &str, token: &str| served.call("GET", path).token(token).send();
    for path in
        ["/v1/contexts", "/v1/contexts?limit=1&after=acme%2Fmain", "/v1/contexts?branches=true"]
    {
        let list = get(path, ADMIN);
        assert_eq!(list.status, 200, "{list:?}");
        assert!(list.text().contains("acme/spare") && !list.text().contains("other"), "{list:?}");
    }
    let missing = get("/v1/contexts/acme%2Fspar/status", ADMIN);
    assert!(missing.text().contains("acme/spare") && !missing.text().contains("other"));
    assert_eq!(get("/v1/contexts", OTHER).code(), "E_STORE_CORRUPT", "its owner is told");
    assert_eq!(get("/v1/contexts", OWNER).code(), "E_STORE_CORRUPT");
}

#[test]
fn other_hosts_are_refused_before_anything_else_is_looked_at() {
    let served = Served::new();
    for path in ["/", "/health", "/docs", "/openapi.json", "/v1/contexts", "/nowhere"] {
        let answer = served.call("GET", path).header("host", "evil.example").token(OWNER).send();
        assert_eq!((answer.status, answer.code()), (421, "E_HOST".into()), "{path}");
    }
    let none = served.call("GET", "/health").header("host", "").send();
    assert!(none.status == 400 || none.code() == "E_HOST", "{none:?}");
}

#[test]
fn every_response_tells_browsers_to_be_strict() {
    let served = Served::new();
    for path in ["/", "/v1/contexts", "/docs", "/nowhere"] {
        let answer = served.get(path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
    }
}

#[test]
fn names_of_requests_do_not_tell_how_many_others_there_are() {
    let served = Served::new();
    let name = || {
        let answer = served.call("GET", "/health").send();
        u64::from_str_radix(answer.header("x-request-id").unwrap(), 16).unwrap()
    };
    let (first, second, third) = (name(), name(), name());
    assert_ne!(second.wrapping_sub(first), third.wrapping_sub(second), "they are not counted");
}
