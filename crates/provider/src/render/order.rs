//! The parts of one turn in the order in which they are sent: results directly behind their calls.

use super::Wire;
use crate::parts::{Kind, Part, Role};

/// Brings the parts of a turn into order.
///
/// `awaiting` are the calls of the turn before that nobody has answered yet, `last` is the part before the first. A result that answers
/// nothing becomes text.
pub(crate) fn order<'a>(
    parts: Vec<Part<'a>>,
    mut awaiting: Vec<Part<'a>>,
    mut last: Option<Part<'a>>,
    wire: &dyn Wire,
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
            if take(&mut awaiting, &part) {
                ordered.push(part);
                last = Some(part);
                continue;
            }
            // As text it stands between calls and results like any other.
            part = Part { role: Role::User, kind: Kind::Text, orphan: true, ..part };
        }
        let continues = part.role == Role::Assistant
            && last.is_some_and(|last| {
                last.role == Role::Assistant && wire.joins(&last, &part, !ordered.is_empty())
            });
        if !continues && !awaiting.is_empty() {
            // Whatever answers further behind comes first, in the order in which it stands. Where results stand in one message with what
            // the user says, and came so, the writer knows their order; whatever else they pass, they have moved.
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

/// Takes the call that a result answers off the list; returns whether there was one.
pub(crate) fn take(awaiting: &mut Vec<Part<'_>>, result: &Part<'_>) -> bool {
    let found = awaiting.iter().position(|call| call.call_id() == result.call_id());
    found.map(|index| awaiting.remove(index)).is_some()
}
