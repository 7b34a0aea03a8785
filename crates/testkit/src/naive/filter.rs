//! Evaluates filters by the rules of chapter 04 §5 and ER-093, on plain JSON values.

use std::cmp::Ordering;

use contextree_json::{Number, Value};
use contextree_selector as ast;
use contextree_selector::{AttrName, Edition, Facet, Filter, Op, Test};
use contextree_tree::{Class, Header, NodeRef};

use super::spots::Spots;

/// Returns whether a node of the tree's class is of the selector's class.
pub(super) fn is_class(class: Class, sought: ast::Class) -> bool {
    match sought {
        ast::Class::Turn => class == Class::Turn,
        ast::Class::Container => class == Class::Container,
        ast::Class::Block => class == Class::Block,
    }
}

pub(super) fn holds(filter: &Filter, spots: &Spots<'_>, at: usize) -> bool {
    if filter.name == AttrName::Tag {
        let carried = spots.places[at].node.map(tags).unwrap_or_default();
        return tag_holds(&carried, &filter.test);
    }
    let value = value(&filter.name, spots, at);
    match &filter.test {
        Test::Present => !value.is_null(),
        Test::OneOf(literals) => {
            literals.iter().any(|literal| compare(&filter.name, &value, Op::Eq, literal))
        }
        Test::Compare(op, literal) => compare(&filter.name, &value, *op, literal),
    }
}

/// Returns the tags of a node: strings and lists of strings under `tags` and `tag`.
pub(super) fn tags(node: NodeRef<'_>) -> Vec<Box<str>> {
    let mut found = Vec::new();
    for value in [node.header("tags"), node.header("tag")].into_iter().flatten() {
        match value {
            Value::String(tag) => found.push(tag),
            Value::Array(list) => {
                found.extend(list.iter().filter_map(Value::as_str).map(Box::from));
            }
            _ => {}
        }
    }
    found
}

fn tag_holds(carried: &[Box<str>], test: &Test) -> bool {
    let has = |literal: &ast::Value| match literal {
        ast::Value::Null => carried.is_empty(),
        other => carried.iter().any(|tag| **tag == *text_of(other)),
    };
    match test {
        Test::Present => !carried.is_empty(),
        Test::OneOf(literals) => literals.iter().any(has),
        Test::Compare(Op::Eq, literal) => has(literal),
        Test::Compare(Op::Ne, literal) => !has(literal),
        Test::Compare(Op::Contains, literal) => *literal != ast::Value::Null && has(literal),
        Test::Compare(op, literal) => carried
            .iter()
            .any(|tag| compare(&AttrName::Id, &Value::String(tag.clone()), *op, literal)),
    }
}

fn value(name: &AttrName, spots: &Spots<'_>, at: usize) -> Value {
    let place = &spots.places[at];
    let number = |number: Option<i64>| number.map_or(Value::Null, Value::from);
    match name {
        AttrName::Facet(Facet::Depth) => return number(place.depth),
        AttrName::Facet(Facet::Sdepth) => return number(Some(place.level as i64)),
        _ => {}
    }
    let words = match spots.edition {
        Edition::V0_3 => ["seg", "cont", "block"],
        _ => ["mt", "mc", "cb"],
    };
    let Some(node) = place.node else {
        // An elided core: the defaults of ER-009, and its class.
        return match name {
            AttrName::Offset
            | AttrName::Priority
            | AttrName::CreatedAtNs
            | AttrName::CreationIndex => number(Some(0)),
            AttrName::Type => Value::from(words[1]),
            _ => Value::Null,
        };
    };
    let born = node.has_header(Header::Cycle).then(|| i64::from(node.cycle()));
    match name {
        AttrName::Type => match node.class() {
            Class::Turn => Value::from(words[0]),
            Class::Container => Value::from(words[1]),
            Class::Block => Value::from(words[2]),
            _ => Value::from(node.node_type()),
        },
        AttrName::Cycle | AttrName::Facet(Facet::BornTurn) => number(born),
        AttrName::Facet(Facet::Age) => match (spots.cycle, born) {
            (Some(now), Some(born)) => number(Some(i64::from(now) - born)),
            _ => Value::Null,
        },
        AttrName::CreatedAtIso if !node.has_header(Header::CreatedAtIso) => Value::Null,
        AttrName::Key => node.key().map_or(Value::Null, Value::from),
        AttrName::Other(name) => match &**name {
            "content" => node.content().to_value().unwrap_or_default(),
            "parent" => node.parent_id().map_or(Value::Null, Value::from),
            "content_hash" => contextree::content_hash(node).to_string().into(),
            name => node.header(name).unwrap_or_default(),
        },
        name => node.header(name.as_str()).unwrap_or_default(),
    }
}

fn text_of(literal: &ast::Value) -> String {
    match literal {
        ast::Value::Null => String::new(),
        ast::Value::Number(number) => number.written().into_owned(),
        ast::Value::Text(text) => text.to_string(),
    }
}

fn shown(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Number(_) => String::from_utf8(value.to_canonical()).ok(),
        _ => None,
    }
}

fn compare(name: &AttrName, value: &Value, op: Op, literal: &ast::Value) -> bool {
    let is_numeric = matches!(
        name,
        AttrName::Offset
            | AttrName::Ttl
            | AttrName::Priority
            | AttrName::Cycle
            | AttrName::CreatedAtNs
            | AttrName::CreationIndex
            | AttrName::Facet(_)
    );
    let is_text = matches!(
        name,
        AttrName::Id
            | AttrName::NodeType
            | AttrName::Role
            | AttrName::Kind
            | AttrName::CreatedAtIso
            | AttrName::Key
            | AttrName::Type
    );
    let mut sought = text_of(literal);
    if *name == AttrName::Type && matches!(op, Op::Eq | Op::Ne) {
        // Both vocabularies name the same classes.
        let class = |word: &str| ast::ClassWord::from_text(word).map(ast::ClassWord::class);
        if let (Some(left), Some(right)) = (value.as_str().and_then(class), class(&sought)) {
            return (left == right) == (op == Op::Eq);
        }
    }
    if op == Op::Contains {
        return match value {
            _ if *literal == ast::Value::Null || is_numeric => false,
            Value::Array(list) => {
                list.iter().any(|each| compare(&AttrName::Other("".into()), each, Op::Eq, literal))
            }
            Value::String(_) | Value::Bool(_) => {
                shown(value).is_some_and(|text| text.contains(&sought))
            }
            _ => false,
        };
    }
    if value.is_null() || *literal == ast::Value::Null {
        let both = value.is_null() && *literal == ast::Value::Null;
        return match op {
            Op::Eq => both,
            Op::Ne => !both,
            _ => false,
        };
    }
    let left_number = shown(value).and_then(|text| Number::parse(&text));
    let right_number = match literal {
        ast::Value::Number(number) => Number::parse(&number.to_string()),
        _ => Number::parse(&sought),
    };
    let by_number = match (left_number, right_number) {
        (Some(left), Some(right)) => Some(left.compare(&right)),
        _ => None,
    };
    let by_text = shown(value).map(|text| text.as_str().cmp(std::mem::take(&mut sought).as_str()));
    let is_number_literal = matches!(literal, ast::Value::Number(_));
    match op {
        Op::Eq | Op::Ne => {
            let is_equal = if is_numeric {
                by_number == Some(Ordering::Equal)
            } else if is_text {
                by_text == Some(Ordering::Equal)
            } else {
                match value {
                    Value::Number(_) => is_number_literal && by_number == Some(Ordering::Equal),
                    Value::String(_) | Value::Bool(_) => {
                        !is_number_literal && by_text == Some(Ordering::Equal)
                    }
                    _ => false,
                }
            };
            is_equal == (op == Op::Eq)
        }
        _ => {
            let order = if is_numeric {
                by_number
            } else if is_text {
                by_text
            } else {
                by_number.or(by_text)
            };
            order.is_some_and(|order| match op {
                Op::Lt => order.is_lt(),
                Op::Le => order.is_le(),
                Op::Gt => order.is_gt(),
                _ => order.is_ge(),
            })
        }
    }
}
