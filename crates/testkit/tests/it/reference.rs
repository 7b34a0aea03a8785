//! REF: hashes, order and bytes of the specification's own code.

use contextree::json::{Object, Value, parse};
use contextree::{Content, Context, Edit, Hash, NewNode, Op, Place};

use crate::support::{apply, block, commit, head, move_to, random_context, turns};

fn node(text: &str) -> Object {
    parse(text.as_bytes()).unwrap().as_object().unwrap().clone()
}

// covers: REF-001, REF-005
#[test]
fn the_hash_is_taken_over_the_canonical_text() {
    let node = node(
        r#"{"id":"x","content":{"b":1.0,"a":"é"},"role":"user","data_z":[true],"content_type":"t","ttl":5}"#,
    );
    let text = concat!(
        r#"{"content":{"a":"\u00e9","b":1.0},"content_type":"t","data_z":[true],"kind":"","#,
        r#""role":"user"}"#
    );
    assert_eq!(contextree::canon::hashed_text(&node), text);
    assert_eq!(contextree::canon::content_hash_of_document(&node), Hash::of(text.as_bytes()));
    let printed = contextree::canon::content_hash_of_document(&node).to_string();
    assert!(printed.len() == 64 && printed.bytes().all(|byte| b"0123456789abcdef".contains(&byte)));
    assert_eq!(printed.parse(), Ok(contextree::canon::content_hash_of_document(&node)));
}

// covers: REF-002
#[test]
fn a_million_contents_have_a_million_hashes() {
    let mut hashes: Vec<[u8; 32]> = (0..1_000_000_u32)
        .map(|number| {
            let content = Value::from(format!("content {number}"));
            contextree::canon::content_hash_of_document(&Object::from_iter([("content", content)]))
                .0
        })
        .collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 1_000_000);
}

// covers: REF-003, REF-004, IDH-021
#[test]
fn the_hash_stays_when_a_node_moves_ages_or_is_weighed_anew() {
    let mut context = turns(1);
    context.add(Place::head(), block("x").ttl(9).role("tool").attribute("data_a", 1)).unwrap();
    let hash =
        |context: &Context, id: &str| contextree::content_hash(context.working().get(id).unwrap());
    let before = hash(&context, "x");
    apply(&mut context, move_to("x", Place::at("seg:1", 3)));
    apply(&mut context, Op::Pin { node: "x".into() });
    apply(&mut context, Op::SetPriority { node: "x".into(), priority: 5, policy: "p".into() });
    for (name, value) in [("key", "k"), ("provenance", "p"), ("mime", "text/plain")] {
        let edit = Edit { set: vec![(name.into(), value.into())], ..Edit::default() };
        context.edit("x", edit).unwrap();
    }
    assert_eq!(hash(&context, "x"), before);
    commit(&mut context);
    assert_eq!(hash(&context, "x"), before);
    let outcome = context.apply(move_to("x", Place::system())).unwrap();
    let contextree::Outcome::Moved { renamed, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(hash(&context, &renamed[0].1), before, "under another id too");
    let mut other = turns(0);
    other.add(Place::head(), NewNode::text("x").role("user").attribute("data_a", 1)).unwrap();
    assert_ne!(hash(&other, "block:1.2"), before, "but role, kind and content count");
}

// covers: ERC-005
#[test]
fn content_that_is_no_json_hashes_as_nothing_at_all() {
    let expected = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(Hash::of_invalid_content().to_string(), expected);
    assert!(Value::try_from(f64::NAN).is_err() && Value::try_from(f64::INFINITY).is_err());
}

// covers: ERC-005, ERC-006
#[test]
fn a_node_that_cannot_be_read_has_the_hash_of_nothing_and_a_warning() {
    for bytes in [&b"{\"content\": NaN}"[..], b"{\"content\": Infinity}", b"\xff\xfe", b"[1]", b""]
    {
        let (hash, warning) = contextree::canon::content_hash_of_bytes(bytes);
        assert_eq!(hash, Hash::of_invalid_content());
        let warning = warning.expect("it is said").to_string();
        assert!(warning.starts_with("the content is hashed as nothing"), "{warning}");
    }
    let (hash, warning) =
        contextree::canon::content_hash_of_bytes(br#"{"content":"x","role":"user"}"#);
    let node = Object::from_iter([("content", Value::from("x")), ("role", Value::from("user"))]);
    assert_eq!((hash, warning), (contextree::canon::content_hash_of_document(&node), None));
}

// covers: REF-006, REF-007, REF-008
#[test]
fn siblings_of_raw_documents_are_ordered_with_defaults_for_what_is_missing() {
    let siblings = parse(
        br#"[{"id":"d","offset":null},{"id":"c","created_at_ns":1},{"offset":0.5,"id":"e"},{"offset":-0.5,"id":"a"},{}]"#,
    )
    .unwrap();
    let ordered: Vec<&str> = contextree::canon::order_siblings(&siblings)
        .unwrap()
        .into_iter()
        .map(|node| node.get("id").and_then(Value::as_str).unwrap_or(""))
        .collect();
    assert_eq!(ordered, ["a", "", "d", "c", "e"]);
    for bad in [r#"[{"offset":"1"}]"#, r#"[1]"#, r#"{}"#, r#"[{"id":3}]"#] {
        let error = contextree::canon::order_siblings(&parse(bad.as_bytes()).unwrap()).unwrap_err();
        assert_eq!(error.code(), "E_DOCUMENT_INVALID", "{bad}");
    }
}

// covers: REF-009, REF-010, REF-011
#[test]
fn reference_bytes_of_a_snapshot_are_those_of_its_document() {
    for seed in 0..30 {
        for snapshot in random_context(seed).history().iter() {
            let document = parse(&snapshot.export()).unwrap();
            let bytes =
                contextree::canon::reference_bytes_of_document(document.get("root").unwrap());
            assert_eq!(snapshot.reference_bytes(), bytes.unwrap(), "seed {seed}");
        }
    }
}

// covers: REF-012
#[test]
fn the_hash_of_a_long_text_is_the_hash_of_its_whole_text() {
    // Long texts are hashed in pieces.
    for length in [4_094_usize, 4_095, 4_096, 4_097, 8_192, 100_000] {
        let text: String = "aé😀\"\n".chars().cycle().take(length).collect();
        let document = Object::from_iter([("content", Value::from(text.as_str()))]);
        let whole = Hash::of(contextree::canon::hashed_text(&document).as_bytes());
        assert_eq!(contextree::canon::content_hash_of_document(&document), whole);
        let mut context = turns(0);
        let node = NewNode { content: Content::Text(text.as_str().into()), ..NewNode::default() };
        context.add(Place::head(), node.id("x")).unwrap();
        commit(&mut context);
        assert_eq!(contextree::content_hash(head(&context).view().get("x").unwrap()), whole);
    }
}
