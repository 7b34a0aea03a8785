//! The access matrix of tenants: everything that can be done with a store, tried by one tenant on its own contexts, on those of another
//! and on those of no tenant, on every store.

use contextree::{Content, NewNode, Place, SnapshotAddress};
use contextree_store::{
    Backend, ContextId, ContextRow, ContextSettings, Cycle, Pin, Reader, Redaction, Retention,
    Rewrite, SidePage, Step, Store, StoreError, Tenant,
};

use crate::support::{Home, block, commit_stored, on_every_store, open, turns};

/// Whose context is tried.
const CONTEXTS: [(&str, bool); 3] = [("a/one", true), ("b/one", false), ("c", false)];

/// A text that every tenant has, long enough to be stored once for all others.
fn common() -> String {
    "the same document in every context. ".repeat(400)
}

/// Makes a context with commits, a fork, an undone line, a pin, attempts, a side record and uncommitted work.
fn fill(store: &Store, name: &str) {
    let mut session = store.adopt(name, turns(4), &ContextSettings::default()).unwrap();
    session.set_command("test");
    let add = |context: &mut contextree::Context| {
        context.add(Place::head(), NewNode::text(&*common()).id("common").role("user")).map(drop)
    };
    session.write(|context| Ok::<_, contextree::Error>(add(context)?)).unwrap();
    commit_stored(&mut session);
    commit_stored(&mut session);
    session.pin_snapshot(SnapshotAddress::Cycle(2), "release").unwrap();
    session.undo().unwrap();
    session
        .update_side(|context, side| {
            side.put("test.kind", "key", name.as_bytes().to_vec());
            context.add(Place::head(), block("open")).map_err(contextree::Error::from)?;
            Ok::<_, contextree::Error>(())
        })
        .unwrap();
    store.fork(name, Some(SnapshotAddress::Cycle(3)), &format!("{name} fork")).unwrap();
}

fn tenant(prefix: &str) -> Tenant {
    Tenant::new(prefix).unwrap()
}

/// Runs a test with a store of two tenants and a context of none: the whole store, and as each tenant sees it.
fn with_tenants(test: impl Fn(&Store, &Store, &Store)) {
    on_every_store(|whole| {
        let [a, b] = ["a/", "b/"].map(|prefix| whole.for_tenant(&tenant(prefix)).unwrap());
        fill(&a, "a/one");
        fill(&b, "b/one");
        fill(whole, "c");
        test(whole, &a, &b);
    });
}

fn names(store: &Store) -> Vec<String> {
    store.contexts(None, 99).unwrap().into_iter().map(|row| row.name).collect()
}

/// Returns everything that is stored of contexts of others than `a/`.
fn others(whole: &Store) -> Vec<String> {
    let backend = whole.backend();
    let rows =
        backend.list(None, 99).unwrap().into_iter().filter(|row| !row.name.starts_with("a/"));
    rows.map(|row| {
        format!(
            "{row:?} {:?} {:?} {:?} {:?}",
            backend.side_records(row.id, None).unwrap(),
            backend.attempts(row.id).unwrap(),
            backend.pins(row.id).unwrap(),
            backend.journal(row.id).unwrap(),
        )
    })
    .collect()
}

type Act = (&'static str, fn(&Store, &str) -> Result<(), String>);

fn code<T>(result: Result<T, impl Into<contextree::Error>>) -> Result<(), String> {
    result.map(drop).map_err(|error| {
        let error: contextree::Error = error.into();
        format!("{}: {error}", error.code())
    })
}

/// Everything that begins with the name of a context. Each is done by a tenant that has `a/`.
const ACTS: [Act; 16] = [
    ("read", |store, name| code(store.reader(name))),
    ("open to write", |store, name| code(store.session(name))),
    ("read a snapshot", |store, name| code(store.snapshot(name, SnapshotAddress::Cycle(1)))),
    ("find", |store, name| match store.find(name).unwrap() {
        Some(_) => Ok(()),
        None => Err("E_CONTEXT_NOT_FOUND".to_owned()),
    }),
    ("verify", |store, name| code(store.verify_context(name, &mut |_, _| {}))),
    ("salvage", |store, name| code(store.salvage(name, &mut Vec::new()))),
    ("dry run of retention", |store, name| {
        code(store.retain(name, &Retention { keep_newest: Some(1), ..Retention::default() }, true))
    }),
    ("fork from the head", |store, name| code(store.fork(name, None, "a/from head"))),
    ("fork from a snapshot", |store, name| {
        code(store.fork(name, Some(SnapshotAddress::Cycle(2)), "a/from snapshot"))
    }),
    ("rename away", |store, name| {
        code(store.rename(name, "a/renamed"))?;
        code(store.rename("a/renamed", name))
    }),
    ("select", |store, name| code(store.reader(name).map(|it| drop(it.select("@* *").unwrap())))),
    ("compare with an own context", |store, name| {
        let own = store.reader("a/one").unwrap();
        let digest = |it: &Reader| it.newest().unwrap().map(contextree::Snapshot::digest);
        code(store.reader(name).map(|it| digest(&it) == digest(&own)))
    }),
    ("undo", |store, name| match store.session(name) {
        Ok(mut session) => {
            session.set_command("test");
            session.undo().map(drop).map_err(|error| error.to_string())
        }
        Err(error) => code::<()>(Err(error)),
    }),
    ("forget operations", |store, name| code(store.forget_operations(name))),
    ("retention", |store, name| {
        code(store.retain(name, &Retention { keep_newest: Some(1), ..Retention::default() }, false))
    }),
    ("delete", |store, name| code(store.delete(name))),
];

#[test]
fn a_tenant_can_do_everything_with_its_contexts_and_nothing_with_others() {
    with_tenants(|whole, a, _| {
        let before = others(whole);
        for (what, act) in ACTS {
            for (name, is_own) in CONTEXTS {
                match (act(a, name), is_own) {
                    (Ok(()), true) => {}
                    (Err(error), false) => {
                        assert!(error.starts_with("E_CONTEXT_NOT_FOUND"), "{what} {name}: {error}");
                        let missing = act(a, "a/missing").unwrap_err();
                        let same = missing.replace("a/missing", name);
                        assert_eq!(error, same, "{what}: like a context that never was");
                    }
                    (found, _) => panic!("{what} {name}: {found:?}"),
                }
                assert!(others(whole) == before, "{what} {name} changed what others have");
            }
        }
        assert!(whole.verify(&mut |_, _| {}).unwrap().is_clean());
    });
}

#[test]
fn a_tenant_takes_no_name_outside() {
    with_tenants(|whole, a, _| {
        let before = others(whole);
        for name in ["b/new", "c/new", "new", "b/one", "c", "a"] {
            let settings = ContextSettings::default();
            for error in [
                a.create(name, &settings).map(drop).unwrap_err(),
                a.adopt(name, turns(1), &settings).map(drop).unwrap_err(),
                a.session_or_new(name, &settings).map(drop).unwrap_err(),
                a.rename("a/one", name).map(drop).unwrap_err(),
            ] {
                // Whether the name is taken is not told.
                assert_eq!(error.code(), "E_CONTEXT_NAME", "{name}: {error}");
                assert!(error.to_string().contains("`a/`"), "{error}");
            }
            for address in [None, Some(SnapshotAddress::Cycle(1))] {
                assert_eq!(a.fork("a/one", address, name).unwrap_err().code(), "E_CONTEXT_NAME");
            }
        }
        assert!(others(whole) == before);
        assert_eq!(Tenant::new("a").unwrap_err().code(), "E_CONTEXT_NAME", "it would have `ab/x`");
        assert_eq!(a.for_tenant(&tenant("b/")).unwrap_err().code(), "E_CONTEXT_NAME");
        assert_eq!(names(&a.for_tenant(&tenant("a/x/")).unwrap()), Vec::<String>::new());
    });
}

#[test]
fn lists_checks_copies_and_redactions_are_those_of_the_tenant() {
    with_tenants(|whole, a, _| {
        let own: Vec<String> =
            names(whole).into_iter().filter(|name| name.starts_with("a/")).collect();
        assert_eq!(own.len(), 3, "with a fork and an undone line");
        assert_eq!(names(a), own);
        assert_eq!(a.contexts(Some("a/one"), 1).unwrap()[0].name, own[1]);
        assert_eq!(a.contexts(Some("b"), 9).unwrap(), []);
        let check = a.verify(&mut |_, of| assert!(of < 30)).unwrap();
        let checked: Vec<&str> = check.contexts.iter().map(|one| &*one.name).collect();
        assert_eq!(checked, own);
        assert!(check.is_clean());

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy.db");
        a.backup(&path, &mut |_, of| assert!(of <= 3)).unwrap();
        let copy = open(&format!("sqlite:{}", path.display()));
        assert_eq!(names(&copy), ["a/one", "a/one fork"]);
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(5).any(|window| window == b"b/one"), "no page of others");
        let other = open("memory:").for_tenant(&tenant("a/")).unwrap();
        assert!(other.restore_into(&path, &mut |_, _| {}).is_err(), "for who has the whole store");

        let before = others(whole);
        let contents = [Content::from(&*common())];
        let redaction = Redaction { contents: &contents, marker: "gone", reason: "test" };
        let redacted = a.redact(&redaction).unwrap();
        assert!(redacted.contexts.iter().all(|name| name.starts_with("a/")), "{redacted:?}");
        assert!(redacted.copies > 0);
        assert!(others(whole) == before);
        assert_eq!(a.backend().reclaim().unwrap(), None, "how large the store is");
    });
}

/// Rows of others by their numbers, which could be guessed.
#[test]
fn numbers_of_contexts_and_branches_of_others_lead_nowhere() {
    with_tenants(|whole, a, _| {
        // The tenant knows its own contexts, and has them in memory.
        names(a).iter().for_each(|name| drop(a.session(name).unwrap()));
        let before = others(whole);
        for row in whole.contexts(None, 99).unwrap() {
            if !row.name.starts_with("a/") {
                by_number(&**a.backend(), &row);
            }
        }
        let nothing = ContextId(1 << 40);
        assert_eq!(a.backend().journal(nothing).unwrap_err().code(), "E_CONTEXT_NOT_FOUND");
        assert!(others(whole) == before);
    });
}

fn by_number(backend: &dyn Backend, row: &ContextRow) {
    let missing = |error: StoreError| {
        assert_eq!(error.code(), "E_CONTEXT_NOT_FOUND", "{error}");
        assert!(!error.to_string().contains(&format!("`{}`", row.name)), "{error}");
    };
    let ContextRow { id, branch, revision, .. } = *row;
    let step = Step { reset_journal: true, ..Step::default() };
    missing(backend.append(id, revision, &step).unwrap_err());
    missing(backend.rewrite(id, revision, &Rewrite::default()).unwrap_err());
    missing(backend.rename(id, "a/mine").unwrap_err());
    missing(backend.delete(id, revision).unwrap_err());
    missing(backend.journal(id).unwrap_err());
    missing(backend.pin(id, &Pin { cycle: Cycle(1), label: String::new() }).unwrap_err());
    assert!(!backend.unpin(id, Cycle(2)).unwrap());
    assert_eq!(backend.pins(id).unwrap(), []);
    assert_eq!(backend.attempts(id).unwrap(), []);
    assert_eq!(backend.side_records(id, None).unwrap(), []);
    assert_eq!(backend.side_record(id, "test.kind", "key").unwrap(), None);
    assert_eq!(backend.side_page(id, &SidePage::of("test.kind")).unwrap(), []);

    missing(backend.lineage(branch).unwrap_err());
    assert_eq!(backend.checkpoint(branch, Cycle(9)).unwrap(), None);
    assert_eq!(backend.checkpoint_bodies(branch, Cycle::ZERO).unwrap(), None);
    assert_eq!(backend.count_commits(branch, Cycle(9)).unwrap(), 0);
    assert_eq!(backend.children(branch).unwrap(), []);
    let checkpoint =
        contextree_store::Checkpoint { cycle: Cycle(9), tree: Vec::new(), bodies: Vec::new() };
    missing(backend.add_checkpoint(branch, &checkpoint).unwrap_err());
    backend
        .commits(branch, Cycle::ZERO, Cycle(99), &mut |_| panic!("a commit of another tenant"))
        .unwrap();
    backend
        .bodies(branch, &[1, 2].map(Cycle), &mut |_, _| panic!("bodies of another tenant"))
        .unwrap();
    let from = Some(contextree_store::Stretch { branch, upto: Cycle(1) });
    let new = contextree_testkit::suite::new("a/forged");
    let new = contextree_store::NewContext { from, ..new };
    missing(backend.create(&new).unwrap_err());
}

#[test]
fn equal_contents_of_tenants_are_not_shared() {
    with_tenants(|whole, a, b| {
        let hash = contextree::Hash::of(common().as_bytes()).0;
        let backend = whole.backend();
        let users = backend.users(&hash).unwrap();
        let c = backend.find("c").unwrap().unwrap().branch;
        assert!(users.contains(&c), "contexts of no tenant share it");
        for row in a.contexts(None, 99).unwrap().iter().chain(&b.contexts(None, 99).unwrap()) {
            assert!(!users.contains(&row.branch), "`{}` shares it", row.name);
        }
        assert_eq!(a.backend().contents(&[hash]).unwrap(), [None]);
        assert_eq!(a.backend().users(&hash).unwrap(), []);
        // A record that names the hash of what another tenant has does not get at it.
        let row = a.find("a/one").unwrap().unwrap();
        let rewrite = Rewrite {
            children: a.backend().children(row.branch).unwrap(),
            pinned: a.backend().pins(row.id).unwrap().iter().map(|pin| pin.cycle).collect(),
            contents: vec![hash],
            ..Rewrite::default()
        };
        let row = a.backend().rewrite(row.id, row.revision, &rewrite).unwrap();
        assert_eq!(a.backend().contents(&[hash]).unwrap(), [None]);
        let contents = vec![contextree_store::ContentRow { hash, data: b"mine".to_vec() }];
        let step = Step { contents, ..Step::default() };
        assert!(a.backend().append(row.id, row.revision, &step).is_err());
        assert!(whole.verify(&mut |_, _| {}).unwrap().is_clean());
    });
}

#[test]
fn what_was_written_before_there_were_tenants_is_theirs() {
    on_every_store(|whole| {
        for name in ["a/one", "b/one"] {
            fill(whole, name);
        }
        let a = whole.for_tenant(&tenant("a/")).unwrap();
        let hash = contextree::Hash::of(common().as_bytes()).0;
        a.reader("a/one").unwrap().to_context().unwrap();
        assert!(a.backend().contents(&[hash]).unwrap()[0].is_some(), "its own contexts use it");
        let mut session = a.session("a/one").unwrap();
        commit_stored(&mut session);
        drop(session);
        assert!(a.verify(&mut |_, _| {}).unwrap().is_clean());
        for name in names(&a) {
            a.delete(&name).ok();
        }
        assert_eq!(names(&a), Vec::<String>::new());
        assert!(whole.verify(&mut |_, _| {}).unwrap().is_clean(), "the other still has it");
        assert!(whole.reader("b/one").unwrap().select("@* .block").unwrap().nodes().is_some());
    });
}

#[test]
fn a_fork_across_tenants_by_who_has_all_keeps_what_it_shares_and_shows_no_more() {
    on_every_store(|whole| {
        let [a, b] = ["a/", "b/"].map(|prefix| whole.for_tenant(&tenant(prefix)).unwrap());
        a.adopt("a/one", turns(6), &ContextSettings::default()).unwrap();
        drop(whole.fork("a/one", Some(SnapshotAddress::Cycle(3)), "b/given").unwrap());
        let given = b.reader("b/given").unwrap().to_context().unwrap();
        assert_eq!(given.history().len(), 3);
        let parent = a.find("a/one").unwrap().unwrap().branch;
        let mut seen = Vec::new();
        b.backend()
            .commits(parent, Cycle::ZERO, Cycle(99), &mut |commit| {
                seen.push(commit.cycle);
                Ok(())
            })
            .unwrap();
        assert_eq!(seen, [1, 2, 3], "not what came after");
        let rule = Retention { keep_newest: Some(1), ..Retention::default() };
        assert_eq!(a.retain("a/one", &rule, false).unwrap().forked, 3);
        a.delete("a/one").unwrap();
        let again = b.reader("b/given").unwrap().to_context().unwrap();
        assert_eq!(again.history_digest(), given.history_digest());
        assert!(whole.verify(&mut |_, _| {}).unwrap().is_clean());
    });
}

#[test]
fn a_store_is_opened_for_a_tenant_by_an_option() {
    for home in [Home::file(), Home::server()] {
        drop(home.open().create("b/one", &ContextSettings::default()).unwrap());
        let options = contextree_store::StoreOptions {
            tenant: Some(tenant("a/")),
            ..contextree_store::StoreOptions::deterministic()
        };
        let store = contextree_store_postgres::open(&home.url, options).unwrap();
        assert_eq!(store.tenant().map(Tenant::prefix), Some("a/"));
        assert_eq!(names(&store), Vec::<String>::new());
        drop(store.create("a/one", &ContextSettings::default()).unwrap());
        assert_eq!(names(&home.open()), ["a/one", "b/one"]);
    }
}
