//! Errors have one form, also those that no command makes.

use contextree_json::Value;

use crate::support::{OWNER, Served};

#[test]
fn errors_of_commands_have_the_code_and_the_details_of_the_command_line() {
    let served = Served::new();
    let answer = served.get("/v1/contexts/acme%2Fmain/select?selector=%5Eseq%20:frist");
    assert_eq!((answer.status, answer.code().as_str()), (400, "E_SELECTOR_INVALID"));
    let details = answer.json().get("details").cloned().unwrap();
    let first = details.get("errors").and_then(|errors| errors.as_array()?.first().cloned());
    let span = first.as_ref().and_then(|error| error.get("span"));
    assert_eq!(span, Some(&Value::Array(vec![5.into(), 11.into()])));
    let missing = served.get("/v1/contexts/acme%2Fmain/show?what=@c9");
    assert_eq!((missing.status, missing.code().as_str()), (404, "E_SNAPSHOT_NOT_FOUND"));
    let unknown = served.get("/v1/contexts/acme%2Fmian/status");
    assert_eq!((unknown.status, unknown.code().as_str()), (404, "E_CONTEXT_NOT_FOUND"));
    assert!(unknown.text().contains("did you mean `acme/main`?"), "{unknown:?}");
}

#[test]
fn what_the_framework_refuses_has_the_same_form() {
    let served = Served::new();
    let path = "/v1/contexts/acme%2Fmain/select";
    let post = || served.call("POST", path).token(OWNER);
    let cases = [
        (served.get("/v1/nowhere"), 404, "E_ROUTE"),
        (served.call("PUT", path).token(OWNER).send(), 405, "E_METHOD"),
        (post().json("{").send(), 400, "E_JSON_INVALID"),
        (post().json("[1]").send(), 422, "E_JSON_SHAPE"),
        (post().json(r#"{"selector":1}"#).send(), 422, "E_JSON_SHAPE"),
        (post().json(r#"{"colour":1}"#).send(), 422, "E_JSON_SHAPE"),
        (post().header("content-type", "text/plain").bytes(b"{}").send(), 415, "E_MEDIA_TYPE"),
        (served.get(&format!("{path}?selectr=.block")), 400, "E_USAGE"),
        (served.get(&format!("{path}?selector=.block&limit=x")), 400, "E_JSON_INVALID"),
        (served.get(&format!("{path}?selector=.a&selector=.b")), 400, "E_USAGE"),
        (served.get(&format!("{path}?selector=%FF")), 400, "E_USAGE"),
        (served.get("/v1/contexts/%FF/status"), 400, "E_USAGE"),
        (served.post("/v1/new?name=x", "{}"), 400, "E_USAGE"),
    ];
    for (answer, status, code) in cases {
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{answer:?}");
    }
    let method = served.call("PUT", path).token(OWNER).send();
    let allow = method.header("allow").unwrap();
    assert!(allow.contains("GET") && allow.contains("POST"), "{allow}");
}

#[test]
fn integers_may_be_written_with_a_fraction_of_zero() {
    let served = Served::new();
    let path = "/v1/contexts/acme%2Fmain/select";
    let answer = served.post(path, r#"{"selector":".block","limit":1.0}"#);
    assert_eq!(answer.status, 200, "JSON Schema takes 1.0 for an integer: {answer:?}");
    let answer = served.post(path, r#"{"selector":".block","limit":1.5}"#);
    assert_eq!(answer.code(), "E_JSON_SHAPE");
}
