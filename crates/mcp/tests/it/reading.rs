//! Tools and resources that read.

use contextree_app::catalog::Right;
use serde_json::json;

use crate::client::Client;

const READ: [&str; 7] = ["contexts", "show", "select", "diff", "log", "tokens", "cache"];

#[test]
fn reader_is_offered_reading_tools_in_a_fixed_order() {
    let client = Client::new(Right::Read);
    assert_eq!(client.tools(), READ);
    let tools = client.send("tools/list", json!({}));
    for tool in tools["result"]["tools"].as_array().expect("tools") {
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        assert!(tool["description"].as_str().is_some_and(|about| about.contains("Example: {")));
        let schema = tool["inputSchema"].to_string();
        assert!(schema.contains("\"cursor\""), "{schema}");
        for unportable in ["\"format\"", "null", "$ref", "anyOf", "\"default\""] {
            assert!(!schema.contains(unportable), "{unportable} in {schema}");
        }
    }
}

#[test]
fn states_are_shown_selected_and_compared() {
    let client = Client::new(Right::Read);
    assert_eq!(client.ask("contexts", json!({})), "main  2 snapshots, newest @c2");
    let shown = client.ask("show", json!({"what": "@c1"}));
    assert!(shown.contains("block:1.2 block document ttl=0 14 B: Forecast: rain"), "{shown}");
    let found = client.ask("select", json!({"selector": "@t0 .block[role=user]"}));
    assert_eq!(found.lines().count(), 2, "{found}");
    let changed = client.ask("diff", json!({"from": "@c1", "to": "@c2"}));
    assert!(changed.contains("- (expired) block:1.2"), "{changed}");
    assert!(changed.contains("+ block:2.2 user 13 B: And tomorrow?"), "{changed}");
    let log = client.ask("log", json!({}));
    assert!(log.starts_with("@c2") && log.contains("1 expired"), "{log}");
    assert!(client.ask("tokens", json!({"at": "@t0", "by": "role"})).contains("user: "));
}

#[test]
fn reading_changes_nothing() {
    let client = Client::new(Right::Write);
    let before = client.app("export", json!({"what": "history"}));
    for tool in READ {
        let arguments = match tool {
            "select" => json!({"selector": "@* .block"}),
            _ => json!({}),
        };
        // A tool may have nothing to report; it must not change anything either way.
        let _ = client.call(tool, arguments);
    }
    assert_eq!(client.app("export", json!({"what": "history"})), before);
}

#[test]
fn answers_stay_within_their_limit_and_go_on_with_a_cursor() {
    let client = Client::new(Right::Read);
    for number in 0..100 {
        let content = format!("message {number} {}", "x".repeat(100));
        client.app("add", json!({"node": {"role": "user", "content": content}}));
    }
    let (mut seen, mut cursor) = (String::new(), None::<String>);
    loop {
        let mut arguments = json!({"limit": 1000});
        if let Some(cursor) = &cursor {
            arguments["cursor"] = json!(cursor);
        }
        let page = client.ask("show", arguments);
        assert!(page.len() <= 1000);
        cursor =
            page.rsplit_once("cursor \"").map(|(_, rest)| rest.trim_end_matches("\"]").to_owned());
        seen.push_str(&page);
        if cursor.is_none() {
            break;
        }
    }
    for number in 0..100 {
        assert!(seen.contains(&format!("message {number} ")), "message {number}");
    }
}

#[test]
fn contexts_and_snapshots_are_resources() {
    let client = Client::new(Right::Read);
    let listed = client.send("resources/list", json!({}));
    assert_eq!(listed["result"]["resources"][0]["uri"], "contextree://main");
    let read = client.send("resources/read", json!({"uri": "contextree://main/c1"}));
    let text = read["result"]["contents"][0]["text"].as_str().expect("a text");
    assert!(text.contains("Forecast: rain"), "{text}");
    for missing in ["contextree://main/c9", "contextree://other", "file:///etc/passwd", "x"] {
        let answer = client.send("resources/read", json!({"uri": missing}));
        assert!(answer["error"]["code"].is_number(), "{missing}: {answer}");
    }
}

#[test]
fn contexts_of_other_callers_do_not_exist() {
    let client = Client::new(Right::Write).for_names("team/");
    assert_eq!(client.ask("contexts", json!({})), "");
    assert!(client.call("show", json!({})).expect_err("hidden").starts_with("E_CONTEXT_NOT_FOUND"));
    assert!(client.call("fork", json!({"name": "team/x"})).is_err());
    let listed = client.send("resources/list", json!({}));
    assert_eq!(listed["result"]["resources"], json!([]));
}
