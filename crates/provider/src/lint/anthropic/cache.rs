//! Lints cache breakpoints: where they are allowed, how many, and in which order.

use contextree_json::Value;

use super::super::report::{Report, list, text, within};
use super::{content_of, field, is_thinking};
use crate::{List, Slot};

/// The maximum number of breakpoints in a request, including one at the top level.
const BREAKPOINTS: usize = 4;

/// Lints all breakpoints in the order of the prefix: tools, system, messages. Nested blocks come
/// before the block that contains them.
pub(super) fn lint(report: &mut Report, request: &Value, messages: &[Value]) {
    let mut found: Vec<(&Value, Slot)> = Vec::new();
    for (list_name, list_kind) in [("tools", List::Tools), ("system", List::System)] {
        for (index, entry) in list(request, list_name).iter().enumerate() {
            let slot = Slot { list: list_kind, index: index as u32, inner: None };
            holder(report, entry, slot, &mut found);
        }
    }
    for (index, message) in messages.iter().enumerate() {
        for (inner, block) in content_of(message).iter().enumerate() {
            let slot = within(index, "content", inner);
            let source = block.get("source").map(|source| list(source, "content"));
            for nested in list(block, "content").iter().chain(source.unwrap_or_default()) {
                holder(report, nested, slot, &mut found);
            }
            holder(report, block, slot, &mut found);
        }
    }
    let top = field(request, "cache_control");
    if let Some(message) = top.and_then(refused) {
        report.whole("cache_control", &message);
    }
    let count = found.len() + usize::from(top.is_some());
    if count > BREAKPOINTS {
        let slot = found.get(BREAKPOINTS).or(found.last()).map(|(_, slot)| *slot);
        let message = format!("{count} cache breakpoints; at most {BREAKPOINTS} are allowed");
        if let Some(slot) = slot {
            report.error("cache_breakpoints", slot, message);
        }
    }
    order(report, &found, top);
}

fn holder<'a>(
    report: &mut Report,
    holder: &'a Value,
    slot: Slot,
    found: &mut Vec<(&'a Value, Slot)>,
) {
    let Some(control) = field(holder, "cache_control") else { return };
    found.push((control, slot));
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
/// cache_control block". A top-level breakpoint applies to the last block.
fn order(report: &mut Report, found: &[(&Value, Slot)], top: Option<&Value>) {
    let hour = |control: &Value| text(control, "ttl") == Some("1h");
    let message = "a breakpoint with ttl `1h` follows one with ttl `5m`";
    let mut short = false;
    for (control, slot) in found {
        if hour(control) && short {
            report.error("cache_ttl_order", *slot, message);
        }
        short |= !hour(control);
    }
    if short && top.is_some_and(hour) {
        report.whole("cache_ttl_order", message);
    }
}
