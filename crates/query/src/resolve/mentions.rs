//! Collects what a selector names and a tree may not have, for warnings about typing errors.

use contextree_selector::{
    AttrName, BehaviorKind, Body, Filter, Hop, HopKind, Op, PartKind, Selector, Span, Test,
    TypeTest, Value,
};

use super::types::{Mention, MentionKind, Named};

/// Names that are computed or stored apart, so that no node has them as attributes.
const ALWAYS_THERE: [&str; 5] = ["content", "content_hash", "parent", "removable", "pinned"];

/// Returns what a selector names, in text order.
pub(super) fn mentions(selector: &Selector) -> Vec<Mention> {
    let mut found = Found(Vec::new());
    match &selector.body {
        Body::Chains(chains) => {
            let steps = chains.iter().flat_map(|chain| &chain.steps);
            for part in steps.flat_map(|step| &step.compound.parts) {
                match &part.kind {
                    PartKind::Type(test) => found.type_test(test, part.span),
                    PartKind::Attr(filter) => found.filter(filter),
                    PartKind::Key(key) => found.value(Named::Key, key, part.span),
                    _ => {}
                }
            }
        }
        Body::Position(position) => found.hops(&position.hops),
        Body::Deep(Some(within)) => found.hops(&within.hops),
        Body::Deep(None) | Body::Step | Body::Tree => {}
    }
    selector.filters.iter().for_each(|filter| found.filter(filter));
    selector.tags.iter().for_each(|tag| found.value(Named::Tag, &tag.name, tag.span));
    for behavior in &selector.behavior {
        if let BehaviorKind::Filter(filter) = &behavior.kind {
            found.filter(filter);
        }
    }
    found.0
}

struct Found(Vec<Mention>);

impl Found {
    fn push(&mut self, kind: MentionKind, span: Span) {
        self.0.push(Mention { kind, span });
    }

    fn value(&mut self, named: Named, text: &str, span: Span) {
        self.push(MentionKind::Value(named, text.into()), span);
    }

    fn type_test(&mut self, test: &TypeTest, span: Span) {
        match test {
            TypeTest::NodeType(written) => self.push(MentionKind::Type(written.clone()), span),
            TypeTest::ClassKind { word, kind } => {
                let written = format!("{}:{kind}", word.as_str());
                self.push(MentionKind::Type(written.into()), span);
            }
            TypeTest::Class(_) => {}
        }
    }

    fn hops(&mut self, hops: &[Hop]) {
        if let Some(Hop { kind: HopKind::Segment(_), span, .. }) = hops.first() {
            self.push(MentionKind::TurnHopFirst, *span);
        }
        hops.iter().flat_map(|hop| &hop.filters).for_each(|filter| self.filter(filter));
    }

    fn filter(&mut self, filter: &Filter) {
        // A missing attribute satisfies `!=` and `=null`; it is not why nothing matches.
        let needs_it = match &filter.test {
            Test::Present => true,
            Test::Compare(op, value) => *op != Op::Ne && *value != Value::Null,
            Test::OneOf(values) => !values.contains(&Value::Null),
        };
        if !needs_it {
            return;
        }
        let named = match &filter.name {
            AttrName::Other(name) if !ALWAYS_THERE.contains(&&**name) => {
                return self.push(MentionKind::Attribute(name.clone()), filter.name_span);
            }
            AttrName::Role => Named::Role,
            AttrName::Kind => Named::Kind,
            AttrName::Key => Named::Key,
            AttrName::Tag => Named::Tag,
            _ => return,
        };
        if let Test::Compare(Op::Eq, Value::Text(text)) = &filter.test {
            self.value(named, text, filter.span);
        }
    }
}
