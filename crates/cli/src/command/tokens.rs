//! `ctx tokens`: how much of a model's window a state takes.

use std::collections::BTreeMap;

use contextree::tokens::By;
use contextree_app::Address;
use contextree_app::command::tokens::{self, TokenCount, TokenGroup, TokensRequest};
use contextree_app::wire::Word;

use super::Call;
use crate::args::parse_address;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::one_line;

/// Count tokens: by region, turn, role, kind, key or tag, and over time
///
/// Counts what blocks take in a request: their text, and what a provider adds around it. These are estimates for the model that the context was
/// called with, or for `--model`. With `--content`, counts only the text; that is exact for models of OpenAI.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx tokens                              the working state, by region
  ctx tokens @t0 --by turn --model claude-sonnet-5
  ctx tokens --by role --content --json
  ctx tokens --over-time                  every snapshot")]
pub(crate) struct Args {
    /// The state [default: the working state]
    #[arg(value_parser = parse_address)]
    at: Option<Address>,

    /// The model, encoding or estimate that counts [default: the model that the context was called with, or gpt-5]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// What to group by: region, turn, role, kind, key, tag
    #[arg(long, value_name = "WHAT", default_value = "region", value_parser = by)]
    by: By,

    /// One line per snapshot
    #[arg(long, conflicts_with = "at")]
    over_time: bool,

    /// Count only the text of blocks, not what a request adds around them
    #[arg(long)]
    content: bool,
}

fn by(word: &str) -> Result<By, String> {
    let words = By::ALL.map(By::word).join("`, `");
    By::from_word(word).ok_or_else(|| format!("`{word}` is not one of `{words}`"))
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let request = TokensRequest {
        at: args.at,
        model: args.model.clone(),
        by: Word(args.by),
        over_time: args.over_time,
        content: args.content,
    };
    let found = call.read(|workspace, control| tokens::tokens(workspace, &request, control))?;
    let format = call.output.format();
    if args.over_time {
        if format != Format::Human {
            call.output.forms(&found.counts);
            return Ok(Exit::Ok);
        }
        let text = draw(&found.counts, args.by, call.output.width());
        call.output.text(&text);
        let media = found.counts.last().map_or(0, |count| count.media);
        call.output.note(&paint(style::DIM, words(media, &found.counted_by)));
        return Ok(Exit::Ok);
    }
    let Some(total) = found.counts.first() else { return Ok(Exit::Ok) };
    match format {
        Format::Json => call.output.form(total),
        Format::JsonLines => call.output.forms(&total.groups),
        Format::Human => {
            let titles = [args.by.word(), "tokens", "share", "blocks", ""];
            let mut table = Table::new(&titles).right(1).right(2).right(3);
            for group in &total.groups {
                table.row(row(group, total));
            }
            table.row(vec![
                paint(style::TITLE, "all"),
                total.tokens.to_string(),
                String::new(),
                total.blocks.to_string(),
                String::new(),
            ]);
            let text = table.render(call.output.width());
            call.output.text(&text);
            let words = words(total.media, &found.counted_by);
            call.output.note(&paint(style::DIM, format!("{}, {words}", found.state)));
        }
    }
    Ok(Exit::Ok)
}

/// Names what counted, and the part that is only an estimate.
fn words(media: u64, counted_by: &str) -> String {
    match media {
        0 => format!("counted by {counted_by}"),
        media => format!("counted by {counted_by}; {media} are estimates of images and other data"),
    }
}

fn row(group: &TokenGroup, total: &TokenCount) -> Vec<String> {
    let share = (group.tokens * 100).checked_div(total.tokens).unwrap_or(0);
    let bar = "█".repeat(usize::try_from(share / 4).unwrap_or(0));
    vec![
        match &group.name {
            Some(name) => paint(style::ID, one_line(name)),
            None => paint(style::DIM, "(none)"),
        },
        group.tokens.to_string(),
        format!("{share} %"),
        group.blocks.to_string(),
        bar,
    ]
}

/// How many groups have a column of their own; those with the most tokens in any snapshot.
const COLUMNS: usize = 8;

/// Draws one line per snapshot: its tokens, and those of each group.
fn draw(moments: &[TokenCount], by: By, width: Option<usize>) -> String {
    let mut most: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    for group in moments.iter().flat_map(|moment| &moment.groups) {
        let seen = most.entry(group.name.as_deref()).or_default();
        *seen = (*seen).max(group.tokens);
    }
    let mut columns: Vec<Option<&str>> = match by {
        // There would be a column for every turn, and the line itself shows what was added.
        By::Turn => Vec::new(),
        By::Region => contextree::Region::ALL.map(|region| Some(region.word())).to_vec(),
        _ => most.keys().copied().collect(),
    };
    if by != By::Region {
        columns.sort_by_key(|name| std::cmp::Reverse(most.get(name).copied()));
        columns.truncate(COLUMNS);
    }
    let names = columns.iter().map(|name| name.unwrap_or("(none)"));
    let titles: Vec<&str> =
        ["snapshot", "tokens", "blocks"].into_iter().chain(names).chain([""]).collect();
    let mut table = (1..titles.len() - 1).fold(Table::new(&titles), Table::right);
    let all = moments.iter().map(|moment| moment.tokens).max().unwrap_or(0);
    for moment in moments {
        let bar = (moment.tokens * 40).checked_div(all).unwrap_or(0);
        let mut cells = vec![
            paint(style::TITLE, format!("@c{}", moment.cycle.unwrap_or_default())),
            moment.tokens.to_string(),
            moment.blocks.to_string(),
        ];
        cells.extend(columns.iter().map(|name| {
            let group = moment.groups.iter().find(|group| group.name.as_deref() == *name);
            group.map_or(0, |group| group.tokens).to_string()
        }));
        cells.push("█".repeat(usize::try_from(bar).unwrap_or(0)));
        table.row(cells);
    }
    table.render(width)
}
