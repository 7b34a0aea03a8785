//! Tools that write.

use contextree_app::catalog::Right;
use serde_json::json;

use crate::client::Client;

#[test]
fn writing_tools_exist_only_for_callers_who_may_write() {
    let writer = Client::new(Right::Write);
    let offered = writer.tools();
    let writing = ["note", "pin", "unpin", "set_priority", "fork", "restore"];
    assert_eq!(offered[7..], writing);
    let tools = writer.send("tools/list", json!({}));
    for tool in &tools["result"]["tools"].as_array().expect("tools")[7..] {
        let properties = &tool["inputSchema"]["properties"];
        assert!(properties["limit"].is_object() && properties["cursor"].is_null(), "{tool}");
    }
    let reader = Client::new(Right::Read);
    for tool in writing {
        let refused = reader.call(tool, json!({"text": "x"})).expect_err("refused");
        assert_eq!(refused, format!("unknown tool `{tool}`"));
    }
}

#[test]
fn expired_document_is_brought_back_for_one_call() {
    let client = Client::new(Right::Write);
    let done = client.ask("restore", json!({"node": "block:1.2"}));
    assert_eq!(done, "added block:3.1 with the content of @c1, for the next call");
    let shown = client.ask("show", json!({"what": "block:3.1"}));
    assert!(shown.contains("document ttl=1 14 B: Forecast: rain"), "{shown}");
    client.app("commit", json!({}));
    client.app("commit", json!({}));
    assert!(client.call("show", json!({"what": "block:3.1"})).is_err(), "it expired again");
    let kept = client.call("restore", json!({"node": "block:1.1"})).expect_err("still there");
    assert!(kept.contains("there is nothing to bring back"), "{kept}");
}

#[test]
fn notes_pins_priorities_and_forks_are_stored() {
    let client = Client::new(Right::Write);
    let note = json!({"text": "metric units", "ttl": 3, "key": "units", "tags": ["user"]});
    assert_eq!(client.ask("note", note), "added block:3.1");
    assert_eq!(client.ask("pin", json!({"nodes": ["#units"]})), "pinned block:3.1");
    let shown = client.ask("show", json!({"what": "block:3.1", "full": true}));
    assert_eq!(shown, "block:3.1 user #units +user ttl=3 pinned 12 B:\nmetric units");
    assert_eq!(client.ask("unpin", json!({"nodes": ["block:3.1"]})), "unpinned block:3.1");
    let priority = client.ask("set_priority", json!({"nodes": ["block:3.1"], "priority": 5}));
    assert_eq!(priority, "priority of block:3.1 is 5");
    let forked = client.ask("fork", json!({"name": "what-if", "at": "@c1"}));
    assert_eq!(forked, "what-if  1 snapshots, newest @c1");
    assert!(client.ask("show", json!({"context": "what-if"})).contains("Forecast"));
}
