//! Writes by selector: the place and the nodes are given in the selector language.

use std::collections::BTreeSet;

use contextree_json::{Number, Value};
use contextree_query::resolved::lower;
use contextree_query::{QueryError, QueryLimits, evaluate_within, plan};
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

/// Maximum number of ids in the message for an ambiguous selector.
const NAMED: usize = 5;

/// Why a write failed. The context is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The text is not a valid selector, position or node of the edition, or contains a time
    /// prefix: only the working state can be written.
    #[error(transparent)]
    Selector(#[from] SelectorErrors),
    /// The selector or the position is too much work.
    #[error(transparent)]
    Query(QueryError),
    /// The selector matches no node.
    #[error("no node matches `{0}`")]
    NoMatch(
        /// The selector.
        String,
    ),
    /// The selector matches more than one node where one is needed.
    #[error("`{selector}` matches {} nodes, but one is needed: {}", .ids.len(), first_ids(.ids))]
    Ambiguous {
        /// The selector.
        selector: String,
        /// The nodes it matches.
        ids: Vec<String>,
    },
    /// A property of a node has an invalid value.
    #[error("the property `{name}` must be {expected}")]
    Property {
        /// Its name.
        name: String,
        /// Its span in the text of the node.
        span: Span,
        /// What is valid.
        expected: &'static str,
    },
    /// The operation was rejected.
    #[error(transparent)]
    Refused(OpError),
}

impl WriteError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            WriteError::Selector(errors) => errors.code().as_str(),
            WriteError::Query(error) => error.code(),
            WriteError::Property { .. } => "E_SELECTOR_INVALID",
            WriteError::NoMatch(_) => "E_NO_MATCH",
            WriteError::Ambiguous { .. } => "E_AMBIGUOUS",
            WriteError::Refused(error) => error.code(),
        }
    }

    /// Returns the error as lines for a terminal, with a caret under the affected part of `text`,
    /// the argument that is invalid.
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

/// Returns the first ids of a list for a message.
fn first_ids(ids: &[String]) -> String {
    let more = if ids.len() > NAMED { ", …" } else { "" };
    format!("{}{more}", ids[..ids.len().min(NAMED)].join(", "))
}

impl Context {
    /// Returns a writer for selectors of another edition than the context's own.
    pub fn in_edition(&mut self, edition: Edition) -> Writer<'_> {
        Writer { context: self, edition, limits: QueryLimits::default() }
    }

    /// Adds a node, see [`Writer::add_at`].
    ///
    /// # Errors
    ///
    /// If the position matches no node or more than one, or the node may not be there. The node is
    /// never put elsewhere.
    pub fn add_at(
        &mut self,
        position: &str,
        node: &str,
        content: Content,
    ) -> Result<String, WriteError> {
        self.in_edition(self.edition()).add_at(position, node, content)
    }

    /// Removes all nodes that a selector matches, or none. Returns the matched ids.
    ///
    /// # Errors
    ///
    /// If it matches no node, or one of them may not be removed.
    pub fn remove_selected(&mut self, selector: &str) -> Result<Vec<String>, WriteError> {
        self.in_edition(self.edition()).remove_selected(selector)
    }

    /// Applies the same edit to all nodes that a selector matches, or to none. Returns their ids.
    ///
    /// # Errors
    ///
    /// If it matches no node, or one of them may not be changed.
    pub fn edit_selected(
        &mut self,
        selector: &str,
        edit: &Edit,
    ) -> Result<Vec<String>, WriteError> {
        self.in_edition(self.edition()).edit_selected(selector, edit)
    }

    /// Moves the one node that a selector matches to a position. Returns old and new ids of nodes
    /// that were recreated.
    ///
    /// # Errors
    ///
    /// If the selector or the position matches no node or more than one, or the node may not be
    /// there.
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
    limits: QueryLimits,
}

impl Writer<'_> {
    /// Returns a writer whose selectors and positions are evaluated within other limits than the default ones.
    #[must_use]
    pub fn within(self, limits: QueryLimits) -> Self {
        Writer { limits, ..self }
    }

    /// Adds a node: `add_at("(d0, cont[offset=0], end)", "block:text { key='hero' }",
    /// "Hello".into())`. Returns its id.
    ///
    /// The position names the parent and, by a cue, the place among its children: a trailing comma
    /// is the start; the others are `end`, `+N` and `-N`. Without a cue the offset decides.
    ///
    /// # Errors
    ///
    /// If the position matches no node or more than one, or the node may not be there. The node is
    /// never put elsewhere.
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

    /// Removes all nodes that a selector matches, or none. Returns the matched ids.
    ///
    /// # Errors
    ///
    /// If it matches no node, or one of them may not be removed.
    pub fn remove_selected(&mut self, selector: &str) -> Result<Vec<String>, WriteError> {
        let ids = self.matches(selector)?;
        let all: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
        let is_below_another = |id: &str| {
            let node = self.context.working().get(id);
            node.is_some_and(|node| node.ancestors().any(|above| all.contains(above.id())))
        };
        // A node below another match is removed with it.
        let tops: Vec<String> = ids.iter().filter(|id| !is_below_another(id)).cloned().collect();
        let ops = tops.into_iter().map(|node| Op::Remove { node }).collect();
        self.write_all(ops)?;
        Ok(ids)
    }

    /// Applies the same edit to all nodes that a selector matches, or to none. Returns their ids.
    ///
    /// # Errors
    ///
    /// If it matches no node, or one of them may not be changed.
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

    /// Moves the one node that a selector matches to a position. Returns old and new ids of nodes
    /// that were recreated.
    ///
    /// # Errors
    ///
    /// If the selector or the position matches no node or more than one, or the node may not be
    /// there.
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

    /// Returns the ids of the nodes of the working state that a selector without a time prefix
    /// matches; at least one.
    fn matches(&self, selector: &str) -> Result<Vec<String>, WriteError> {
        let target = parse_target(selector, self.edition)?;
        let ids = self.find(&target)?;
        if ids.is_empty() { Err(WriteError::NoMatch(selector.to_owned())) } else { Ok(ids) }
    }

    /// Without a time prefix, edition 0.1 reads the newest snapshot; writes use the working state
    /// in every edition.
    fn find(&self, target: &Selector) -> Result<Vec<String>, WriteError> {
        let plan = plan(lower(target));
        let found = evaluate_within(&plan, self.context.working(), None, &self.limits)
            .map_err(WriteError::Query)?;
        Ok(found.into_iter().map(|node| node.id().to_owned()).collect())
    }

    /// Returns the place of a position: `(d0, cont[offset=0], end)`. For operations that are built
    /// by hand.
    ///
    /// # Errors
    ///
    /// If the text is not a position, or matches no node or more than one.
    pub fn place_of(&self, text: &str) -> Result<Place, WriteError> {
        let Insertion { position, cue, .. } = parse_position(text, self.edition)?;
        let parents = self.find(&of_position(&position, self.edition))?;
        if parents.is_empty() && self.is_missing_core(&position)? {
            // The first node of a turn in progress creates the core.
            return match cue {
                None | Some(ast::Cue::Start | ast::Cue::End) => Ok(Place::at("^ah", 0)),
                Some(ast::Cue::After(_) | ast::Cue::Before(_)) => {
                    let error = OpError::placement(Reason::PositionOutOfRange, "^ah");
                    Err(WriteError::Refused(error))
                }
            };
        }
        if parents.is_empty() {
            return Err(WriteError::NoMatch(text.to_owned()));
        }
        let parent = only(text, parents)?;
        let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Ok(match cue {
            None => Place::Into { parent, offset: None },
            Some(ast::Cue::Start) => Place::Cue { parent, cue: Cue::Start },
            Some(ast::Cue::End) => Place::Cue { parent, cue: Cue::End },
            Some(ast::Cue::After(child)) => Place::Cue { parent, cue: Cue::After(number(child)) },
            Some(ast::Cue::Before(child)) => Place::Cue { parent, cue: Cue::Before(number(child)) },
        })
    }

    /// Returns whether a position is the core of the head, as in `(d0, cont[offset=0])`, and there
    /// is none yet.
    fn is_missing_core(&self, position: &Position) -> Result<bool, WriteError> {
        let Some((core, way)) = position.hops.split_last() else { return Ok(false) };
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
        Ok(is_core
            && core.filters.iter().all(is_offset_zero)
            && !way.hops.is_empty()
            && self.find(&of_position(&way, self.edition))? == [head.id()]
            && head.children_at(Scalar::ZERO).next().is_none())
    }

    /// Returns the node that a text specifies, `block:text { key='hero' }`, without content.
    ///
    /// # Errors
    ///
    /// If the text is invalid, or a property has a value of the wrong type.
    pub fn node_of(&self, text: &str) -> Result<NewNode, WriteError> {
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
            let value = value_of(&property.value).ok_or_else(|| invalid("a number in range"))?;
            let text =
                || value.as_str().map(str::to_owned).ok_or_else(|| invalid("a string in quotes"));
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

/// Returns the selector that reads a position.
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

/// Converts a value of the selector language to JSON; `None` for numbers that no header can hold.
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
