//! The syntax tree as a tree of named texts.

use std::fmt::Display;

use contextree_json::{Object, Value};
use contextree_selector::{Body, Chain, Combinator, Compound, Hop, Part, PartKind, Selector, Span};

/// One piece of syntax: its kind, its text, and its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxNode {
    /// The kind: `chain`, `step`, `type`, …
    pub kind: &'static str,
    /// Its canonical text.
    pub text: String,
    /// Its span in the parsed text.
    pub span: Span,
    /// Its parts.
    pub children: Vec<SyntaxNode>,
}

impl SyntaxNode {
    fn leaf(kind: &'static str, text: impl Display, span: Span) -> Self {
        SyntaxNode { kind, text: text.to_string(), span, children: Vec::new() }
    }

    /// Returns the syntax tree of a selector.
    pub(super) fn of(selector: &Selector) -> Self {
        let mut children = Vec::new();
        if let Some(time) = &selector.time {
            children.push(Self::leaf("time", time, time.span));
        }
        match &selector.body {
            Body::Chains(chains) => children.extend(chains.iter().map(chain)),
            Body::Position(position) => children.push(SyntaxNode {
                kind: "position",
                text: position.to_string(),
                span: position.span,
                children: position.hops.iter().map(hop).collect(),
            }),
            Body::Step => children.push(Self::leaf("search", "?", selector.span)),
            Body::Deep(None) => children.push(Self::leaf("search", "??", selector.span)),
            Body::Deep(Some(within)) => children.push(SyntaxNode {
                kind: "search",
                text: format!("{within} ??"),
                span: within.span,
                children: within.hops.iter().map(hop).collect(),
            }),
            Body::Tree => children.push(Self::leaf("tree", "", selector.span)),
        }
        let filters = selector.filters.iter();
        children.extend(filters.map(|filter| Self::leaf("filter", filter, filter.span)));
        let tags = selector.tags.iter();
        children.extend(tags.map(|tag| Self::leaf("tag", format!("+{}", tag.name), tag.span)));
        let behavior = selector.behavior.iter();
        children.extend(behavior.map(|each| Self::leaf("behavior", each, each.span)));
        let controls = &selector.controls;
        if let Some(mode) = &controls.mode {
            children.push(Self::leaf(
                "control",
                format!("@mode={}", mode.value.as_str()),
                mode.span,
            ));
        }
        if let Some(order) = &controls.order {
            let text = format!("@order={}", order.value.as_str());
            children.push(Self::leaf("control", text, order.span));
        }
        for (name, number) in [("limit", &controls.limit), ("p", &controls.page)] {
            if let Some(number) = number {
                children.push(Self::leaf(
                    "control",
                    format!("@{name}={}", number.value),
                    number.span,
                ));
            }
        }
        for (text, span) in [("@unique", controls.unique), ("@first", controls.first)] {
            children.extend(span.map(|span| Self::leaf("control", text, span)));
        }
        SyntaxNode { kind: "selector", text: String::new(), span: selector.span, children }
    }

    /// Returns all pieces with their depth, parents first.
    pub(super) fn lines(&self) -> Vec<(usize, &SyntaxNode)> {
        let mut lines = Vec::new();
        // A selector has at most four levels.
        let mut open = vec![(0, self)];
        while let Some((depth, node)) = open.pop() {
            lines.push((depth, node));
            open.extend(node.children.iter().rev().map(|child| (depth + 1, child)));
        }
        lines
    }

    /// Returns the tree as JSON.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut object = Object::new();
        object.insert("kind", self.kind.into());
        object.insert("text", self.text.as_str().into());
        object.insert("start", self.span.start.into());
        object.insert("end", self.span.end.into());
        if !self.children.is_empty() {
            let children = self.children.iter().map(SyntaxNode::to_value).collect();
            object.insert("children", Value::Array(children));
        }
        object.into()
    }
}

fn chain(chain: &Chain) -> SyntaxNode {
    let children = chain.steps.iter().enumerate().map(|(index, step)| {
        let kind = match step.combinator {
            _ if index == 0 => "step",
            Combinator::Descendant => "descendant",
            Combinator::Child => "child",
        };
        compound(kind, &step.compound)
    });
    SyntaxNode {
        kind: "chain",
        text: chain.to_string(),
        span: chain.span,
        children: children.collect(),
    }
}

fn compound(kind: &'static str, compound: &Compound) -> SyntaxNode {
    let parts = compound.parts.iter();
    let children = if compound.parts.len() > 1 { parts.map(part).collect() } else { Vec::new() };
    SyntaxNode { kind, text: compound.to_string(), span: compound.span, children }
}

fn part(part: &Part) -> SyntaxNode {
    let kind = match &part.kind {
        PartKind::Root(_) => "root",
        PartKind::Depth(_) => "depth",
        PartKind::Any => "any",
        PartKind::Type(_) => "type",
        PartKind::Id(_) => "id",
        PartKind::Key(_) => "key",
        PartKind::Attr(_) => "attribute",
        PartKind::Pseudo(_) => "pseudo",
    };
    SyntaxNode::leaf(kind, part, part.span)
}

fn hop(hop: &Hop) -> SyntaxNode {
    SyntaxNode::leaf("hop", hop, hop.span)
}
