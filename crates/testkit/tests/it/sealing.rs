//! SEA: one snapshot per cycle, atomic, in the normative order.

use contextree::{CommitOptions, Context, Edit, Limit, Op, Place, Policy, Region, SnapshotAddress};

use crate::support::{apply, block, children, commit, group, head, turns};

// covers: SEA-001
#[test]
fn every_commit_makes_one_snapshot_with_the_next_number() {
    let mut context = turns(0);
    for cycle in 1..=12 {
        let report = commit(&mut context);
        assert_eq!((report.cycle, context.history().len()), (cycle, cycle as usize));
        assert_eq!(head(&context).cycle(), cycle);
        assert_eq!(context.next_cycle(), cycle + 1);
    }
}

// covers: SEA-002
#[test]
fn commit_that_fails_midway_changes_nothing() {
    let mut context = turns(2);
    context.add(Place::head(), block("due").ttl(0)).unwrap();
    context.add(Place::at("^ah", 1), group("g").removable(true)).unwrap();
    let unknown = Policy {
        protect_turns: 0,
        limits: vec![Limit::Remove(2), Limit::Total { measure: "tokens".into(), max: 1 }],
        ..Policy::default()
    };
    let refused = |_: contextree::TreeRef<'_>| vec![Op::Remove { node: "nobody".into() }];
    let state = |context: &Context| {
        (context.export_working(), context.history_digest(), context.next_cycle())
    };
    let before = state(&context);
    let expected = commit(&mut context.fork_working());
    for (options, code) in [
        (CommitOptions { policy: Some(&unknown), ..CommitOptions::default() }, "E_UNKNOWN_MEASURE"),
        (
            CommitOptions { compaction: Some(&refused), ..CommitOptions::default() },
            "E_NODE_NOT_FOUND",
        ),
        (
            CommitOptions {
                policy: Some(&unknown),
                compaction: Some(&refused),
                ..Default::default()
            },
            "E_NODE_NOT_FOUND",
        ),
    ] {
        assert_eq!(context.preview(&options).unwrap_err().code(), code);
        assert_eq!(context.commit_with(&options).unwrap_err().code(), code);
        assert_eq!(state(&context), before);
    }
    let report = commit(&mut context);
    assert_eq!(report, expected, "the next attempt is not affected by the failed ones");
    assert_eq!((report.cycle, report.expired), (3, vec!["due".to_owned()]));
}

// covers: SEA-003
#[test]
fn commit_steps_run_in_order_on_each_others_results() {
    let mut context = turns(1);
    context.add(Place::head(), block("due").ttl(0)).unwrap();
    context.add(Place::at("^ah", 1), group("holds-due").removable(true)).unwrap();
    context.add(Place::into("holds-due"), block("due2").ttl(0)).unwrap();
    context.add(Place::head(), block("low").priority(-1)).unwrap();
    context.add(Place::head(), block("high").priority(1)).unwrap();
    let look = |tree: contextree::TreeRef<'_>| {
        for gone in ["due", "due2", "holds-due"] {
            assert!(tree.get(gone).is_none(), "1: expiry and cascade were before");
        }
        assert!(tree.get("low").is_some(), "2: pruning comes after");
        assert_eq!(tree.get("high").unwrap().region(), Some(Region::Head), "3: so does sealing");
        assert_eq!(tree.turn_count(), 1);
        vec![Op::Add { place: Place::head(), node: block("summary").priority(-9) }]
    };
    let policy = Policy { protect_turns: 0, limits: vec![Limit::Remove(2)], ..Policy::default() };
    let options =
        CommitOptions { policy: Some(&policy), compaction: Some(&look), ..Default::default() };
    let report = context.commit_with(&options).unwrap();
    assert_eq!(report.expired, ["due", "due2"]);
    assert_eq!(report.cascaded, ["holds-due"]);
    let pruned: Vec<_> = report.pruned.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(pruned, ["summary", "low"], "what compaction added can be pruned");
    assert_eq!(report.sealed, "seg:2");
    assert_eq!(report.digest, head(&context).digest(), "4: the snapshot is of what is left");
    assert_eq!(children(head(&context).view(), "cont:2"), ["high"]);
}

// covers: SEA-005, SEA-011
#[test]
fn sealing_keeps_the_children_of_the_head_with_their_ids() {
    let mut context = turns(0);
    context.add(Place::at("^ah", -1), block("pre")).unwrap();
    context.add(Place::head(), block("u")).unwrap();
    context.add(Place::at("^ah", 1), block("post")).unwrap();
    context.add(Place::at("^ah", 2), group("g")).unwrap();
    let before: Vec<String> =
        children(context.working(), "^ah").into_iter().map(str::to_owned).collect();
    let thread = contextree::thread(context.working());
    let report = commit(&mut context);
    assert_eq!(children(head(&context).view(), &report.sealed), before);
    assert_eq!(head(&context).thread(), thread, "sealing changes no byte of the thread");
    assert_eq!(context.working().region(Region::Head).id(), "ah", "the head is still the head");
}

// covers: SEA-008, SNP-004, THR-012
#[test]
fn snapshot_never_changes() {
    let mut context = turns(2);
    let snapshot = head(&context).clone();
    let view = |snapshot: &contextree::Snapshot| {
        (
            snapshot.export(),
            snapshot.thread(),
            snapshot.reference_bytes(),
            snapshot.digest(),
            snapshot.view().node_count(),
        )
    };
    let before = view(&snapshot);
    apply(&mut context, Op::Pin { node: "u1".into() });
    apply(&mut context, Op::SetPriority { node: "u2".into(), priority: 4, policy: "p".into() });
    context.remove("p1").unwrap();
    context.add(Place::at("seg:1", -1), block("attached")).unwrap();
    context.add(Place::system(), block("t")).unwrap();
    context.edit("t", Edit { set: vec![("key".into(), "k".into())], ..Edit::default() }).unwrap();
    for _ in 0..5 {
        commit(&mut context);
    }
    assert_eq!(view(&snapshot), before);
    assert_eq!(view(context.snapshot(SnapshotAddress::Cycle(2)).unwrap()), before);
    drop(context);
    assert_eq!(view(&snapshot), before, "also after the context is dropped");
}

// covers: SEA-012
#[test]
fn documents_define_the_active_turn_by_editability() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations.md");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("**The active turn** is everything that was created in the cycle"));
    // No page calls the container editable.
    let pages = std::fs::read_dir(path.parent().unwrap()).unwrap();
    let pages = pages.map(|page| page.unwrap().path());
    for page in pages.filter(|page| page.extension().is_some_and(|suffix| suffix == "md")) {
        let text = std::fs::read_to_string(&page).unwrap();
        for line in text.lines().filter(|line| line.contains("^ah") || line.contains("active head"))
        {
            let editable = ["editable", "mutable", "can be edited"];
            let says = editable.iter().any(|word| line.contains(word));
            assert!(
                !says || line.to_lowercase().contains("active turn"),
                "{}: {line}",
                page.display()
            );
        }
    }
}
