//! SEA: one snapshot per cycle, atomic, in the normative order.

use contextree::{
    CommitOptions, Context, Cycle, Edit, Limit, Op, Place, Policy, Region, SnapshotAddress,
};

use crate::support::{apply, block, children, commit, group, head, turns};

// covers: SEA-001
#[test]
fn every_commit_makes_one_snapshot_with_the_next_number() {
    let mut context = turns(0);
    for cycle in 1..=12 {
        let report = commit(&mut context);
        assert_eq!((report.cycle.get(), context.history().len()), (cycle, cycle as usize));
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
    assert_eq!((report.cycle, report.expired), (Cycle(3), vec!["due".to_owned()]));
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

/// Returns the sentences of a text that call `^ah` editable. Editability belongs to the active turn, so a sentence that names it as well is
/// right. Fenced examples are not read.
fn sentences_that_call_the_head_editable(text: &str) -> Vec<String> {
    let mut prose = String::new();
    let mut is_example = false;
    for line in text.lines() {
        let line = line.trim();
        is_example ^= line.starts_with("```");
        // A row, an item of a list and a paragraph end a sentence, whatever they end with.
        if is_example || line.is_empty() || line.starts_with(['|', '-', '*', '#']) {
            prose.push('\n');
        }
        if !is_example {
            prose.extend([line, " "]);
        }
    }
    let ends = |text: &str| text.ends_with(['.', ':', ';', '!', '?', '\n']);
    let mut sentences = vec![String::new()];
    for word in prose.replace('\n', "\n ").split_inclusive(' ') {
        let last = sentences.last_mut().expect("it begins with one");
        last.push_str(word);
        if ends(word.trim_end_matches(' ')) {
            sentences.push(String::new());
        }
    }
    let is_wrong = |sentence: &String| {
        let said = sentence.to_lowercase().replace("immutab", "").replace("edition", "");
        let names = |words: &[&str]| words.iter().any(|word| said.contains(word));
        names(&["^ah", "active head", "the head "])
            && names(&["edit", "mutab", "modif", "can change", "may change", "can be changed"])
            && !names(&["active turn"])
    };
    sentences.into_iter().filter(is_wrong).collect()
}

#[test]
fn the_check_of_words_finds_a_sentence_that_calls_the_head_editable() {
    for wrong in [
        "Everything in `^ah` is editable.",
        "The rest. The active head\ncan be\nedited until the commit: then it is sealed.",
        "| **head** | The region `^ah`, which is mutable. |",
        "- Nodes of the head may change.",
    ] {
        assert_eq!(sentences_that_call_the_head_editable(wrong).len(), 1, "{wrong}");
    }
    for right in [
        "The active turn can be edited. It is not the same as `^ah`.",
        "Nodes of the active turn can be edited, in `^ah` and elsewhere.",
        "`^ah` is a container. Snapshots are immutable, so the head is empty in edition 0.3.",
        "The head:\n```text\nctx edit '^ah .block' x\n```\nSealed nodes cannot be edited.",
    ] {
        assert_eq!(sentences_that_call_the_head_editable(right), [""; 0], "{right}");
    }
}

/// Documents, help topics and the documentation of the code speak of `^ah` for structure, and of the active turn for editability.
// covers: SEA-012
#[test]
fn documents_define_the_active_turn_by_editability() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let defined = "**The active turn** is everything that was created in the cycle";
    assert!(read("docs/operations.md").contains(defined));
    let words = read("docs/glossary.md");
    let word = words.lines().find(|line| line.starts_with("| **active turn** |")).unwrap();
    assert!(word.contains("exactly the nodes that can be edited. Not the same as `^ah`"), "{word}");

    let mut folders = vec![root.clone()];
    let (mut pages, mut found) = (0, Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                let is_ours = !name.starts_with('.')
                    && !["target", "node_modules", "tests"].contains(&&*name);
                folders.extend(is_ours.then_some(path));
                continue;
            }
            let text = match name.rsplit_once('.') {
                Some((_, "md" | "txt" | "py")) => std::fs::read_to_string(&path).unwrap(),
                Some((_, "rs")) => comments(&std::fs::read_to_string(&path).unwrap()),
                _ => continue,
            };
            pages += 1;
            let wrong = sentences_that_call_the_head_editable(&text);
            found.extend(wrong.into_iter().map(|said| format!("{}: {said}", path.display())));
        }
    }
    assert!(pages > 500, "{pages} pages were read");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Returns the documentation in a source file.
fn comments(source: &str) -> String {
    let text = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix("///").or(line.strip_prefix("//!")).unwrap_or_default().to_owned() + "\n"
    };
    source.lines().map(text).collect()
}
