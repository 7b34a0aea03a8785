//! Orders the parts of one turn for sending: tool results directly after their calls.

use super::Wire;
use crate::parts::{Kind, Part, Role};

/// Orders the parts of a turn.
///
/// `awaiting` are earlier calls without results, `last` is the part before the first. A result
/// without a call becomes text, unless the provider `remembers` calls that are not in the request.
pub(crate) fn order<'a>(
    parts: Vec<Part<'a>>,
    mut awaiting: Vec<Part<'a>>,
    mut last: Option<Part<'a>>,
    wire: &dyn Wire,
    remembers: bool,
) -> Vec<Part<'a>> {
    if awaiting.is_empty()
        && !parts.iter().any(|part| matches!(part.kind, Kind::Call | Kind::Result))
    {
        return parts;
    }
    let mut waiting: Vec<Option<Part<'a>>> = parts.into_iter().map(Some).collect();
    let mut ordered = Vec::with_capacity(waiting.len());
    for index in 0..waiting.len() {
        let Some(mut part) = waiting[index].take() else { continue };
        if part.kind == Kind::Result {
            if take(&mut awaiting, &part) || remembers {
                ordered.push(part);
                last = Some(part);
                continue;
            }
            // As text, it separates calls from their results like any other part.
            part = Part { role: Role::User, kind: Kind::Text, orphan: true, ..part };
        }
        let continues = part.role == Role::Assistant
            && last.is_some_and(|last| {
                last.role == Role::Assistant && wire.joins(&last, &part, !ordered.is_empty())
            });
        if !continues && !awaiting.is_empty() {
            // The message with the calls ends here, so results that come later in the turn are
            // moved up, in their order. A result that only passes parts of its own imported message
            // is not reported as moved: the writer restores the order within that message.
            let passed = |part: &Part<'_>| {
                !(wire.answers_together() && crate::messages::position(part).is_some())
            };
            let mut moved = passed(&part);
            for later in &mut waiting[index + 1..] {
                if let Some(result) = later.filter(|later| later.kind == Kind::Result)
                    && take(&mut awaiting, &result)
                {
                    ordered.push(Part { moved, ..result });
                    *later = None;
                }
                moved |= later.as_ref().is_some_and(passed);
            }
            awaiting.clear();
        }
        if part.kind == Kind::Call {
            awaiting.push(part);
        }
        ordered.push(part);
        last = Some(part);
    }
    ordered
}

/// Removes the call that a result answers from the list; returns whether there was one.
pub(crate) fn take(awaiting: &mut Vec<Part<'_>>, result: &Part<'_>) -> bool {
    let found = awaiting.iter().position(|call| call.call_id() == result.call_id());
    found.map(|index| awaiting.remove(index)).is_some()
}
