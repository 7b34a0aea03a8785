//! SNP: addresses, bytes, documents and back.

use contextree::json::{Value, parse};
use contextree::{CommitOptions, Context, ContextOptions, Cycle, Place, Profile, SnapshotAddress};

use crate::support::{block, commit, head, random_context, strict, turns, utf8};

// covers: SNP-005, SNP-006, CON-003, ERC-010
#[test]
fn snapshots_are_addressed_backwards_and_by_cycle() {
    let context = turns(4);
    let cycle = |text: &str| {
        let address: SnapshotAddress = text.parse()?;
        assert_eq!(address.to_string(), text.replace("@t-0", "@t0"));
        context.snapshot(address).map(contextree::Snapshot::cycle)
    };
    for (text, expected) in
        [("@t0", 4), ("@t-0", 4), ("@t-1", 3), ("@t-3", 1), ("@c4", 4), ("@c1", 1)]
    {
        assert_eq!(cycle(text), Ok(Cycle(expected)), "{text}");
    }
    for text in ["@t-4", "@c0", "@c5", "@t-18446744073709551615", "@t1"] {
        let error = cycle(text).unwrap_err();
        assert_eq!(error.code(), "E_SNAPSHOT_NOT_FOUND", "{text}: the present is never the past");
        assert!(error.to_string().contains(text));
    }
    for text in ["", "@", "t0", "@t", "@c", "@c-1", "@t--1", "@x1", "@t-1 ", "@c1x", "@t+1"] {
        assert_eq!(cycle(text).unwrap_err().code(), "E_SELECTOR_INVALID", "{text:?}");
    }
    assert_eq!(
        context.newest().map(contextree::Snapshot::cycle),
        Some(Cycle(4)),
        "the default is @t0"
    );
    let empty = Context::new();
    assert!(empty.newest().is_none());
    let error = empty.snapshot(SnapshotAddress::Back(0)).unwrap_err();
    assert_eq!(error.code(), "E_SNAPSHOT_NOT_FOUND");
}

// covers: SNP-005
#[test]
fn imported_snapshot_keeps_its_number_and_the_next_commit_follows() {
    let mut context = crate::support::lenient(r#"{"cycle":41,"root":{"id":"r"}}"#);
    assert_eq!(head(&context).cycle(), 41);
    assert_eq!(commit(&mut context).cycle, 42);
    assert_eq!(context.snapshot(SnapshotAddress::Cycle(41)).unwrap().cycle(), 41);
    assert!(context.snapshot(SnapshotAddress::Cycle(1)).is_err());
}

// covers: SNP-007, SNP-009, SNP-008
#[test]
fn bytes_of_a_cycle_can_be_read_again_at_any_time() {
    let mut context = turns(2);
    context.add(Place::head(), block("x").ttl(0)).unwrap();
    context.add(Place::head(), block("y").ttl(1)).unwrap();
    let preview = context.preview(&CommitOptions::default()).unwrap();
    let sent = preview.snapshot.thread();
    assert!(!utf8(&sent).contains(r#""x""#), "what expires with the commit is not sent");
    commit(&mut context);
    let (snapshot, export) = (head(&context).clone(), head(&context).export());
    assert_eq!(snapshot.thread(), sent);
    // A snapshot that is stored later, while work continues, gives the same bytes.
    let later = std::thread::spawn(move || (snapshot.export(), snapshot.thread()));
    context.add(Place::head(), block("z")).unwrap();
    context.remove("p1").unwrap();
    commit(&mut context);
    assert_eq!(later.join().unwrap(), (export, sent.clone()));
    assert_eq!(context.snapshot(SnapshotAddress::Cycle(3)).unwrap().thread(), sent);
}

// covers: SNP-010, SNP-014, SNP-013
#[test]
fn export_has_every_node_in_order_with_all_fields() {
    let mut context = turns(1);
    let node = block("x").key("k").tag("t").provenance("p").mime("text/plain").encoding("utf-8");
    let node = node.attribute("data_a", 1).pinned(true).priority(2).ttl(9).kind("text");
    context.add(Place::head(), node).unwrap();
    commit(&mut context);
    let export = head(&context).export();
    let value = parse(&export).unwrap();
    let keys: Vec<&str> = value.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["cycle", "root", "spec_version"]);
    assert_eq!(value.get("spec_version"), Some(&"PACT/0.1.0".into()));
    assert_eq!(value.get("cycle"), Some(&2.into()));
    assert_eq!(value.to_canonical(), export, "an export is canonical JSON");
    let text = utf8(&export);
    let at = text.find(r#""content":"x""#).unwrap();
    assert_eq!(
        &text[at - 1..text[at..].find('}').unwrap() + at + 1],
        concat!(
            r#"{"content":"x","created_at_iso":"1970-01-01T00:00:00.000000008Z","created_at_ns":8,"#,
            r#""creation_index":1,"cycle":2,"data_a":1,"encoding":"utf-8","id":"x","key":"k","#,
            r#""kind":"text","mime":"text/plain","nodeType":"block","offset":0,"pinned":true,"#,
            r#""priority":2,"provenance":"p","tags":["t"],"ttl":8}"#
        )
    );
}

// covers: SNP-011, SNP-012, DBG-004
#[test]
fn import_after_export_is_the_identity_on_all_bytes() {
    for seed in 0..60 {
        for snapshot in random_context(seed).history().iter() {
            let export = snapshot.export();
            for profile in [Profile::Strict, Profile::Lenient] {
                let again =
                    Context::import_snapshot(&export, profile, ContextOptions::default()).unwrap();
                let again = head(&again);
                assert_eq!(utf8(&again.export()), utf8(&export), "seed {seed}, {profile:?}");
                assert_eq!(again.thread(), snapshot.thread());
                assert_eq!(again.reference_bytes(), snapshot.reference_bytes());
                assert_eq!(again.digest(), snapshot.digest());
                assert_eq!(again.cycle(), snapshot.cycle());
            }
        }
    }
}

// covers: SNP-013
#[test]
fn versions_0_and_1_and_no_version_are_accepted() {
    let with = |version: &str| {
        let text = format!(r#"{{{version}"root":{{"id":"r"}}}}"#);
        Context::import_snapshot(text.as_bytes(), Profile::Lenient, ContextOptions::default())
            .map(|context| String::from_utf8(head(&context).export()).unwrap())
            .map_err(|error| error.code())
    };
    for version in ["", "PACT/0.1", "PACT/0.9.3", "PACT/1.0.0", "PACT/1.2"] {
        let fine = match version {
            "" => String::new(),
            version => format!(r#""spec_version":"{version}","#),
        };
        let fine = fine.as_str();
        assert!(with(fine).unwrap().contains(r#""spec_version":"PACT/0.1.0""#), "{fine}");
    }
    for bad in [r#""spec_version":"PACT/2.0","#, r#""spec_version":"TCAP/0.1","#] {
        assert_eq!(with(bad), Err("E_VERSION"), "{bad}");
    }
}

// covers: SNP-016, SNP-004, DIF-014
#[test]
fn reads_change_nothing() {
    let context = random_context(11);
    let digests = || -> Vec<_> { context.history().iter().map(|s| s.digest()).collect() };
    let (before, working) = (digests(), context.export_working());
    for snapshot in context.history().iter() {
        let _ = (snapshot.export(), snapshot.thread(), snapshot.reference_bytes());
        let _ = contextree::diff::changes(snapshot.view(), context.working());
        let _ = contextree::canon::thread::thread_positions(snapshot.view());
    }
    let _ = (context.export_history(), context.preview(&CommitOptions::default()).unwrap());
    let _ = context.select("@history .block").unwrap();
    assert_eq!((digests(), context.export_working()), (before, working));
}

// covers: SNP-015
#[test]
fn history_is_the_list_of_snapshots_and_only_grows() {
    let mut context = turns(1);
    let mut digests = Vec::new();
    for _ in 0..5 {
        let now: Vec<_> = context.history().iter().map(contextree::Snapshot::digest).collect();
        assert_eq!(now[..digests.len()], digests[..]);
        digests = now;
        commit(&mut context);
    }
    assert_eq!(digests.len(), 5);
}

// covers: SNP-012
#[test]
fn foreign_document_is_exported_unchanged() {
    // Fractions, nulls, unknown keys, missing headers: nothing is added or lost.
    let text = concat!(
        r#"{"cycle":3,"root":{"children":[{"children":[{"content":null,"id":"x","kind":null,"offset":1.5,"#,
        r#""priority":-0.25,"unknown":[1,{"a":null}]},{"id":"y","created_at_iso":"yesterday","offset":2.0}],"id":"h","#,
        r#""nodeType":"^ah"}],"id":"r"},"spec_version":"PACT/0.1.0"}"#
    );
    let context = crate::support::lenient(text);
    let export = head(&context).export();
    let value = parse(&export).unwrap();
    let head_region =
        value.get("root").and_then(|root| root.get("children")).and_then(Value::as_array).and_then(
            |regions| regions.iter().find(|region| region.get("nodeType") == Some(&"^ah".into())),
        );
    let original = parse(text.as_bytes()).unwrap();
    let expected = &original.get("root").unwrap().get("children").unwrap().as_array().unwrap()[0];
    assert_eq!(head_region, Some(expected));
    assert!(strict(&export).is_err(), "which does not make it strict");
}
