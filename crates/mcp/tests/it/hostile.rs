//! Arguments that are wrong, huge or meant to do harm.

use contextree_app::catalog::Right;
use serde_json::{Value, json};

use crate::client::Client;

#[test]
fn wrong_arguments_get_a_code_and_change_nothing() {
    let client = Client::new(Right::Write);
    let before = client.app("export", json!({"what": "history"}));
    let status = client.app("status", json!({}));
    let cases = [
        ("show", json!({"nothing": 1}), "E_JSON_SHAPE"),
        ("show", json!({"what": 7}), "E_JSON_SHAPE"),
        ("show", json!({"what": "@t-99"}), "E_SNAPSHOT_NOT_FOUND"),
        ("show", json!({"context": "none"}), "E_CONTEXT_NOT_FOUND"),
        ("show", json!({"limit": 1}), "E_USAGE"),
        ("show", json!({"limit": -1}), "E_JSON_SHAPE"),
        ("show", json!({"cursor": "x"}), "E_USAGE"),
        ("select", json!({}), "E_JSON_SHAPE"),
        ("select", json!({"selector": ".block["}), "error[E_SELECTOR_INVALID]"),
        ("diff", json!({"from": "yesterday"}), "E_"),
        ("tokens", json!({"by": "colour"}), "E_USAGE"),
        ("note", json!({"text": " "}), "E_USAGE"),
        ("note", json!({"text": "x", "ttl": -1}), "E_USAGE"),
        ("restore", json!({"node": "block:1.1", "ttl": 0}), "E_USAGE"),
        ("pin", json!({"nodes": ["block:9.9"]}), "E_NODE_NOT_FOUND"),
        ("pin", json!({"nodes": []}), "E_USAGE"),
        ("set_priority", json!({"nodes": [], "priority": 1}), "E_USAGE"),
        ("select", json!({"selector": "(".repeat(50_000)}), "error[E_"),
        ("set_priority", json!({"nodes": ["block:9.9"], "priority": 1}), "E_"),
        ("set_priority", json!({"nodes": ["block:1.1"], "priority": 1.5}), "E_JSON_SHAPE"),
        ("fork", json!({"name": "main"}), "E_CONTEXT_EXISTS"),
        ("restore", json!({"node": "block:9.9"}), "E_NODE_NOT_FOUND"),
    ];
    for (tool, arguments, code) in cases {
        let text = client.call(tool, arguments.clone()).expect_err("refused");
        assert!(text.starts_with(code), "{tool} {arguments}: {text}");
        assert!(text.len() < 5_000, "{tool} {arguments}: {} bytes", text.len());
    }
    assert_eq!(client.app("export", json!({"what": "history"})), before);
    assert_eq!(client.app("status", json!({})), status);
}

#[test]
fn tools_that_write_check_all_arguments_before_they_write() {
    let client = Client::new(Right::Write);
    let before = client.app("show", json!({}));
    let names = client.app("contexts", json!({}));
    let calls = [
        ("note", json!({"text": "x"})),
        ("pin", json!({"nodes": ["block:1.1"]})),
        ("unpin", json!({"nodes": ["block:1.1"]})),
        ("set_priority", json!({"nodes": ["block:1.1"], "priority": 3})),
        ("fork", json!({"name": "other"})),
        ("restore", json!({"node": "block:1.2"})),
    ];
    for (tool, arguments) in &calls {
        for (name, value) in
            [("limit", json!(499)), ("limit", json!(50_001)), ("cursor", json!("1.0.0"))]
        {
            let mut arguments = arguments.clone();
            arguments[name] = value;
            let text = client.call(tool, arguments.clone()).expect_err("refused");
            assert!(text.starts_with("E_USAGE"), "{tool} {arguments}: {text}");
            assert_eq!(client.app("show", json!({})), before, "{tool}");
            assert_eq!(client.app("contexts", json!({})), names, "{tool}");
        }
    }
    // Without them, each does its work.
    for (tool, arguments) in calls {
        client.ask(tool, arguments);
    }
}

#[test]
fn large_contents_and_deep_arguments_are_bounded() {
    let client = Client::new(Right::Write);
    let text = "é".repeat(100_000);
    client.ask("note", json!({"text": text}));
    for full in [false, true] {
        assert!(client.ask("show", json!({"full": full})).len() <= 8_000);
    }
    let mut deep = Value::Null;
    for _ in 0..100 {
        deep = json!([deep]);
    }
    assert!(client.call("show", json!({"what": deep})).is_err());
    assert!(client.call("../show", json!({})).is_err());
    assert!(client.call("", json!({})).is_err());
}
