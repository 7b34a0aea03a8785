//! Malformed documents: a code, a reason, a place; and never a panic.

use contextree::canon::Limits;
use contextree::engine::Cue;
use contextree::json::{Number, Object, Value, parse};
use contextree::{
    CommitOptions, Context, ContextOptions, DocumentError, Edit, Limit, NewNode, Op, Place, Policy,
    Profile,
};
use contextree_testkit::Rng;

use crate::support::{commit, head, random_context, turns, utf8};

fn import(text: impl AsRef<[u8]>, profile: Profile) -> Result<Context, DocumentError> {
    Context::import_snapshot(text.as_ref(), profile, ContextOptions::default())
}

/// Code and reason of the first problem.
#[track_caller]
fn refused(text: impl AsRef<[u8]>, profile: Profile) -> (&'static str, &'static str) {
    let shown = String::from_utf8_lossy(text.as_ref()).into_owned();
    match import(text, profile) {
        Ok(_) => panic!("{profile:?} accepted {shown}"),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            (error.code(), error.reason())
        }
    }
}

/// A lenient document with these nodes in the head.
fn in_head(nodes: &str) -> String {
    format!(
        r#"{{"root":{{"id":"r","children":[{{"id":"h","nodeType":"^ah","children":[{nodes}]}}]}}}}"#
    )
}

#[test]
fn what_is_no_json_is_refused_with_its_place() {
    let cases: [(&[u8], usize, usize); 12] = [
        (b"", 1, 1),
        (b"{", 1, 2),
        (b"nul", 1, 1),
        (b"{\"root\":{\"id\":\"r\",}}", 1, 19),
        (b"{\"root\":{\"id\":'r'}}", 1, 15),
        (b"{\"root\":{\"id\":\"r\"}} x", 1, 21),
        (b"{\"root\":{\"id\":\"r\",\n\"content\":NaN}}", 2, 11),
        (b"{\"root\":{\"id\":\"r\",\"content\":Infinity}}", 1, 29),
        (b"{\"root\":{\"id\":\"r\",\"content\":1e400}}", 1, 29),
        (b"{\"root\":{\"id\":\"r\",\"content\":\"\\ud800\"}}", 1, 29),
        (b"{\"root\":{\"id\":\"r\",\"content\":\"a\nb\"}}", 1, 29),
        (b"\xef\xbb\xbf{\"root\":{\"id\":\"r\"}}", 1, 1),
    ];
    for (text, line, column) in cases {
        for profile in [Profile::Strict, Profile::Lenient] {
            let Err(DocumentError::Json(error)) = import(text, profile) else {
                panic!("{} was accepted", String::from_utf8_lossy(text));
            };
            let shown = String::from_utf8_lossy(text).into_owned();
            assert_eq!(error.code(), "E_JSON_INVALID", "{shown}");
            assert_eq!(error.line(), line, "{shown}: {error}");
            assert!(error.column().abs_diff(column) <= 8, "{shown}: {error}, not near {column}");
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    for bad in [&b"\xff"[..], b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\xaf"] {
        for (before, after) in [
            ("{\"root\":{\"id\":\"", "\"}}"),
            ("", "{\"root\":{\"id\":\"r\"}}"),
            ("{\"root\":{\"id\":\"r\"}}", ""),
        ] {
            let text = [before.as_bytes(), bad, after.as_bytes()].concat();
            assert_eq!(refused(&text, Profile::Lenient).0, "E_JSON_INVALID");
        }
    }
}

#[test]
fn keys_that_stand_twice_are_refused_at_every_level() {
    for text in [
        r#"{"cycle":1,"cycle":1,"root":{"id":"r"}}"#.to_owned(),
        r#"{"root":{"id":"r"},"root":{"id":"q"}}"#.to_owned(),
        r#"{"x":1,"x":2,"root":{"id":"r"}}"#.to_owned(),
        r#"{"root":{"id":"r","id":"r"}}"#.to_owned(),
        in_head(r#"{"id":"x","content":1,"content":2}"#),
        in_head(r#"{"id":"x","data_a":1,"data_a":1}"#),
        in_head(r#"{"id":"x","children":[],"children":[]}"#),
        in_head(r#"{"id":"x","content":{"a":1,"\u0061":2}}"#),
        in_head(r#"{"id":"x","kind":null,"kind":"k"}"#),
    ] {
        for profile in [Profile::Strict, Profile::Lenient] {
            assert_eq!(refused(&text, profile).0, "E_JSON_INVALID", "{text}");
        }
    }
}

const PLACEMENT: &str = "E_INVALID_PLACEMENT";

// covers: STR-024, STR-006, STR-025, IDH-003, ERC-008
#[test]
fn what_no_profile_accepts() {
    let root = |children: &str| format!(r#"{{"root":{{"id":"r","children":[{children}]}}}}"#);
    let cases = [
        (in_head(r#"{"id":"x"},{"id":"x"}"#), PLACEMENT, "duplicate_id"),
        (
            in_head(r#"{"id":"g","nodeType":"mc","offset":1,"children":[{"id":"g"}]}"#),
            PLACEMENT,
            "duplicate_id",
        ),
        (in_head(r#"{"id":"r"}"#), PLACEMENT, "duplicate_id"),
        (in_head(r#"{"id":"h"}"#), PLACEMENT, "duplicate_id"),
        (
            root(r#"{"id":"a","nodeType":"^ah"},{"id":"b","nodeType":"^ah"}"#),
            PLACEMENT,
            "duplicate_region",
        ),
        (
            root(r#"{"id":"a","nodeType":"^sys"},{"id":"b","nodeType":"^sys"}"#),
            PLACEMENT,
            "duplicate_region",
        ),
        (root(r#"{"id":"a","nodeType":"^extra"}"#), PLACEMENT, "extra_region"),
        (root(r#"{"id":"a","nodeType":"cb"}"#), PLACEMENT, "extra_region"),
        (root(r#"{"id":"a"}"#), PLACEMENT, "extra_region"),
        (in_head(r#"{"id":"a","nodeType":"^sys"}"#), PLACEMENT, "extra_region"),
        (in_head(r#"{"id":"a","nodeType":"^root"}"#), PLACEMENT, "extra_region"),
        (in_head(r#"{"id":"x","ttl":-1}"#), PLACEMENT, "negative_ttl"),
        (in_head(r#"{"nodeType":"cb"}"#), "E_DOCUMENT_INVALID", "missing_header"),
        (in_head(r#"{"id":"x","ttl":1.5}"#), "E_DOCUMENT_INVALID", "invalid_header"),
        (in_head(r#"{"id":"x","ttl":4294967295}"#), "E_DOCUMENT_INVALID", "invalid_header"),
        (in_head(r#"{"id":"x","cycle":-1}"#), "E_DOCUMENT_INVALID", "invalid_header"),
        (
            in_head(r#"{"id":"x","created_at_ns":9223372036854775808}"#),
            "E_DOCUMENT_INVALID",
            "invalid_header",
        ),
        (
            in_head(r#"{"id":"x","offset":99999999999999999999}"#),
            "E_DOCUMENT_INVALID",
            "invalid_header",
        ),
        (in_head(r#"{"id":"x","creation_index":0.5}"#), "E_DOCUMENT_INVALID", "invalid_header"),
        (in_head(r#"{"id":null}"#), "E_DOCUMENT_INVALID", "invalid_header"),
        (in_head(r#"{"id":7}"#), "E_DOCUMENT_INVALID", "invalid_header"),
        ("{}".to_owned(), "E_DOCUMENT_INVALID", "missing_root"),
        (r#"{"cycle":4294967294,"root":{"id":"r"}}"#.to_owned(), "E_LIMIT", "number_out_of_range"),
        (r#"{"cycle":99999999999,"root":{"id":"r"}}"#.to_owned(), "E_LIMIT", "number_out_of_range"),
        (
            r#"{"spec_version":"PACT/2","root":{"id":"r"}}"#.to_owned(),
            "E_VERSION",
            "unknown_version",
        ),
    ];
    for (text, code, reason) in cases {
        assert_eq!(refused(&text, Profile::Lenient), (code, reason), "{text}");
        assert!(import(&text, Profile::Strict).is_err(), "{text}");
    }
}

#[test]
fn an_envelope_of_the_wrong_shape_is_refused() {
    for text in [
        "[]",
        "null",
        "7",
        r#""root""#,
        r#"{"root":[]}"#,
        r#"{"root":null}"#,
        r#"{"root":"r"}"#,
        r#"{"cycle":"1","root":{"id":"r"}}"#,
        r#"{"cycle":-1,"root":{"id":"r"}}"#,
        r#"{"cycle":1.5,"root":{"id":"r"}}"#,
        r#"{"spec_version":1,"root":{"id":"r"}}"#,
        r#"{"root":{"id":"r","children":{}}}"#,
        r#"{"root":{"id":"r","children":[7]}}"#,
        r#"{"root":{"id":"r","children":[null]}}"#,
        r#"{"root":{"id":"r","children":null}}"#,
    ] {
        for profile in [Profile::Strict, Profile::Lenient] {
            let expected = ("E_DOCUMENT_INVALID", "wrong_type");
            assert_eq!(refused(text, profile), expected, "{text}");
        }
    }
}

/// The strict export of two turns, with one piece of text replaced.
fn strict_with(piece: &str, by: &str) -> String {
    let context = turns(2);
    let export = String::from_utf8(head(&context).export()).unwrap();
    assert!(export.contains(piece), "{piece} is not in {export}");
    export.replacen(piece, by, 1)
}

fn all_headers(id: &str, node_type: &str, offset: i64, more: &str) -> String {
    format!(
        r#"{{"created_at_iso":"1970-01-01T00:00:00.000000001Z","created_at_ns":1,"creation_index":0,"cycle":1,"id":"{id}","nodeType":"{node_type}","offset":{offset},"priority":0,"ttl":null{more}}}"#
    )
}

// covers: STR-001, STR-010, STR-016, STR-023, PLO-002, IDH-007
#[test]
fn what_the_strict_profile_does_not_accept_and_the_lenient_does() {
    let export = String::from_utf8(head(&turns(2)).export()).unwrap();
    // The children of a turn, of the sequence, of a block: each gets one more.
    let into = |parent: &str, node: String| {
        let mut document = parse(export.as_bytes()).unwrap();
        insert_child(&mut document, parent, &parse(node.as_bytes()).unwrap());
        String::from_utf8(document.to_canonical()).unwrap()
    };
    let cases = [
        (into("seg:1", all_headers("c2", "cont", 0, r#","children":[]"#)), "second_core"),
        (into("seg:1", all_headers("b", "block", 0, "")), "block_beside_core"),
        (into("seq", all_headers("b", "block", 0, "")), "not_a_turn"),
        (into("seq", all_headers("b", "cont", 0, r#","children":[]"#)), "not_a_turn"),
        (into("seq", all_headers("t", "seg", 0, r#","children":[]"#)), "missing_core"),
        (into("sys", all_headers("t", "seg", 0, r#","children":[]"#)), "turn_outside_sequence"),
        (into("ah", all_headers("t", "mt", 1, "")), "turn_outside_sequence"),
        (into("u1", all_headers("b", "block", 0, "")), "children_under_block"),
        (into("sys", all_headers("b", "block", 0, r#","removable":true"#)), "removable_block"),
        (
            into("ah", all_headers("c", "cont", 0, r#","removable":true,"children":[]"#)),
            "core_lifecycle",
        ),
    ];
    for (text, reason) in cases {
        assert_eq!(refused(&text, Profile::Strict), (PLACEMENT, reason), "{text}");
        if !["core_lifecycle"].contains(&reason) {
            assert!(import(&text, Profile::Lenient).is_ok(), "{reason}");
        }
    }
    let missing = strict_with(r#""nodeType":"^sys""#, r#""nodeType":"^ah""#);
    let (code, _) = refused(&missing, Profile::Strict);
    assert_eq!(code, PLACEMENT);
    let context = turns(1);
    let mut document = parse(&head(&context).export()).unwrap();
    let Value::Object(envelope) = &mut document else { panic!() };
    let Some(Value::Object(root)) = envelope.get_mut("root") else { panic!() };
    let Some(Value::Array(regions)) = root.get_mut("children") else { panic!() };
    regions.remove(0);
    let text = document.to_canonical();
    assert_eq!(refused(&text, Profile::Strict), (PLACEMENT, "missing_region"));
    assert!(import(&text, Profile::Lenient).is_ok(), "a missing region is an empty one");
}

fn insert_child(node: &mut Value, parent: &str, child: &Value) {
    let Value::Object(fields) = node else { return };
    if let Some(root) = fields.get_mut("root") {
        return insert_child(root, parent, child);
    }
    let is_parent = fields.get("id").and_then(Value::as_str) == Some(parent);
    if is_parent && !fields.contains_key("children") {
        fields.insert("children", Value::Array(vec![]));
    }
    if let Some(Value::Array(children)) = fields.get_mut("children") {
        if is_parent {
            children.push(child.clone());
        } else {
            children.iter_mut().for_each(|node| insert_child(node, parent, child));
        }
    }
}

#[test]
fn all_problems_of_a_document_are_listed_with_their_nodes() {
    let nodes: Vec<String> =
        (0..250).map(|index| format!(r#"{{"id":"n{index}","ttl":-1}}"#)).collect();
    let text = in_head(&nodes.join(","));
    let Err(DocumentError::Invalid(issues)) = import(&text, Profile::Lenient) else { panic!() };
    assert_eq!(issues.len(), 100, "as many as anybody reads");
    for (index, issue) in issues.iter().enumerate() {
        assert_eq!((issue.code, issue.reason), (PLACEMENT, "negative_ttl"));
        assert_eq!(issue.node, format!("n{index}"));
        assert!(text[issue.offset..].starts_with(&format!(r#"{{"id":"n{index}""#)), "{issue}");
    }
}

#[test]
fn documents_beyond_the_limits_are_refused() {
    let with = |limits: Limits, text: &str| {
        let options = ContextOptions { limits, ..ContextOptions::default() };
        Context::import_snapshot(text.as_bytes(), Profile::Lenient, options)
            .map(|_| ())
            .map_err(|error| (error.code(), error.reason()))
    };
    let limits = Limits::default();
    let text = in_head(
        r#"{"id":"x","content":"12345678901","data_a":1,"data_b":2,"data_c":3},{"id":"y"}"#,
    );
    assert_eq!(with(limits, &text), Ok(()));
    for (limits, reason) in [
        (Limits { max_nodes: 3, ..limits }, "too_many_nodes"),
        (Limits { max_depth: 2, ..limits }, "too_deep"),
        (Limits { max_content_bytes: 10, ..limits }, "content_too_large"),
        (Limits { max_name_bytes: 3, ..limits }, "name_too_long"),
        (Limits { max_attributes: 2, ..limits }, "too_many_attributes"),
    ] {
        assert_eq!(with(limits, &text), Err(("E_LIMIT", reason)));
    }
    let small = Limits { max_document_bytes: 20, ..limits };
    assert_eq!(with(small, &text).unwrap_err().0, "E_LIMIT");
}

#[test]
fn nothing_recurses_without_bound() {
    for depth in [70, 401, 5_000, 200_000] {
        let nested = format!(
            "{}{}",
            r#"{"id":"g","nodeType":"mc","children":["#.repeat(depth),
            "]}".repeat(depth)
        );
        let (code, _) = refused(in_head(&nested), Profile::Lenient);
        assert_eq!(code, "E_LIMIT", "{depth} nested nodes");
        let content = format!(
            r#"{{"id":"x","content":{}{}}}"#,
            "[".repeat(depth.max(2_000)),
            "]".repeat(depth.max(2_000))
        );
        let (code, _) = refused(in_head(&content), Profile::Lenient);
        assert_eq!(code, "E_LIMIT", "content {depth} deep");
        let envelope = format!(
            r#"{{"x":{}{},"root":{{"id":"r"}}}}"#,
            "[".repeat(depth.max(2_000)),
            "]".repeat(depth.max(2_000))
        );
        assert_eq!(refused(envelope, Profile::Lenient).0, "E_LIMIT");
    }
}

#[test]
fn lines_of_a_history_that_do_not_fit_are_refused_with_their_number() {
    let context = turns(3);
    let text = String::from_utf8(context.export_history()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let import = |text: &str| {
        Context::import_history(text.as_bytes(), Profile::Strict, ContextOptions::default())
            .map(|context| context.history().len())
            .map_err(|error| (error.line, error.code(), error.error.reason()))
    };
    assert_eq!(import(&text), Ok(3));
    assert_eq!(
        import(&text.replace('\n', "\r\n\n")),
        Ok(3),
        "blank lines and line ends do not matter"
    );
    assert_eq!(import(&lines[..2].join("\n")), Ok(2));
    let digest = context.history().get(1).unwrap().digest().to_string();
    let other = context.history().get(2).unwrap().digest().to_string();
    let cases = [
        (String::new(), 1, "E_JSON_INVALID", "not_json"),
        ("\n\n".to_owned(), 1, "E_JSON_INVALID", "not_json"),
        (lines[1..].join("\n"), 1, "E_DOCUMENT_INVALID", "missing_snapshot"),
        ([lines[0], lines[2]].join("\n"), 2, "E_DOCUMENT_INVALID", "cycle_gap"),
        ([lines[0], lines[0]].join("\n"), 2, "E_DOCUMENT_INVALID", "cycle_gap"),
        ([lines[0], lines[1], lines[1]].join("\n"), 3, "E_DOCUMENT_INVALID", "cycle_gap"),
        (text.replace(&digest, &other), 2, "E_DIGEST_MISMATCH", "digest_mismatch"),
        (text.replace(&digest, "xyz"), 2, "E_DOCUMENT_INVALID", "invalid_digest"),
        (
            text.replace(r#""content":"u2""#, r#""content":"forged""#),
            2,
            "E_DIGEST_MISMATCH",
            "digest_mismatch",
        ),
        (
            text.replace(r#""content":"u1""#, r#""content":"forged""#),
            2,
            "E_DIGEST_MISMATCH",
            "digest_mismatch",
        ),
        (
            text.replace(r#"["cont:2",{"content""#, r#"["nobody",{"content""#),
            2,
            "E_DOCUMENT_INVALID",
            "unknown_node",
        ),
        (
            lines[1].replace(r#""removed":[]"#, r#""removed":["nobody"]"#),
            1,
            "E_DOCUMENT_INVALID",
            "missing_snapshot",
        ),
        (
            text.replacen(r#""removed":[]"#, r#""removed":["nobody"]"#, 1),
            2,
            "E_DOCUMENT_INVALID",
            "unknown_node",
        ),
    ];
    for (text, line, code, reason) in cases {
        assert_eq!(import(&text), Err((line, code, reason)), "{text}");
    }
}

/// A line that says what changed is checked like a whole document: it can break nothing.
#[test]
fn hostile_lines_of_a_history_are_refused() {
    let mut context = turns(2);
    context.add(Place::system(), crate::support::group("g")).unwrap();
    context.add(Place::into("g"), crate::support::group("inner")).unwrap();
    commit(&mut context);
    let first = format!("{}\n", utf8(&head(&context).export()));
    let line = |nodes: &str, removed: &str| {
        format!(r#"{first}{{"cycle":4,"nodes":[{nodes}],"removed":[{removed}]}}"#)
    };
    let node = |parent: &str, id: &str, node_type: &str, offset: i64| {
        let children = if node_type.starts_with("block") { "" } else { r#","children":[]"# };
        format!(r#"["{parent}",{}]"#, all_headers(id, node_type, offset, children))
    };
    let cases = [
        // Cycles and wrong parents.
        line(&node("g", "g", "cont", 0), ""),
        line(&node("inner", "g", "cont", 0), ""),
        line(&node("s", "x", "block", 0), ""),
        line(&node("seq", "x", "block", 0), ""),
        line(&node("root", "x", "block", 0), ""),
        line(&node("root", "x", "^sys", 0), ""),
        line(&node("sys", "x", "^ah", 0), ""),
        line(&node("sys", "x", "seg", 0), ""),
        line(&node("seg:1", "x", "cont", 0), ""),
        line(&node("nobody", "x", "block", 0), ""),
        // The fixed containers.
        line(&node("g", "sys", "^sys", 0), ""),
        line(&node("ah", "root", "^root", 0), ""),
        line(&node("root", "seq", "block", 0), ""),
        line("", r#""root""#),
        line("", r#""seq""#),
        line("", r#""nobody""#),
        // A turn without a core.
        line("", r#""cont:1""#),
        // The same node twice.
        line(&[node("g", "x", "block", 0), node("g", "x", "block", 1)].join(","), ""),
        // Shapes.
        line("7", ""),
        line("[]", ""),
        line(r#"["g"]"#, ""),
        line(r#"["g",{"id":"x"},1]"#, ""),
        line("", "7"),
    ];
    for text in cases {
        let last = text.lines().last().unwrap_or_default().to_owned();
        ends(&last.clone(), move || {
            let options = ContextOptions::default();
            match Context::import_history(text.as_bytes(), Profile::Strict, options) {
                Ok(_) => panic!("accepted: {last}"),
                Err(error) => assert_eq!(error.line, 2, "{last}: {error}"),
            }
            // The lenient profile may accept some of them, but holds together then.
            let options = ContextOptions::default();
            if let Ok(context) = Context::import_history(text.as_bytes(), Profile::Lenient, options)
            {
                use_it(context, text.as_bytes());
            }
        });
    }
}

/// Fails if something does not come to its end within half a minute.
fn ends(name: &str, work: impl FnOnce() + Send + 'static) {
    let (done, wait) = std::sync::mpsc::channel();
    let worker = std::thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    match wait.recv_timeout(std::time::Duration::from_secs(30)) {
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("does not end: {name}"),
        _ => worker.join().expect("what went wrong is printed above"),
    }
}

/// Whatever is accepted must hold together: it can be exported, read again, rendered and committed.
fn use_it(mut context: Context, original: &[u8]) {
    let export = head(&context).export();
    let again = import(&export, Profile::Lenient)
        .unwrap_or_else(|error| panic!("an export cannot be imported: {error}\n{}", utf8(&export)));
    assert_eq!(utf8(&head(&again).export()), utf8(&export));
    let shown = String::from_utf8_lossy(original);
    assert_eq!(head(&again).digest(), head(&context).digest(), "{shown}");
    assert_eq!(head(&again).thread(), head(&context).thread());
    commit(&mut context);
    let export = head(&context).export();
    assert!(import(&export, Profile::Lenient).is_ok(), "{}", utf8(&export));
    let lines = context.export_history();
    let again = Context::import_history(&lines, Profile::Lenient, ContextOptions::default())
        .unwrap_or_else(|error| panic!("{error}\n{}", utf8(&lines)));
    assert_eq!(again.history_digest(), context.history_digest());
}

#[test]
fn every_truncation_of_an_export_is_an_error() {
    let context = turns(2);
    let export = head(&context).export();
    for length in 0..export.len() {
        let (code, _) = refused(&export[..length], Profile::Strict);
        assert_eq!(code, "E_JSON_INVALID", "{length} bytes");
    }
    let lines = context.export_history();
    let whole: Vec<usize> =
        lines.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    for length in 0..lines.len() {
        let read =
            Context::import_history(&lines[..length], Profile::Strict, ContextOptions::default());
        // A history that ends with a complete line is a shorter history, with or without the end of that line.
        let is_complete = whole.iter().any(|end| length == *end || length == *end + 1);
        assert_eq!(read.is_ok(), is_complete, "{length} bytes");
    }
}

#[test]
fn flipped_bytes_never_panic() {
    let mut accepted = 0;
    let mut rng = Rng::new(99);
    for seed in 0..12 {
        let context = random_context(seed);
        let export = head(&context).export();
        let lines = context.export_history();
        for _ in 0..150 {
            let flip = |text: &[u8], rng: &mut Rng| {
                let mut text = text.to_vec();
                for _ in 0..=rng.below(3) {
                    let at = usize::try_from(rng.below(text.len() as u64)).unwrap();
                    text[at] = match rng.below(3) {
                        0 => u8::try_from(rng.below(256)).unwrap(),
                        1 => text[at] ^ (1 << rng.below(8)),
                        _ => {
                            b"{}[]\",:0123456789-.entrufals\\"
                                [usize::try_from(rng.below(28)).unwrap()]
                        }
                    };
                }
                text
            };
            let text = flip(&export, &mut rng);
            let _ = import(&text, Profile::Strict);
            if let Ok(context) = import(&text, Profile::Lenient) {
                accepted += 1;
                use_it(context, &text);
            }
            let text = flip(&lines, &mut rng);
            for profile in [Profile::Strict, Profile::Lenient] {
                let _ = Context::import_history(&text, profile, ContextOptions::default());
            }
        }
    }
    assert!(accepted > 100, "only {accepted} documents were accepted: the test looks at nothing");
}

/// A node as a careless or hostile writer might make it.
fn odd_node(rng: &mut Rng, depth: u32, next: &mut u32) -> Value {
    let mut node = Object::new();
    *next += 1;
    node.insert("id", Value::from(format!("n{next}")));
    let pick = |rng: &mut Rng, texts: &[&str]| {
        let text = texts[usize::try_from(rng.below(texts.len() as u64)).unwrap()];
        parse(text.as_bytes()).unwrap()
    };
    let numbers = [
        "0",
        "1",
        "-1",
        "2",
        "0.5",
        "-0.0",
        "0.0",
        "1e300",
        "-9223372036854775808",
        "9223372036854775807",
        "null",
    ];
    for name in ["offset", "priority"] {
        if rng.below(3) > 0 {
            node.insert(name, pick(rng, &numbers));
        }
    }
    let counts = ["0", "1", "2", "3.0", "4294967293", "null"];
    for name in ["cycle", "created_at_ns", "creation_index"] {
        if rng.below(3) > 0 {
            node.insert(name, pick(rng, &counts));
        }
    }
    if rng.below(2) > 0 {
        node.insert("ttl", pick(rng, &["null", "0", "1", "7", "4294967294"]));
    }
    if rng.below(4) > 0 {
        let types =
            [r#""cb""#, r#""mc""#, r#""cont:x""#, r#""mt""#, r#""weird""#, r#""""#, r#""block""#];
        node.insert("nodeType", pick(rng, &types));
    }
    for (name, values) in [
        ("removable", &["true", "false", "null", "1"][..]),
        ("pinned", &["true", "false", "\"yes\""][..]),
        ("role", &["null", "\"user\"", "\"\""][..]),
        (
            "content",
            &["null", "\"text\"", "{\"a\":[1]}", "0.1", "123456789012345678901234567890"][..],
        ),
        ("data_refs", &["\"n1\"", "[\"n2\",\"n3\",7]", "{}", "null"][..]),
        ("data_call_id", &["\"c\"", "1", "null"][..]),
        ("tags", &["[\"a\"]", "\"a\"", "null"][..]),
        ("created_at_iso", &["\"now\"", "null", "\"1970-01-01T00:00:00.000000000Z\""][..]),
        ("x y", &["1"][..]),
        ("parent", &["\"nobody\"", "7"][..]),
        ("content_hash", &["\"00\""][..]),
    ] {
        if rng.below(4) == 0 {
            node.insert(name, pick(rng, values));
        }
    }
    if depth < 4 && rng.below(3) == 0 {
        let children = (0..rng.below(4)).map(|_| odd_node(rng, depth + 1, next)).collect();
        node.insert("children", Value::Array(children));
    }
    node.into()
}

/// A document of odd nodes.
fn odd_document(rng: &mut Rng) -> Vec<u8> {
    let mut next = 0;
    let regions = ["^ah", "^seq", "^sys"].map(|word| {
        let children = (0..rng.below(4)).map(|_| odd_node(rng, 0, &mut next)).collect();
        Value::Object(Object::from_iter([
            ("id", Value::from(&word[1..])),
            ("nodeType", Value::from(word)),
            ("children", Value::Array(children)),
        ]))
    });
    let root = Object::from_iter([("id", Value::from("r")), ("children", regions.to_vec().into())]);
    let cycle = Value::Number(Number::from_u64(rng.below(5)));
    let document = Object::from_iter([("cycle", cycle), ("root", root.into())]);
    Value::Object(document).to_canonical()
}

#[test]
fn odd_documents_that_are_accepted_hold_together() {
    let mut accepted = 0;
    for seed in 0..1_500 {
        let text = odd_document(&mut Rng::new(seed));
        if let Ok(context) = import(&text, Profile::Lenient) {
            accepted += 1;
            use_it(context, &text);
        }
    }
    assert!(accepted > 300, "only {accepted} documents were accepted: the test looks at nothing");
}

/// Some operation on nodes that are there, sensible or not.
fn odd_op(rng: &mut Rng, context: &Context) -> Op {
    let ids: Vec<&str> = context.working().nodes().map(|(_, node)| node.id()).collect();
    let mut name = || ids[usize::try_from(rng.below(ids.len() as u64)).unwrap()].to_owned();
    let (node, parent) = (name(), name());
    let number = rng.below(5);
    let place = match rng.below(4) {
        0 => Place::Into { parent, offset: None },
        1 => Place::at(parent, i64::try_from(number).unwrap() - 2),
        2 => Place::cue(parent, Cue::After(u32::try_from(number).unwrap())),
        _ => Place::cue(parent, Cue::Start),
    };
    match rng.below(6) {
        0 => Op::Add { place, node: NewNode::text("new").ttl(1) },
        1 => Op::Add { place, node: NewNode::container("mc") },
        2 => Op::Remove { node },
        3 => Op::Edit { node, edit: Edit { content: Some("y".into()), ..Edit::default() } },
        4 => Op::Pin { node },
        _ => Op::Move { node, place },
    }
}

#[test]
fn operations_on_odd_documents_never_panic_and_keep_them_whole() {
    let (mut done, mut refused) = (0, 0);
    for seed in 0..1_500 {
        let mut rng = Rng::new(seed);
        let text = odd_document(&mut rng);
        let Ok(mut context) = import(&text, Profile::Lenient) else { continue };
        for _ in 0..12 {
            let op = odd_op(&mut rng, &context);
            let before = context.export_working();
            match context.apply(op.clone()) {
                Ok(_) => done += 1,
                Err(_) => {
                    refused += 1;
                    assert_eq!(context.export_working(), before, "{op:?} changed something");
                }
            }
            let export = context.export_working();
            let next = context.next_cycle();
            let options = ContextOptions::default();
            let again = Context::import_working(&export, Profile::Lenient, next, options)
                .unwrap_or_else(|error| panic!("{op:?}: {error}"));
            assert_eq!(utf8(&again.export_working()), utf8(&export), "after {op:?}");
        }
        let policy = Policy {
            protect_turns: 0,
            limits: vec![Limit::Remove(2), Limit::Depth(1)],
            ..Policy::default()
        };
        let options = CommitOptions { policy: Some(&policy), ..CommitOptions::default() };
        context.commit_with(&options).unwrap();
        use_it(context, &text);
    }
    assert!(done > 1_000 && refused > 1_000, "{done} were carried out and {refused} refused");
}
