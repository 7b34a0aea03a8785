//! Writing by selector: the place and the nodes are named in the selector language.

use std::collections::BTreeSet;
use std::fmt;

use contextree_json::{Number, Value};
use contextree_query::resolved::lower;
use contextree_query::{evaluate, plan};
use contextree_selector as ast;
use contextree_selector::{
    AttrName, Body, Controls, Edition, Filter, HopKind, Insertion, Position, PropertyValue,
    Selector, SelectorErrors, Span, Test, draw_caret, parse_node_spec, parse_position,
    parse_target,
};
use contextree_tree::{Content, Region, Scalar};

use crate::context::Context;
use crate::error::{OpError, Reason};
use crate::op::{Cue, Edit, NewNode, Op, Outcome, Place};

/// Most ids that the message of an ambiguous selector names.
const NAMED: usize = 5;

/// Why nothing was written. The context is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// The text is no selector, position or node of the edition, or it says when: only the working state can be written to.
    Selector(SelectorErrors),
    /// The selector matches nothing.
    NoMatch(
        /// The selector.
        String,
    ),
    /// The selector matches more than one node where one is needed.
    Ambiguous {
        /// The selector.
        selector: String,
        /// What it matches.
        ids: Vec<String>,
    },
    /// A property of a node has a value that it cannot have.
    Property {
        /// Its name.
        name: String,
        /// Its place in the text of the node.
        span: Span,
        /// What it can be.
        expected: &'static str,
    },
    /// The operation is refused.
    Refused(OpError),
}

impl WriteError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            WriteError::Selector(errors) => errors.code().as_str(),
            WriteError::Property { .. } => "E_SELECTOR_INVALID",
            WriteError::NoMatch(_) => "E_NO_MATCH",
            WriteError::Ambiguous { .. } => "E_AMBIGUOUS",
            WriteError::Refused(error) => error.code(),
        }
    }

    /// Returns the error as lines for a terminal, with a caret where a part of `text` is meant: the text of the call that is wrong.
    #[must_use]
    pub fn draw(&self, text: &str) -> String {
        let headline = format!("error[{}]: {self}", self.code());
        match self {
            WriteError::Selector(errors) => errors.draw(text),
            WriteError::Property { span, .. } => draw_caret(&headline, text, *span, None),
            _ => headline,
        }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Selector(errors) => errors.fmt(formatter),
            WriteError::NoMatch(selector) => write!(formatter, "`{selector}` matches nothing"),
            WriteError::Ambiguous { selector, ids } => {
                let named = &ids[..ids.len().min(NAMED)];
                let more = if ids.len() > NAMED { ", …" } else { "" };
                write!(
                    formatter,
                    "`{selector}` matches {} nodes, but one is needed: {}{more}",
                    ids.len(),
                    named.join(", ")
                )
            }
            WriteError::Property { name, expected, .. } => {
                write!(formatter, "the property `{name}` must be {expected}")
            }
            WriteError::Refused(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for WriteError {}

impl From<SelectorErrors> for WriteError {
    fn from(errors: SelectorErrors) -> Self {
        WriteError::Selector(errors)
    }
}

impl Context {
    /// Writes by selectors of another edition than the context's own.
    pub fn in_edition(&mut self, edition: Edition) -> Writer<'_> {
        Writer { context: self, edition }
    }

    /// Adds a node, see [`Writer::add_at`].
    ///
    /// # Errors
    ///
    /// The position matches nothing or more than one node, or the node may not stand there. Nothing lands somewhere else.
    pub fn add_at(
        &mut self,
        position: &str,
        node: &str,
        content: Content,
    ) -> Result<String, WriteError> {
        self.in_edition(self.edition()).add_at(position, node, content)
    }

    /// Removes all nodes that a selector matches, or none. Returns the ids that it matched.
    ///
    /// # Errors
    ///
    /// It matches nothing, or one of them may not go.
    pub fn remove_selected(&mut self, selector: &str) -> Result<Vec<String>, WriteError> {
        self.in_edition(self.edition()).remove_selected(selector)
    }

    /// Makes the same change on all nodes that a selector matches, or on none. Returns their ids.
    ///
    /// # Errors
    ///
    /// It matches nothing, or one of them may not be changed.
    pub fn edit_selected(
        &mut self,
        selector: &str,
        edit: &Edit,
    ) -> Result<Vec<String>, WriteError> {
        self.in_edition(self.edition()).edit_selected(selector, edit)
    }

    /// Moves the one node that a selector matches to a position. Returns old and new ids of nodes that were created again.
    ///
    /// # Errors
    ///
    /// The selector or the position matches nothing or more than one node, or the node may not go there.
    pub fn move_selected(
        &mut self,
        selector: &str,
        position: &str,
    ) -> Result<Vec<(String, String)>, WriteError> {
        self.in_edition(self.edition()).move_selected(selector, position)
    }
}

/// Writes to a context by selectors of one edition.
#[derive(Debug)]
pub struct Writer<'c> {
    context: &'c mut Context,
    edition: Edition,
}

impl Writer<'_> {
    /// Adds a node: `add_at("(d0, cont[offset=0], end)", "block:text { key='hero' }", "Hello".into())`. Returns its id.
    ///
    /// The position names the parent and, by a cue, the place among its children: a trailing comma is the start, then `end`, `+N` and `-N`.
    /// Without a cue the node goes where its offset puts it.
    ///
    /// # Errors
    ///
    /// The position matches nothing or more than one node, or the node may not stand there. Nothing lands somewhere else.
    pub fn add_at(
        &mut self,
        position: &str,
        node: &str,
        content: Content,
    ) -> Result<String, WriteError> {
        let (place, mut node) = (self.place_of(position)?, self.node_of(node)?);
        node.content = content;
        self.context.add(place, node).map_err(WriteError::Refused)
    }

    /// Removes all nodes that a selector matches, or none. Returns the ids that it matched.
    ///
    /// # Errors
    ///
    /// It matches nothing, or one of them may not go.
    pub fn remove_selected(&mut self, selector: &str) -> Result<Vec<String>, WriteError> {
        let ids = self.matches(selector)?;
        let all: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
        let stands_below = |id: &str| {
            let node = self.context.working().get(id);
            node.is_some_and(|node| node.ancestors().any(|above| all.contains(above.id())))
        };
        // One that stands below another goes with it.
        let tops: Vec<String> = ids.iter().filter(|id| !stands_below(id)).cloned().collect();
        let ops = tops.into_iter().map(|node| Op::Remove { node }).collect();
        self.write_all(ops)?;
        Ok(ids)
    }

    /// Makes the same change on all nodes that a selector matches, or on none. Returns their ids.
    ///
    /// # Errors
    ///
    /// It matches nothing, or one of them may not be changed.
    pub fn edit_selected(
        &mut self,
        selector: &str,
        edit: &Edit,
    ) -> Result<Vec<String>, WriteError> {
        let ids = self.matches(selector)?;
        let op = |node: &String| Op::Edit { node: node.clone(), edit: edit.clone() };
        self.write_all(ids.iter().map(op).collect())?;
        Ok(ids)
    }

    /// Moves the one node that a selector matches to a position. Returns old and new ids of nodes that were created again.
    ///
    /// # Errors
    ///
    /// The selector or the position matches nothing or more than one node, or the node may not go there.
    pub fn move_selected(
        &mut self,
        selector: &str,
        position: &str,
    ) -> Result<Vec<(String, String)>, WriteError> {
        let node = only(selector, self.matches(selector)?)?;
        let place = self.place_of(position)?;
        match self.context.apply(Op::Move { node, place }).map_err(WriteError::Refused)? {
            Outcome::Moved { renamed, .. } => Ok(renamed),
            _ => Ok(Vec::new()),
        }
    }

    fn write_all(&mut self, ops: Vec<Op>) -> Result<(), WriteError> {
        self.context.batch(ops).map(drop).map_err(|batch| WriteError::Refused(batch.error))
    }

    /// The ids of the nodes of the working state that a selector without a time matches; at least one.
    fn matches(&self, selector: &str) -> Result<Vec<String>, WriteError> {
        let target = parse_target(selector, self.edition)?;
        let ids = self.find(&target);
        if ids.is_empty() { Err(WriteError::NoMatch(selector.to_owned())) } else { Ok(ids) }
    }

    /// In edition 0.1 no time means the newest snapshot; writes go to the working state in every edition.
    fn find(&self, target: &Selector) -> Vec<String> {
        let found = evaluate(&plan(lower(target)), self.context.working(), None);
        found.into_iter().map(|node| node.id().to_owned()).collect()
    }

    fn place_of(&self, text: &str) -> Result<Place, WriteError> {
        let Insertion { position, cue, .. } = parse_position(text, self.edition)?;
        let mut parents = self.find(&of_position(&position, self.edition));
        if parents.is_empty() && self.is_missing_core(&position) {
            // The first node of a turn in progress brings the core with it.
            return match cue {
                None | Some(ast::Cue::Start | ast::Cue::End) => Ok(Place::head()),
                Some(ast::Cue::After(_) | ast::Cue::Before(_)) => {
                    let error = OpError::placement(Reason::PositionOutOfRange, "^ah");
                    Err(WriteError::Refused(error))
                }
            };
        }
        let parent = match (parents.pop(), parents.is_empty()) {
            (Some(parent), true) => parent,
            (None, _) => return Err(WriteError::NoMatch(text.to_owned())),
            (last, _) => {
                parents.extend(last);
                return Err(WriteError::Ambiguous { selector: text.to_owned(), ids: parents });
            }
        };
        let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Ok(match cue {
            None => Place::Into { parent, offset: None },
            Some(ast::Cue::Start) => Place::Cue { parent, cue: Cue::Start },
            Some(ast::Cue::End) => Place::Cue { parent, cue: Cue::End },
            Some(ast::Cue::After(child)) => Place::Cue { parent, cue: Cue::After(number(child)) },
            Some(ast::Cue::Before(child)) => Place::Cue { parent, cue: Cue::Before(number(child)) },
        })
    }

    /// True if a position leads to the core of the head, as `(d0, cont[offset=0])` does, and there is none yet.
    fn is_missing_core(&self, position: &Position) -> bool {
        let Some((core, way)) = position.hops.split_last() else { return false };
        let is_core = match core.kind {
            HopKind::Child { class: Some(word), offset } => {
                word.class() == ast::Class::Container && offset.unwrap_or(0) == 0
            }
            _ => false,
        };
        let is_offset_zero = |filter: &Filter| {
            filter.name == AttrName::Offset
                && filter.test == Test::Compare(ast::Op::Eq, ast::Value::Number(0.into()))
        };
        let way = Position { hops: way.to_vec(), span: position.span };
        let head = self.context.working().region(Region::Head);
        is_core
            && core.filters.iter().all(is_offset_zero)
            && !way.hops.is_empty()
            && self.find(&of_position(&way, self.edition)) == [head.id()]
            && head.children_at(Scalar::ZERO).next().is_none()
    }

    fn node_of(&self, text: &str) -> Result<NewNode, WriteError> {
        let spec = parse_node_spec(text, self.edition)?;
        let mut node = NewNode::container(&*spec.node_type);
        node.kind = spec.kind.map(Into::into);
        for property in spec.properties {
            let name = property.name.to_string();
            let invalid = |expected| WriteError::Property {
                name: property.name.to_string(),
                span: property.span,
                expected,
            };
            let value =
                value_of(&property.value).ok_or_else(|| invalid("a number that can be stored"))?;
            let text =
                || value.as_str().map(str::to_owned).ok_or_else(|| invalid("a text, in quotes"));
            let whole = || value.as_i64().ok_or_else(|| invalid("a whole number"));
            let truth = || match value.as_str() {
                Some("true") => Ok(true),
                Some("false") => Ok(false),
                _ => Err(invalid("`true` or `false`")),
            };
            match name.as_str() {
                "id" => node.id = Some(text()?),
                "role" => node.role = Some(text()?),
                "kind" => node.kind = Some(text()?),
                "key" => node.key = Some(text()?),
                "provenance" => node.provenance = Some(text()?),
                "mime" => node.mime = Some(text()?),
                "encoding" => node.encoding = Some(text()?),
                "ttl" if value.is_null() => node.ttl = None,
                "ttl" => node.ttl = Some(whole()?),
                "priority" => node.priority = whole()?,
                "tag" | "tags" => match &value {
                    Value::Array(tags) => {
                        for tag in tags {
                            let tag = tag.as_str().ok_or_else(|| invalid("texts"))?;
                            node.tags.push(tag.to_owned());
                        }
                    }
                    _ => node.tags.push(text()?),
                },
                "pinned" => node.pinned = truth()?,
                "removable" => node.removable = truth()?,
                _ => node.attributes.push((name.clone(), value.clone())),
            }
        }
        Ok(node)
    }
}

fn only(selector: &str, mut ids: Vec<String>) -> Result<String, WriteError> {
    match (ids.pop(), ids.is_empty()) {
        (Some(id), true) => Ok(id),
        (last, _) => {
            ids.extend(last);
            Err(WriteError::Ambiguous { selector: selector.to_owned(), ids })
        }
    }
}

/// The selector that reads a position.
fn of_position(position: &Position, edition: Edition) -> Selector {
    Selector {
        edition,
        time: None,
        body: Body::Position(position.clone()),
        filters: Vec::new(),
        tags: Vec::new(),
        behavior: Vec::new(),
        controls: Controls::default(),
        span: position.span,
    }
}

/// A value of the selector language as JSON. Numbers beyond what a header holds are refused.
fn value_of(value: &PropertyValue) -> Option<Value> {
    let one = |value: &ast::Value| match value {
        ast::Value::Null => Some(Value::Null),
        ast::Value::Text(text) => Some(Value::from(&**text)),
        ast::Value::Number(number) => Some(Value::Number(match number.as_i64() {
            Some(whole) => Number::from_i64(whole),
            None => Number::from_f64(number.to_f64())?,
        })),
    };
    match value {
        PropertyValue::One(value) => one(value),
        PropertyValue::List(values) => {
            values.iter().map(one).collect::<Option<_>>().map(Value::Array)
        }
    }
}
