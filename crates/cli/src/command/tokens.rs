//! `ctx tokens`: how much of a model's window a state takes.

use std::collections::BTreeMap;
use std::sync::Arc;

use contextree_json::{Object, Value};
use contextree_tokens::{By, Count, Group, Moment, TokenCounter, Tokenizer, breakdown, over_time};

use super::Call;
use crate::args::parse_address;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::style::{self, paint};
use crate::output::table::Table;
use crate::output::text::one_line;
use crate::source::{Address, Source};

/// Count tokens: by region, turn, role, kind, key or tag, and over time
///
/// Counts of text are exact for models of OpenAI; for others, and of images, they are estimates, and say so.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx tokens                              the working state, by region
  ctx tokens @t0 --by turn --model claude-sonnet-5
  ctx tokens --by role --json
  ctx tokens --over-time                  every snapshot")]
pub(crate) struct Args {
    /// The state [default: the working state]
    #[arg(value_parser = parse_address)]
    at: Option<Address>,

    /// The model, encoding or estimate that counts
    #[arg(long, value_name = "NAME", default_value = "gpt-5")]
    model: String,

    /// What to group by: region, turn, role, kind, key, tag
    #[arg(long, value_name = "WHAT", default_value = "region", value_parser = by)]
    by: By,

    /// One line per snapshot
    #[arg(long, conflicts_with = "at")]
    over_time: bool,
}

/// Returns the tokenizer of a model, an encoding or an estimate.
pub(super) fn tokenizer(name: &str) -> Result<Tokenizer, Failure> {
    Tokenizer::named(name)
        .map_err(|error| Failure::new(error.code(), error.to_string()).hint(error.hint()))
}

fn by(word: &str) -> Result<By, String> {
    let words = By::ALL.map(By::word).join("`, `");
    By::from_word(word).ok_or_else(|| format!("`{word}` is none of `{words}`"))
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let tokenizer = tokenizer(&args.model)?;
    let source = Source::open(call)?;
    let counter = Arc::new(TokenCounter::new(tokenizer));
    if args.over_time {
        return history(args.by, &source, &counter, call);
    }
    let state = source.state(args.at.unwrap_or(Address::Working))?;
    let counted = breakdown(state.tree(), &counter);
    let (total, groups) = (counted.total, counted.by(args.by));
    match call.output.format() {
        Format::Json => {
            call.output.value(&to_object(total, groups, args.by, tokenizer).into());
            return Ok(Exit::Ok);
        }
        Format::JsonLines => {
            call.output.values(groups.iter().map(group_value).collect());
            return Ok(Exit::Ok);
        }
        Format::Human => {}
    }
    let mut table =
        Table::new(&[args.by.word(), "tokens", "share", "blocks", ""]).right(1).right(2).right(3);
    for group in groups {
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
    call.output.note(&paint(style::DIM, format!("{}, {}", state.label, words(total, tokenizer))));
    Ok(Exit::Ok)
}

/// Says who counted, and what of it is no more than an estimate.
fn words(total: Count, tokenizer: Tokenizer) -> String {
    match total.media {
        0 => format!("counted by {tokenizer}"),
        media => format!("counted by {tokenizer}; {media} are estimates of images and other data"),
    }
}

fn row(group: &Group, total: Count) -> Vec<String> {
    let share = (group.count.tokens * 100).checked_div(total.tokens).unwrap_or(0);
    let bar = "█".repeat(usize::try_from(share / 4).unwrap_or(0));
    vec![
        match &group.name {
            Some(name) => paint(style::ID, one_line(name)),
            None => paint(style::DIM, "(none)"),
        },
        group.count.tokens.to_string(),
        format!("{share} %"),
        group.count.blocks.to_string(),
        bar,
    ]
}

fn history(
    by: By,
    source: &Source,
    counter: &Arc<TokenCounter>,
    call: &mut Call<'_>,
) -> Result<Exit, Failure> {
    let snapshots = source.newest_snapshots(usize::MAX)?;
    let tokenizer = counter.tokenizer();
    let moments = over_time(snapshots.iter().rev().map(contextree::Snapshot::tree), counter, by);
    if call.output.format() != Format::Human {
        let value = |moment: Moment| {
            let mut object = to_object(moment.total, &moment.groups, by, tokenizer);
            object.insert("cycle", moment.cycle.into());
            Value::Object(object)
        };
        call.output.values(moments.map(value).collect());
        return Ok(Exit::Ok);
    }
    let moments: Vec<Moment> = moments.collect();
    let text = draw(&moments, by, call.output.width());
    call.output.text(&text);
    let last = moments.last().map(|moment| moment.total).unwrap_or_default();
    call.output.note(&paint(style::DIM, words(last, tokenizer)));
    Ok(Exit::Ok)
}

/// How many groups have a column of their own; those with the most tokens in any snapshot.
const COLUMNS: usize = 8;

/// Draws one line per snapshot: its tokens, and those of each group.
fn draw(moments: &[Moment], by: By, width: Option<usize>) -> String {
    let mut most: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    for group in moments.iter().flat_map(|moment| &moment.groups) {
        let seen = most.entry(group.name.as_deref()).or_default();
        *seen = (*seen).max(group.count.tokens);
    }
    let mut columns: Vec<Option<&str>> = match by {
        // Turns come one by one: there is no end of columns, and the line itself says what was added.
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
    let all = moments.iter().map(|moment| moment.total.tokens).max().unwrap_or(0);
    for moment in moments {
        let bar = (moment.total.tokens * 40).checked_div(all).unwrap_or(0);
        let mut cells = vec![
            paint(style::TITLE, format!("@c{}", moment.cycle)),
            moment.total.tokens.to_string(),
            moment.total.blocks.to_string(),
        ];
        cells.extend(columns.iter().map(|name| {
            let group = moment.groups.iter().find(|group| group.name.as_deref() == *name);
            group.map_or(0, |group| group.count.tokens).to_string()
        }));
        cells.push("█".repeat(usize::try_from(bar).unwrap_or(0)));
        table.row(cells);
    }
    table.render(width)
}

fn count(count: Count) -> [(&'static str, Value); 3] {
    [
        ("tokens", Value::from(count.tokens)),
        ("media", Value::from(count.media)),
        ("blocks", Value::from(count.blocks)),
    ]
}

fn group_value(group: &Group) -> Value {
    let mut object = Object::from_iter(count(group.count));
    object.insert("name", group.name.as_deref().map_or(Value::Null, Value::from));
    object.into()
}

fn to_object(total: Count, groups: &[Group], by: By, tokenizer: Tokenizer) -> Object {
    let mut object = Object::from_iter(count(total));
    object.insert("tokenizer", tokenizer.name().into());
    object.insert("exact", (tokenizer.is_exact() && total.media == 0).into());
    object.insert("error_percent", tokenizer.error_percent().into());
    object.insert("by", by.word().into());
    object.insert("groups", Value::Array(groups.iter().map(group_value).collect()));
    object
}
