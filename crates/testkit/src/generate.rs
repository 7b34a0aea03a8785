//! Generates random sessions, the same for the same seed.
//!
//! Steps are chosen with the help of the model, so that most are accepted and the others are
//! refused for every reason in the contract.
//!
//! ```
//! use contextree_testkit::generate::Sessions;
//! use contextree_testkit::model::Model;
//!
//! for mut session in Sessions::new(7).take(3) {
//!     let mut model = Model::new();
//!     while let Some(step) = session.next_step(&model) {
//!         let _ = model.apply(&step);
//!     }
//!     assert!(model.snapshot_count() > 0);
//! }
//! ```

use contextree_json::{Number, Object, Value};

use crate::Rng;
use crate::model::Model;
use crate::model::tree::{Class, Node, Tree};
use crate::script::{Cue, Exclude, Limit, Measure, NodeSpec, Place, Policy, Step, Zone};

/// An endless series of sessions.
#[derive(Clone, Debug)]
pub struct Sessions {
    rng: Rng,
}

impl Sessions {
    /// Returns the sessions of a seed.
    pub fn new(seed: u64) -> Sessions {
        Sessions { rng: Rng::new(seed) }
    }
}

impl Iterator for Sessions {
    type Item = Session;

    fn next(&mut self) -> Option<Session> {
        Some(Session::new(self.rng.next_u64()))
    }
}

/// A session of 30 to 60 steps that ends with a commit.
#[derive(Clone, Debug)]
pub struct Session {
    seed: u64,
    rng: Rng,
    left: u64,
    budgets: bool,
    calls: bool,
}

impl Session {
    /// Returns the session of a seed, for example to repeat one that failed.
    pub fn new(seed: u64) -> Session {
        let mut rng = Rng::new(seed);
        let left = 30 + rng.below(31);
        Session { seed, rng, left, budgets: false, calls: false }
    }

    /// Returns the session of a seed whose policies also use `exclude` and `clear_at_least`. It
    /// differs from [`Session::new`], whose digests are stored.
    pub fn with_budgets(seed: u64) -> Session {
        Session { budgets: true, ..Session::new(seed) }
    }

    /// Returns a session of a seed that goes through calls: most commits are made by them, and things are done meanwhile.
    pub fn with_calls(seed: u64) -> Session {
        Session { calls: true, ..Session::new(seed) }
    }

    /// Returns the seed that brings this session back.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the next step for a context in the state of `model`; `None` at the end.
    pub fn next_step(&mut self, model: &Model) -> Option<Step> {
        self.left = self.left.checked_sub(1)?;
        if self.left == 0 {
            return Some(Step::Commit { policy: None });
        }
        let mut step = next_step(&mut self.rng, model);
        if self.calls {
            step = with_calls(&mut self.rng, model, step);
        }
        match &mut step {
            Step::Commit { policy: Some(policy) } if self.budgets => {
                add_budget(&mut self.rng, model, policy);
            }
            Step::Add { node, .. } if self.budgets && self.rng.percent(15) => {
                let calls = ["call-1", "call-2", "call-3"];
                let count = 1 + self.rng.below(3);
                let calls = (0..count).map(|_| Value::from(self.rng.word(&calls)));
                let calls = Value::from(calls.collect::<Vec<_>>());
                node.attributes.push(("data_call_ids".to_owned(), calls));
            }
            _ => {}
        }
        Some(step)
    }
}

/// Returns a step of a session with calls: this one, or one that begins or ends a call.
fn with_calls(rng: &mut Rng, model: &Model, step: Step) -> Step {
    match step {
        Step::Commit { policy } if rng.percent(85) && model.state.call.is_none() => {
            Step::Begin { policy }
        }
        Step::Commit { policy } if rng.percent(20) => Step::Begin { policy },
        step if model.state.call.is_none() && !rng.percent(2) => step,
        step => match rng.below(100) {
            0..=13 => {
                let answer = (0..rng.below(4)).map(|_| spec(rng, model)).collect();
                Step::Complete { answer }
            }
            14..=19 => Step::Cancel,
            20..=23 => Step::Fail,
            _ => step,
        },
    }
}

/// Returns a step for a context in the state of `model`; about one in five will be refused.
pub fn next_step(rng: &mut Rng, model: &Model) -> Step {
    match rng.below(100) {
        0..=11 => Step::Commit { policy: rng.percent(45).then(|| policy(rng)) },
        12..=18 => batch(rng, model),
        19..=21 => Step::Retain { node: any_name(rng, model) },
        22..=24 => Step::Release { node: held_name(rng, model) },
        _ => simple_step(rng, model),
    }
}

/// Returns a step that is allowed in a batch.
fn simple_step(rng: &mut Rng, model: &Model) -> Step {
    // Larger sessions would only take more time.
    let crowded = model.state.tree.nodes.len() > 60;
    match rng.below(100) {
        0..=50 if !crowded => add(rng, model),
        0..=57 => remove(rng, model),
        58..=68 => edit(rng, model),
        69..=89 => relocate(rng, model),
        90..=93 => {
            let policy = if rng.percent(85) { "budget" } else { "" };
            Step::SetPriority {
                node: any_name(rng, model),
                priority: rng.range(-2, 5),
                policy: policy.to_owned(),
            }
        }
        94..=97 => Step::Pin { node: any_name(rng, model) },
        _ => Step::Unpin { node: any_name(rng, model) },
    }
}

/// Returns a batch of two to five steps, each chosen in the state after the previous ones.
fn batch(rng: &mut Rng, model: &Model) -> Step {
    let mut draft = model.draft();
    let should_hold = rng.percent(75);
    let mut steps = Vec::new();
    for _ in 0..rng.range(2, 5) {
        let mut step = simple_step(rng, &draft);
        let mut tries = 0;
        while draft.apply(&step).is_err() && should_hold && tries < 9 {
            step = simple_step(rng, &draft);
            tries += 1;
        }
        steps.push(step);
    }
    Step::Batch(steps)
}

fn add(rng: &mut Rng, model: &Model) -> Step {
    let mut node = spec(rng, model);
    let is_container = node_class(&node) == Class::Container;
    let place = place(rng, model, is_container);
    if let Place::Into { parent, offset } = &place {
        // Otherwise hardly any core would be accepted.
        if is_container && parent == "^ah" && offset.unwrap_or(0) == 0 && rng.percent(80) {
            node.ttl = None;
            node.removable = false;
        }
    }
    Step::Add { place, node }
}

fn remove(rng: &mut Rng, model: &Model) -> Step {
    let node = if rng.percent(80) { movable_name(rng, model) } else { any_name(rng, model) };
    Step::Remove { node }
}

fn relocate(rng: &mut Rng, model: &Model) -> Step {
    let node = if rng.percent(88) { movable_name(rng, model) } else { any_name(rng, model) };
    let is_container =
        model.state.tree.nodes.get(&node).is_some_and(|node| node.class() == Class::Container);
    let mut place = place(rng, model, is_container);
    if rng.percent(1) {
        // Into itself, or into a descendant.
        if let Some(own) = model.state.tree.resolve(&node) {
            let parent = rng.pick(&model.state.tree.subtree_ids(&own)).clone();
            place = Place::Into { parent, offset: None };
        }
    }
    Step::Move { node, place }
}

fn edit(rng: &mut Rng, model: &Model) -> Step {
    let active: Vec<String> = names(model, |state_cycle, _, node| node.cycle == state_cycle);
    if active.is_empty() && rng.percent(80) {
        return add(rng, model);
    }
    let node = if active.is_empty() || rng.percent(10) {
        any_name(rng, model)
    } else {
        rng.pick(&active).clone()
    };
    let class = model.state.tree.nodes.get(&node).map(Node::class);
    let with_content = if class == Some(Class::Container) { 6 } else { 60 };
    let content = rng.percent(with_content).then(|| value(rng, 0));
    let mut set = Vec::new();
    for _ in 0..rng.below(3) {
        let (name, value) = match rng.below(7) {
            0 => ("key", text(rng)),
            1 => ("tags", Value::from(vec![text(rng), text(rng)])),
            2 => ("provenance", text(rng)),
            3 => ("mime", Value::from("text/plain")),
            4 => ("encoding", Value::from("utf-8")),
            5 => ("data_note", value(rng, 0)),
            _ => ("data_refs", references(rng, model)),
        };
        if set.iter().all(|(known, _)| known != name) {
            set.push((name.to_owned(), value));
        }
    }
    let mut unset = Vec::new();
    if rng.percent(25) {
        let name = rng.word(&["key", "tags", "mime", "data_call_id", "data_none", "x:y"]);
        if set.iter().all(|(known, _)| known != name) {
            unset.push(name.to_owned());
        }
    }
    if content.is_none() && class == Some(Class::Block) && rng.percent(8) {
        unset.push("content".to_owned());
    }
    if rng.percent(6) {
        let name =
            rng.word(&["ttl", "role", "id", "nodeType", "children", "pinned", "plain", "Data_x"]);
        if rng.percent(50) {
            set.push((name.to_owned(), Value::from("x")));
        } else {
            unset.push(name.to_owned());
        }
    }
    Step::Edit { node, content, set, unset }
}

/// Returns a node to add.
fn spec(rng: &mut Rng, model: &Model) -> NodeSpec {
    let mut node = NodeSpec::default();
    if rng.percent(30) {
        let types = ["cont", "cont", "mc", "cont:list", "mc:group"];
        node.node_type = Some(rng.word(&types).to_owned());
        node.removable = rng.percent(45);
    } else if rng.percent(35) {
        let types = ["block", "cb", "block:note", "cb:sql", "custom:x", "x:y:z"];
        node.node_type = Some(rng.word(&types).to_owned());
    }
    if rng.percent(30) {
        node.id = Some(given_id(rng, model));
    }
    if rng.percent(28) {
        node.ttl = Some(rng.range(0, 4));
    }
    if rng.percent(50) {
        node.priority = rng.range(-2, 5);
    }
    if rng.percent(40) {
        let roles = ["user", "assistant", "tool", "system", "x:critic"];
        node.role = Some(rng.word(&roles).to_owned());
    }
    if rng.percent(40) {
        node.kind = Some(rng.word(&["text", "call", "result"]).to_owned());
    }
    if rng.percent(10) {
        node.key = Some(format!("key{}", rng.below(4)));
    }
    if rng.percent(15) {
        node.tags = (0..=rng.below(3)).map(|_| format!("t{}", rng.below(4))).collect();
    }
    if rng.percent(8) {
        node.provenance = Some("model:x".to_owned());
    }
    node.pinned = rng.percent(8);
    if node_class(&node) == Class::Block && rng.percent(85) {
        node.content = Some(value(rng, 0));
    }
    if rng.percent(14) {
        node.attributes.push(("data_refs".to_owned(), references(rng, model)));
    }
    if rng.percent(18) {
        let calls =
            [Value::from("call-1"), Value::from("call-2"), Value::from(7), Value::from("7")];
        let odd = [Value::Null, Value::from(true), Value::from(vec![Value::from("call-1")])];
        let call = if rng.percent(90) { rng.pick(&calls) } else { rng.pick(&odd) };
        node.attributes.push(("data_call_id".to_owned(), call.clone()));
    }
    if rng.percent(15) {
        let name = rng.word(&["data_x", "content_lang", "my:attribute", "data_ü"]);
        node.attributes.push((name.to_owned(), value(rng, 0)));
    }
    if rng.percent(11) {
        spoil(rng, &mut node);
    }
    node
}

/// Changes a node so that it is refused in any place.
fn spoil(rng: &mut Rng, node: &mut NodeSpec) {
    match rng.below(9) {
        0 => node.node_type = Some(rng.word(&["^sys", "^other", "^:x"]).to_owned()),
        1 => node.node_type = Some(rng.word(&["seg", "mt", "mt:x", "seg:"]).to_owned()),
        2 | 3 => {
            let types = ["summary", "", "a:", ":b", "cont:", "Block", "block "];
            node.node_type = Some(rng.word(&types).to_owned());
        }
        4 => node.ttl = Some(-1 - rng.below(3) as i64),
        5 => {
            let names = ["ttl", "tag", "content_hash", "parent", "mime", "nodeType", "content"];
            node.attributes.push((rng.word(&names).to_owned(), Value::from(1)));
        }
        6 => {
            let names = ["plain", "datax", "Content_x", ""];
            node.attributes.push((rng.word(&names).to_owned(), Value::from(1)));
        }
        7 => {
            node.node_type = Some("cont".to_owned());
            node.content = Some(Value::from("content of a container"));
        }
        _ => {
            node.node_type = None;
            node.removable = true;
        }
    }
}

/// Returns the class that the node will have.
fn node_class(node: &NodeSpec) -> Class {
    crate::model::tree::class(node.node_type.as_deref().unwrap_or("block"))
}

/// Returns a place that is valid in most cases.
fn place(rng: &mut Rng, model: &Model, is_container: bool) -> Place {
    let tree = &model.state.tree;
    let parent = parent_name(rng, model);
    let is_turn = is_turn_name(tree, &parent);
    match rng.below(100) {
        0..=24 => {
            let count = tree.resolve(&parent).map_or(0, |id| tree.children(&id).len()) as u32;
            let mut number = 1 + rng.below(u64::from(count.max(1))) as u32;
            if rng.percent(5) {
                number = *rng.pick(&[0, count + 1, count + 7]);
            }
            let cue = match rng.below(4) {
                _ if count == 0 && rng.percent(90) => Cue::End,
                0 => Cue::Start,
                1 => Cue::End,
                2 => Cue::After(number),
                _ => Cue::Before(number),
            };
            Place::Cue { parent, cue }
        }
        25..=39 => {
            let turns: Vec<String> = tree.turns().into_iter().map(|turn| turn.id.clone()).collect();
            let turn = match rng.below(20) {
                0 => parent,
                1..=9 if !turns.is_empty() => rng.pick(&turns).clone(),
                _ => "^ah".to_owned(),
            };
            let mut zone = *rng.pick(&[Zone::Pre, Zone::Core, Zone::Post]);
            if zone == Zone::Core && (is_container || turn != "^ah") && rng.percent(80) {
                zone = Zone::Post;
            }
            Place::Zone { turn, zone }
        }
        _ => {
            let mut offset = rng.percent(60).then(|| rng.range(-3, 3));
            let is_zero = offset.unwrap_or(0) == 0;
            let rarely = is_turn || (is_container && parent == "^ah");
            if is_zero && rarely && rng.percent(85) {
                offset = Some(*rng.pick(&[-2, -1, 1, 2]));
            }
            Place::Into { parent, offset }
        }
    }
}

/// Returns the name of a node that usually accepts children.
fn parent_name(rng: &mut Rng, model: &Model) -> String {
    let tree = &model.state.tree;
    let groups = names(model, |_, tree, node| {
        node.class() == Class::Container
            && !tree.in_sealed_core(&node.id)
            && tree.lineage(&node.id).iter().filter(|up| up.class() == Class::Container).count()
                <= 3
    });
    match rng.below(100) {
        0..=2 => any_name(rng, model),
        3 => "^seq".to_owned(),
        4 => rng.word(&["^root", "root", "nobody", "seq"]).to_owned(),
        5..=19 => rng.word(&["^sys", "sys"]).to_owned(),
        20..=54 if !groups.is_empty() => rng.pick(&groups).clone(),
        55..=74 if !tree.turns().is_empty() => rng.pick(&tree.turns()).id.clone(),
        _ => rng.word(&["^ah", "^ah", "ah"]).to_owned(),
    }
}

/// Returns the name of a node that can be removed and moved, if there is one.
fn movable_name(rng: &mut Rng, model: &Model) -> String {
    let movable = names(model, |_, tree, node| {
        matches!(node.class(), Class::Block | Class::Container) && !tree.in_sealed_core(&node.id)
    });
    if movable.is_empty() { any_name(rng, model) } else { rng.pick(&movable).clone() }
}

/// Returns the name of any node, and sometimes of a missing one.
fn any_name(rng: &mut Rng, model: &Model) -> String {
    match rng.below(40) {
        0 => "nobody".to_owned(),
        1 => rng.word(&["^root", "^sys", "^seq", "^ah"]).to_owned(),
        2 => rng.word(&["root", "sys", "seq", "ah"]).to_owned(),
        _ => {
            let others = names(model, |_, _, node| node.class() != Class::Fixed);
            if others.is_empty() { "^sys".to_owned() } else { rng.pick(&others).clone() }
        }
    }
}

/// Returns the name of a node with a handle, if there is one.
fn held_name(rng: &mut Rng, model: &Model) -> String {
    let held: Vec<&String> = model.state.handles.keys().collect();
    if held.is_empty() || rng.percent(10) {
        any_name(rng, model)
    } else {
        (*rng.pick(&held)).clone()
    }
}

/// Returns the ids of the nodes that satisfy a condition on cycle, tree and node.
fn names(model: &Model, accepts: impl Fn(u64, &Tree, &Node) -> bool) -> Vec<String> {
    let state = &model.state;
    let nodes = state.tree.nodes.values();
    nodes
        .filter(|node| accepts(state.cycle, &state.tree, node))
        .map(|node| node.id.clone())
        .collect()
}

fn is_turn_name(tree: &Tree, name: &str) -> bool {
    tree.nodes.get(name).is_some_and(|node| node.class() == Class::Turn)
}

/// Returns an explicit id: fresh, taken, unusual, or one that would be generated later.
fn given_id(rng: &mut Rng, model: &Model) -> String {
    let cycle = model.state.cycle;
    match rng.below(20) {
        0 => any_name(rng, model),
        1 => format!("seg:{}", cycle + rng.below(2)),
        2 => format!("cont:{}", cycle + rng.below(2)),
        3 => format!("block:{cycle}.{}", model.state.next_index + rng.below(3)),
        4 => format!("cont:{cycle}.{}~2", model.state.next_index),
        5..=7 => {
            let odd = ["a b", "ü", "😀", "￮", "x\"y", "#id", "a/b\n", "'", "\u{7f}", "~2", "^odd"];
            format!("{}{}", rng.pick(&odd), rng.below(6))
        }
        _ => format!("n{}", rng.below(60)),
    }
}

/// Returns a value for `data_refs`: an id or a list of ids, known and unknown; rarely something else.
fn references(rng: &mut Rng, model: &Model) -> Value {
    if rng.percent(50) {
        return Value::from(any_name(rng, model));
    }
    let count = rng.below(4);
    let mut entries: Vec<Value> = (0..count).map(|_| Value::from(any_name(rng, model))).collect();
    // Values of another form are references, too.
    if rng.percent(10) {
        let name = Value::from(any_name(rng, model));
        entries.push(match rng.below(3) {
            0 => Value::from(3),
            1 => Value::from(Object::from_iter([("id", name)])),
            _ => Value::from(vec![name]),
        });
    }
    Value::from(entries)
}

/// Returns some JSON.
fn value(rng: &mut Rng, depth: u64) -> Value {
    match rng.below(16) {
        0 => Value::Null,
        1 => Value::from(rng.percent(50)),
        2 => Value::from(rng.range(-3, 1000)),
        3 => {
            let numbers = [
                "123456789012345678901234567890",
                "-9223372036854775809",
                "18446744073709551615",
                "9007199254740993",
                "0.1",
                "1.0",
                "-0.0",
                "1e16",
                "1e-7",
                "5e-324",
                "1.7976931348623157e308",
            ];
            Number::parse(rng.word(&numbers)).map_or(Value::Null, Value::from)
        }
        4 if depth < 3 => {
            let count = rng.below(4);
            Value::from((0..count).map(|_| value(rng, depth + 1)).collect::<Vec<Value>>())
        }
        5 if depth < 3 => {
            let mut object = Object::new();
            for _ in 0..rng.below(4) {
                let key = rng.word(&["b", "a", "é", "😀", "￮", "\n", "B"]);
                object.insert(key, value(rng, depth + 1));
            }
            Value::from(object)
        }
        _ => text(rng),
    }
}

/// Returns some text.
fn text(rng: &mut Rng) -> Value {
    let texts = [
        "",
        "hello",
        "Zoë 😀",
        "\"q\" \\ / \u{7f}\n\r\t\u{8}\u{c}",
        "\u{0}\u{1}\u{1f}",
        "\u{2028}\u{2029}\u{feff}\u{fffd}",
        "a longer text that weighs something when bytes are counted",
    ];
    Value::from(rng.word(&texts))
}

/// Returns a pruning policy with one to three limits.
fn policy(rng: &mut Rng) -> Policy {
    let protect_turns = *rng.pick(&[0, 0, 0, 1, 1, 1, 2, 3]);
    let limits = (0..=rng.below(3)).map(|_| limit(rng)).collect();
    let (exclude, removable) = (Vec::new(), Vec::new());
    Policy {
        protect_turns,
        protect_user: false,
        limits,
        exclude,
        removable,
        clear: None,
        reserve: 0,
    }
}

/// Adds what a budget has besides limits.
fn add_budget(rng: &mut Rng, model: &Model, policy: &mut Policy) {
    policy.protect_user = rng.percent(50);
    for _ in 0..rng.below(3) {
        let exclude = if rng.percent(50) {
            Exclude::Kind(rng.word(&["text", "call", "result"]).to_owned())
        } else {
            // An id with a quote would need escaping; ids of nodes that persist have none.
            Exclude::Id(any_name(rng, model).replace(['\'', '\\'], ""))
        };
        policy.exclude.push(exclude);
    }
    for _ in 0..rng.below(4) {
        policy.removable.push(any_name(rng, model).replace(['\'', '\\'], ""));
    }
    if rng.percent(60) {
        let (measure, most) =
            if rng.percent(50) { (Measure::Nodes, 8) } else { (Measure::Bytes, 160) };
        let at = rng.below(policy.limits.len() as u64 + 1) as usize;
        policy.limits.insert(at, Limit::ClearAtLeast(measure, rng.below(most)));
    }
    policy.clear = rng.percent(50).then(|| rng.below(4));
    policy.reserve = if rng.percent(30) { rng.below(40) } else { 0 };
}

fn limit(rng: &mut Rng) -> Limit {
    let (measure, most) =
        if rng.percent(50) { (Measure::Nodes, 12) } else { (Measure::Bytes, 240) };
    match rng.below(9) {
        0..=2 => Limit::Remove(rng.below(4)),
        3 => Limit::Total(measure, 1 + rng.below(2 * most)),
        4 | 5 => {
            let region = rng.word(&["^sys", "^seq", "^ah"]).to_owned();
            Limit::Region(region, measure, rng.below(most))
        }
        6 => Limit::Turn(measure, rng.below(most / 2)),
        _ => Limit::Depth(rng.below(8)),
    }
}
