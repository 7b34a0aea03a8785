//! Credentials pass, and are kept nowhere.

use std::fs;
use std::path::Path;

use contextree_app::command::export::{ExportRequest, export};
use contextree_app::{Control, Workspace};
use contextree_testkit::upstream::Upstream;

use crate::fixture::{Fixture, request};

/// What clients send their keys in, each with a key of its own.
const HEADERS: [(&str, &str); 6] = [
    ("x-api-key", "key-of-anthropic"),
    ("authorization", "Bearer key-of-openai"),
    ("x-goog-api-key", "key-of-google"),
    ("api-key", "key-of-azure"),
    ("proxy-authorization", "Basic key-of-a-proxy"),
    ("cookie", "session=key-of-a-session"),
];

/// What all of them contain.
const KEY: &[u8] = b"key-of-";

fn has_key(bytes: &[u8]) -> bool {
    bytes.windows(KEY.len()).any(|it| it == KEY)
}

/// Returns the files of a folder that contain a key.
fn files_with_keys(folder: &Path) -> Vec<String> {
    let files =
        fs::read_dir(folder).expect("it exists").map(|file| file.expect("it exists").path());
    let found = files.filter(|file| has_key(&fs::read(file).expect("it is readable")));
    found.map(|file| file.display().to_string()).collect()
}

#[test]
fn keys_in_headers_and_addresses_are_neither_stored_nor_reported() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let url = format!("sqlite:{}", folder.path().join("record.db").display());
    let store = contextree::open(&url).expect("it is new");
    let mut fixture = Fixture::over(store, Upstream::start(), |_| {});
    let gemini = r#"{"contents":[{"role":"user","parts":[{"text":"Will it rain?"}]}]}"#;
    let path = "/google/v1beta/models/gemini-1:generateContent?key=key-of-an-address&alt=json";
    assert_eq!(fixture.post(path, &HEADERS, gemini).status, 200);
    // A call that fails and one that breaks off are reported with a reason.
    for (text, status) in [("Will it rain?", 200), ("fail once", 500)] {
        let path = "/anthropic/v1/messages?beta=true&api_key=key-of-an-address";
        assert_eq!(fixture.post(path, &HEADERS, &request("s", &[text], &[])).status, status);
    }
    let broken = request("s", &["please break off in the middle"], &[("stream", true.into())]);
    fixture.post("/anthropic/v1/messages?api_key=key-of-an-address", &HEADERS, &broken);

    let received = fixture.upstream.received();
    assert!(received.iter().all(|it| it.path.contains("key-of-an-address")), "keys pass");
    assert!(received.iter().all(|it| it.header("x-api-key") == Some("key-of-anthropic")));

    let reports = fixture.finish();
    assert!(reports.len() >= 4, "{reports:?}");
    assert!(!has_key(format!("{reports:?}").as_bytes()), "{reports:?}");
    assert_eq!(files_with_keys(folder.path()), [""; 0]);
    // Rows may be compressed: what the store returns has no key, either.
    for context in fixture.contexts() {
        let reader = fixture.store.reader(&context).expect("it was recorded");
        let attempts = format!("{:?}", reader.attempts().expect("it can be read"));
        assert!(!has_key(attempts.as_bytes()), "{context}: {attempts}");
        let state = ExportRequest { at: "@".parse().ok(), ..ExportRequest::default() };
        let workspace = Workspace::over(fixture.store.clone(), "memory:").with_context(&context);
        let working = export(&workspace, &state, &Control::default());
        assert!(!has_key(working.expect("it can be read").document.as_bytes()), "{context}");
        let exported = reader.snapshots().map(|it| it.expect("it can be read").export());
        assert!(!exported.into_iter().any(|snapshot| has_key(&snapshot)), "{context}");
    }
}
