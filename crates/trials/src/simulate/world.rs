//! The store of a simulation, its clients and its disk.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use contextree_store::{Backend, Memory, Reader, Session, Store, StoreError, StoreOptions};
use contextree_testkit::Rng;
use contextree_testkit::suite::faulty::Faulty;
use contextree_testkit_vfs::{Call, Disk, Kind, Verdict, Watch, watch};

use super::truth::Truth;
use crate::folder::Folder;

/// Where the store of a simulation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// In memory.
    Memory,
    /// In a SQLite file.
    File,
}

/// A disk whose calls fail for a while.
#[derive(Debug, Default)]
pub(super) struct Flaky {
    /// Calls until the first that fails; negative if none does.
    before: AtomicI64,
    /// How many fail.
    failing: AtomicI64,
}

impl Flaky {
    pub(super) fn arm(&self, before: i64, failing: i64) {
        self.failing.store(failing, Ordering::SeqCst);
        self.before.store(before, Ordering::SeqCst);
    }

    /// Works again. Returns whether a call failed.
    pub(super) fn disarm(&self, armed: i64) -> bool {
        self.before.store(-1, Ordering::SeqCst);
        self.failing.swap(0, Ordering::SeqCst) != armed
    }
}

impl Disk for Flaky {
    fn ask(&self, call: &Call<'_>) -> Verdict {
        let pass = if call.kind == Kind::Sync { Verdict::Skip } else { Verdict::Pass };
        match self.before.load(Ordering::SeqCst) {
            ..0 => pass,
            0 if self.failing.load(Ordering::SeqCst) > 0 => {
                self.failing.fetch_sub(1, Ordering::SeqCst);
                Verdict::Fail
            }
            0 => pass,
            _ => {
                self.before.fetch_sub(1, Ordering::SeqCst);
                pass
            }
        }
    }
}

/// A reader that was opened earlier, and what it must show for ever.
pub(super) struct Held {
    pub(super) reader: Reader,
    pub(super) working: Vec<u8>,
}

/// A session that a client keeps open.
pub(super) struct Kept {
    pub(super) name: String,
    pub(super) session: Session,
}

/// Everything.
pub(super) struct World {
    pub(super) random: Rng,
    pub(super) place: Where,
    pub(super) folder: Folder,
    memory: Arc<Faulty<Memory>>,
    pub(super) disk: Arc<Flaky>,
    pub(super) clients: Vec<Store>,
    pub(super) truths: BTreeMap<String, Truth>,
    pub(super) held: Vec<Held>,
    pub(super) kept: Vec<Kept>,
    pub(super) names: u64,
    pub(super) errors: BTreeMap<String, u64>,
    /// What was done last.
    pub(super) last: &'static str,
    _watch: Watch,
}

impl World {
    pub(super) fn new(seed: u64, place: Where) -> Result<World, StoreError> {
        let folder = Folder::new();
        let disk = Arc::new(Flaky { before: AtomicI64::new(-1), failing: AtomicI64::new(0) });
        let watch = watch(folder.path(), Arc::clone(&disk) as Arc<dyn Disk>);
        let mut world = World {
            random: Rng::new(seed),
            place,
            folder,
            memory: Arc::new(Faulty::new(Memory::new())),
            disk,
            clients: Vec::new(),
            truths: BTreeMap::new(),
            held: Vec::new(),
            kept: Vec::new(),
            names: 0,
            errors: BTreeMap::new(),
            last: "",
            _watch: watch,
        };
        for number in 0..3 {
            let client = world.open(number)?;
            world.clients.push(client);
        }
        Ok(world)
    }

    /// Opens the store for a client. Some keep contexts in memory, some do not.
    pub(super) fn open(&self, number: usize) -> Result<Store, StoreError> {
        let idle_bytes = if number == 0 { 0 } else { 1 << 20 };
        let options = StoreOptions { idle_bytes, ..StoreOptions::deterministic() };
        match self.place {
            Where::Memory => Ok(Store::over(Arc::clone(&self.memory) as Arc<dyn Backend>, options)),
            Where::File => contextree_store_postgres::open(&self.folder.url("store.db"), options),
        }
    }

    /// Makes the next calls fail. Returns how many.
    pub(super) fn break_disk(&mut self) -> i64 {
        use contextree_testkit::suite::faulty::When;
        let failing = *self.random.pick(&[1, 1, 2, 5, 1_000_000]);
        match self.place {
            Where::File => {
                let before = self.random.range(0, 40);
                self.disk.arm(before, failing);
            }
            Where::Memory => {
                let message = "simulated".to_owned();
                let (when, error) = match self.random.percent(50) {
                    true => (When::Before, StoreError::Full { message }),
                    false => (When::After, StoreError::Unavailable { message, unknown: true }),
                };
                self.memory.fail_once(1 + self.random.below(2), when, error);
            }
        }
        failing
    }

    /// Everything works again.
    pub(super) fn mend_disk(&mut self, armed: i64) -> bool {
        match self.place {
            Where::File => self.disk.disarm(armed),
            Where::Memory => {
                self.memory.heal();
                true
            }
        }
    }

    pub(super) fn client(&mut self) -> Store {
        let number = self.random.index(self.clients.len());
        self.clients[number].clone()
    }

    /// Returns the name of a random context, if there is one.
    pub(super) fn name(&mut self) -> Option<String> {
        let names: Vec<&String> = self.truths.keys().collect();
        (!names.is_empty()).then(|| (*self.random.pick(&names)).clone())
    }

    pub(super) fn new_name(&mut self) -> String {
        self.names += 1;
        format!("context {}", self.names)
    }
}
