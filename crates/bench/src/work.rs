//! The work that is measured.

use contextree::{Context, NewNode, Place};

/// A text of a length, different for every number.
#[must_use]
pub fn text(number: usize, length: usize) -> String {
    let mut text = format!("message {number}: ");
    while text.len() < length {
        text.push_str("the quick brown fox jumps over the lazy dog ");
    }
    text.truncate(length);
    text
}

/// Adds a turn of one core and three blocks and commits it.
///
/// # Panics
///
/// The engine refused, which would be a bug.
pub fn turn(context: &mut Context, number: usize, length: usize) {
    for (index, role) in ["user", "assistant", "tool"].into_iter().enumerate() {
        let node = NewNode::text(text(number * 3 + index, length)).role(role).kind("text");
        context.add(Place::head(), node).expect("a block fits into the head");
    }
    context.commit().expect("a commit without a policy cannot fail");
}

/// Returns a context of so many turns.
#[must_use]
pub fn chat(turns: usize, length: usize) -> Context {
    let mut context = Context::new();
    (0..turns).for_each(|number| turn(&mut context, number, length));
    context
}

/// Returns a context of about so many nodes in which ten expire at each of the next `commits` commits.
///
/// `in_system` puts all of them into one long list instead of many turns.
///
/// # Panics
///
/// The engine refused, which would be a bug.
#[must_use]
pub fn mortal(nodes: usize, commits: usize, in_system: bool) -> Context {
    let mut context = Context::new();
    let per_turn = 20;
    let turns = if in_system { 1 } else { nodes / per_turn };
    let blocks = if in_system { nodes } else { per_turn };
    let mut number = 0;
    let total = turns * blocks;
    // The mortal ones are spread over the whole tree.
    let mortal = commits * 10;
    let every = (total / mortal).max(1);
    for turn in 0..turns {
        for _ in 0..blocks {
            let mut node = NewNode::text(text(number, 40)).role("user");
            if number % every == 0 && number / every < mortal {
                let left = turns - turn - 1;
                node = node.ttl(i64::try_from(left + 1 + number / every % commits).unwrap_or(0));
            }
            number += 1;
            let place = if in_system { Place::system() } else { Place::head() };
            context.add(place, node).expect("a block fits");
        }
        context.commit().expect("a commit without a policy cannot fail");
    }
    context
}
