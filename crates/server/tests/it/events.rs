//! Changes reach those who listen, whoever made them.

use contextree_json::{Value, parse};

use crate::client::Connection;
use crate::support::{OTHER, OWNER, Served, Setup, damage};

/// Reads events until one has a name; returns its data.
fn next(connection: &mut Connection, name: &str) -> Value {
    let mut text = String::new();
    loop {
        let chunk = connection.read_chunk();
        assert!(!chunk.is_empty(), "the stream ended: {text}");
        text.push_str(&String::from_utf8(chunk).unwrap());
        let Some(event) = text.split("\n\n").find(|it| it.contains(&format!("event: {name}\n")))
        else {
            continue;
        };
        let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        return parse(data.as_bytes()).unwrap();
    }
}

fn listen(served: &Served, path: &str) -> Connection {
    let mut connection = served.call("GET", path).token(OWNER).open();
    let head = connection.read_head();
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    connection
}

#[test]
fn a_listener_is_told_of_the_context_and_of_every_change() {
    let mut served = Served::new();
    let mut events = listen(&served, "/v1/contexts/acme%2Fmain/events");
    let before = next(&mut events, "changed").get("revision").and_then(Value::as_u64).unwrap();
    served.post("/v1/contexts/acme%2Fmain/add", r#"{"node":{"content":"x"}}"#);
    let after = next(&mut events, "changed").get("revision").and_then(Value::as_u64).unwrap();
    assert_eq!(after, before + 1);
    served.post("/v1/contexts/acme%2Fspare/add", r#"{"node":{"content":"x"}}"#);
    served.post("/v1/delete", r#"{"name":"acme/main"}"#);
    next(&mut events, "deleted");
    // A server that ends does not wait for those who listen.
    let mut others = listen(&served, "/v1/contexts/acme%2Fspare/events");
    next(&mut others, "changed");
    served.stop();
    assert!(others.read_chunk().is_empty());
}

#[test]
fn a_listener_to_all_contexts_is_told_of_each() {
    let served = Served::new();
    let mut events = listen(&served, "/v1/events");
    // From the head of the response on, no change is missed.
    served.post("/v1/contexts/acme%2Fmain/add", r#"{"node":{"content":"x"}}"#);
    assert_eq!(next(&mut events, "changed").get("name"), Some(&"acme/main".into()));
    served.post("/v1/delete", r#"{"name":"acme/spare"}"#);
    assert_eq!(next(&mut events, "deleted").get("name"), Some(&"acme/spare".into()));
}

#[test]
fn a_tenant_is_told_of_its_own_contexts_only() {
    let served = Served::new();
    let mut events = served.call("GET", "/v1/events").token(OTHER).open();
    assert_eq!(events.read_head().status, 200);
    served.post("/v1/contexts/acme%2Fmain/add", r#"{"node":{"content":"x"}}"#);
    served.post("/v1/delete", r#"{"name":"acme/spare"}"#);
    served.post("/v1/contexts/other%2Fmain/add", r#"{"node":{"content":"x"}}"#);
    // The first event of the stream: those of the other tenant, which came before, are not in it.
    let first = String::from_utf8(events.read_chunk()).unwrap();
    assert!(first.contains("other/main") && !first.contains("acme"), "{first}");
}

#[test]
fn changes_of_another_process_are_seen_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("a.db").display());
    check_changes_of_another_process(&url);
}

#[test]
fn changes_of_another_process_are_seen_in_postgresql() {
    check_changes_of_another_process(
        &contextree_testkit::postgres::shared().url_with("schema=server_events"),
    );
}

fn check_changes_of_another_process(url: &str) {
    let served = Served::with(&Setup { url: url.to_owned(), ..Setup::default() });
    served.create("main");
    let mut events = listen(&served, "/v1/contexts/main/events");
    let before = next(&mut events, "changed").get("revision").and_then(Value::as_u64).unwrap();
    // Another connection to the store, as another process has it.
    let other = contextree::open(url).unwrap();
    let mut session = other.session("main").unwrap();
    session
        .update(|context| {
            context.commit()?;
            Ok::<_, contextree::Error>(())
        })
        .unwrap();
    let after = next(&mut events, "changed");
    assert_eq!(after.get("revision").and_then(Value::as_u64), Some(before + 1));
}

#[test]
fn a_damaged_context_does_not_stop_the_events_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let url = format!("sqlite:{}", path.display());
    let served = Served::with(&Setup { url, ..Setup::default() });
    for name in ["acme/main", "other/main"] {
        served.create(name);
    }
    // The damaged one is looked at first.
    let mut damaged = listen(&served, "/v1/contexts/acme%2Fmain/events");
    next(&mut damaged, "changed");
    let mut other = listen(&served, "/v1/contexts/other%2Fmain/events");
    next(&mut other, "changed");
    let mut all = listen(&served, "/v1/events");
    damage(&path, "acme/main");
    let add = r#"{"node":{"content":"x"}}"#;
    assert_eq!(served.post("/v1/contexts/other%2Fmain/add", add).status, 200);
    assert_eq!(next(&mut other, "changed").get("name"), Some(&"other/main".into()));
    assert_eq!(next(&mut all, "changed").get("name"), Some(&"other/main".into()));
    // It was not deleted, as far as anyone can tell.
    served.create("zebra");
    let mut said = String::new();
    while !said.contains("zebra") {
        said.push_str(&String::from_utf8(all.read_chunk()).unwrap());
    }
    assert!(!said.contains("event: deleted"), "{said}");
    let mut late = listen(&served, "/v1/events");
    assert_eq!(served.post("/v1/contexts/other%2Fmain/add", add).status, 200);
    assert_eq!(next(&mut late, "changed").get("name"), Some(&"other/main".into()));
}
