//! Requests that a schema would refuse, and bodies that are too large together.

use std::io::Write as _;

use contextree_server::shell::Limits;

use crate::support::{Served, Setup};

#[test]
fn places_and_other_structs_are_objects() {
    let served = Served::new();
    for body in [
        r#"{"node":{"content":"x"},"place":[null,null]}"#,
        r#"{"node":{"content":"x"},"place":"^sys"}"#,
        r#"{"node":{"content":"x"},"place":{"parnt":"^sys"}}"#,
        r#"{"node":{"content":"x"},"change":[true]}"#,
    ] {
        let answer = served.post("/v1/contexts/acme%2Fmain/add", body);
        assert_eq!((answer.status, answer.code().as_str()), (422, "E_JSON_SHAPE"), "{body}");
    }
}

#[test]
fn parameter_that_is_null_is_refused_with_a_hint() {
    let answer = Served::new().get("/v1/contexts?limit=null");
    assert_eq!((answer.status, answer.code().as_str()), (422, "E_JSON_SHAPE"));
    assert!(answer.text().contains("leave it out"), "{}", answer.text());
}

#[test]
fn backup_to_a_path_that_cannot_be_written_is_the_fault_of_the_caller() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("store.db").display());
    let served = Served::with(&Setup { url, ..Setup::default() });
    let taken = folder.path().join("store.db").display().to_string();
    let long = "x".repeat(300);
    let wrong = (400, "E_USAGE");
    let cases = [
        ("", wrong),
        ("nowhere/x.db", wrong),
        ("a\\u0000b", wrong),
        (taken.as_str(), (409, "E_STORE_EXISTS")),
        (long.as_str(), wrong),
    ];
    for (path, expected) in cases {
        let answer = served.post("/v1/backup", &format!(r#"{{"path":"{path}"}}"#));
        assert_eq!((answer.status, answer.code().as_str()), expected, "{path}");
    }
}

#[test]
fn bodies_that_are_too_large_together_are_refused_and_leave_room_again() {
    let mut limits = Limits::default();
    limits.body = 64 << 10;
    limits.bodies = 64 << 10;
    let served = Served::with(&Setup { limits, ..Setup::default() });
    served.create("main");
    let open = || {
        let call = served.call("POST", "/v1/contexts/main/add").token(crate::support::OWNER);
        let call =
            call.header("content-type", "application/json").header("content-length", "60000");
        let mut slow = call.open();
        slow.0.get_mut().write_all(&[b' '; 50_000]).unwrap();
        slow
    };
    let text = "x".repeat(40_000);
    let body = format!(r#"{{"node":{{"content":"{text}"}}}}"#);
    let is_refused = || {
        let answer = served.post("/v1/contexts/main/add", &body);
        assert!(matches!(answer.status, 200 | 503), "{answer:?}");
        answer.status == 503 && answer.code() == "E_OVERLOADED"
    };
    // Whichever body arrives first has the room. If it was this one, the slow one was refused, and another takes its place.
    let slow = (0..200).find_map(|_| {
        let slow = open();
        (0..50).any(|_| is_refused()).then_some(slow)
    });
    assert!(slow.is_some(), "a second large body has no room");
    drop(slow);
    let accepted = (0..2_000).any(|_| served.post("/v1/contexts/main/add", &body).status == 200);
    assert!(accepted, "the room is free again when the slow caller is gone");
}
