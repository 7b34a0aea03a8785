//! Reading: tags, lines, compression, rows.

use contextree_json::Value;

use crate::support::{OWNER, Served};

#[test]
fn a_response_is_sent_again_only_if_the_context_changed() {
    let served = Served::new();
    let path = "/v1/contexts/acme%2Fmain/show";
    let first = served.get(path);
    let tag = first.header("etag").unwrap().to_owned();
    assert_eq!(first.header("cache-control"), Some("private, no-cache"));
    let again = || served.call("GET", path).token(OWNER).header("if-none-match", &tag).send();
    assert_eq!((again().status, again().body.len()), (304, 0));
    served.post("/v1/contexts/acme%2Fmain/add", r#"{"node":{"content":"x"}}"#);
    assert_eq!(again().status, 200);
    assert_ne!(again().header("etag"), Some(tag.as_str()));
    let other = served.get("/v1/contexts/acme%2Fmain/show?what=@c1");
    assert_ne!(other.header("etag"), again().header("etag"), "the request is part of it");
}

#[test]
fn a_snapshot_keeps_its_tag_while_the_context_goes_on_until_its_content_is_redacted() {
    let served = Served::new();
    let main = "/v1/contexts/acme%2Fmain";
    let fork = "/v1/contexts/acme%2Ffork";
    assert_eq!(served.post(&format!("{main}/fork"), r#"{"name":"acme/fork"}"#).status, 200);
    let reads = ["show?what=@c1", "thread?at=@c1", "node?at=@c1&id=block:1.2", "rows?at=@c1"];
    let paths: Vec<String> =
        [main, fork].iter().flat_map(|it| reads.map(|read| format!("{it}/{read}"))).collect();
    let tags: Vec<String> =
        paths.iter().map(|path| served.get(path).header("etag").unwrap().to_owned()).collect();
    for context in [main, fork] {
        let add = r#"{"node":{"content":"x"}}"#;
        assert_eq!(served.post(&format!("{context}/add"), add).status, 200);
        assert_eq!(served.post(&format!("{context}/commit"), "{}").status, 200);
    }
    let again = |path: &str, tag: &str| {
        served.call("GET", path).token(OWNER).header("if-none-match", tag).send()
    };
    for (path, tag) in paths.iter().zip(&tags) {
        assert!(served.get(path).text().contains("Will it rain?"), "{path}");
        assert_eq!(again(path, tag).status, 304, "{path}");
    }
    // The fork has no copy of its own: it shares the one of its origin.
    let redact = r#"{"target":"block:1.2","reason":"a secret"}"#;
    let redacted = served.post(&format!("{main}/redact"), redact);
    assert_eq!(redacted.status, 200, "{redacted:?}");
    for (path, tag) in paths.iter().zip(&tags) {
        let answer = again(path, tag);
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.text().contains("Will it rain?"), "{path}: {answer:?}");
        assert!(answer.text().contains("[redacted: a secret]"), "{path}: {answer:?}");
    }
    let operations = served.get(&format!("{fork}/operations")).text();
    assert!(operations.contains("a secret"), "the fork knows of it: {operations}");
}

#[test]
fn lists_can_be_read_line_by_line() {
    let served = Served::new();
    let lines =
        served.call("GET", "/v1/contexts").token(OWNER).header("accept", "application/x-ndjson");
    let lines = lines.send();
    assert_eq!(lines.header("content-type"), Some("application/x-ndjson"));
    assert_eq!(lines.text().lines().count(), 3);
    let first = contextree_json::parse(lines.text().lines().next().unwrap().as_bytes()).unwrap();
    assert_eq!(first.get("name"), Some(&"acme/main".into()));
}

#[test]
fn lists_are_read_a_page_at_a_time_from_where_the_last_one_ended() {
    let served = Served::new();
    let mut names = Vec::new();
    let mut after = String::new();
    loop {
        let page = served.get(&format!("/v1/contexts?limit=2{after}")).json();
        let page = page.get("contexts").and_then(Value::as_array).unwrap().to_vec();
        let Some(last) = page.last().and_then(|row| row.get("name")?.as_str()) else { break };
        after = format!("&after={}", last.replace('/', "%2F"));
        // A context that is created before the place that was reached moves nothing.
        served.create(&format!("acme/a{}", names.len()));
        names.extend(page.iter().map(|row| row.get("name").unwrap().as_str().unwrap().to_owned()));
    }
    assert_eq!(names, ["acme/main", "acme/spare", "other/main"]);
    for _ in 0..4 {
        assert_eq!(served.post("/v1/contexts/acme%2Fmain/commit", "{}").status, 200);
    }
    let cycles = |log: &Value| -> Vec<(u64, String)> {
        let entries = log.get("entries").and_then(Value::as_array).unwrap();
        let one = |entry: &Value| {
            let address = entry.get("address").and_then(Value::as_str).unwrap();
            (entry.get("cycle").and_then(Value::as_u64).unwrap(), address.to_owned())
        };
        entries.iter().map(one).collect()
    };
    let whole = cycles(&served.get("/v1/contexts/acme%2Fmain/log").json());
    let mut paged = Vec::new();
    let mut before = String::new();
    loop {
        let page = served.get(&format!("/v1/contexts/acme%2Fmain/log?limit=2{before}")).json();
        let entries = cycles(&page);
        let Some((last, _)) = entries.last() else { break };
        before = format!("&before={last}");
        paged.extend(entries);
    }
    assert_eq!((paged.len(), paged), (5, whole));
}

#[test]
fn responses_are_compressed_for_those_who_ask() {
    let served = Served::new();
    let zipped = served.call("GET", "/openapi.json").header("accept-encoding", "gzip").send();
    assert_eq!(zipped.header("content-encoding"), Some("gzip"));
    assert!(zipped.body.starts_with(&[0x1f, 0x8b]));
    assert!(zipped.body.len() * 4 < served.get("/openapi.json").body.len());
    let small = "/v1/contexts/acme%2Fmain/status";
    let small = served.call("GET", small).token(OWNER).header("accept-encoding", "gzip").send();
    assert_eq!(small.header("content-encoding"), None, "a packet is a packet");
    assert!(small.body.len() < 1_400, "{small:?}");
}

#[test]
fn a_change_is_answered_as_what_it_is_for_callers_who_take_no_encoding() {
    let served = Served::new();
    for refused in ["*;q=0", "identity;q=0", "br, *;q=0.0"] {
        let call = served.call("POST", "/v1/contexts/acme%2Fmain/commit").token(OWNER).json("{}");
        let answer = call.header("accept-encoding", refused).send();
        assert_eq!((answer.status, answer.header("content-encoding")), (200, None), "{refused}");
        assert!(answer.json().get("report").is_some(), "{refused}: {answer:?}");
    }
    let wanted = served.call("GET", "/openapi.json").header("accept-encoding", "gzip, *;q=0");
    assert_eq!(wanted.send().header("content-encoding"), Some("gzip"));
}

#[test]
fn get_and_post_of_a_command_return_the_same() {
    let served = Served::new();
    let path = "/v1/contexts/acme%2Fmain/select";
    let got = served.get(&format!("{path}?selector=.block&limit=1&what=ids"));
    let posted = served.post(path, r#"{"selector":".block","limit":1,"what":"ids"}"#);
    assert_eq!((got.status, got.text()), (200, posted.text()));
}

#[test]
fn rows_come_in_pages_with_what_was_removed() {
    let served = Served::new();
    let main = "/v1/contexts/acme%2Fmain";
    // The user's message has a ttl of two commits: the second one still has it, the third does not.
    for _ in 0..2 {
        assert_eq!(served.post(&format!("{main}/commit"), "{}").status, 200);
    }
    let all = served.get(&format!("{main}/rows?at=@t0&against=@c1&model=gpt-5")).json();
    let column = |rows: &Value, name: &str| -> Vec<Value> {
        let column = rows.get("columns").and_then(|columns| columns.get(name)?.as_array());
        column.unwrap_or_default().to_vec()
    };
    let (ids, marks) = (column(&all, "id"), column(&all, "mark"));
    assert_eq!(ids.len(), marks.len());
    assert_eq!(all.get("total").and_then(Value::as_u64), Some(ids.len() as u64));
    let removed = marks.iter().position(|mark| mark.as_str() == Some("removed")).unwrap();
    let reason = column(&all, "reason")[removed].as_u64().unwrap();
    let words = all.get("words").and_then(Value::as_array).unwrap();
    assert_eq!(words[reason as usize].as_str(), Some("expired"));
    assert!(column(&all, "tokens_below")[0].as_u64() > Some(0));
    // Page by page, the same rows.
    let mut paged = Vec::new();
    let mut skip = Some(0);
    while let Some(at) = skip {
        let page = served
            .get(&format!("{main}/rows?at=@t0&against=@c1&columns=id&limit=3&skip={at}"))
            .json();
        paged.extend(column(&page, "id"));
        skip = page.get("next").and_then(Value::as_u64);
    }
    assert_eq!(paged, ids);
    let turns = served.get(&format!("{main}/rows?at=@t0&under=%5Eseq&depth=1&columns=id")).json();
    assert_eq!(column(&turns, "id").len(), 4, "the region and three turns");
    let found = served.get(&format!("{main}/rows?at=@t0&where=.block&columns=id")).json();
    assert_eq!(found.get("matched"), Some(&2.into()));
    let history = served.get(&format!("{main}/node-history?id=block:1.2")).json();
    let events = history.get("events").and_then(Value::as_array).unwrap().to_vec();
    let kinds: Vec<_> = events.iter().filter_map(|event| event.get("event")?.as_str()).collect();
    assert_eq!(kinds, ["added", "removed"]);
    assert_eq!(events[1].get("reason"), Some(&"expired".into()));
}
