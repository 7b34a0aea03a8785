//! Runs random operations on a store and on the one in memory, which must agree.

use std::collections::BTreeMap;

use super::{checkpoint, commit, content, hash, head, key, new, ok, read};
use contextree_store::{
    AttemptRow, Backend, BranchId, Checkpoint, Commit, ContextId, ContextRow, Cycle, Memory,
    NewContext, Pin, Result, Revision, Rewrite, Step, StoreError, Stretch,
};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const CYCLES: u32 = 24;
const CONTENTS: u8 = 8;

/// Runs a script on a store without contexts and on memory, and panics if they differ. Four bytes
/// are an operation and its arguments; every script is valid, so random bytes will do.
pub fn compare(store: &dyn Backend, script: &[[u8; 4]]) {
    let memory = Memory::new();
    let mut players = Players {
        memory: &memory,
        store,
        contexts: BTreeMap::new(),
        branches: BTreeMap::new(),
        last: None,
        steps: 0,
    };
    for operation in script {
        players.play(*operation);
    }
    players.compare_all();
    assert_eq!(ok(store.check()), Vec::<String>::new());
}

/// A step that can be repeated.
#[derive(Clone)]
struct Last {
    contexts: (ContextId, ContextId),
    expected: Revision,
    step: Step,
}

struct Players<'a> {
    memory: &'a Memory,
    store: &'a dyn Backend,
    /// The numbers of contexts, from memory to the store.
    contexts: BTreeMap<ContextId, ContextId>,
    /// The numbers of branches.
    branches: BTreeMap<BranchId, BranchId>,
    last: Option<Last>,
    steps: u64,
}

impl Players<'_> {
    fn play(&mut self, [kind, what, how, with]: [u8; 4]) {
        self.steps += 1;
        let name = NAMES[usize::from(what) % NAMES.len()];
        let row = ok(self.memory.find(name));
        let Some(row) = row else {
            return self.make(name, kind, how, with);
        };
        match kind % 12 {
            0 => self.make(name, kind, how, with),
            1..=3 => self.append(&row, row.revision, self.commits(&row, how, with)),
            4 | 5 => {
                let journal = Some(vec![how; usize::from(with)]);
                self.append(&row, row.revision, Step { journal, ..self.step(how) });
            }
            6 => {
                let expected = Revision(row.revision.get().wrapping_sub(1 + u64::from(how % 2)));
                self.append(&row, expected, self.commits(&row, how, with));
            }
            7 => match self.last.clone() {
                Some(Last { contexts, expected, step }) => self.give(contexts, expected, &step),
                None => {
                    let record = format!("[{with}]");
                    let attempts = vec![AttemptRow { id: format!("{}", how % 4), record }];
                    let settings = (with > 99).then(|| format!("{{\"with\":{with}}}"));
                    let step = Step { attempts, settings, ..self.step(how) };
                    self.append(&row, row.revision, step);
                }
            },
            8 => {
                let added = Checkpoint { tree: vec![with], ..checkpoint(u32::from(how) % CYCLES) };
                let ours = self.memory.add_checkpoint(row.branch, &added);
                let theirs = self.store.add_checkpoint(self.branches[&row.branch], &added);
                same(ours, theirs);
            }
            9 => self.pin(&row, how, with),
            10 => self.rewrite(&row, how, with),
            _ => {
                let expected = Revision(row.revision.get() - u64::from(with.is_multiple_of(4)));
                let theirs = self.contexts[&row.id];
                same(self.memory.delete(row.id, expected), self.store.delete(theirs, expected));
            }
        }
    }

    fn step(&self, how: u8) -> Step {
        // Every fourth step has no key.
        let key = if how.is_multiple_of(4) { [0; 16] } else { key(self.steps) };
        Step { now_ns: i64::from(how), key, ..Step::default() }
    }

    fn commits(&self, row: &ContextRow, how: u8, with: u8) -> Step {
        let lineage = ok(self.memory.lineage(row.branch));
        let begins = lineage.len().checked_sub(2).map_or(Cycle::ZERO, |at| lineage[at].upto);
        let last = row.head.map_or(begins, |head| head.cycle);
        let commits: Vec<Commit> =
            (1..=u32::from(how % 3) + 1).map(|by| commit(last.get() + by)).collect();
        let head = commits.last().map(|commit| head(commit.cycle.get()));
        let contents = (0..CONTENTS).filter(|bit| with >> bit & 1 == 1).map(content).collect();
        let journal = (how > 200).then(|| vec![how]);
        Step { commits, head, contents, journal, ..self.step(how) }
    }

    fn make(&mut self, name: &str, kind: u8, how: u8, with: u8) {
        let parents: Vec<BranchId> = self.branches.keys().copied().collect();
        let parent = parents.get(usize::from(with) % (parents.len() + 1)).copied();
        let upto = u32::from(how) % CYCLES;
        let base = (with.is_multiple_of(5)).then(|| checkpoint(upto));
        let first = Step { contents: vec![content(with % CONTENTS)], ..self.step(how) };
        let from = parent.map(|branch| Stretch { branch, upto: Cycle(upto) });
        let mut made = NewContext { from, base, first, ..new(name) };
        if kind > 128 {
            made.first.commits = vec![commit(upto + 1)];
            made.first.head = Some(head(upto + 1));
        }
        let ours = self.memory.create(&made);
        made.from =
            parent.map(|branch| Stretch { branch: self.branches[&branch], upto: Cycle(upto) });
        let theirs = self.store.create(&made);
        if let (Ok(ours), Ok(theirs)) = (&ours, &theirs) {
            self.contexts.insert(ours.id, theirs.id);
            self.branches.insert(ours.branch, theirs.branch);
        }
        self.same_rows(ours, theirs);
    }

    fn append(&mut self, row: &ContextRow, expected: Revision, step: Step) {
        let contexts = (row.id, self.contexts[&row.id]);
        self.give(contexts, expected, &step);
        self.last = Some(Last { contexts, expected, step });
    }

    fn give(&self, contexts: (ContextId, ContextId), expected: Revision, step: &Step) {
        let ours = self.memory.append(contexts.0, expected, step);
        self.same_rows(ours, self.store.append(contexts.1, expected, step));
    }

    fn pin(&self, row: &ContextRow, how: u8, with: u8) {
        let theirs = self.contexts[&row.id];
        let cycle = Cycle(u32::from(how) % CYCLES);
        if with.is_multiple_of(3) {
            same(self.memory.unpin(row.id, cycle), self.store.unpin(theirs, cycle));
        } else {
            let pin = Pin { cycle, label: format!("{with}") };
            same(self.memory.pin(row.id, &pin), self.store.pin(theirs, &pin));
        }
    }

    fn rewrite(&self, row: &ContextRow, how: u8, with: u8) {
        let chosen = |bits: u8, cycle: Cycle| bits >> (cycle.get() % 8) & 1 == 1;
        let there = read(self.memory, row.branch, 0, u32::MAX);
        let (gone, left): (Vec<Commit>, Vec<Commit>) =
            there.into_iter().partition(|commit| chosen(how, commit.cycle));
        let thin = left.into_iter().filter(|commit| chosen(with, commit.cycle.next()));
        let mut rewrite = Rewrite {
            detach: how.is_multiple_of(5),
            children: ok(self.memory.children(row.branch)),
            pinned: ok(self.memory.pins(row.id)).into_iter().map(|pin| pin.cycle).collect(),
            dropped_commits: gone.iter().map(|commit| commit.cycle).collect(),
            commits: thin.map(|commit| Commit { effects: None, ..commit }).collect(),
            checkpoints: vec![checkpoint(u32::from(with) % CYCLES)],
            dropped_checkpoints: (0..CYCLES)
                .map(Cycle)
                .filter(|cycle| chosen(how, *cycle))
                .collect(),
            contents: (0..CONTENTS).filter(|bit| with >> bit & 1 == 1).map(hash).collect(),
            dropped_snapshots: u64::from(how % 4),
        };
        if with.is_multiple_of(7) {
            rewrite.pinned.push(Cycle(99));
        }
        let ours = self.memory.rewrite(row.id, row.revision, &rewrite);
        for child in &mut rewrite.children {
            child.branch = self.branches[&child.branch];
        }
        let theirs = self.store.rewrite(self.contexts[&row.id], row.revision, &rewrite);
        self.same_rows(ours, theirs);
    }

    /// Compares rows, whose numbers may differ.
    fn same_rows(&self, ours: Result<ContextRow>, theirs: Result<ContextRow>) {
        same(ours.map(|row| self.translated(row)), theirs);
    }

    fn translated(&self, row: ContextRow) -> ContextRow {
        ContextRow { id: self.contexts[&row.id], branch: self.branches[&row.branch], ..row }
    }

    fn stretches(&self, stretches: Vec<Stretch>) -> Vec<Stretch> {
        let translated = |stretch: Stretch| Stretch {
            branch: self.branches[&stretch.branch],
            upto: stretch.upto,
        };
        stretches.into_iter().map(translated).collect()
    }

    fn compare_all(&self) {
        let ours = ok(self.memory.list(None, 100));
        let ours: Vec<ContextRow> = ours.into_iter().map(|row| self.translated(row)).collect();
        assert_eq!(ours, ok(self.store.list(None, 100)));
        for (&ours, &theirs) in &self.contexts {
            same(self.memory.journal(ours), self.store.journal(theirs));
            same(self.memory.attempts(ours), self.store.attempts(theirs));
            same(self.memory.pins(ours), self.store.pins(theirs));
        }
        for (&ours, &theirs) in &self.branches {
            let commits = read(self.memory, ours, 0, u32::MAX);
            assert_eq!(commits, read(self.store, theirs, 0, u32::MAX));
            let lineage = self.memory.lineage(ours).map(|stretches| self.stretches(stretches));
            same(lineage, self.store.lineage(theirs));
            let sorted = |mut stretches: Vec<Stretch>| {
                stretches.sort_by_key(|stretch| (stretch.upto, stretch.branch));
                stretches
            };
            let children = self.stretches(ok(self.memory.children(ours)));
            assert_eq!(sorted(children), sorted(ok(self.store.children(theirs))));
            for cycle in (0..CYCLES + 4).map(Cycle) {
                let checkpoint = self.memory.checkpoint(ours, cycle);
                same(checkpoint, self.store.checkpoint(theirs, cycle));
                let count = self.memory.count_commits(ours, cycle);
                same(count, self.store.count_commits(theirs, cycle));
            }
        }
        let hashes: Vec<[u8; 32]> = (0..CONTENTS).map(hash).collect();
        same(self.memory.contents(&hashes), self.store.contents(&hashes));
    }
}

/// Compares answers; of errors only the code, and the head in a conflict.
#[expect(clippy::needless_pass_by_value, reason = "answers are compared by value")]
fn same<T: PartialEq + std::fmt::Debug>(ours: Result<T>, theirs: Result<T>) {
    let told = |error: &StoreError| match error {
        StoreError::Conflict { .. } => format!("{error:?}"),
        _ => error.code().to_owned(),
    };
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs),
        (Err(ours), Err(theirs)) => assert_eq!(told(ours), told(theirs)),
        _ => panic!("memory returns {ours:?}, the store {theirs:?}"),
    }
}
