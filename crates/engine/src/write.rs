//! Writing by selector: the place and the nodes are named in the selector language.

use std::fmt;

use contextree_json::{Number, Value};
use contextree_query::QueryError;
use contextree_selector::{PropertyValue, SelectorErrors, parse, parse_node_spec, parse_position};
use contextree_tree::{Content, NodeRef};

use crate::context::Context;
use crate::error::OpError;
use crate::op::{Cue, Edit, NewNode, Op, Outcome, Place};

/// Why nothing was written. The context is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// The text is no selector, position or node of the edition.
    Selector(SelectorErrors),
    /// The selector says when. Only the working state can be written to.
    HasTime(
        /// The selector.
        String,
    ),
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
    Property(
        /// Its name.
        String,
    ),
    /// The operation is refused.
    Refused(OpError),
}

impl WriteError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            WriteError::Selector(errors) => errors.code().as_str(),
            WriteError::HasTime(_) | WriteError::Property(_) => "E_SELECTOR_INVALID",
            WriteError::NoMatch(_) => "E_NO_MATCH",
            WriteError::Ambiguous { .. } => "E_AMBIGUOUS",
            WriteError::Refused(error) => error.code(),
        }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Selector(errors) => errors.fmt(formatter),
            WriteError::HasTime(selector) => {
                write!(
                    formatter,
                    "`{selector}` names a snapshot, but only the working state can be changed"
                )
            }
            WriteError::NoMatch(selector) => write!(formatter, "`{selector}` matches nothing"),
            WriteError::Ambiguous { selector, ids } => {
                write!(
                    formatter,
                    "`{selector}` matches {} nodes, but one is needed: {}",
                    ids.len(),
                    ids.join(", ")
                )
            }
            WriteError::Property(name) => write!(formatter, "`{name}` cannot have this value"),
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
        self.add(place, node).map_err(WriteError::Refused)
    }

    /// Removes all nodes that a selector matches, or none. Returns the ids that it matched.
    ///
    /// # Errors
    ///
    /// It matches nothing, or one of them may not go.
    pub fn remove_selected(&mut self, selector: &str) -> Result<Vec<String>, WriteError> {
        let ids = self.matches(selector)?;
        // One that stands below another goes with it.
        let tops: Vec<String> = ids
            .iter()
            .filter(|id| {
                let node = self.working().get(id);
                !node.is_some_and(|node| {
                    node.ancestors().any(|above| ids.iter().any(|id| id == above.id()))
                })
            })
            .cloned()
            .collect();
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
        match self.apply(Op::Move { node, place }).map_err(WriteError::Refused)? {
            Outcome::Moved { renamed, .. } => Ok(renamed),
            _ => Ok(Vec::new()),
        }
    }

    fn write_all(&mut self, ops: Vec<Op>) -> Result<(), WriteError> {
        self.batch(ops).map(drop).map_err(|batch| WriteError::Refused(batch.error))
    }

    /// The ids of the nodes of the working state that a selector without a time matches; at least one.
    fn matches(&self, selector: &str) -> Result<Vec<String>, WriteError> {
        if parse(selector, self.edition())?.time.is_some() {
            return Err(WriteError::HasTime(selector.to_owned()));
        }
        // In edition 0.1 no time means the newest snapshot; writes go to the working state in every edition.
        let found: Vec<NodeRef<'_>> =
            self.select_working(selector).map_err(|error| match error {
                QueryError::Selector(errors) => WriteError::Selector(errors),
                _ => WriteError::NoMatch(selector.to_owned()),
            })?;
        let ids: Vec<String> = found.into_iter().map(|node| node.id().to_owned()).collect();
        if ids.is_empty() { Err(WriteError::NoMatch(selector.to_owned())) } else { Ok(ids) }
    }

    fn place_of(&self, position: &str) -> Result<Place, WriteError> {
        let insertion = parse_position(position, self.edition())?;
        let parents = self.matches(&insertion.position.to_string())?;
        let parent = only(position, parents)?;
        let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Ok(match insertion.cue {
            None => Place::Into { parent, offset: None },
            Some(contextree_selector::Cue::Start) => Place::Cue { parent, cue: Cue::Start },
            Some(contextree_selector::Cue::End) => Place::Cue { parent, cue: Cue::End },
            Some(contextree_selector::Cue::After(after)) => {
                Place::Cue { parent, cue: Cue::After(number(after)) }
            }
            Some(contextree_selector::Cue::Before(before)) => {
                Place::Cue { parent, cue: Cue::Before(number(before)) }
            }
        })
    }

    fn node_of(&self, text: &str) -> Result<NewNode, WriteError> {
        let spec = parse_node_spec(text, self.edition())?;
        let mut node = NewNode::container(&*spec.node_type);
        node.kind = spec.kind.map(Into::into);
        for property in spec.properties {
            let name = property.name.to_string();
            let invalid = || WriteError::Property(name.clone());
            let value = value_of(&property.value).ok_or_else(invalid)?;
            let text = || value.as_str().map(str::to_owned).ok_or_else(invalid);
            let whole = || value.as_i64().ok_or_else(invalid);
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
                            node.tags.push(tag.as_str().ok_or_else(invalid)?.to_owned());
                        }
                    }
                    _ => node.tags.push(text()?),
                },
                "pinned" => node.pinned = text()? == "true",
                "removable" => node.removable = text()? == "true",
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

/// A value of the selector language as JSON. Numbers beyond what a header holds are refused.
fn value_of(value: &PropertyValue) -> Option<Value> {
    let one = |value: &contextree_selector::Value| match value {
        contextree_selector::Value::Null => Some(Value::Null),
        contextree_selector::Value::Text(text) => Some(Value::from(&**text)),
        contextree_selector::Value::Number(number) => Some(Value::Number(match number.as_i64() {
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
