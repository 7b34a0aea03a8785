//! `add`: a new node in the working state.

use contextree::{Class, Content, Context, Edition, Op, Outcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::{NewNode, Place};
use crate::workspace::Change;
use crate::{Control, Error, Workspace};

/// Adds a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AddRequest {
    /// The node.
    pub node: NewNode,
    /// The node in the words of the selector language, `block:text { key='hero' }`; what `node` has besides is added to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    /// Where; the core of the turn in progress if it is absent.
    pub place: Place,
    /// How to change the context.
    pub change: Change,
}

/// An added node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddResponse {
    /// Its id.
    pub id: String,
    /// The id of the core that was created for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<String>,
}

/// Adds a node to the working state. A block of text gets the kind `text` unless another one is given.
///
/// # Errors
///
/// If the place does not exist, or the rules refuse the node.
pub fn add(
    workspace: &Workspace,
    request: &AddRequest,
    control: &Control<'_>,
) -> Result<AddResponse, Error> {
    let _span = workspace.span("add");
    control.check()?;
    let outcome = workspace.change("add", &request.change, |context| {
        let place = request.place.clone().resolve_within(
            context,
            workspace.edition(),
            &control.query_limits(None),
        )?;
        let op = Op::Add { place, node: node(request, context, workspace.edition())? };
        context.apply(op).map_err(|error| Error::refused(&error))
    })?;
    match outcome {
        Outcome::Added { id, core } => Ok(AddResponse { id, core }),
        other => Err(Error::new("E_INTERNAL", format!("adding a node returned {other:?}"))),
    }
}

/// Returns the node: what the specification says, then what the request gives, then the usual kind.
fn node(
    request: &AddRequest,
    context: &mut Context,
    edition: Option<Edition>,
) -> Result<contextree::NewNode, Error> {
    let given = request.node.0.clone();
    check_texts(&given)?;
    let mut node = match &request.spec {
        Some(spec) => {
            let edition = edition.unwrap_or(context.edition());
            let written = context.in_edition(edition).node_of(spec);
            overlay(written.map_err(|error| Error::write(&error, spec))?, given)
        }
        None => given,
    };
    set_usual_kind(&mut node);
    Ok(node)
}

/// Gives a block of text the kind `text`, unless it has another one.
pub(super) fn set_usual_kind(node: &mut contextree::NewNode) {
    let is_block = node.node_type.as_deref().is_none_or(|name| Class::of(name) == Class::Block);
    if is_block && node.kind.is_none() && matches!(node.content, Content::Text(_)) {
        node.kind = Some("text".to_owned());
    }
}

/// Refuses texts that name something and are empty: nothing could find the node by them.
pub(super) fn check_texts(node: &contextree::NewNode) -> Result<(), Error> {
    let given = [
        ("id", &node.id),
        ("type", &node.node_type),
        ("role", &node.role),
        ("kind", &node.kind),
        ("key", &node.key),
    ];
    let tags = node.tags.iter().map(|tag| ("tag", tag));
    let texts = given.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?)));
    match texts.chain(tags).find(|(_, text)| text.is_empty()) {
        None => Ok(()),
        Some((name, _)) => Err(Error::new("E_INVALID_PLACEMENT", format!("the {name} is empty"))
            .with_hint("omit it, or give it a text")),
    }
}

/// Returns a node with everything that another one gives in its place.
fn overlay(mut node: contextree::NewNode, given: contextree::NewNode) -> contextree::NewNode {
    let texts = [
        (&mut node.id, given.id),
        (&mut node.node_type, given.node_type),
        (&mut node.role, given.role),
        (&mut node.kind, given.kind),
        (&mut node.key, given.key),
        (&mut node.provenance, given.provenance),
        (&mut node.mime, given.mime),
        (&mut node.encoding, given.encoding),
    ];
    for (own, given) in texts {
        if given.is_some() {
            *own = given;
        }
    }
    node.ttl = given.ttl.or(node.ttl);
    if given.priority != 0 {
        node.priority = given.priority;
    }
    node.tags.extend(given.tags);
    if given.content != Content::Absent {
        node.content = given.content;
    }
    node.removable |= given.removable;
    node.pinned |= given.pinned;
    node.attributes.extend(given.attributes);
    node
}
