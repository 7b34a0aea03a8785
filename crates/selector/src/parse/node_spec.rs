//! Parses node specifications: `block:text { key='hero', tags=[a,b] }`.

use std::collections::BTreeSet;

use super::report::quote;
use super::{Parsed, Parser};
use crate::ast::{AttrName, ClassWord, NodeSpec, Property, PropertyValue};
use crate::error::{ErrorKind, SelectorError};
use crate::scan::is_identifier;
use crate::{Edition, Span};

impl<'t> Parser<'t> {
    /// Parses the whole text as a node specification.
    pub(super) fn node_spec(&mut self) -> NodeSpec {
        self.scan.skip_blanks();
        let start = self.scan.position();
        let name = self.type_name();
        let type_span = self.scan.span_since(start);
        // The type is parsed like a type token (switch S2).
        let split = name.split_once(':').filter(|(word, _)| {
            self.edition >= Edition::V0_2 && ClassWord::from_text(word).is_some()
        });
        let (node_type, kind) = match split {
            Some((word, kind)) => (word.into(), Some(kind.into())),
            None => (name.into(), None),
        };
        let mut spec = NodeSpec {
            edition: self.edition,
            node_type,
            kind,
            properties: Vec::new(),
            type_span,
            span: type_span,
        };
        self.scan.skip_blanks();
        if self.scan.peek() == Some(b'{') {
            if self.properties(&mut spec).is_err() {
                self.scan.skip_past(b'}');
            }
            spec.span = self.scan.span_since(start);
            self.scan.skip_blanks();
        }
        if self.scan.peek().is_some() {
            self.unexpected("a property block `{…}` or the end");
        }
        spec
    }

    /// Parses the type; returns an empty text if there is none.
    fn type_name(&mut self) -> &'t str {
        if !self.scan.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            let error = self.unexpected_error("a type, as in `block:text { key='hero' }`");
            let error = match self.scan.peek() {
                Some(b'.') => error.help("a node is specified without the dot"),
                _ => error,
            };
            self.report(error);
            self.scan.take_while(|byte| byte != b'{');
            return "";
        }
        let name = self.scan.take_while(is_identifier);
        if name.ends_with(':') {
            self.unexpected("a name after `:`");
        }
        name
    }

    fn properties(&mut self, spec: &mut NodeSpec) -> Parsed<()> {
        let start = self.scan.position();
        self.scan.advance(1);
        self.needs(Edition::V0_3, self.scan.span_since(start), "a property block `{…}`");
        self.scan.skip_blanks();
        if self.scan.peek() == Some(b'}') {
            return Err(self.empty_block(start, "`{}`", "a property"));
        }
        let mut names: BTreeSet<Box<str>> = BTreeSet::from(["nodeType".into()]);
        if spec.kind.is_some() {
            names.insert("kind".into());
        }
        loop {
            let property = self.property()?;
            if !names.insert(property.name.clone()) {
                let found = format!("`{}`", property.name);
                let error = SelectorError::new(
                    ErrorKind::Duplicate,
                    property.span,
                    found,
                    "each property once; the type already gives `nodeType` and `kind`",
                );
                self.report(error);
            }
            spec.properties.push(property);
            self.scan.skip_blanks();
            if self.scan.eat(b'}') {
                return Ok(());
            }
            if !self.scan.eat(b',') {
                return Err(self.not_closed(start, '}', "`,` or `}`"));
            }
            self.scan.skip_blanks();
        }
    }

    fn property(&mut self) -> Parsed<Property> {
        self.count();
        let start = self.scan.position();
        let name = self.attribute_name("a property's name")?;
        let name_span = self.scan.span_since(start);
        if matches!(AttrName::new(&name, self.edition), AttrName::Facet(_) | AttrName::Type) {
            self.derived(&name, name_span);
        }
        self.scan.skip_blanks();
        if !self.scan.eat(b'=') {
            return Err(self.unexpected("`=` and a value"));
        }
        self.scan.skip_blanks();
        let value = match self.scan.peek() {
            Some(b'[') => PropertyValue::List(self.value_list()?),
            _ => PropertyValue::One(self.value()?),
        };
        Ok(Property { name, value, span: self.scan.span_since(start) })
    }

    #[cold]
    fn derived(&mut self, name: &str, span: Span) {
        let expected = "a stored header; this one is derived";
        self.report(SelectorError::new(ErrorKind::Misplaced, span, quote(name), expected));
    }
}
