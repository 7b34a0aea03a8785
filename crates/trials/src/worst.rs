//! The most expensive selectors: of 16 KB, over 100,000 nodes, with the default limits.

use contextree::query::{Moment, QueryError, SelectOptions, Timeline, select};
use contextree::tree::{Builder, NodeData, Region, Tree, TreeRef};
use contextree::{Answer, Cycle, Edition};
use contextree_testkit::Rng;

/// The longest selector.
const LONGEST: usize = 16 * 1024;

/// A history of one snapshot.
pub struct Large(Tree);

impl Timeline for Large {
    type Error = QueryError;

    fn snapshot_count(&self) -> usize {
        1
    }

    fn snapshot(&self, _position: usize) -> Result<Option<Moment<'_>>, QueryError> {
        Ok(Some(Moment { cycle: Cycle::FIRST, tree: self.0.view() }))
    }

    fn working(&self) -> Result<Option<TreeRef<'_>>, QueryError> {
        Ok(None)
    }
}

/// Returns a snapshot of four nodes for each turn: the turn, its core, and two blocks.
///
/// # Panics
///
/// Never: the ids differ.
#[must_use]
pub fn large(turns: usize) -> Large {
    let node = |id: &str, node_type: &str| NodeData::new(id, node_type);
    let regions = [node("sys", "^sys"), node("seq", "^seq"), node("ah", "^ah")];
    let mut builder = Builder::new(node("root", "^root"), regions).expect("the ids differ");
    let seq = builder.region(Region::Seq);
    for turn in 0..turns {
        let seg = builder.push(seq, node(&format!("s{turn}"), "seg")).expect("a new id");
        let core = builder.push(seg, node(&format!("c{turn}"), "cont")).expect("a new id");
        for block in 0..2 {
            builder.push(core, node(&format!("b{turn}.{block}"), "block")).expect("a new id");
        }
    }
    Large(builder.finish(Cycle(2)))
}

/// Fills 16 KB with parts.
fn fill(part: &mut dyn FnMut(usize) -> String, separator: &str) -> String {
    let mut text = String::from("@t0 ");
    for number in 0.. {
        let next = part(number);
        if text.len() + separator.len() + next.len() > LONGEST {
            break;
        }
        if number > 0 {
            text.push_str(separator);
        }
        text.push_str(&next);
    }
    text
}

/// Returns selectors that are expensive on purpose.
#[must_use]
pub fn chosen() -> Vec<String> {
    let mut all = vec![
        fill(&mut |_| "*".to_owned(), ", "),
        fill(&mut |_| "*".to_owned(), " "),
        fill(&mut |_| "*".to_owned(), " > "),
    ];
    let parts: [fn(usize) -> String; 9] = [
        |number| format!("[data_{number}=1]"),
        |number| format!(".block[content_hash='{number}']"),
        |number| format!("* > *[offset>{number}]"),
        |number| format!("* *[offset>{number}] *"),
        |number| format!(".seg:nth({}) .block:first", number + 1),
        |number| format!(":pre > *, :core .block[data_{number}=1]:last"),
        |number| format!(".seg:depth({})", number + 1),
        |number| format!("[id='b{number}.0']"),
        |number| format!("* * * * [data_{number}!=1]"),
    ];
    for mut part in parts {
        all.push(fill(&mut part, ", "));
    }
    all
}

/// Returns a selector that is put together from parts, at random.
#[must_use]
pub fn random(seed: u64) -> String {
    let mut random = Rng::new(seed);
    let steps = [
        "*",
        ".seg",
        ".block",
        ".cont",
        ":core",
        ":pre",
        "[offset>0]",
        "[id!='x']",
        "*:first",
        "*:last",
        "*:nth(2)",
        "*:depth(3)",
    ];
    let deepest = 1 + random.index(6);
    let mut part = |number: usize| {
        let count = 1 + random.index(deepest);
        let mut text = String::new();
        for at in 0..count {
            if at > 0 {
                text.push_str([" ", " > "][random.index(2)]);
            }
            text.push_str(steps[random.index(steps.len())]);
            if random.percent(40) {
                text.push_str(&format!("[data_{}='{number}']", random.index(40)));
            }
        }
        text
    };
    fill(&mut part, ", ")
}

/// What became of a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As many nodes.
    Nodes(usize),
    /// A limit, which the error names.
    Limit,
    /// It is not a selector.
    Invalid,
}

/// Evaluates a selector with the default limits.
///
/// # Errors
///
/// If the error is not the one of a named limit.
pub fn evaluate(text: &str, tree: &Large) -> Result<Outcome, String> {
    match select(text, Edition::V0_3, tree, &SelectOptions::default()) {
        Ok(Answer::Nodes(found)) => Ok(Outcome::Nodes(found.nodes.len())),
        Ok(Answer::Range(_)) => Err("a range was not asked for".to_owned()),
        Err(QueryError::Limit { .. }) => Ok(Outcome::Limit),
        Err(QueryError::Selector(_)) => Ok(Outcome::Invalid),
        Err(error) => Err(error.to_string()),
    }
}
