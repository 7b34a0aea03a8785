//! Positions of writes and node specifications.

use contextree_selector::{
    Cue, Edition, HopKind, NodeSpec, PropertyValue, parse_node_spec, parse_position,
};

use crate::support::{check_errors, check_insertion_round_trip, without_spans};

fn check(text: &str, canonical: &str, cue: Option<Cue>) {
    let insertion = parse_position(text, Edition::V0_3)
        .unwrap_or_else(|errors| panic!("{}", errors.draw(text)));
    assert_eq!(insertion.to_string(), canonical);
    assert_eq!(insertion.cue, cue);
    check_insertion_round_trip(&insertion, Edition::V0_3);
}

fn refuse(text: &str, kind: &str) {
    let errors = parse_position(text, Edition::V0_3).map(|tree| tree.to_string()).unwrap_err();
    check_errors(text, &errors);
    assert_eq!(errors.errors()[0].kind.as_str(), kind, "`{text}`: {errors}");
}

// covers: SYN-038, ER-127
#[test]
fn cues() {
    check("(d0, cont[offset=0], )", "(d0, cont[offset=0], )", Some(Cue::Start));
    check("(d0,)", "(d0, )", Some(Cue::Start));
    check("(d0, end )", "(d0, end)", Some(Cue::End));
    check("(d0, +2)", "(d0, +2)", Some(Cue::After(2)));
    check("(d0, +0)", "(d0, +0)", Some(Cue::After(0)));
    check("(d0, - 1)".replace("- ", "-").as_str(), "(d0, -1)", Some(Cue::Before(1)));
    check("(d0)", "(d0)", None);
    check("d0", "(d0)", None);
}

// covers: ER-061
#[test]
fn an_unsigned_number_is_a_hop_and_so_is_a_signed_one_inside() {
    check("(d0, 1)", "(d0, 1)", None);
    check("(d0, -1, end)", "(d0, -1, end)", Some(Cue::End));
    let insertion = parse_position("(d0, -1[kind='x'])", Edition::V0_3).unwrap();
    let last = insertion.position.hops.last().unwrap();
    assert_eq!(last.kind, HopKind::Child { class: None, offset: Some(-1) });
    assert_eq!(insertion.cue, None);
}

#[test]
fn a_cue_has_its_span() {
    let text = "(d0, cont[offset=0], +12)";
    let insertion = parse_position(text, Edition::V0_3).unwrap();
    assert_eq!(insertion.cue_span.of(text), "+12");
    let text = "(d0)";
    assert_eq!(parse_position(text, Edition::V0_3).unwrap().cue_span.range(), 3..3);
}

#[test]
fn writes_reject_constructs_of_reads() {
    refuse("@t0 (d0, end)", "snapshot_in_write");
    refuse("(d0[age<2], end)", "needs_snapshot");
    refuse("^ah > .cont", "unexpected");
    refuse("", "unexpected");
    refuse("()", "empty");
    refuse("(end)", "misplaced");
    refuse("(+1)", "misplaced");
    refuse("(,)", "unexpected");
    refuse("(d0, end, seg)", "unknown_hop");
    refuse("(d0, end+1)", "unknown_hop");
    refuse("(d0, +1+2)", "unexpected");
    refuse("(d0, -1x)", "invalid_number");
    refuse("(d0, end) { a=1 }", "unexpected");
    refuse("(d0, +99999999999999999999)", "too_large");
}

fn spec(text: &str, edition: Edition) -> NodeSpec {
    let spec =
        parse_node_spec(text, edition).unwrap_or_else(|errors| panic!("{}", errors.draw(text)));
    let printed = spec.to_string();
    let again = parse_node_spec(&printed, edition).unwrap();
    assert_eq!(without_spans(&again), without_spans(&spec), "`{printed}`");
    assert_eq!(again.to_string(), printed);
    spec
}

// covers: SYN-039
#[test]
fn a_node_is_type_kind_and_properties() {
    let hero = spec(" block:text{ key = 'hero' , ttl=3, tags=[a, 'b c'] } ", Edition::V0_3);
    assert_eq!(hero.to_string(), "block:text { key='hero', ttl=3, tags=['a', 'b c'] }");
    assert_eq!((&*hero.node_type, hero.kind.as_deref()), ("block", Some("text")));
    assert!(matches!(&hero.properties[2].value, PropertyValue::List(values) if values.len() == 2));
    assert_eq!(spec("cb:summary", Edition::V0_1).kind, None);
    assert_eq!(&*spec("custom:note", Edition::V0_3).node_type, "custom:note");
    assert_eq!(spec("cb:first:x", Edition::V0_2).kind.as_deref(), Some("first:x"));
}

#[test]
fn a_node_rejects_duplicate_and_derived_properties() {
    let cases = [
        ("block { a=1, a=2 }", "duplicate"),
        ("block:text { kind='x' }", "duplicate"),
        ("block { nodeType='x' }", "duplicate"),
        ("block { age=1 }", "misplaced"),
        ("block { type=block }", "misplaced"),
        ("block { }", "empty"),
        ("block { a }", "unexpected"),
        ("block { a<1 }", "unexpected"),
        ("block { a=1", "unclosed"),
        ("block { a='x }", "unclosed"),
        (".block", "unexpected"),
        ("block:", "unexpected"),
        ("", "unexpected"),
        ("block +x", "unexpected"),
    ];
    for (text, kind) in cases {
        let errors = parse_node_spec(text, Edition::V0_3).unwrap_err();
        check_errors(text, &errors);
        assert_eq!(errors.errors()[0].kind.as_str(), kind, "`{text}`: {errors}");
    }
}
