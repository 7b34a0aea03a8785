//! `ctx tokens`: how much of a model's window a state takes.

use std::sync::Arc;

use contextree_json::{Object, Value};
use contextree_tokens::{
    Breakdown, By, Count, Group, TokenCounter, Tokenizer, breakdown, over_time,
};

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
/// Counts for models of OpenAI are exact; for others they are estimates, and say how far off they may be.
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
    #[arg(long, value_name = "NAME", default_value = "gpt-5", value_parser = tokenizer)]
    model: Tokenizer,

    /// What to group by: region, turn, role, kind, key, tag
    #[arg(long, value_name = "WHAT", default_value = "region", value_parser = by)]
    by: By,

    /// One line per snapshot
    #[arg(long, conflicts_with = "at")]
    over_time: bool,
}

/// Reads the name of a model or tokenizer.
pub(super) fn tokenizer(name: &str) -> Result<Tokenizer, String> {
    Tokenizer::named(name).map_err(|error| format!("{error}; {}", error.hint()))
}

fn by(word: &str) -> Result<By, String> {
    let words = By::ALL.map(By::word).join("`, `");
    By::from_word(word).ok_or_else(|| format!("`{word}` is none of `{words}`"))
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let mut source = Source::open(call)?;
    let counter = Arc::new(TokenCounter::new(args.model));
    if args.over_time {
        return history(args, &mut source, &counter, call);
    }
    let state = source.state(args.at.unwrap_or(Address::Working))?;
    let counted = breakdown(state.tree(), &counter);
    if call.output.format() != Format::Human {
        call.output.value(&to_value(&counted, args));
        return Ok(Exit::Ok);
    }
    let mut table =
        Table::new(&[args.by.word(), "tokens", "share", "blocks", ""]).right(1).right(2).right(3);
    for group in counted.by(args.by) {
        table.row(row(group, counted.total));
    }
    table.row(vec![
        paint(style::TITLE, "all"),
        counted.total.tokens.to_string(),
        String::new(),
        counted.total.blocks.to_string(),
        String::new(),
    ]);
    let text = table.render(call.output.width());
    call.output.text(&text);
    call.output.note(&paint(style::DIM, format!("{}, counted by {}", state.label, args.model)));
    Ok(Exit::Ok)
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
    args: &Args,
    source: &mut Source,
    counter: &Arc<TokenCounter>,
    call: &mut Call<'_>,
) -> Result<Exit, Failure> {
    let snapshots = source.newest_snapshots(usize::MAX)?;
    let moments = over_time(snapshots.iter().rev().map(contextree::Snapshot::tree), counter);
    if call.output.format() != Format::Human {
        let value = |moment: &contextree_tokens::Moment| {
            let mut object = match to_value(&moment.breakdown, args) {
                Value::Object(object) => object,
                _ => Object::new(),
            };
            object.insert("cycle", moment.cycle.into());
            Value::Object(object)
        };
        call.output.values(moments.iter().map(value).collect());
        return Ok(Exit::Ok);
    }
    let most = moments.iter().map(|moment| moment.breakdown.total.tokens).max().unwrap_or(0);
    let mut table = Table::new(&["snapshot", "tokens", "blocks", ""]).right(1).right(2);
    for moment in &moments {
        let total = moment.breakdown.total;
        let bar = (total.tokens * 40).checked_div(most).unwrap_or(0);
        table.row(vec![
            paint(style::TITLE, format!("@c{}", moment.cycle)),
            total.tokens.to_string(),
            total.blocks.to_string(),
            "█".repeat(usize::try_from(bar).unwrap_or(0)),
        ]);
    }
    let text = table.render(call.output.width());
    call.output.text(&text);
    call.output.note(&paint(style::DIM, format!("counted by {}", args.model)));
    Ok(Exit::Ok)
}

fn count(count: Count) -> [(&'static str, Value); 2] {
    [("tokens", Value::from(count.tokens)), ("blocks", Value::from(count.blocks))]
}

fn to_value(counted: &Breakdown, args: &Args) -> Value {
    let group = |group: &Group| {
        let mut object = Object::from_iter(count(group.count));
        object.insert("name", group.name.as_deref().map_or(Value::Null, Value::from));
        Value::Object(object)
    };
    let mut object = Object::from_iter(count(counted.total));
    object.insert("tokenizer", args.model.name().into());
    object.insert("exact", args.model.is_exact().into());
    object.insert("error_percent", args.model.error_percent().into());
    object.insert("by", args.by.word().into());
    object.insert("groups", Value::Array(counted.by(args.by).iter().map(group).collect()));
    object.into()
}
