//! `ctx select`: what a selector matches.

use contextree::query::{ContentMode, Materialize, RangeDiff, RangeOptions, resolve_on_tree};
use contextree::{Answer, NodeRef, SelectOptions, Selection};
use contextree_selector::parse;

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::{count, one_line};
use crate::source::Source;
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

    /// Keep only nodes that this selector matches, or that stand below one that it matches
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

    /// Print only how many there are
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

    /// In a range: fields to put beside a changed node (content, mime, encoding, content_hash)
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', value_parser = materialize)]
    materialize: Vec<Materialize>,

    /// In a range: compare at most the newest N snapshots
    #[arg(long, value_name = "N")]
    max_snapshots: Option<usize>,

    /// In a range: report at most N changes of a snapshot
    #[arg(long, value_name = "N")]
    max_changes: Option<usize>,
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
    let source = Source::open(call)?;
    let filter = match &args.filter {
        Some(text) => {
            let filter =
                parse(text, source.edition()).map_err(|errors| Failure::selector(&errors, text))?;
            // It is checked here, where its text is at hand.
            resolve_on_tree(&filter).map_err(|error| Failure::query(&error.into(), text))?;
            Some(filter)
        }
        None => None,
    };
    let options = SelectOptions {
        skip: args.skip,
        limit: args.limit,
        filter,
        range: RangeOptions {
            include_content: args.content,
            content_mode: args.content_mode,
            context_lines: args.context_lines,
            materialize: args.materialize.clone(),
            max_snapshots: args.max_snapshots,
            max_changes_per_snapshot: args.max_changes,
        },
        range_as_nodes: false,
    };
    match source.select(&args.selector, &options)? {
        Answer::Nodes(selection) => nodes(args, &selection, call),
        Answer::Range(range) => self::range(&range, call),
    }
    Ok(Exit::Ok)
}

fn nodes(args: &Args, selection: &Selection<'_>, call: &mut Call<'_>) {
    for warning in &selection.warnings {
        call.output.warning(&warning.to_string());
    }
    let format = call.output.format();
    if args.count {
        match format {
            Format::Human => call.output.text(&format!("{}\n", selection.nodes.len())),
            _ => call.output.value(&(selection.nodes.len() as u64).into()),
        }
    } else if args.ids && format != Format::Human {
        call.output.values(selection.ids().into_iter().map(Into::into).collect());
    } else if format != Format::Human {
        call.output.values(selection.nodes.iter().map(|node| node::to_value(*node)).collect());
    } else if args.ids || !call.output.is_terminal() && !call.output.has_colour() {
        let lines: String = selection.nodes.iter().map(|node| format!("{}\n", node.id())).collect();
        call.output.text(&lines);
    } else {
        let text = table(&selection.nodes, call.output.width());
        call.output.text(&text);
        call.output.note(&paint(style::DIM, count(selection.nodes.len(), "node")));
    }
}

fn table(nodes: &[NodeRef<'_>], width: Option<usize>) -> String {
    if nodes.is_empty() {
        return String::new();
    }
    let titles = ["id", "place", "type", "role", "kind", "offset", "ttl", "marks", "size", "text"];
    let mut table = Table::new(&titles).right(5).right(6).right(8);
    for node in nodes {
        let place = match (node::region(*node), node::depth(*node)) {
            (Some(region), Some(depth)) if depth > 0 => format!("{} d{depth}", region.word()),
            (Some(region), _) => region.word().to_owned(),
            _ => String::new(),
        };
        table.row(vec![
            paint(style::ID, one_line(node.id())),
            paint(style::DIM, place),
            node::special_type(*node),
            node::speaker(*node),
            node.kind().map(one_line).unwrap_or_default(),
            node::offset(*node),
            node::ttl(*node),
            node::marks(*node),
            node::bytes(*node),
            node::preview(*node),
        ]);
    }
    table.render(width)
}

fn range(range: &RangeDiff, call: &mut Call<'_>) {
    for warning in &range.warnings {
        call.output.warning(warning);
    }
    for error in &range.errors {
        call.output.warning(&format!("{}: {}", error.code, error.message));
    }
    if call.output.format() != Format::Human {
        call.output.value(&range.to_value());
        return;
    }
    let mut out = String::new();
    for block in &range.diffs {
        let part = |style, mark: char, number: usize| paint(style, format!("{mark}{number}"));
        out.push_str(&format!(
            "{} → {}   {} {} {}\n",
            paint(style::TITLE, &block.to.label),
            paint(style::TITLE, &block.from.label),
            part(style::ADDED, '+', block.stats.added),
            part(style::REMOVED, '-', block.stats.removed),
            part(style::CHANGED, '~', block.stats.changed),
        ));
        for id in &block.added {
            out.push_str(&format!(
                "  {} {}\n",
                paint(style::ADDED, "+"),
                paint(style::ID, one_line(id))
            ));
        }
        for id in &block.removed {
            out.push_str(&format!(
                "  {} {}\n",
                paint(style::REMOVED, "-"),
                paint(style::ID, one_line(id))
            ));
        }
        for changed in &block.changed {
            out.push_str(&changed_line(changed));
        }
    }
    call.output.text(&out);
}

fn changed_line(changed: &contextree::query::ChangedNode) -> String {
    use contextree::query::ContentBody;
    let mut line =
        format!("  {} {}", paint(style::CHANGED, "~"), paint(style::ID, one_line(&changed.id)));
    for field in &changed.fields {
        match changed.delta.iter().find(|delta| delta.field == *field) {
            Some(delta) => {
                let text = |value: &contextree_json::Value| {
                    String::from_utf8_lossy(&value.to_canonical()).into_owned()
                };
                line.push_str(&format!("  {field} {} → {}", text(&delta.to), text(&delta.from)));
            }
            None => line.push_str(&format!("  {field}")),
        }
    }
    line.push('\n');
    match changed.content_diff.as_ref().map(|diff| &diff.body) {
        None => {}
        Some(ContentBody::Unified(text)) => {
            for row in text.lines() {
                let style = match row.as_bytes().first() {
                    Some(b'+') => style::ADDED,
                    Some(b'-') => style::REMOVED,
                    _ => style::DIM,
                };
                line.push_str(&format!("      {}\n", paint(style, one_line(row))));
            }
        }
        Some(_) => {
            let value = changed.content_diff.as_ref().map(contextree::query::ContentDiff::to_value);
            let text = value.map(|value| value.to_canonical()).unwrap_or_default();
            line.push_str(&format!("      {}\n", String::from_utf8_lossy(&text)));
        }
    }
    line
}
