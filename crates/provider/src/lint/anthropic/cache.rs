//! Lints cache breakpoints: where they are allowed, how many, and in which order.

use contextree_json::Value;

use super::super::pass::Pass;
use super::super::report::{Report, list, text, within};
use super::{content_of, field, is_thinking};
use crate::{List, Slot};

/// The maximum number of breakpoints in a request, including one at the top level.
const BREAKPOINTS: usize = 4;

/// The state of a pass over the messages: their breakpoints, in the order of the prefix.
#[derive(Clone, Default)]
pub(super) struct Breakpoints(Vec<Breakpoint>);

#[derive(Clone)]
struct Breakpoint {
    slot: Slot,
    is_hour: bool,
}

impl Pass for Breakpoints {
    /// Nested blocks come before the block that contains them.
    fn message(&mut self, report: &mut Report, message: &Value, index: usize) {
        for (inner, block) in content_of(message).iter().enumerate() {
            let slot = within(index, "content", inner);
            let source = block.get("source").map(|source| list(source, "content"));
            for nested in list(block, "content").iter().chain(source.unwrap_or_default()) {
                self.holder(report, nested, slot);
            }
            self.holder(report, block, slot);
        }
    }

    fn end(self, report: &mut Report, request: &Value) {
        let before = preamble(request);
        let before = before.filter_map(|(entry, slot)| Breakpoint::of(entry, slot));
        let found: Vec<Breakpoint> = before.chain(self.0).collect();
        let top = field(request, "cache_control");
        let count = found.len() + usize::from(top.is_some());
        if count > BREAKPOINTS {
            let slot = found.get(BREAKPOINTS).or(found.last()).map(|it| it.slot);
            let message = format!("{count} cache breakpoints; at most {BREAKPOINTS} are allowed");
            if let Some(slot) = slot {
                report.error("cache_breakpoints", slot, message);
            }
        }
        order(report, &found, top.map(is_hour));
    }
}

impl Breakpoints {
    fn holder(&mut self, report: &mut Report, holder: &Value, slot: Slot) {
        self.0.extend(Breakpoint::of(holder, slot));
        check(report, holder, slot);
    }
}

impl Breakpoint {
    fn of(holder: &Value, slot: Slot) -> Option<Self> {
        let control = field(holder, "cache_control")?;
        Some(Breakpoint { slot, is_hour: is_hour(control) })
    }
}

/// Lints breakpoints outside of the messages.
pub(super) fn lint(report: &mut Report, request: &Value) {
    preamble(request).for_each(|(entry, slot)| check(report, entry, slot));
    if let Some(message) = field(request, "cache_control").and_then(refused) {
        report.whole("cache_control", &message);
    }
}

/// Returns what can have a breakpoint before the messages.
fn preamble(request: &Value) -> impl Iterator<Item = (&Value, Slot)> {
    [("tools", List::Tools), ("system", List::System)].into_iter().flat_map(|(name, kind)| {
        list(request, name).iter().enumerate().map(move |(index, entry)| {
            (entry, Slot { list: kind, index: index as u32, inner: None })
        })
    })
}

/// Lints the breakpoint of a block, a tool or a system text.
fn check(report: &mut Report, holder: &Value, slot: Slot) {
    let Some(control) = field(holder, "cache_control") else { return };
    if let Some(message) = refused(control) {
        report.error("cache_control", slot, message);
    }
    // "cache_control cannot be set for thinking blocks", "… for empty text blocks"
    let empty =
        text(holder, "type") == Some("text") && text(holder, "text").is_none_or(str::is_empty);
    if is_thinking(holder) || empty {
        report.error("cache_control", slot, "this block cannot have a breakpoint");
    }
}

fn is_hour(control: &Value) -> bool {
    text(control, "ttl") == Some("1h")
}

/// Returns what is wrong with a breakpoint.
fn refused(control: &Value) -> Option<String> {
    if text(control, "type") != Some("ephemeral") {
        return Some("the type of a breakpoint must be `ephemeral`".to_owned());
    }
    let ttl = field(control, "ttl")?;
    let known = matches!(ttl.as_str(), Some("5m" | "1h"));
    (!known).then(|| "the ttl of a breakpoint must be `5m` or `1h`".to_owned())
}

/// Lints the order of lifetimes: "a ttl='1h' cache_control block must not come after a ttl='5m'
/// cache_control block". A top-level breakpoint applies to the last block; `top` is whether its ttl
/// is an hour.
fn order(report: &mut Report, found: &[Breakpoint], top: Option<bool>) {
    let message = "a breakpoint with ttl `1h` follows one with ttl `5m`";
    let mut short = false;
    for Breakpoint { slot, is_hour } in found {
        if *is_hour && short {
            report.error("cache_ttl_order", *slot, message);
        }
        short |= !is_hour;
    }
    if short && top == Some(true) {
        report.whole("cache_ttl_order", message);
    }
}
