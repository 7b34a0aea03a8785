//! `ctx select`: what a selector matches.

use contextree::json::Value;
use contextree::query::{ContentMode, Materialize};
use contextree_app::command::select::{self, Found, RangeRequest, SelectRequest, SelectWhat};
use contextree_app::wire::{Node, Word};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::{count, one_line};
use crate::view::node;

/// Find nodes by selector; in a pipe only their ids
///
/// On a terminal a table is printed, in a pipe one id per line, with `--json` every node with its headers and content. A selector
/// that addresses a range of snapshots answers with what its matches gained, lost and changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx select '.block[role=user]'              blocks of the user, in the working state
  ctx select '@t0 ^seq .seg:depth(1-3)'       the three newest turns of the newest snapshot
  ctx select '#forecast'                      nodes with this key, newest first
  ctx select '@t-5..@t0 .block' --content     what changed in the last five commits, with contents
  ctx select '+draft' | xargs -n1 ctx remove  ids for another command")]
pub(crate) struct Args {
    /// The selector; `ctx help selectors` explains the language
    selector: String,

    /// Keep only nodes that this selector matches, or that are below one that it matches
    #[arg(long = "where", value_name = "SELECTOR")]
    filter: Option<String>,

    /// Leave out the first N results
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    skip: usize,

    /// Print at most N results
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,

    /// Print only ids, also on a terminal
    #[arg(long, conflicts_with = "count")]
    ids: bool,

    /// Print only the number of results
    #[arg(long)]
    count: bool,

    /// In a range: show how contents changed
    #[arg(long)]
    content: bool,

    /// In a range: how to compare contents (unified, jsonpatch, tokens)
    #[arg(long, value_name = "MODE", default_value = "unified", value_parser = content_mode, hide_default_value = true)]
    content_mode: ContentMode,

    /// In a range: lines around a change
    #[arg(long, value_name = "N", default_value_t = 3, hide_default_value = true)]
    context_lines: usize,

    /// In a range: fields to print with a changed node (content, mime, encoding, content_hash)
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', value_parser = materialize)]
    materialize: Vec<Materialize>,

    /// In a range: compare at most the newest N snapshots
    #[arg(long, value_name = "N")]
    max_snapshots: Option<usize>,

    /// In a range: report at most N changes of a snapshot
    #[arg(long, value_name = "N")]
    max_changes: Option<usize>,

    /// Give up with E_LIMIT after N steps of work, about one for each condition and node [default: 20 million in a snapshot, 2 billion in all]
    #[arg(long, value_name = "N")]
    max_steps: Option<u64>,

    /// In a range of edition 0.1: print the nodes of its snapshots, each once, instead of what changed
    #[arg(long)]
    as_nodes: bool,
}

fn content_mode(text: &str) -> Result<ContentMode, String> {
    text.parse().map_err(|error: contextree::query::UnknownContentMode| error.to_string())
}

fn materialize(text: &str) -> Result<Materialize, String> {
    Materialize::ALL.into_iter().find(|field| field.as_str() == text).ok_or_else(|| {
        format!("unknown field `{text}`, expected `content`, `mime`, `encoding` or `content_hash`")
    })
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let is_table = call.output.is_terminal() || call.output.has_colour();
    let request = SelectRequest {
        selector: args.selector.clone(),
        filter: args.filter.clone(),
        skip: args.skip,
        limit: args.limit,
        what: match call.output.format() {
            _ if args.count => SelectWhat::Count,
            _ if args.ids => SelectWhat::Ids,
            Format::Human if !is_table => SelectWhat::Ids,
            _ => SelectWhat::Nodes,
        },
        max_steps: args.max_steps,
        range: RangeRequest {
            content: args.content,
            content_mode: Word(args.content_mode),
            context_lines: args.context_lines,
            materialize: args.materialize.iter().copied().map(Word).collect(),
            max_snapshots: args.max_snapshots,
            max_changes: args.max_changes,
            as_nodes: args.as_nodes,
        },
    };
    let response = call.read(|workspace, control| select::select(workspace, &request, control))?;
    for warning in &response.warnings {
        call.output.warning(warning);
    }
    let is_range = matches!(response.found, Found::Range(_));
    for (name, given) in [("ids", args.ids), ("count", args.count)] {
        if given && is_range {
            call.output.warning(&format!("`{name}` is ignored: a range compares snapshots"));
        }
    }
    let is_human = call.output.format() == Format::Human;
    match &response.found {
        Found::Count(number) if is_human => call.output.text(&format!("{number}\n")),
        Found::Count(number) => call.output.form(number),
        Found::Ids(ids) if is_human => call.output.words(ids),
        Found::Ids(ids) => call.output.forms(ids),
        Found::Nodes(nodes) if is_human => {
            let text = table(nodes, call.output.width());
            call.output.text(&text);
            call.output.note(&paint(style::DIM, count(nodes.len(), "node")));
        }
        Found::Nodes(nodes) => call.output.forms(nodes),
        Found::Range(range) if is_human => call.output.text(&draw_range(range)),
        Found::Range(range) => call.output.value(range),
    }
    Ok(Exit::Ok)
}

fn table(nodes: &[Node], width: Option<usize>) -> String {
    if nodes.is_empty() {
        return String::new();
    }
    let titles = ["id", "place", "type", "role", "kind", "offset", "ttl", "marks", "size", "text"];
    let mut table = Table::new(&titles).right(5).right(6).right(8);
    for node in nodes {
        let place = match (&node.derived.region, node.derived.depth) {
            (Some(region), Some(depth)) if depth > 0 => format!("{region} d{depth}"),
            (Some(region), _) => region.clone(),
            _ => String::new(),
        };
        table.row(vec![
            paint(style::ID, one_line(node.id())),
            paint(style::DIM, place),
            node::special_type(node),
            node::speaker(node),
            node.kind().map(one_line).unwrap_or_default(),
            node::offset(node),
            node::ttl(node),
            node::marks(node),
            node::bytes(node),
            node::preview(node),
        ]);
    }
    table.render(width)
}

/// Draws what the matches gained, lost and changed. The form is that of the specification.
fn draw_range(range: &Value) -> String {
    let mut out = String::new();
    for block in list(range, "diffs") {
        let label = |side: &str| {
            let label = block.get(side).and_then(|side| side.get("label")).and_then(Value::as_str);
            paint(style::TITLE, label.unwrap_or_default())
        };
        let part = |style, mark: char, name: &str| {
            let number = block.get("stats").and_then(|stats| stats.get(name)?.as_u64());
            paint(style, format!("{mark}{}", number.unwrap_or_default()))
        };
        out.push_str(&format!(
            "{} → {}   {} {} {}\n",
            label("to"),
            label("from"),
            part(style::ADDED, '+', "added"),
            part(style::REMOVED, '-', "removed"),
            part(style::CHANGED, '~', "changed"),
        ));
        for (ids, style, mark) in
            [("added_ids", style::ADDED, "+"), ("removed_ids", style::REMOVED, "-")]
        {
            for id in list(block, ids).iter().filter_map(Value::as_str) {
                let id = paint(style::ID, one_line(id));
                out.push_str(&format!("  {} {id}\n", paint(style, mark)));
            }
        }
        for changed in list(block, "changed") {
            out.push_str(&changed_line(changed));
        }
    }
    out
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).unwrap_or_default()
}

fn changed_line(changed: &Value) -> String {
    let id = changed.get("id").and_then(Value::as_str).unwrap_or_default();
    let mut line = format!("  {} {}", paint(style::CHANGED, "~"), paint(style::ID, one_line(id)));
    let text = |value: Option<&Value>| {
        value.map(|value| String::from_utf8_lossy(&value.to_canonical()).into_owned())
    };
    for field in list(changed, "fields").iter().filter_map(Value::as_str) {
        let delta = changed.get("delta").and_then(|delta| delta.get(field));
        match delta.map(|delta| (text(delta.get("to")), text(delta.get("from")))) {
            Some((Some(to), Some(from))) => line.push_str(&format!("  {field} {to} → {from}")),
            _ => line.push_str(&format!("  {field}")),
        }
    }
    line.push('\n');
    let Some(diff) = changed.get("content_diff") else { return line };
    let Some(unified) = diff.get("diff").and_then(Value::as_str) else {
        line.push_str(&format!("      {}\n", text(Some(diff)).unwrap_or_default()));
        return line;
    };
    for row in unified.lines() {
        let style = match row.as_bytes().first() {
            Some(b'+') => style::ADDED,
            Some(b'-') => style::REMOVED,
            _ => style::DIM,
        };
        line.push_str(&format!("      {}\n", paint(style, one_line(row))));
    }
    line
}
