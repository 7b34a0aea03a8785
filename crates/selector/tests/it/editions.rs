//! Editions: their names, and that errors for later constructs name the edition that has them.

use contextree_selector::{Edition, ErrorKind, parse, parse_node_spec, parse_position};

#[test]
fn editions_parse_from_numbers_and_short_names() {
    for (text, edition) in [
        ("0.1", Edition::V0_1),
        ("E2", Edition::V0_2),
        ("e3", Edition::V0_3),
        ("0.3", Edition::V0_3),
    ] {
        assert_eq!(text.parse(), Ok(edition));
    }
    let error = "latest".parse::<Edition>().unwrap_err();
    assert_eq!(error.to_string(), "unknown edition `latest`; expected `0.1`, `0.2` or `0.3`");
    assert_eq!(Edition::default(), Edition::V0_3);
    assert!(Edition::ALL.is_sorted());
}

/// Constructs with the edition that introduced them; each must be rejected in earlier editions and
/// parsed from then on.
#[test]
fn er_059_a_construct_of_a_later_edition_names_it() {
    let constructs = [
        (Edition::V0_2, "* > .cb(a=1)"),
        (Edition::V0_2, "depth(0)"),
        (Edition::V0_2, ":depth(>0)"),
        (Edition::V0_2, ":depth(1..2)"),
        (Edition::V0_2, ":depth({1})"),
        (Edition::V0_2, "(d0, seg)"),
        (Edition::V0_2, "@t0 * @mode=union"),
        (Edition::V0_3, "{ a=1 }"),
        (Edition::V0_3, "* { a=1 }"),
        (Edition::V0_3, "? { a=1 }"),
        (Edition::V0_3, "?? { a=1 }"),
        (Edition::V0_3, "within(d0) ?? { a=1 }"),
        (Edition::V0_3, "+tag"),
        (Edition::V0_3, "* +tag"),
        (Edition::V0_3, "d0"),
        (Edition::V0_3, "(d0, 1)"),
        (Edition::V0_3, "(d0, ? [a])"),
        (Edition::V0_3, "(d0, *:cb.x)"),
        (Edition::V0_3, "(d0) [a=1, b=2]"),
        (Edition::V0_3, "[a~b]"),
        (Edition::V0_3, "[a=[b]]"),
        (Edition::V0_3, "@t+1 *"),
        (Edition::V0_3, "@history *"),
        (Edition::V0_3, "@t0..@t-* *"),
        (Edition::V0_3, "* @limit=1"),
    ];
    for (needs, text) in constructs {
        for reading in Edition::ALL {
            match parse(text, reading) {
                Ok(_) => assert!(reading >= needs, "`{text}` is too new for {reading}"),
                Err(errors) => {
                    let expected = ErrorKind::LaterEdition { needs, reading };
                    let found = errors.into_iter().any(|error| error.kind == expected);
                    assert!(reading < needs && found, "`{text}` in {reading}: {errors}");
                    let message = errors.to_string();
                    assert!(message.contains(&format!("needs edition {needs}")), "{message}");
                }
            }
        }
    }
}

#[test]
fn writes_need_their_editions_too() {
    assert!(parse_position("(d0, end)", Edition::V0_1).is_err());
    assert!(parse_position("(d0, end)", Edition::V0_2).is_ok());
    assert!(parse_position("d0", Edition::V0_2).is_err());
    assert!(parse_node_spec("cb:text", Edition::V0_1).is_ok());
    assert!(parse_node_spec("cb:text { a=1 }", Edition::V0_2).is_err());
}
