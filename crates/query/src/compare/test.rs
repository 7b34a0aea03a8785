//! Conditions on values and their evaluation.

use std::cmp::Ordering;

use contextree_json::Value;
use contextree_selector as selector;
use contextree_selector::Op;

use super::{Datum, Exact};

/// How the values of an attribute are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typing {
    /// As numbers.
    Number,
    /// As text.
    Text,
    /// By the types of both sides.
    Free,
}

/// A condition on a value, with its literals parsed once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// Present and not null.
    Present,
    /// Compared with a literal.
    Compare(Op, Literal),
    /// Equal to one of these.
    OneOf(Vec<Literal>),
}

/// The right-hand side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// `null`.
    Null,
    /// A number, and its text.
    Number(Exact, Box<str>),
    /// A text, and its value if it is a number.
    Text(Box<str>, Option<Exact>),
}

impl Literal {
    /// Returns the literal of a value in a selector.
    pub fn new(value: &selector::Value) -> Self {
        match value {
            selector::Value::Null => Self::Null,
            selector::Value::Number(number) => {
                Self::Number(Exact::from_literal(number), number.written().into())
            }
            selector::Value::Text(text) => Self::text(text),
        }
    }

    /// Returns a text literal.
    pub fn text(text: &str) -> Self {
        Self::Text(text.into(), Exact::from_text(text))
    }

    fn exact(&self) -> Option<&Exact> {
        match self {
            Self::Null => None,
            Self::Number(exact, _) => Some(exact),
            Self::Text(_, exact) => exact.as_ref(),
        }
    }

    /// Returns the literal as text; `None` for null.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Null => None,
            Self::Number(_, text) | Self::Text(text, _) => Some(text),
        }
    }
}

/// Returns whether the value satisfies the test.
pub(crate) fn holds(typing: Typing, value: &Datum<'_>, test: &Test) -> bool {
    let ordered = |literal, is: fn(Ordering) -> bool| order(typing, value, literal).is_some_and(is);
    match test {
        Test::Present => !value.is_null(),
        Test::OneOf(literals) => literals.iter().any(|literal| equal(typing, value, literal)),
        Test::Compare(Op::Eq, literal) => equal(typing, value, literal),
        Test::Compare(Op::Ne, literal) => !equal(typing, value, literal),
        Test::Compare(Op::Lt, literal) => ordered(literal, Ordering::is_lt),
        Test::Compare(Op::Le, literal) => ordered(literal, Ordering::is_le),
        Test::Compare(Op::Gt, literal) => ordered(literal, Ordering::is_gt),
        Test::Compare(Op::Ge, literal) => ordered(literal, Ordering::is_ge),
        Test::Compare(Op::Contains, literal) => contains(typing, value, literal),
    }
}

/// Evaluates a test on a set of texts, such as tags: `=` is membership, `!=` its negation, and any
/// other comparison holds if it holds for one member.
pub(crate) fn any_holds<'t>(
    members: &(impl Iterator<Item = &'t str> + Clone),
    test: &Test,
) -> bool {
    let one = |literal: &Literal| match literal.as_text() {
        Some(sought) => members.clone().any(|member| member == sought),
        None => members.clone().next().is_none(),
    };
    match test {
        Test::Present => members.clone().next().is_some(),
        Test::OneOf(literals) => literals.iter().any(one),
        Test::Compare(Op::Eq, literal) => one(literal),
        Test::Compare(Op::Ne, literal) => !one(literal),
        Test::Compare(Op::Contains, literal) => literal.as_text().is_some() && one(literal),
        Test::Compare(..) => {
            members.clone().any(|member| holds(Typing::Text, &Datum::from_text(Some(member)), test))
        }
    }
}

fn equal(typing: Typing, value: &Datum<'_>, literal: &Literal) -> bool {
    match (value, literal) {
        (Datum::Null, literal) => *literal == Literal::Null,
        (_, Literal::Null) => false,
        _ => match typing {
            Typing::Number => both_exact(value, literal) == Some(Ordering::Equal),
            Typing::Text => value.text().as_deref() == literal.as_text(),
            Typing::Free => match (value, literal) {
                (Datum::Int(_) | Datum::Number(_), Literal::Number(..)) => {
                    both_exact(value, literal) == Some(Ordering::Equal)
                }
                (Datum::Text(_) | Datum::Bool(_), Literal::Text(text, _)) => {
                    value.text().as_deref() == Some(text)
                }
                _ => false,
            },
        },
    }
}

fn order(typing: Typing, value: &Datum<'_>, literal: &Literal) -> Option<Ordering> {
    // UTF-8 bytes compare like code points (ER-094).
    let as_text = || Some((*value.text()?).cmp(literal.as_text()?));
    match typing {
        Typing::Number => both_exact(value, literal),
        Typing::Text => as_text(),
        Typing::Free => both_exact(value, literal).or_else(as_text),
    }
}

fn both_exact(value: &Datum<'_>, literal: &Literal) -> Option<Ordering> {
    if let (Datum::Int(left), Some(Exact::Int(right))) = (value, literal.exact()) {
        return Some(left.cmp(right));
    }
    Some(value.exact()?.cmp(literal.exact()?))
}

fn contains(typing: Typing, value: &Datum<'_>, literal: &Literal) -> bool {
    let Some(sought) = literal.as_text() else { return false };
    match value {
        Datum::Text(_) | Datum::Bool(_) if typing != Typing::Number => {
            value.text().is_some_and(|text| text.contains(sought))
        }
        Datum::Compound(Value::Array(elements)) => {
            elements.iter().any(|element| equal(Typing::Free, &Datum::from_json(element), literal))
        }
        _ => false,
    }
}
