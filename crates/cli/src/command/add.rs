//! `ctx add`: a new node in the working state.

use contextree::json::Value;
use contextree::selector::parse_node_spec;
use contextree::{Class, Content, NewNode};
use contextree_app::command::add::{self, AddRequest};
use contextree_app::wire::{self, Place, Zone};

use super::Call;
use super::input::{self, ContentOptions};
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::source::ChangeOptions;

/// Add a node to the working state; prints its id
///
/// Without a place it is added to the core of the turn in progress (`^ah`). `--offset -1` puts it before the core, `--offset 1`
/// after it; `--into ^sys` into the system region; `--at` takes a position with a cue, such as `(d0, cont[offset=0], end)`.
///
/// The content is an argument, a file, or what comes through a pipe. A block of text has the kind `text` unless another one is given.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx add --role user 'Will it rain in Oslo?'
  ctx add --into ^sys --role system --pinned 'You are a travel assistant.'
  ctx add --role tool --ttl 2 --offset 1 --key forecast --tag retrieved --content-file forecast.txt
  ctx add --role tool --kind result --attr data_call_id=call-1 --content-json '{\"rain\":true}'
  git diff | ctx add --role user --kind diff
  ctx add --role user '- buy milk'
  ctx add --at '(d1, end)' --role assistant --kind summary 'They agreed.'   after the newest sealed turn
  ctx add --at '(d0, cont[offset=0], )' --node \"block:text { key='hero' }\" 'Hello'")]
pub(crate) struct Args {
    #[command(flatten)]
    content: ContentOptions,

    /// The role: user, assistant, system, tool …
    #[arg(long)]
    role: Option<String>,

    /// The kind: text, call, result, summary …
    #[arg(long)]
    kind: Option<String>,

    /// A name that several nodes may share; `#KEY` selects them
    #[arg(long)]
    key: Option<String>,

    /// A tag; may be given more than once
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// How many calls see it: 1 is for the next call only, 0 never reaches a model [default: it never expires]
    #[arg(long, allow_negative_numbers = true)]
    ttl: Option<i64>,

    /// Pruning takes the lowest first
    #[arg(long, allow_negative_numbers = true, default_value_t = 0, hide_default_value = true)]
    priority: i64,

    /// The place among siblings: below 0 before the core of a turn, above 0 after it
    #[arg(long, allow_negative_numbers = true)]
    offset: Option<i64>,

    /// The id [default: generated, such as block:3.1]
    #[arg(long)]
    id: Option<String>,

    /// The type [default: block]; `cont:NAME` adds a group
    #[arg(long = "type", value_name = "TYPE")]
    node_type: Option<String>,

    /// An attribute: data_…, content_… or namespace:name; may be given more than once
    #[arg(long = "attr", value_name = "NAME=TEXT")]
    attributes: Vec<String>,

    /// An attribute whose value is JSON
    #[arg(long = "attr-json", value_name = "NAME=JSON")]
    json_attributes: Vec<String>,

    /// The media type of the content
    #[arg(long)]
    mime: Option<String>,

    /// The encoding of the content
    #[arg(long)]
    encoding: Option<String>,

    /// Where it comes from
    #[arg(long)]
    provenance: Option<String>,

    /// Add a block without content
    #[arg(long, conflicts_with_all = ["content", "literal", "content_file", "content_json"])]
    empty: bool,

    /// Never prune it
    #[arg(long)]
    pinned: bool,

    /// A group that is removed when it is empty
    #[arg(long)]
    removable: bool,

    /// The node in the words of the selector language: `block:text { key='hero' }`; other options add to it
    #[arg(long, value_name = "SPECIFICATION")]
    node: Option<String>,

    /// The parent: ^ah, ^sys, or an id [default: ^ah]
    #[arg(long, value_name = "PARENT", conflicts_with = "at")]
    into: Option<String>,

    /// A position: hops to the parent, and a cue (`,` start, `end`, `+N`, `-N`)
    #[arg(long, value_name = "POSITION", conflicts_with = "offset")]
    at: Option<String>,

    /// A zone of the turn in progress, or of the one named by --into: pre, core or post
    #[arg(long, value_name = "ZONE", conflicts_with_all = ["at", "offset"], value_parser = zone)]
    zone: Option<Zone>,

    #[command(flatten)]
    change: ChangeOptions,
}

pub(super) fn zone(text: &str) -> Result<Zone, String> {
    match text {
        "pre" => Ok(Zone::Pre),
        "core" => Ok(Zone::Core),
        "post" => Ok(Zone::Post),
        _ => Err(format!("`{text}` is not `pre`, `core` or `post`")),
    }
}

/// Returns the place that the options name.
pub(super) fn place(
    at: Option<&str>,
    into: Option<&str>,
    zone: Option<Zone>,
    offset: Option<i64>,
) -> Place {
    let parent = into.unwrap_or("^ah").to_owned();
    match (at, zone) {
        (Some(at), _) => Place::At { at: at.to_owned() },
        (None, Some(zone)) => Place::Zone { turn: parent, zone },
        (None, None) => Place::Into { parent, offset },
    }
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = AddRequest {
        node: wire::NewNode(node(args, call)?),
        spec: args.node.clone(),
        place: place(args.at.as_deref(), args.into.as_deref(), args.zone, args.offset),
        change: args.change.to_change(),
    };
    let added = call.read(|workspace, control| add::add(workspace, &request, control))?;
    if call.output.format() != Format::Human {
        call.output.form(&added);
        return Ok(Exit::Ok);
    }
    call.output.words([&added.id]);
    if args.ttl == Some(0) {
        call.output.note("ttl 0: it expires before the next request, so it never reaches a model; `--ttl 1` is seen by one call");
    }
    if args.change.dry_run {
        call.output.note("it could be added (--dry-run)");
    }
    Ok(Exit::Ok)
}

/// Reads the content. Groups have none, and a block has some.
fn content(args: &Args, call: &Call<'_>) -> Result<Content, Failure> {
    let written = args.node.as_deref().map(|spec| spec.split([' ', '{']).next().unwrap_or(spec));
    let node_type = args.node_type.as_deref().or(written);
    let is_container = node_type.is_some_and(|name| Class::of(name).is_container());
    if args.empty || is_container {
        return Ok(args.content.read()?.map_or(Content::Absent, Content::from));
    }
    let content = args.content.read_for_block(call)?;
    // `ctx add --at '(d0, )' "block:text { key='hero' }"` is how the specification writes it.
    if let (Some(_), None, Value::String(text)) = (&args.at, &args.node, &content)
        && text.trim_end().ends_with('}')
        && parse_node_spec(text, call.global.edition.unwrap_or_default()).is_ok()
    {
        call.output.warning("the content looks like a specification; `--node` takes one");
    }
    Ok(content.into())
}

fn node(args: &Args, call: &Call<'_>) -> Result<NewNode, Failure> {
    let mut node = NewNode {
        id: args.id.clone(),
        node_type: args.node_type.clone(),
        ttl: args.ttl,
        priority: args.priority,
        role: args.role.clone(),
        kind: args.kind.clone(),
        key: args.key.clone(),
        tags: args.tags.clone(),
        provenance: args.provenance.clone(),
        mime: args.mime.clone(),
        encoding: args.encoding.clone(),
        content: content(args, call)?,
        removable: args.removable,
        pinned: args.pinned,
        attributes: Vec::new(),
    };
    node.attributes.extend(input::texts(&args.attributes)?);
    node.attributes.extend(input::values(&args.json_attributes)?);
    Ok(node)
}
