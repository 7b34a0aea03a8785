//! Lowers the syntax tree to conditions; resolves the edition switches S2 to S6.

use contextree_selector as ast;
use contextree_selector::{
    AttrName, BehaviorKind, ClassWord, Combinator, Controls, DepthSet, Edition, Facet, Filter, Op,
    PartKind, Pseudo, Selector, TypeTest,
};
use contextree_tree::{Class, Vocabulary};

use super::mentions::mentions;
use super::types::{
    Arrangement, Attr, Body, Chain, Column, Compound, Condition, DepthOf, Hop, HopKind, Part, Pick,
    Query, Recency, Relation, Step,
};
use crate::compare::{Literal, Test};

/// Returns the query of a selector for one tree, ignoring its time.
pub fn lower(selector: &Selector) -> Query {
    let edition = selector.edition;
    let body = match &selector.body {
        ast::Body::Chains(chains) => {
            Body::Chains(chains.iter().map(|each| chain(each, edition)).collect())
        }
        ast::Body::Position(position) => Body::Path(hops(&position.hops, edition)),
        ast::Body::Step => Body::Regions,
        ast::Body::Deep(None) => Body::Below(Vec::new()),
        ast::Body::Deep(Some(within)) => {
            Body::Below(within.stages().map(|stage| hops(stage, edition)).collect())
        }
        ast::Body::Tree => Body::Tree,
    };
    let mut keep: Vec<Condition> =
        selector.filters.iter().map(|each| filter(each, edition)).collect();
    keep.extend(selector.tags.iter().map(|tag| Condition::Tag(tag.name.clone())));
    keep.extend(selector.behavior.iter().map(|behavior| match &behavior.kind {
        BehaviorKind::Filter(each) => filter(each, edition),
        BehaviorKind::Flag(flag) => Condition::Flag(*flag),
    }));
    let controls = &selector.controls;
    let arrangement = match controls.order {
        Some(order) => Arrangement::Ordered(order.value),
        None if is_same_key(selector) => Arrangement::SameKey,
        None => Arrangement::Document,
    };
    Query {
        body,
        keep,
        arrangement,
        unique: controls.unique.is_some(),
        page: page(controls),
        first: controls.first.is_some(),
        mode: controls.mode.map_or(ast::Mode::Union, |mode| mode.value),
        recency: Recency::of(edition),
        mentions: mentions(selector),
    }
}

/// Returns skip and take: `@p` counts pages of `@limit`; without a limit everything is on page 1.
fn page(controls: &Controls) -> Option<(usize, usize)> {
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let page = controls.page.map(|page| size(page.value));
    match (controls.limit.map(|limit| size(limit.value)), page) {
        (None, None | Some(1)) => None,
        (None, Some(_)) => Some((usize::MAX, 0)),
        (Some(limit), page) => {
            Some((page.unwrap_or(1).saturating_sub(1).saturating_mul(limit), limit))
        }
    }
}

/// Returns whether the results are the nodes of one key: an equality in the property block or
/// bracket, in the last hop, or the same one in the last compound of every chain (ER-091).
fn is_same_key(selector: &Selector) -> bool {
    let in_tail = selector.filters.iter().any(|filter| filter.key_equality().is_some())
        || selector.behavior.iter().any(|behavior| match &behavior.kind {
            BehaviorKind::Filter(filter) => filter.key_equality().is_some(),
            BehaviorKind::Flag(_) => false,
        });
    in_tail
        || match &selector.body {
            ast::Body::Chains(chains) => {
                let key = |chain: &ast::Chain| {
                    Some(chain.steps.last()?.compound.key_equality()?.to_owned())
                };
                let first = key(chains.first());
                first.is_some() && chains.iter().all(|chain| key(chain) == first)
            }
            ast::Body::Position(position) => position.hops.last().is_some_and(|hop| {
                hop.filters.iter().any(|filter| filter.key_equality().is_some())
            }),
            _ => false,
        }
}

fn chain(chain: &ast::Chain, edition: Edition) -> Chain {
    let steps = chain
        .steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            let next = chain.steps.get(index + 1);
            Step {
                relation: match step.combinator {
                    Combinator::Descendant => Relation::Descendant,
                    Combinator::Child => Relation::Child,
                },
                is_zone: step.compound.is_zone()
                    && step.combinator == Combinator::Descendant
                    && next.is_some_and(|next| next.combinator == Combinator::Descendant),
                compound: compound(&step.compound, edition),
            }
        })
        .collect();
    Chain { steps }
}

fn compound(compound: &ast::Compound, edition: Edition) -> Compound {
    let is_turn = |part: &ast::Part| match &part.kind {
        PartKind::Type(TypeTest::Class(word)) => word.class() == ast::Class::Turn,
        _ => false,
    };
    let asks_depth =
        compound.parts.iter().any(|part| matches!(part.kind, PartKind::Pseudo(Pseudo::Depth(_))));
    let is_bare = compound.parts.iter().all(|part| matches!(part.kind, PartKind::Pseudo(_)));
    let has_turn = compound.parts.iter().any(is_turn);
    // Switch S4 and ER-085: whose depth `:depth` means.
    let depth_of = match edition {
        Edition::V0_1 => DepthOf::SealedTurn,
        _ if is_bare || has_turn => DepthOf::Container,
        _ => DepthOf::Containing,
    };
    let turns_include_regions = asks_depth && edition != Edition::V0_1;
    let mut parts = Vec::new();
    for part in &compound.parts {
        match &part.kind {
            PartKind::Root(root) => parts.push(Part::Test(Condition::Fixed(*root))),
            PartKind::Depth(set) => {
                parts.push(Part::Test(Condition::Depth(DepthOf::Container, set.clone())));
            }
            PartKind::Any => parts.push(Part::Test(Condition::Any)),
            PartKind::Type(_) if is_turn(part) && turns_include_regions => {
                parts.push(Part::Test(Condition::TurnLike));
            }
            PartKind::Type(test) => parts.extend(type_test(test).map(Part::Test)),
            PartKind::Id(id) => parts.push(Part::Test(Condition::Id(id.clone()))),
            PartKind::Key(key) => parts.push(Part::Test(Condition::Key(key.clone()))),
            PartKind::Attr(each) => parts.push(Part::Test(filter(each, edition))),
            PartKind::Pseudo(pseudo) => parts.push(pseudo_part(pseudo, depth_of)),
        }
    }
    Compound { parts, key: compound.key_equality().map(Into::into) }
}

fn type_test(test: &TypeTest) -> impl Iterator<Item = Condition> {
    let (first, second) = match test {
        TypeTest::Class(word) => (Condition::Class(class(*word)), None),
        TypeTest::ClassKind { word, kind } => (
            Condition::Symbol(Column::NodeType, word.as_str().into()),
            Some(Condition::Symbol(Column::Kind, kind.clone())),
        ),
        TypeTest::NodeType(node_type) => {
            (Condition::Symbol(Column::NodeType, node_type.clone()), None)
        }
    };
    std::iter::once(first).chain(second)
}

fn class(word: ClassWord) -> Class {
    match word.class() {
        ast::Class::Turn => Class::Turn,
        ast::Class::Container => Class::Container,
        ast::Class::Block => Class::Block,
    }
}

fn pseudo_part(pseudo: &Pseudo, depth_of: DepthOf) -> Part {
    match pseudo {
        Pseudo::Pre => Part::Test(Condition::Side(-1)),
        Pseudo::Core => Part::Test(Condition::Side(0)),
        Pseudo::Post => Part::Test(Condition::Side(1)),
        Pseudo::Depth(set) => Part::Test(depth(depth_of, set)),
        Pseudo::First => Part::Pick(Pick::First),
        Pseudo::Last => Part::Pick(Pick::Last),
        Pseudo::Nth(number) => Part::Pick(Pick::Nth(*number)),
    }
}

fn depth(depth_of: DepthOf, set: &DepthSet) -> Condition {
    Condition::Depth(depth_of, set.clone())
}

fn hops(hops: &[ast::Hop], edition: Edition) -> Vec<Hop> {
    hops.iter()
        .map(|hop| Hop {
            kind: match hop.kind {
                ast::HopKind::Depth(depth) => HopKind::Depth(depth),
                ast::HopKind::Segment(_) => HopKind::Turn,
                ast::HopKind::Child { class: word, offset } => {
                    HopKind::Child(word.map(class), offset)
                }
                ast::HopKind::Step => HopKind::Child(None, None),
            },
            tests: hop.filters.iter().map(|each| filter(each, edition)).collect(),
        })
        .collect()
}

fn filter(filter: &Filter, edition: Edition) -> Condition {
    let vocabulary = match edition {
        Edition::V0_1 | Edition::V0_2 => Vocabulary::Message,
        Edition::V0_3 => Vocabulary::Segment,
    };
    let mut test = match &filter.test {
        ast::Test::Present => Test::Present,
        ast::Test::Compare(op, value) => Test::Compare(*op, Literal::new(value)),
        ast::Test::OneOf(values) => Test::OneOf(values.iter().map(Literal::new).collect()),
    };
    let attr = match &filter.name {
        AttrName::Id => Attr::Id,
        AttrName::NodeType => Attr::NodeType,
        AttrName::Role => Attr::Role,
        AttrName::Kind => Attr::Kind,
        AttrName::Offset => Attr::Offset,
        AttrName::Ttl => Attr::Ttl,
        AttrName::Priority => Attr::Priority,
        AttrName::Cycle | AttrName::Facet(Facet::BornTurn) => Attr::Cycle,
        AttrName::CreatedAtNs => Attr::CreatedAtNs,
        AttrName::CreatedAtIso => Attr::CreatedAtIso,
        AttrName::CreationIndex => Attr::CreationIndex,
        AttrName::Key => Attr::Key,
        AttrName::Tag => Attr::Tags,
        AttrName::Type => {
            test = in_vocabulary(test, vocabulary);
            Attr::ClassWord(vocabulary)
        }
        AttrName::Facet(Facet::Age) => Attr::Age,
        AttrName::Facet(Facet::Depth) => Attr::Depth,
        AttrName::Facet(Facet::Sdepth) => Attr::Sdepth,
        AttrName::Other(name) => Attr::Header(name.clone()),
    };
    // Common equalities get their own conditions, which need no comparison rules.
    if let Test::Compare(Op::Eq, literal) = &test
        && let Some(text) = literal.as_text()
    {
        match attr {
            Attr::Id => return Condition::Id(text.into()),
            Attr::Key => return Condition::Key(text.into()),
            Attr::NodeType => return Condition::Symbol(Column::NodeType, text.into()),
            Attr::Role => return Condition::Symbol(Column::Role, text.into()),
            Attr::Kind => return Condition::Symbol(Column::Kind, text.into()),
            _ => {}
        }
    }
    Condition::Attr(attr, test)
}

/// `[type='cb']` and `[type='block']` mean the same class in every edition (ER-068).
fn in_vocabulary(test: Test, vocabulary: Vocabulary) -> Test {
    let translate = |literal: Literal| {
        let word = literal.as_text().and_then(ClassWord::from_text);
        match word.and_then(|word| word_of(class(word), vocabulary)) {
            Some(word) => Literal::text(word),
            None => literal,
        }
    };
    match test {
        Test::Present => Test::Present,
        Test::Compare(op @ (Op::Eq | Op::Ne), literal) => Test::Compare(op, translate(literal)),
        Test::Compare(op, literal) => Test::Compare(op, literal),
        Test::OneOf(literals) => Test::OneOf(literals.into_iter().map(translate).collect()),
    }
}

/// Returns the type name of a class; `None` for the fixed containers, which are named by their
/// type.
pub(crate) fn word_of(class: Class, vocabulary: Vocabulary) -> Option<&'static str> {
    match class {
        Class::Turn => Some(vocabulary.turn()),
        Class::Container => Some(vocabulary.container()),
        Class::Block => Some(vocabulary.block()),
        Class::Root | Class::Region => None,
    }
}
