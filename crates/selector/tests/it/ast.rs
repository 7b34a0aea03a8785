//! Methods of the syntax tree: numbers, depths, scopes, zones, spans.

use contextree_selector::{Body, Edition, Number, PartKind, Test, Value, parse};

fn number(text: &str) -> Number {
    let selector = parse(&format!("[a={text}]"), Edition::V0_1).unwrap();
    let Body::Chains(chains) = &selector.body else { panic!() };
    match &chains.first().steps[0].compound.parts.first().kind {
        PartKind::Attr(filter) => match &filter.test {
            Test::Compare(_, Value::Number(number)) => number.clone(),
            test => panic!("{test:?}"),
        },
        kind => panic!("{kind:?}"),
    }
}

#[test]
fn numbers_are_exact_and_ordered() {
    let ascending = [
        "-999999999999999999999999999999999999",
        "-9223372036854775809",
        "-1.5",
        "-1.4999999999999999999999999999999999",
        "-1",
        "-0.0000000000000000000000000000000001",
        "0",
        "0.1",
        "0.5",
        "1",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775807.5",
        "9223372036854775808",
        "999999999999999999999999999999999999",
    ];
    let numbers: Vec<Number> = ascending.iter().map(|text| number(text)).collect();
    assert!(numbers.is_sorted_by(|left, right| left < right), "{numbers:?}");
    for (text, number) in ascending.iter().zip(&numbers) {
        assert_eq!(&number.to_string(), text);
    }
    assert_eq!(number("1.50"), number("1.5"));
    assert_eq!(number("2.0").as_i64(), Some(2));
    assert_eq!(number("9223372036854775808").as_i64(), None);
    assert_eq!(number("0.1").to_f64(), 0.1);
    assert_eq!(number("1.25").parts(), (125, 2));
    assert_eq!(Number::from(7), number("7"));
    assert_eq!(Number::new(1, 400), None);
}

#[test]
fn depth_sets_contain_their_members() {
    let contains = |text: &str, depth| {
        let selector = parse(&format!(":depth({text})"), Edition::V0_2).unwrap();
        let Body::Chains(chains) = &selector.body else { panic!() };
        match &chains.first().steps[0].compound.parts.first().kind {
            PartKind::Pseudo(contextree_selector::Pseudo::Depth(depths)) => {
                let bounds = depths.items.iter().filter_map(|item| item.bounds());
                let inside = bounds.map(|(low, high)| (low..=high).contains(&depth));
                assert_eq!(inside.fold(false, |any, one| any | one), depths.contains(depth));
                depths.contains(depth)
            }
            kind => panic!("{kind:?}"),
        }
    };
    let members = |text| (-3..6).filter(|depth| contains(text, *depth)).collect::<Vec<_>>();
    assert_eq!(members("1,3-4"), [1, 3, 4]);
    assert_eq!(members("<0"), [-3, -2, -1]);
    assert_eq!(members("<=-2,>=5"), [-3, -2, 5]);
    assert_eq!(members(">3"), [4, 5]);
}

/// ER-063
#[test]
fn er_063_adjacent_depths_of_a_scope_are_a_union() {
    let selector = parse("within(d1, d3, cont, d2) ?? { a=1 }", Edition::V0_3).unwrap();
    let Body::Deep(Some(within)) = &selector.body else { panic!() };
    let stages: Vec<usize> = within.stages().map(<[_]>::len).collect();
    assert_eq!(stages, [2, 1, 1]);
}

/// ER-082
#[test]
fn er_082_a_compound_of_offset_pseudos_is_a_zone() {
    let zones = |text| {
        let selector = parse(text, Edition::V0_1).unwrap();
        let Body::Chains(chains) = &selector.body else { panic!() };
        chains.first().steps.iter().map(|step| step.compound.is_zone()).collect::<Vec<_>>()
    };
    assert_eq!(zones("^ah :pre .cb:pre"), [false, true, false]);
    assert_eq!(zones(":pre:post :first"), [true, false]);
}

/// ER-084, ER-091
#[test]
fn er_084_091_key_equalities_are_found() {
    let key = |text, edition| {
        let selector = parse(text, edition).unwrap();
        let Body::Chains(chains) = &selector.body else { panic!() };
        chains.last().steps.last().unwrap().compound.key_equality().map(str::to_owned)
    };
    assert_eq!(key("[key='K']:first", Edition::V0_2).as_deref(), Some("K"));
    assert_eq!(key("#K", Edition::V0_3).as_deref(), Some("K"));
    assert_eq!(key("#K", Edition::V0_2), None, "an id is not a key");
    assert_eq!(key("[key='K']", Edition::V0_1), None, "edition 0.1 knows no keys");
    assert_eq!(key("[key!='K'][key]", Edition::V0_3), None);
}

#[test]
fn spans_point_at_the_text() {
    let text = "  @t-3:0  ^seq  > .cb:first(role='ü' ttl<2)[ a ]:nth(2), #x  { b=1 } +t @limit=5 ";
    let text = text.replace(":first(", "(");
    let selector = parse(&text, Edition::V0_3).unwrap();
    assert_eq!(selector.span.of(&text), text.trim());
    assert_eq!(selector.time.unwrap().span.of(&text), "@t-3:0");
    let Body::Chains(chains) = &selector.body else { panic!() };
    let chain = chains.first();
    assert_eq!(chain.span.of(&text), "^seq  > .cb(role='ü' ttl<2)[ a ]:nth(2)");
    let compound = &chain.steps[1].compound;
    assert_eq!(compound.span.of(&text), ".cb(role='ü' ttl<2)[ a ]:nth(2)");
    let spans: Vec<&str> = compound.parts.iter().map(|part| part.span.of(&text)).collect();
    assert_eq!(spans, [".cb", "role='ü'", "ttl<2", "[ a ]", ":nth(2)"]);
    assert_eq!(chains.last().span.of(&text), "#x");
    assert_eq!(selector.filters[0].name_span.of(&text), "b");
    assert_eq!(selector.filters[0].span.of(&text), "b=1");
    assert_eq!(selector.tags[0].span.of(&text), "+t");
    assert_eq!(selector.controls.limit.unwrap().span.of(&text), "@limit=5");

    let text = "( d0 , cont[ offset=0 ] {a=1} , *:block.x )";
    let selector = parse(text, Edition::V0_3).unwrap();
    let Body::Position(position) = &selector.body else { panic!() };
    let spans: Vec<&str> = position.hops.iter().map(|hop| hop.span.of(text)).collect();
    assert_eq!(spans, ["d0", "cont[ offset=0 ] {a=1}", "*:block.x"]);
    assert_eq!(position.span.of(text), text);
}
