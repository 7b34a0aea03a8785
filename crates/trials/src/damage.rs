//! Damaged files: bits, pages, rows and records of a small store are changed, and everything in it is read again.
//!
//! Each answer is the right one or an error, and nothing panics. A change that no answer notices is harmless.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use contextree::{ContextSettings, SnapshotAddress};
use contextree_store::{Session, SidePage, Store, StoreError, StoreOptions};
use contextree_testkit::Rng;
use rusqlite::Connection;

use crate::folder::Folder;
use crate::script::{Failure, MAIN, advance};

const PAGE: usize = 4096;

/// Reading a small store takes milliseconds. After this time it is taken for endless.
const PATIENCE: Duration = Duration::from_secs(60);
pub(crate) const NAMES: [&str; 3] = [MAIN, "fork", "twin"];

/// What damage may be called. Any other error in place of an answer is a wrong answer: that there is no such context or snapshot, for example.
const DAMAGE: [&str; 6] = [
    "E_STORE_CORRUPT",
    // The header of the file says what it is, and which format it has.
    "E_STORE_FOREIGN",
    "E_STORE_VERSION",
    // An empty file.
    "E_STORE_NOT_FOUND",
    // SQLite does not understand the schema, or cannot read beyond the end.
    "E_STORE",
    "E_STORE_IO",
];

/// What pages of indexes that have changed places may be called, too: they can agree with each other. The stores do not promise more.
const ABSENT: [&str; 2] = ["E_SNAPSHOT_NOT_FOUND", "E_SNAPSHOT_RETIRED"];

/// One change to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// A bit, counted from the beginning of the file, has the other value.
    Bit(usize),
    /// Two pages have changed places.
    Swap(usize, usize),
    /// A page has the bytes of another one.
    Copy(usize, usize),
    /// A page is empty.
    Zero(usize),
    /// The file ends here.
    Cut(usize),
    /// A row is missing: the N-th of all.
    Row(usize),
    /// A byte of a stored record differs, and its checksum fits: the N-th record, a seed for the rest.
    Record(usize, u64),
}

/// What a trial found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Changes that were made.
    pub changes: u64,
    /// Changes that made at least one answer an error that says so.
    pub found: u64,
    /// The errors, by code, counted once for each change.
    pub errors: BTreeMap<String, u64>,
    /// Changes that no answer noticed.
    pub harmless: u64,
    /// Wrong answers: what was asked, and how often it was wrong.
    pub wrong: BTreeMap<String, u64>,
    /// The first wrong answers and panics, with the change that shows them.
    pub examples: Vec<String>,
    /// Panics, and reads that did not end.
    pub panics: u64,
}

impl Report {
    /// Adds another one.
    pub fn add(&mut self, other: Report) {
        self.changes += other.changes;
        self.found += other.found;
        self.harmless += other.harmless;
        self.panics += other.panics;
        for (sum, more) in [(&mut self.errors, other.errors), (&mut self.wrong, other.wrong)] {
            for (key, count) in more {
                *sum.entry(key).or_default() += count;
            }
        }
        self.examples.extend(other.examples);
        self.examples.truncate(40);
    }
}

/// A small sound store, and all its answers.
#[derive(Debug)]
pub struct Subject {
    bytes: Vec<u8>,
    rows: Vec<(String, String)>,
    records: Vec<(String, String)>,
    sound: Vec<Answer>,
}

/// What was asked, and the answer.
pub(crate) type Answer = (String, Result<String, String>);

impl Subject {
    /// Makes the store.
    ///
    /// # Errors
    ///
    /// If the store cannot be written.
    pub fn new() -> Result<Subject, Failure> {
        let folder = Folder::new();
        fill(&folder).map_err(|error| error.to_string())?;
        let path = folder.file("store.db");
        let bytes = std::fs::read(&path).map_err(|error| error.to_string())?;
        let file = Connection::open(&path).map_err(|error| error.to_string())?;
        let (rows, records) = places(&file).map_err(|error| error.to_string())?;
        drop(file);
        let sound = answers(&path);
        // Some contexts have fewer snapshots than are asked for.
        let is_missing = |answer: &Result<String, String>| {
            answer.as_ref().is_err_and(|told| code_of(told) == "E_SNAPSHOT_NOT_FOUND")
        };
        match sound.iter().find(|(_, answer)| answer.is_err() && !is_missing(answer)) {
            None => Ok(Subject { bytes, rows, records, sound }),
            Some(problem) => Err(format!("the sound store is not: {problem:?}")),
        }
    }

    /// Returns the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.bytes.len() * 8
    }

    /// Returns whether the byte of a bit is 0, as most of a small store is.
    #[must_use]
    pub fn is_zero(&self, bit: usize) -> bool {
        self.bytes[bit / 8] == 0
    }

    /// Returns a random change.
    pub fn random(&self, random: &mut Rng) -> Damage {
        let pages = self.bytes.len() / PAGE;
        let two = |random: &mut Rng| (random.index(pages), random.index(pages));
        match random.below(20) {
            0 => {
                let (one, other) = two(random);
                Damage::Swap(one, other)
            }
            1 => {
                let (one, other) = two(random);
                Damage::Copy(one, other)
            }
            2 => Damage::Zero(random.index(pages)),
            3 => Damage::Cut(random.index(self.bytes.len())),
            4..=6 => Damage::Row(random.index(self.rows.len())),
            7..=9 => Damage::Record(random.index(self.records.len()), random.next_u64()),
            _ => {
                let mut bit = random.index(self.bits());
                // Half of the flips are in bytes that mean something.
                while random.percent(50) && self.is_zero(bit) {
                    bit = random.index(self.bits());
                }
                Damage::Bit(bit)
            }
        }
    }

    /// Makes a change and asks everything.
    ///
    /// # Errors
    ///
    /// If the file cannot be written; what the trial finds is in the report.
    pub fn try_one(&self, damage: Damage, report: &mut Report) -> Result<(), Failure> {
        let folder = Folder::new();
        let path = folder.file("store.db");
        self.make(damage, &path)?;
        report.changes += 1;
        let verifies = matches!(damage, Damage::Record(..));
        let (answers, verified) = match asked(&path, verifies) {
            Ok(done) => done,
            Err(what) => {
                report.panics += 1;
                report.examples.push(format!("{damage:?}: {what}"));
                return Ok(());
            }
        };
        let mut is_found = answers.len() != self.sound.len();
        let mut wrong = Vec::new();
        let mut codes = BTreeSet::new();
        for ((question, now), (_, then)) in answers.iter().zip(&self.sound) {
            match now {
                _ if now == then => {}
                Err(told) if is_damage(told) => {
                    is_found = true;
                    codes.insert(code_of(told));
                }
                Err(told) if damage.exchanges() && ABSENT.contains(&code_of(told)) => {
                    codes.insert(code_of(told));
                }
                Err(told) => wrong.push(format!("{question}: {}", code_of(told))),
                Ok(_) => wrong.push(question.clone()),
            }
        }
        for code in codes {
            *report.errors.entry(code.to_owned()).or_default() += 1;
        }
        if verifies && !verified {
            // A record that was changed together with its checksum is found by its digest, which only `verify` computes.
            wrong.clear();
            is_found = true;
        }
        match (wrong.first(), is_found) {
            (None, true) => report.found += 1,
            (None, false) => report.harmless += 1,
            (Some(_), _) => {
                if report.examples.len() < 40 {
                    report.examples.push(format!("{damage:?}: {wrong:?}"));
                }
                for question in wrong {
                    let (what, code) = question.split_once(": ").unwrap_or((&question, "wrong"));
                    let what = what.split(' ').next().unwrap_or_default();
                    let kind = format!("{} {what}: {code}", damage.name());
                    *report.wrong.entry(kind).or_default() += 1;
                }
            }
        }
        Ok(())
    }

    fn make(&self, damage: Damage, path: &Path) -> Result<(), Failure> {
        let mut bytes = self.bytes.clone();
        let page = |number: usize| number * PAGE..(number + 1) * PAGE;
        let mut cut = bytes.len();
        match damage {
            Damage::Bit(bit) => bytes[bit / 8] ^= 1 << (bit % 8),
            Damage::Swap(one, other) => {
                let kept = bytes[page(one)].to_vec();
                bytes.copy_within(page(other), one * PAGE);
                bytes[page(other)].copy_from_slice(&kept);
            }
            Damage::Copy(from, to) => bytes.copy_within(page(from), to * PAGE),
            Damage::Zero(number) => bytes[page(number)].fill(0),
            Damage::Cut(end) => cut = end,
            Damage::Row(_) | Damage::Record(..) => {}
        }
        bytes.truncate(cut);
        std::fs::write(path, bytes).map_err(|error| error.to_string())?;
        self.change_rows(damage, path).map_err(|error| error.to_string())
    }

    fn change_rows(&self, damage: Damage, path: &Path) -> rusqlite::Result<()> {
        match damage {
            Damage::Row(number) => {
                let (table, wanted) = &self.rows[number];
                let file = Connection::open(path)?;
                file.execute_batch(&format!(
                    "PRAGMA foreign_keys = OFF; DELETE FROM {table} WHERE {wanted}; \
                     PRAGMA wal_checkpoint(TRUNCATE);"
                ))
            }
            Damage::Record(number, seed) => {
                let (table, rest) = &self.records[number];
                let (column, wanted) = rest.split_once(' ').unwrap_or_default();
                let file = Connection::open(path)?;
                let read = format!("SELECT {column} FROM {table} WHERE {wanted}");
                let mut record: Vec<u8> = file.query_row(&read, [], |row| row.get(0))?;
                let mut random = Rng::new(seed);
                let end = record.len() - 4;
                for _ in 0..=random.below(2) {
                    record[random.index(end)] ^= 1 << random.below(8);
                }
                let check = crc32fast::hash(&record[..end]);
                record[end..].copy_from_slice(&check.to_le_bytes());
                let write = format!("UPDATE {table} SET {column} = ? WHERE {wanted}");
                file.execute(&write, [record]).map(drop)
            }
            _ => Ok(()),
        }
    }
}

fn code_of(told: &str) -> &str {
    told.split(':').next().unwrap_or_default()
}

fn is_damage(told: &str) -> bool {
    DAMAGE.contains(&code_of(told))
}

impl Damage {
    fn exchanges(self) -> bool {
        matches!(self, Damage::Swap(..) | Damage::Copy(..))
    }

    fn name(self) -> &'static str {
        match self {
            Damage::Bit(_) => "bit",
            Damage::Swap(..) => "swap",
            Damage::Copy(..) => "copy",
            Damage::Zero(_) => "zero",
            Damage::Cut(_) => "cut",
            Damage::Row(_) => "row",
            Damage::Record(..) => "record",
        }
    }
}

/// Makes random changes.
///
/// # Errors
///
/// If the store cannot be made.
pub fn run(changes: u64, seed: u64) -> Result<Report, Failure> {
    run_on(&Subject::new()?, changes, seed)
}

/// Like [`run`], but on a store that was made before.
///
/// # Errors
///
/// If the file cannot be written.
pub fn run_on(subject: &Subject, changes: u64, seed: u64) -> Result<Report, Failure> {
    let mut report = Report::default();
    for number in 0..changes {
        let damage = subject.random(&mut Rng::new(seed + number));
        subject.try_one(damage, &mut report)?;
    }
    Ok(report)
}

/// Flips bits of a store that was made before: `count` of them, from `first` on. Without `zeros`, only those of bytes that are not 0.
///
/// # Errors
///
/// If the file cannot be written.
pub fn run_bits_on(
    subject: &Subject,
    first: usize,
    count: usize,
    zeros: bool,
) -> Result<Report, Failure> {
    let mut report = Report::default();
    for bit in first..(first + count).min(subject.bits()) {
        if zeros || !subject.is_zero(bit) {
            subject.try_one(Damage::Bit(bit), &mut report)?;
        }
    }
    Ok(report)
}

/// Flips every bit of a part of the file: of `parts` equal ones, the one with the number `part`. Without `zeros`, only bits of bytes that are not 0.
///
/// # Errors
///
/// If the store cannot be made.
pub fn run_bits(part: usize, parts: usize, zeros: bool) -> Result<Report, Failure> {
    let subject = Subject::new()?;
    let mut report = Report::default();
    for bit in (0..subject.bits()).filter(|bit| bit / 8 % parts == part) {
        if zeros || !subject.is_zero(bit) {
            subject.try_one(Damage::Bit(bit), &mut report)?;
        }
    }
    Ok(report)
}

fn fill(folder: &Folder) -> Result<(), Box<dyn std::error::Error>> {
    let store = crate::script::open(&folder.url("store.db"))?;
    let mut main = store.create(MAIN, &ContextSettings::default())?;
    for _ in 0..17 {
        advance(&mut main)?;
    }
    main.pin_snapshot(SnapshotAddress::Cycle(2), "kept")?;
    store.fork(MAIN, Some(SnapshotAddress::Cycle(3)), "fork")?;
    let mut twin = store.create("twin", &ContextSettings::default())?;
    for _ in 0..4 {
        advance(&mut twin)?;
    }
    let put = twin.write_side(|_, side| -> Result<(), StoreError> {
        side.put("note", "one", b"a note beside it".to_vec());
        side.put("note", "two", b"another one".to_vec());
        Ok(())
    });
    Ok(put?)
}

/// Returns all rows, and all records that end with their checksum, each as a table and a condition.
#[expect(clippy::type_complexity, reason = "two lists of places")]
fn places(file: &Connection) -> rusqlite::Result<(Vec<(String, String)>, Vec<(String, String)>)> {
    let texts = |sql: &str| -> rusqlite::Result<Vec<String>> {
        file.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
    };
    let tables =
        texts("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")?;
    let (mut rows, mut records) = (Vec::new(), Vec::new());
    for table in tables {
        let keys = texts(&format!(
            "SELECT name FROM pragma_table_info('{table}') WHERE pk > 0 ORDER BY pk"
        ))?;
        let blobs =
            texts(&format!("SELECT name FROM pragma_table_info('{table}') WHERE type = 'BLOB'"))?;
        let wanted = keys.iter().map(|key| format!("'{key} = ' || quote({key})"));
        let wanted = wanted.collect::<Vec<_>>().join(" || ' AND ' || ");
        for row in texts(&format!("SELECT {wanted} FROM {table}"))? {
            for column in &blobs {
                let read = format!("SELECT {column} FROM {table} WHERE {row}");
                let blob: Option<Vec<u8>> = file.query_row(&read, [], |row| row.get(0))?;
                let framed = blob.as_deref().and_then(<[u8]>::split_last_chunk::<4>);
                let fits = |(text, check): (&[u8], &[u8; 4])| {
                    !text.is_empty() && crc32fast::hash(text) == u32::from_le_bytes(*check)
                };
                if framed.is_some_and(fits) {
                    records.push((table.clone(), format!("{column} {row}")));
                }
            }
            rows.push((table.clone(), row));
        }
    }
    Ok((rows, records))
}

/// Asks everything, and with `verifies` whether `verify` finds nothing, on a thread of its own. Fails if that panics or does not end.
fn asked(path: &Path, verifies: bool) -> Result<(Vec<Answer>, bool), &'static str> {
    let (sender, receiver) = mpsc::channel();
    let path = path.to_owned();
    std::thread::spawn(move || {
        let answers = answers(&path);
        let clean = || {
            crate::script::open(&format!("sqlite:{}", path.display()))
                .is_ok_and(|store| crate::script::check_all(&store).is_ok())
        };
        sender.send((answers, verifies && clean())).ok();
    });
    match receiver.recv_timeout(PATIENCE) {
        Ok(done) => Ok(done),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err("a panic"),
        Err(mpsc::RecvTimeoutError::Timeout) => Err("no end"),
    }
}

/// Asks everything that a program can ask. Stops at a store that cannot be opened.
pub(crate) fn answers(path: &Path) -> Vec<Answer> {
    let mut options =
        StoreOptions { idle_bytes: 0, create: false, ..StoreOptions::deterministic() };
    options.sqlite.create = false;
    let url = format!("sqlite:{}", path.display());
    let store = match contextree_store_postgres::open(&url, options) {
        Ok(store) => store,
        Err(error) => return vec![("open".to_owned(), Err(error.code().to_owned()))],
    };
    let list = |after: Option<&str>, limit: usize| {
        store.contexts(after, limit).map(|rows| format!("{rows:?}")).map_err(|error| told(&error))
    };
    let mut all = vec![
        ("list".to_owned(), list(None, 100)),
        ("list, first page".to_owned(), list(None, 2)),
        ("list, later page".to_owned(), list(Some("fork"), 1)),
    ];
    for name in NAMES {
        ask(&store, name, &mut all);
    }
    // The last question: a context that is not found is made.
    for name in NAMES {
        let session = store.session_or_new(name, &ContextSettings::default());
        let row = session.map(|session| format!("{:?}", session.row()));
        all.push((format!("session_or_new of {name}"), row.map_err(|error| told(&error))));
    }
    all
}

fn ask(store: &Store, name: &str, all: &mut Vec<Answer>) {
    let mut push = |what: &str, answer: Result<String, String>| {
        all.push((format!("{what} of {name}"), answer));
    };
    let session: Result<Session, StoreError> = store.session(name);
    let session = match session {
        Ok(session) => session,
        Err(error) => {
            // As many answers as a sound one has, so that the others are compared with their own.
            for what in ["row", "working", "history", "attempts", "pins", "notes", "note", "page"] {
                push(what, Err(told(&error)));
            }
            (1..=6).for_each(|cycle| push(&format!("snapshot {cycle}"), Err(told(&error))));
            (0..=2).for_each(|back| push(&format!("snapshot -{back}"), Err(told(&error))));
            return;
        }
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    push("row", Ok(format!("{:?}", session.row())));
    push("working", session.working().map(|it| text(it.export())).map_err(|error| told(&error)));
    push("history", session.history_digest().map(|it| it.to_string()).map_err(|it| told(&it)));
    push("attempts", session.attempts().map(|it| format!("{it:?}")).map_err(|it| told(&it)));
    push("pins", session.pinned_snapshots().map(|it| format!("{it:?}")).map_err(|it| told(&it)));
    let page = SidePage::of("note");
    push("notes", session.side_records(&page).map(|it| format!("{it:?}")).map_err(|it| told(&it)));
    let note = session.side_record("note", "one");
    push("note", note.map(|it| format!("{it:?}")).map_err(|it| told(&it)));
    let page = SidePage { prefix: "o", reverse: true, limit: 1, ..SidePage::of("note") };
    push("page", session.side_records(&page).map(|it| format!("{it:?}")).map_err(|it| told(&it)));
    let mut snapshot = |what: String, address| {
        let answer = match session.snapshot(address) {
            Ok(snapshot) => Ok(text(snapshot.export())),
            Err(error) => Err(error.code().to_owned()),
        };
        push(&what, answer);
    };
    (1..=6).for_each(|cycle| snapshot(format!("snapshot {cycle}"), SnapshotAddress::Cycle(cycle)));
    (0..=2).for_each(|back| snapshot(format!("snapshot -{back}"), SnapshotAddress::Back(back)));
}

fn told(error: &StoreError) -> String {
    format!("{}: {error}", error.code())
}
