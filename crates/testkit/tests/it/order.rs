//! PLO: offsets, canonical order, stamps, moves, traversal.

use std::sync::Arc;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, Ordering};

use contextree::json::{Value, parse};
use contextree::{
    Clock, CommitOptions, Context, ContextOptions, Cycle, Edit, Edition, NewNode, NodeRef, Op,
    Place, Profile, Region, SelectOptions, SnapshotAddress, Zone,
};
use contextree_testkit::Rng;

use crate::support::{
    apply, block, children, commit, group, head, ids, lenient, move_to, random_context, refuse,
    thread_ids, turns,
};

// covers: PLO-001, PLO-023, REF-008
#[test]
fn offsets_divide_a_turn_into_pre_context_core_and_post_context() {
    let mut context = turns(0);
    context.add(Place::zone("^ah", Zone::Post), block("post")).unwrap();
    context.add(Place::zone("^ah", Zone::Core), block("core")).unwrap();
    context.add(Place::zone("^ah", Zone::Pre), block("pre")).unwrap();
    context.add(Place::at("^ah", -7), block("far")).unwrap();
    commit(&mut context);
    let turn = head(&context).view().get("seg:1").unwrap();
    let zones: Vec<(&str, i64)> =
        turn.children().map(|node| (node.id(), node.offset().signum())).collect();
    assert_eq!(zones, [("far", -1), ("pre", -1), ("cont:1", 0), ("post", 1)]);
    let visits: Vec<(usize, &str)> =
        turn.subtree().map(|(depth, node)| (depth, node.id())).collect();
    let expected = [(0, "seg:1"), (1, "far"), (1, "pre"), (1, "cont:1"), (2, "core"), (1, "post")];
    assert_eq!(visits, expected, "depth first, the node before its children");
}

// covers: PLO-002, SEA-001
#[test]
fn empty_head_is_sealed_with_an_empty_core() {
    let mut context = Context::new();
    let report = commit(&mut context);
    assert_eq!(report.core.as_deref(), Some("cont:1"));
    assert_eq!(children(head(&context).view(), "seg:1"), ["cont:1"]);
    context.add(Place::at("^ah", -1), block("pre")).unwrap();
    commit(&mut context);
    assert_eq!(children(head(&context).view(), "seg:2"), ["pre", "cont:2"]);
}

/// The order as the specification says it, found by sorting.
fn rank(node: NodeRef<'_>) -> (contextree::tree::Scalar, i64, u32, &str) {
    (node.offset(), node.created_at_ns(), node.creation_index(), node.id())
}

/// Returns the ids of a document in the order in which a reader meets its nodes.
fn preorder(node: &Value) -> Vec<&str> {
    let children = node.get("children").and_then(Value::as_array).unwrap_or_default();
    let own = node.get("id").and_then(Value::as_str);
    own.into_iter().chain(children.iter().flat_map(preorder)).collect()
}

// covers: PLO-003, PLO-004, PLO-023, THR-011, REF-008
#[test]
fn traversal_thread_export_and_diff_have_the_same_order() {
    for seed in 0..40 {
        let context = random_context(seed);
        let tree = head(&context).view();
        for (_, node) in tree.nodes().skip(1) {
            let observed: Vec<_> = node.children().map(rank).collect();
            let mut sorted = observed.clone();
            sorted.sort();
            assert_eq!(observed, sorted, "seed {seed}, children of {node:?}");
            assert!(node.children().enumerate().all(|(index, child)| child.position() == index));
        }
        let order: Vec<&str> = tree.nodes().map(|(_, node)| node.id()).collect();
        let selected = context.select_with("@t0 *", Edition::V0_1, &SelectOptions::default());
        assert_eq!(selected.unwrap().nodes().unwrap().ids(), order, "selectors");
        let reference = parse(&head(&context).reference_bytes()).unwrap();
        assert_eq!(preorder(&reference), order, "the reference serializer");
        let place: BTreeMap<&str, usize> =
            order.iter().enumerate().map(|(index, id)| (*id, index)).collect();
        assert!(thread_ids(tree).is_sorted_by_key(|id| place[id]), "the thread");
        let export = head(&context).export();
        let export = std::str::from_utf8(&export).unwrap();
        // In an export `children` comes before `id`, so ids are in postorder, and blocks, being
        // leaves, in document order.
        let positions = thread_ids(tree).into_iter().map(|id| {
            let quoted = Value::from(id).to_canonical();
            export.find(&format!(r#""id":{}"#, std::str::from_utf8(&quoted).unwrap())).unwrap()
        });
        assert!(positions.is_sorted(), "the export");
        let empty = Context::new();
        let diff = contextree::diff::diff(empty.working(), tree);
        assert!(diff.added.iter().is_sorted_by_key(|id| place[id.as_str()]), "the diff");
    }
}

/// Siblings in canonical order. Each pair of neighbours differs first in one key, and every later key says the opposite.
const SIBLINGS: [(i64, i64, u32, &str); 16] = [
    // The offset decides.
    (-2, 9, 9, "t"),
    (-1, 1, 1, "s"),
    (1, 9, 9, "z"),
    (2, 1, 1, "y"),
    // The time of creation decides.
    (3, 5, 9, "x"),
    (3, 6, 1, "w"),
    // The index decides.
    (4, 5, 2, "v"),
    (4, 5, 10, "u"),
    // The id decides, by code point: neither by case, nor by length, nor by UTF-16.
    (5, 5, 5, "A"),
    (5, 5, 5, "B"),
    (5, 5, 5, "a"),
    (5, 5, 5, "ab"),
    (5, 5, 5, "b"),
    (5, 5, 5, "\u{e9}"),
    (5, 5, 5, "\u{ff61}"),
    (5, 5, 5, "\u{1f600}"),
];

/// Returns a node of a document whose children are shuffled.
fn written(rng: &mut Rng, header: &str, mut children: Vec<String>) -> String {
    for index in (1..children.len()).rev() {
        children.swap(index, rng.index(index + 1));
    }
    format!(r#"{{{header},"children":[{}]}}"#, children.join(","))
}

/// Returns the siblings below a parent as nodes of a document.
fn siblings_of(parent: &str) -> Vec<String> {
    let write = |(offset, stamp, index, id): &(i64, i64, u32, &str)| {
        format!(
            r#"{{"id":"{parent}.{id}","nodeType":"cb","role":"user","content":"{id}","ttl":9,"priority":{},"offset":{offset},"created_at_ns":{stamp},"creation_index":{index},"cycle":1}}"#,
            -offset
        )
    };
    SIBLINGS.iter().map(write).collect()
}

/// Every place where siblings are put in order has the same order: for each of the four keys, in every kind of parent, and whatever the order in
/// which a document has them. A second comparison anywhere that differs in one key would show.
// covers: PLO-003, PLO-011, PLO-023, THR-011, DIF-007
#[test]
fn one_order_holds_in_every_output_whichever_key_decides() {
    let header = |id: &str, node_type: &str, offset: i64, index: u32| {
        format!(
            r#""id":"{id}","nodeType":"{node_type}","offset":{offset},"created_at_ns":0,"creation_index":{index},"cycle":1"#
        )
    };
    let below = |parent: &str| SIBLINGS.map(|(.., id)| format!("{parent}.{id}"));
    let around = |parent: &str, core: &str| {
        let mut ids = below(parent).to_vec();
        drop(ids.splice(2..2, below(core)));
        ids
    };
    let mut blocks = below("g").to_vec();
    blocks.extend(below("sys"));
    blocks.extend(around("turn", "core"));
    blocks.extend(around("ah", "cont"));
    for seed in 0..12 {
        let mut rng = Rng::new(seed);
        let mut of = |header: String, id: &str, more: Vec<String>| {
            let children = siblings_of(id).into_iter().chain(more).collect();
            written(&mut rng, &header, children)
        };
        let group = of(header("g", "mc:g", -9, 0), "g", Vec::new());
        let system = of(header("sys", "^sys", 0, 0), "sys", vec![group]);
        let core = of(header("core", "mc", 0, 0), "core", Vec::new());
        let turn = of(header("turn", "mt", 0, 0), "turn", vec![core]);
        let core = of(header("cont", "mc", 0, 0), "cont", Vec::new());
        let head_region = of(header("ah", "^ah", 0, 2), "ah", vec![core]);
        let sequence = written(&mut rng, &header("seq", "^seq", 0, 1), vec![turn]);
        let regions = vec![head_region, sequence, system];
        let root = written(&mut rng, r#""id":"root","nodeType":"^root""#, regions);
        let mut context = lenient(&format!(r#"{{"cycle":1,"root":{root}}}"#));

        let is_block = |id: &&str| blocks.iter().any(|block| block == *id);
        let check = |what: &str, found: &[&str]| {
            let found: Vec<&str> = found.iter().copied().filter(is_block).collect();
            assert_eq!(found, blocks, "seed {seed}: {what}");
        };
        let tree = head(&context).view();
        let visited: Vec<&str> = tree.nodes().map(|(_, node)| node.id()).collect();
        check("traversal", &visited);
        check("the thread", &thread_ids(tree));
        let reference = parse(&head(&context).reference_bytes()).unwrap();
        check("the reference serializer", &preorder(&reference));
        let export = parse(&head(&context).export()).unwrap();
        check("the export", &preorder(export.get("root").unwrap()));
        for selector in ["@t0 *", "@t0 .cb", "@t0 [role='user']", "@t0 [offset>-9][ttl=9]"] {
            let found = context.select_with(selector, Edition::V0_1, &SelectOptions::default());
            check(selector, &found.unwrap().nodes().unwrap().ids());
        }
        let empty = Context::new();
        let diff = contextree::diff::diff(empty.working(), tree);
        check("what a diff lists as added", &strs(&diff.added));
        let changes = contextree::diff::changes(empty.working(), tree);
        check("what changes list as added", &strs(&changes.components_added));

        // A commit changes the ttl of every block.
        commit(&mut context);
        let diff = context.diff(SnapshotAddress::Back(1), SnapshotAddress::Back(0)).unwrap();
        let changed: Vec<&str> = diff.changed.iter().map(|node| &*node.id).collect();
        check("what a diff lists as changed", &changed);
        // A history that was written and read again has the order of its records.
        let lines = context.export_history();
        let again = Context::import_history(&lines, Profile::Lenient, ContextOptions::default());
        let again = again.unwrap();
        check("a history read again", &thread_ids(head(&again).view()));
    }
}

fn strs(ids: &[String]) -> Vec<&str> {
    ids.iter().map(String::as_str).collect()
}

/// A clock with a fixed time.
struct Told(AtomicI64);

impl Clock for &'static Told {
    fn now_ns(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn with_clock(clock: &'static Told) -> Context {
    let clock: Option<Arc<dyn Clock>> = Some(Arc::new(clock));
    Context::with_options(ContextOptions { clock, ..ContextOptions::default() })
}

// covers: PLO-005, IDH-016
#[test]
fn ten_thousand_nodes_of_a_frozen_clock_have_increasing_stamps() {
    static CLOCK: Told = Told(AtomicI64::new(1_000_000));
    let mut context = with_clock(&CLOCK);
    let mut last = 0;
    for _ in 0..10_000 {
        let id = context.add(Place::system(), NewNode::text("x")).unwrap();
        let stamp = context.working().get(&id).unwrap().created_at_ns();
        assert!(stamp > last, "{stamp} comes after {last}");
        last = stamp;
    }
    assert_eq!(last, 1_000_000 + 9_999);
}

// covers: PLO-006
#[test]
fn stamps_of_an_imported_document_may_decrease() {
    let mut context = lenient(
        r#"{"cycle":2,"root":{"id":"r","children":[{"id":"q","nodeType":"^seq","children":[
        {"id":"t1","nodeType":"mt","cycle":1,"created_at_ns":900},
        {"id":"t2","nodeType":"mt","cycle":2,"created_at_ns":5}]}]}}"#,
    );
    assert_eq!(children(context.working(), "^seq"), ["t2", "t1"], "canonical order is by stamp");
    commit(&mut context);
    assert_eq!(children(context.working(), "^seq"), ["t2", "t1", "seg:3"], "appended after all");
}

// covers: PLO-007
#[test]
fn stamps_increase_although_the_clock_jumps_back() {
    static CLOCK: Told = Told(AtomicI64::new(0));
    let mut context = with_clock(&CLOCK);
    let mut spans = Vec::new();
    for now in [5_000, 100, -7, 5_000, 9_000] {
        CLOCK.0.store(now, Ordering::Relaxed);
        let id = context.add(Place::head(), NewNode::text("x")).unwrap();
        let first = context.working().get(&id).unwrap().created_at_ns();
        let report = commit(&mut context);
        let last = context.working().get(&report.sealed).unwrap().created_at_ns();
        spans.push((first, last));
    }
    for pair in spans.windows(2) {
        assert!(pair[0].1 < pair[1].0, "cycle after cycle: {spans:?}");
    }
    assert!(spans[4].0 >= 9_000, "and the clock counts where it can");
}

// covers: PLO-009, PLO-010
#[test]
fn the_index_decides_between_equal_stamps() {
    let context = lenient(
        r#"{"root":{"id":"r","children":[{"id":"h","nodeType":"^ah","children":[
        {"id":"b","offset":0,"created_at_ns":1001,"creation_index":2},
        {"id":"z","offset":-1,"created_at_ns":1000,"creation_index":1},
        {"id":"a","offset":-1,"created_at_ns":1000,"creation_index":0}]}]}}"#,
    );
    assert_eq!(children(context.working(), "^ah"), ["a", "z", "b"]);
}

// covers: PLO-012
#[test]
fn active_nodes_are_moved_freely_and_keep_their_ids() {
    let mut context = turns(1);
    context.add(Place::head(), block("x")).unwrap();
    context.add(Place::system(), group("g")).unwrap();
    for (place, parent) in [
        (Place::into("g"), "g"),
        (Place::at("^ah", 3), "ah"),
        (Place::at("seg:1", -2), "seg:1"),
        (Place::system(), "sys"),
    ] {
        apply(&mut context, move_to("x", place));
        assert_eq!(context.working().get("x").unwrap().parent_id(), Some(parent));
    }
}

// covers: PLO-013, SEA-007
#[test]
fn turns_are_neither_moved_nor_added_nor_removed() {
    let mut context = turns(2);
    for place in [Place::head(), Place::system(), Place::at("seg:2", 1), Place::into("^seq")] {
        refuse(
            &mut context,
            move_to("seg:1", place),
            "E_INVALID_PLACEMENT",
            "turn_outside_sequence",
            "seg:1",
        );
    }
    refuse(&mut context, Op::Remove { node: "seg:1".into() }, "E_SEALED", "", "seg:1");
    for word in ["mt", "seg", "seg:x", "mt:9"] {
        let op = Op::Add { place: Place::head(), node: NewNode::container(word) };
        refuse(&mut context, op, "E_INVALID_PLACEMENT", "turn_outside_sequence", word);
    }
}

// covers: PLO-014
#[test]
fn turns_keep_their_ids_and_their_order_in_all_later_snapshots() {
    for seed in 0..40 {
        let context = random_context(seed);
        let mut known: Vec<String> = Vec::new();
        for snapshot in context.history().iter() {
            let now = children(snapshot.view(), "^seq");
            let survivors: Vec<&str> =
                known.iter().map(String::as_str).filter(|id| now.contains(id)).collect();
            assert_eq!(now[..survivors.len()], survivors[..], "seed {seed}");
            assert_eq!(now.len(), survivors.len() + 1, "and one is new");
            known.push(now[now.len() - 1].to_owned());
        }
    }
}

// covers: PLO-015, ADO-003, SEA-002, PRU-007
#[test]
fn hook_that_would_break_the_tree_fails_the_commit_without_changes() {
    let mut context = turns(2);
    context.add(Place::head(), block("u").ttl(0)).unwrap();
    let before = (context.export_working(), context.history_digest(), context.next_cycle());
    let bad: [Op; 4] = [
        move_to("seg:1", Place::system()),
        Op::Remove { node: "u1".into() },
        Op::Add { place: Place::into("^seq"), node: block("x") },
        Op::Edit { node: "u1".into(), edit: Edit::default() },
    ];
    for op in bad {
        let hook = |_: contextree::TreeRef<'_>| {
            vec![Op::Add { place: Place::system(), node: block("fine") }, op.clone()]
        };
        let options = CommitOptions { compaction: Some(&hook), ..CommitOptions::default() };
        let error = context.commit_with(&options).unwrap_err();
        assert!(["E_SEALED", "E_INVALID_PLACEMENT"].contains(&error.code()), "{error}");
        let after = (context.export_working(), context.history_digest(), context.next_cycle());
        assert_eq!(after, before, "the due node is back, the added one gone");
    }
    let report = commit(&mut context);
    assert_eq!(
        (report.cycle, report.expired),
        (Cycle(3), vec!["u".to_owned()]),
        "the same number again"
    );
}

// covers: PLO-016, PLO-017
#[test]
fn no_id_appears_in_two_regions() {
    for seed in 0..80 {
        let mut seen: BTreeMap<String, Region> = BTreeMap::new();
        for snapshot in random_context(seed).history().iter() {
            for (_, node) in snapshot.view().nodes() {
                if let Some(region) = node.region() {
                    let first = *seen.entry(node.id().to_owned()).or_insert(region);
                    assert_eq!(first, region, "seed {seed}: {node:?}");
                }
            }
        }
    }
}

// covers: PLO-016
#[test]
fn node_moved_to_another_region_has_the_same_thread_object() {
    let mut context = turns(2);
    let before = context.thread_of("p1");
    let outcome = context.apply(move_to("p1", Place::system())).unwrap();
    let contextree::Outcome::Moved { renamed, .. } = outcome else { panic!("{outcome:?}") };
    let new = renamed[0].1.clone();
    commit(&mut context);
    assert_eq!(context.thread_of(&new).replace(&new, "p1"), before);
}

/// Returns the object of one block in the thread of the working tree.
trait ThreadOf {
    fn thread_of(&self, id: &str) -> String;
}

impl ThreadOf for Context {
    fn thread_of(&self, id: &str) -> String {
        let bytes = contextree::thread(self.working());
        let text = String::from_utf8(bytes).unwrap();
        let start = text.find(&format!(r#"{{"id":"{id}""#)).unwrap();
        text[start..start + text[start..].find('}').unwrap()].to_owned()
    }
}

// covers: PLO-018, DIF-002
#[test]
fn move_within_a_region_changes_the_parent() {
    let mut context = turns(2);
    apply(&mut context, move_to("p1", Place::at("seg:2", 1)));
    commit(&mut context);
    let diff = context.diff(SnapshotAddress::Back(1), SnapshotAddress::Back(0)).unwrap();
    let moved = diff.changed.iter().find(|node| node.id == "p1").unwrap();
    assert_eq!(moved.fields, ["parent"]);
    assert!(diff.removed.is_empty() && !diff.added.contains(&"p1".to_owned()));
}

// covers: PLO-020, PLO-004
#[test]
fn two_scripts_with_the_same_result_give_the_same_bytes() {
    let mut direct = turns(1);
    direct.add(Place::at("^ah", 2), block("x").attribute("data_a", 1)).unwrap();
    commit(&mut direct);
    let mut detour = turns(1);
    detour.add(Place::at("^ah", 2), NewNode::text("draft").id("x")).unwrap();
    apply(&mut detour, move_to("x", Place::at("seg:1", 4)));
    let edit = Edit {
        content: Some(Value::from("x").into()),
        set: vec![("data_a".into(), 1.into()), ("data_b".into(), 1.into())],
        ..Edit::default()
    };
    detour.edit("x", edit).unwrap();
    detour.edit("x", Edit { unset: vec!["data_b".into()], ..Edit::default() }).unwrap();
    apply(&mut detour, move_to("x", Place::at("^ah", 2)));
    apply(&mut detour, Op::Pin { node: "u1".into() });
    apply(&mut detour, Op::Unpin { node: "u1".into() });
    commit(&mut detour);
    assert_eq!(head(&direct).export(), head(&detour).export());
    assert_eq!(direct.history_digest(), detour.history_digest());
}

// covers: PLO-024
#[test]
fn priority_does_not_affect_order() {
    let mut context = turns(0);
    for (id, priority) in [("a", 0), ("b", 100), ("c", -100)] {
        context.add(Place::head(), block(id).priority(priority)).unwrap();
    }
    assert_eq!(children(context.working(), "cont:1"), ["a", "b", "c"]);
}

#[test]
fn position_is_reached_only_by_offset_or_by_stamps() {
    let mut context = turns(1);
    for id in ["a", "b", "c"] {
        context.add(Place::head(), block(id)).unwrap();
    }
    let core = "cont:2";
    let stamps = |context: &Context| -> BTreeSet<i64> {
        context.working().get(core).unwrap().children().map(NodeRef::created_at_ns).collect()
    };
    let before = stamps(&context);
    context.add(Place::cue(core, contextree::engine::Cue::After(1)), block("n")).unwrap();
    assert_eq!(children(context.working(), core), ["a", "n", "b", "c"]);
    assert!(stamps(&context).is_superset(&before), "stamps are redistributed, none is created");
    assert_eq!(stamps(&context).len(), 4);
    commit(&mut context);
    assert_eq!(children(head(&context).view(), core), ["a", "n", "b", "c"]);
    // Beside the core of a sealed turn only offsets are left to choose.
    context.add(Place::cue("seg:2", contextree::engine::Cue::Start), block("first")).unwrap();
    context.add(Place::cue("seg:2", contextree::engine::Cue::End), block("last")).unwrap();
    assert_eq!(children(context.working(), "seg:2"), ["first", core, "last"]);
    assert_eq!(ids(context.working().get(core).unwrap().children()), ["a", "n", "b", "c"]);
}
