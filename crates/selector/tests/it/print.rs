//! The printer: random trees of the whole grammar parse to themselves.

use contextree_selector::{
    AttrName, Behavior, BehaviorKind, Body, Chain, ClassWord, Combinator, Compound, Controls,
    DepthItem, DepthKind, DepthSet, Edition, Filter, Flag, Hop, HopKind, Mode, Number, OneOrMore,
    Op, Order, Part, PartKind, Position, Pseudo, RelativePoint, Root, Selector, Snapshot,
    SnapshotRange, Span, Spanned, Step, Tag, Test, Time, TimeKind, TypeTest, Value, Within, parse,
};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::support::check_round_trip;

const NONE: Span = Span::NONE;

fn many<T: std::fmt::Debug>(elements: Vec<T>) -> OneOrMore<T> {
    let mut elements = elements.into_iter();
    let mut all = OneOrMore::new(elements.next().unwrap());
    all.extend(elements);
    all
}

fn identifier() -> impl Strategy<Value = String> {
    "[a-zA-Z][a-z0-9_-]{0,6}(:[a-z]{1,3}x)?"
}

fn value() -> impl Strategy<Value = Value> {
    let decimal = (-1_000_000_i128..1_000_000, 0_u32..9);
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(|number| Value::Number(number.into())),
        decimal.prop_map(|(number, scale)| Value::Number(Number::new(number, scale).unwrap())),
        ".{0,8}".prop_map(|text| Value::Text(text.into())),
        r#"[a'"\\\n]{0,6}"#.prop_map(|text| Value::Text(text.into())),
    ]
}

fn attribute(edition: Edition, time: bool) -> impl Strategy<Value = AttrName> {
    let known = select(vec![
        "id",
        "nodeType",
        "role",
        "kind",
        "offset",
        "ttl",
        "priority",
        "cycle",
        "created_at_ns",
        "created_at_iso",
        "creation_index",
        "key",
        "type",
        "age",
        "depth",
    ]);
    let name = prop_oneof![known.prop_map(str::to_owned), identifier(), ".{1,6}"];
    name.prop_map(move |name| match AttrName::new(&name, edition) {
        // Facets need a snapshot; `tag` and the flags have another meaning in some places.
        AttrName::Facet(_) if !time => AttrName::Ttl,
        AttrName::Tag => AttrName::Key,
        name if ["ephemeral", "sticky"].contains(&name.as_str()) => AttrName::Ttl,
        name => name,
    })
}

fn filter(edition: Edition, time: bool) -> impl Strategy<Value = Filter> {
    let operators = [Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Contains];
    let count = if edition == Edition::V0_3 { operators.len() } else { 6 };
    let compare = (select(operators[..count].to_vec()), value());
    let compare = compare.prop_map(|(operator, value)| Test::Compare(operator, value)).boxed();
    let list = prop::collection::vec(value(), 1..3).prop_map(Test::OneOf).boxed();
    let list = if edition == Edition::V0_3 { list } else { compare.clone() };
    let test = prop_oneof![Just(Test::Present), compare, list];
    (attribute(edition, time), test).prop_map(|(name, test)| Filter {
        name,
        test,
        name_span: NONE,
        span: NONE,
    })
}

/// A filter of a property block, where a mere name is invalid.
fn property(edition: Edition, time: bool) -> impl Strategy<Value = Filter> {
    filter(edition, time).prop_map(|filter| match filter.test {
        Test::Present => Filter { test: Test::Compare(Op::Ne, Value::Null), ..filter },
        _ => filter,
    })
}

fn depths(edition: Edition) -> impl Strategy<Value = DepthSet> {
    let number = -9_i64..10;
    let kind = (0..6, number, 1_i64..9).prop_map(move |(kind, number, more)| match kind {
        0 => DepthKind::Range(number, number + more),
        1 if edition > Edition::V0_1 => DepthKind::Below(number),
        2 if edition > Edition::V0_1 => DepthKind::AtMost(number),
        3 if edition > Edition::V0_1 => DepthKind::Above(number),
        4 if edition > Edition::V0_1 => DepthKind::AtLeast(number),
        _ => DepthKind::One(number),
    });
    let item = kind.prop_map(|kind| DepthItem { kind, span: NONE });
    prop::collection::vec(item, 1..4).prop_map(|items| DepthSet { items: many(items) })
}

fn class_word() -> impl Strategy<Value = ClassWord> {
    select(vec![
        ClassWord::Mt,
        ClassWord::Mc,
        ClassWord::Cb,
        ClassWord::Seg,
        ClassWord::Cont,
        ClassWord::Block,
    ])
}

fn leading(edition: Edition) -> BoxedStrategy<PartKind> {
    let roots = select(vec![Root::Sys, Root::Seq, Root::Ah, Root::Root]).prop_map(PartKind::Root);
    let roots = prop_oneof![roots, Just(PartKind::Any)].boxed();
    match edition {
        Edition::V0_1 => roots,
        _ => prop_oneof![roots, depths(edition).prop_map(PartKind::Depth)].boxed(),
    }
}

fn type_part(edition: Edition) -> impl Strategy<Value = PartKind> {
    let kind = (class_word(), "[a-z]{2,4}x").prop_map(move |(word, kind)| match edition {
        Edition::V0_1 => TypeTest::NodeType(format!("{}:{kind}", word.as_str()).into()),
        _ => TypeTest::ClassKind { word, kind: kind.into() },
    });
    let foreign = "x[a-z]{0,4}(:[a-z]{1,3}x)?".prop_map(|name| TypeTest::NodeType(name.into()));
    prop_oneof![class_word().prop_map(TypeTest::Class), kind, foreign].prop_map(PartKind::Type)
}

fn hash_part(edition: Edition) -> impl Strategy<Value = PartKind> {
    let names = prop_oneof![
        ".{0,8}",
        "[a-z0-9:_-]{1,8}",
        Just("cb:first".to_owned()),
        Just("a:".to_owned())
    ];
    names.prop_map(move |name| match edition {
        Edition::V0_3 => PartKind::Key(name.into()),
        _ => PartKind::Id(name.into()),
    })
}

fn pseudo(edition: Edition) -> impl Strategy<Value = PartKind> {
    prop_oneof![
        select(vec![Pseudo::Pre, Pseudo::Core, Pseudo::Post, Pseudo::First, Pseudo::Last]),
        (1_u64..9).prop_map(Pseudo::Nth),
        depths(edition).prop_map(Pseudo::Depth),
    ]
    .prop_map(PartKind::Pseudo)
}

fn compound(edition: Edition, time: bool) -> impl Strategy<Value = Compound> {
    let other = prop_oneof![filter(edition, time).prop_map(PartKind::Attr), pseudo(edition)];
    (
        option::of(leading(edition)),
        option::of(type_part(edition)),
        option::of(hash_part(edition)),
        prop::collection::vec(other, 0..3),
    )
        .prop_flat_map(|(lead, node_type, name, others)| {
            let mut rest: Vec<PartKind> = others;
            rest.extend(node_type);
            rest.extend(name);
            (Just(lead), Just(rest).prop_shuffle())
        })
        .prop_filter_map("a compound has a part", |(lead, rest)| {
            let parts: Vec<Part> =
                lead.into_iter().chain(rest).map(|kind| Part { kind, span: NONE }).collect();
            (!parts.is_empty()).then(|| Compound { parts: many(parts), span: NONE })
        })
}

fn chain(edition: Edition, time: bool) -> impl Strategy<Value = Chain> {
    let combinator = select(vec![Combinator::Descendant, Combinator::Child]);
    let step = (combinator, compound(edition, time));
    prop::collection::vec(
        step.prop_map(|(combinator, compound)| Step { combinator, compound }),
        1..4,
    )
    .prop_map(|mut steps| {
        steps[0].combinator = Combinator::Descendant;
        Chain { steps, span: NONE }
    })
}

fn hop(edition: Edition, time: bool) -> BoxedStrategy<Hop> {
    let segment = select(vec![ClassWord::Mt, ClassWord::Seg]).prop_map(HopKind::Segment);
    let words = vec![ClassWord::Mc, ClassWord::Cont, ClassWord::Cb, ClassWord::Block];
    let child = select(words).prop_map(|word| HopKind::Child { class: Some(word), offset: None });
    let kinds = prop_oneof![(-3_i64..9).prop_map(HopKind::Depth), segment, child].boxed();
    let filters = |count| prop::collection::vec(filter(edition, time), count);
    let plain = (kinds, filters(0..3))
        .prop_map(|(kind, filters)| Hop { kind, filters, span: NONE })
        .boxed();
    if edition != Edition::V0_3 {
        return plain;
    }
    let blocks = vec![ClassWord::Cb, ClassWord::Block];
    let offset = (option::of(select(blocks)), -3_i64..4, filters(0..2)).prop_map(
        |(class, offset, filters)| Hop {
            kind: HopKind::Child { class, offset: Some(offset) },
            filters,
            span: NONE,
        },
    );
    let step = filters(1..3).prop_map(|filters| Hop { kind: HopKind::Step, filters, span: NONE });
    prop_oneof![plain, offset, step].boxed()
}

fn hops(edition: Edition, time: bool) -> impl Strategy<Value = Vec<Hop>> {
    prop::collection::vec(hop(edition, time), 1..4).prop_map(|mut hops| {
        hops.dedup_by(|next, previous| {
            next.kind == HopKind::Step && previous.kind == HopKind::Step
        });
        hops
    })
}

fn time(edition: Edition) -> impl Strategy<Value = Time> {
    let latest = edition == Edition::V0_3;
    let point = (any::<bool>(), -9_i64..2).prop_map(move |(oldest, turn)| match oldest && latest {
        true => RelativePoint::Oldest,
        false => RelativePoint::At(turn),
    });
    let range = (point.clone(), point).prop_map(|(from, to)| SnapshotRange::Relative { from, to });
    let cycles = (0_i64..99, 0_i64..99).prop_map(|(from, to)| SnapshotRange::Cycles { from, to });
    prop_oneof![
        (-9_i64..3).prop_map(|turn| TimeKind::At(Snapshot::Relative(turn))),
        (0_i64..99).prop_map(|cycle| TimeKind::At(Snapshot::Cycle(cycle))),
        Just(TimeKind::All),
        prop_oneof![range, cycles].prop_map(TimeKind::Range),
    ]
    .prop_map(|kind| Time { kind, span: NONE })
}

fn controls(edition: Edition, time: bool) -> impl Strategy<Value = Controls> {
    let at = |strategy: BoxedStrategy<u64>| {
        option::of(strategy.prop_map(|value| Spanned::new(value, NONE)))
    };
    (
        option::of(select(Mode::ALL.to_vec())),
        at((1_u64..9).boxed()),
        at((0_u64..9).boxed()),
        option::of(select(Order::ALL.to_vec())),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(move |(mode, page, limit, order, first, unique)| {
            let mode = mode.filter(|_| time && edition >= Edition::V0_2);
            let mode = mode.map(|mode| Spanned::new(mode, NONE));
            if edition != Edition::V0_3 {
                return Controls { mode, ..Controls::default() };
            }
            let order = order.map(|order| Spanned::new(order, NONE));
            let (first, unique) = (first.then_some(NONE), unique.then_some(NONE));
            Controls { mode, page, limit, order, first, unique }
        })
}

fn tags() -> impl Strategy<Value = Vec<Tag>> {
    let name = prop_oneof![identifier(), "[a ']{0,3}"];
    prop::collection::btree_set(name, 0..3).prop_map(|names| {
        names.into_iter().map(|name| Tag { name: name.into(), span: NONE }).collect()
    })
}

fn body(edition: Edition, time: bool) -> BoxedStrategy<Body> {
    let chains = prop::collection::vec(chain(edition, time), 1..3)
        .prop_map(|chains| Body::Chains(many(chains)));
    let position =
        hops(edition, time).prop_map(|hops| Body::Position(Position { hops, span: NONE }));
    let within = hops(edition, time).prop_map(|hops| Within { hops, span: NONE });
    let deep = option::of(within).prop_map(Body::Deep);
    match edition {
        Edition::V0_1 => chains.boxed(),
        Edition::V0_2 => prop_oneof![chains, position].boxed(),
        Edition::V0_3 => {
            prop_oneof![chains, position, deep, Just(Body::Step), Just(Body::Tree)].boxed()
        }
    }
}

/// Every selector that the parser can create, in every edition.
fn selector() -> impl Strategy<Value = Selector> {
    (select(Edition::ALL.to_vec()), any::<bool>()).prop_flat_map(|(edition, timed)| {
        let filters = |count| prop::collection::vec(property(edition, timed), count);
        let flag = select(vec![Flag::Ephemeral, Flag::Sticky]).prop_map(BehaviorKind::Flag);
        let condition = match edition {
            Edition::V0_3 => property(edition, timed).boxed(),
            _ => filter(edition, timed).boxed(),
        };
        let behavior = prop_oneof![condition.prop_map(BehaviorKind::Filter), flag];
        let behavior = behavior.prop_map(|kind| Behavior { kind, span: NONE });
        let time = time(edition).prop_map(move |time| timed.then_some(time));
        let tail = (
            filters(0..3),
            tags(),
            prop::collection::vec(behavior, 0..3),
            controls(edition, timed),
        );
        (time, body(edition, timed), tail, property(edition, timed)).prop_map(
            move |(time, body, (mut filters, mut tags, mut behavior, controls), extra)| {
                if edition != Edition::V0_3 {
                    filters.clear();
                    tags.clear();
                    behavior.retain(|behavior| matches!(behavior.kind, BehaviorKind::Filter(_)));
                }
                let is_search = matches!(body, Body::Step | Body::Deep(_) | Body::Tree);
                if is_search && filters.is_empty() && tags.is_empty() {
                    filters.push(extra);
                }
                // Directly after a chain a bracket is a step, and edition 0.1 has no tail.
                let bare = filters.is_empty() && tags.is_empty() && controls.is_empty();
                if edition == Edition::V0_1 || (bare && matches!(body, Body::Chains(_))) {
                    behavior.clear();
                }
                Selector { edition, time, body, filters, tags, behavior, controls, span: NONE }
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_printed_tree_parses_to_itself(selector in selector()) {
        check_round_trip(&selector);
    }

    #[test]
    fn every_truncation_of_a_random_selector_gives_a_tree_or_errors(selector in selector(), cut in 0_usize..200) {
        let text = selector.to_string();
        let text = &text[..text.floor_char_boundary(cut.min(text.len()))];
        match parse(text, selector.edition) {
            Ok(selector) => check_round_trip(&selector),
            Err(errors) => crate::support::check_errors(text, &errors),
        }
    }
}
