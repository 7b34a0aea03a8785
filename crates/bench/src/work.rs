//! The workloads.

use contextree::{Context, NewNode, Place};

/// Returns a text of a length, different for every number.
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
/// If the engine refuses, which would be a bug.
pub fn turn(context: &mut Context, number: usize, length: usize) {
    for (index, role) in ["user", "assistant", "tool"].into_iter().enumerate() {
        let node = NewNode::text(text(number * 3 + index, length)).role(role).kind("text");
        context.add(Place::head(), node).expect("a block fits into the head");
    }
    context.commit().expect("a commit without a policy cannot fail");
}

/// Returns a context of this many turns.
#[must_use]
pub fn chat(turns: usize, length: usize) -> Context {
    let mut context = Context::new();
    (0..turns).for_each(|number| turn(&mut context, number, length));
    context
}

/// Where the nodes of [`mortal`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// In many turns; the ten that expire together are adjacent, like the documents found for one
    /// question.
    Together,
    /// In many turns; the ten that expire together are spread over all of them.
    Scattered,
    /// In one long list in `^sys`; the ten that expire together are adjacent.
    OneList,
}

/// Returns a context of about this many nodes in which ten expire at each of the next `commits`
/// commits.
///
/// # Panics
///
/// If the engine refuses, which would be a bug.
#[must_use]
pub fn mortal(nodes: usize, commits: usize, layout: Layout) -> Context {
    const PER_TURN: usize = 20;
    let mut context = Context::new();
    let one_list = layout == Layout::OneList;
    let (turns, blocks) = if one_list { (1, nodes) } else { (nodes / PER_TURN, PER_TURN) };
    let every = (nodes / (commits * 10)).max(1);
    for number in 0..turns * blocks {
        // The commit at which the node expires, if any.
        let commit = match layout {
            Layout::Scattered => (number % every == 0).then_some(number / every % commits),
            _ => (number % (every * 10) < 10).then_some(number / (every * 10)),
        };
        let wanted = match layout {
            Layout::Scattered => number / every < commits * 10,
            _ => number / (every * 10) < commits,
        };
        let mut node = NewNode::text(text(number, 40)).role("user");
        if let Some(commit) = commit.filter(|_| wanted) {
            let left = turns - number / blocks;
            node = node.ttl(i64::try_from(left + commit).unwrap_or(0));
        }
        let place = if one_list { Place::system() } else { Place::head() };
        context.add(place, node).expect("a block fits");
        if (number + 1) % blocks == 0 {
            context.commit().expect("a commit without a policy cannot fail");
        }
    }
    context
}
