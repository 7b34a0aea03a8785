//! `ctx gc`: old snapshots go, and their space.

use contextree_json::{Object, Value};
use contextree_store::Retention;

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;
use crate::output::text::{count, size};
use crate::source::{Access, Home};

/// Let old snapshots go, and give their space back
///
/// Without a rule no snapshot goes, and only free space is given back. Snapshots that another context began with stay, and so does
/// the newest. Those that stay do not change by a byte.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx gc                          only free space
  ctx gc --keep 1000              the newest thousand snapshots stay
  ctx gc --keep-days 30 --dry-run")]
pub(crate) struct Args {
    /// The newest N snapshots stay
    #[arg(long, value_name = "N")]
    keep: Option<u64>,

    /// Snapshots of the last N days stay
    #[arg(long, value_name = "N")]
    keep_days: Option<u32>,

    /// Say what would go, and let nothing go
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let access = if args.dry_run { Access::Read } else { Access::Write };
    let home = Home::open(call.global, call.environment, access)?;
    home.reader(call.global)?;
    let day = 86_400_000_000_000_i64;
    let retention = Retention {
        keep_newest: args.keep,
        keep_since_ns: args
            .keep_days
            .map(|days| call.environment.now.saturating_sub(i64::from(days) * day)),
    };
    let retained = home.store.retain(&call.global.context, &retention, args.dry_run)?;
    let bytes = match args.dry_run {
        true => None,
        false => home.store.backend().reclaim()?,
    };
    if call.output.format() != Format::Human {
        call.output.value(&Value::Object(Object::from_iter([
            ("dropped", Value::from(retained.dropped)),
            ("kept", retained.kept.into()),
            ("bytes", bytes.map_or(Value::Null, Value::from)),
        ])));
        return Ok(Exit::Ok);
    }
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let word = if args.dry_run { "would go" } else { "went" };
    let mut text =
        format!("{} {word}, {} stay\n", count(number(retained.dropped), "snapshot"), retained.kept);
    if let Some(bytes) = bytes {
        text.push_str(&format!("the store takes {}\n", size(bytes)));
    }
    call.output.text(&text);
    Ok(Exit::Ok)
}
