//! What clients do, and how it is compared with the truth.

use contextree::{ContextSettings, Cycle, SnapshotAddress};
use contextree_store::{ReadError, Retention, Session, Store, StoreError};
use contextree_testkit::drive::Did;
use contextree_testkit::script::{Refusal, Step};

use super::truth::{Truth, drive};
use super::world::{Held, Kept, Where, World};
use crate::script::{Failure, check_all};

/// Codes of errors that a broken disk may cause.
const TOLD: [&str; 4] = ["E_STORE_IO", "E_STORE_FULL", "E_STORE_BUSY", "E_STORE_UNAVAILABLE"];

/// Why a write did not happen.
enum Unwritten {
    Store(StoreError),
    Refused(Refusal),
}

impl From<StoreError> for Unwritten {
    fn from(error: StoreError) -> Unwritten {
        Unwritten::Store(error)
    }
}

fn describe(error: &StoreError) -> Failure {
    format!("{}: {error}", error.code())
}

fn describe_read(error: &ReadError) -> Failure {
    format!("{}: {error}", error.code())
}

impl World {
    /// Lets one client do one thing.
    pub(super) fn act(&mut self) -> Result<(), Failure> {
        let choice = self.random.below(100);
        let Some(name) = self.name() else { return self.create() };
        match choice {
            0..=3 if self.truths.len() < 6 => self.create(),
            0..=49 => self.write(&name),
            50..=57 => self.write_with_fault(&name),
            58..=62 => self.write_kept(),
            63..=66 if self.truths.len() < 8 => self.fork(&name),
            63..=69 => self.read(&name),
            70..=74 => self.retain(&name),
            75..=77 => self.pin(&name),
            78..=80 => self.rename(&name),
            81..=82 => self.delete(&name),
            83..=86 => self.verify(),
            87..=88 => self.backup(),
            89..=90 => self.reclaim(),
            91..=94 => self.hold(&name),
            95..=97 => self.look_at_held(),
            _ => self.reopen(),
        }
    }

    fn create(&mut self) -> Result<(), Failure> {
        self.last = "create";
        let name = self.new_name();
        let client = self.client();
        client.create(&name, &ContextSettings::default()).map_err(|error| describe(&error))?;
        self.truths.insert(name, Truth::new());
        Ok(())
    }

    fn write(&mut self, name: &str) -> Result<(), Failure> {
        self.last = "write";
        let client = self.client();
        let mut session = client.session(name).map_err(|error| describe(&error))?;
        let truth = self.truths.get_mut(name).expect("it was just picked");
        let step = truth.next_step(&mut self.random);
        let stored = match write(&mut session, &step) {
            Ok(did) => Ok(did),
            Err(Unwritten::Refused(refusal)) => Err(refusal),
            Err(Unwritten::Store(error)) => return Err(describe(&error)),
        };
        truth.apply(&step, &stored)?;
        compare(&session, truth).map_err(|failure| {
            let last = truth.trail.len().saturating_sub(8);
            format!("`{name}`, {:?} … {:#?}: {failure}", truth.trail[0], &truth.trail[last..])
        })
    }

    /// A step while the disk fails. It is stored or not; a look at the store tells.
    fn write_with_fault(&mut self, name: &str) -> Result<(), Failure> {
        self.last = "write with a fault";
        let client = self.client();
        let before = self.revision(name)?;
        let step = self.truths[name].next_step(&mut self.random);
        let armed = self.break_disk();
        let stored = client
            .session(name)
            .map_err(Unwritten::Store)
            .and_then(|mut session| write(&mut session, &step));
        self.mend_disk(armed);
        let truth = self.truths.get_mut(name).expect("it was just picked");
        match stored {
            Ok(did) => truth.apply(&step, &Ok(did))?,
            Err(Unwritten::Refused(refusal)) => truth.apply(&step, &Err(refusal))?,
            Err(Unwritten::Store(error)) => {
                let code = error.code();
                if !TOLD.contains(&code) {
                    return Err(format!("a broken disk was told as {code}: {error}"));
                }
                *self.errors.entry(code.to_owned()).or_default() += 1;
                let after = self.revision(name)?;
                if after == before + 1 {
                    let truth = self.truths.get_mut(name).expect("it was just picked");
                    let done = drive(&mut truth.engine.clone().0, &step);
                    truth.apply(&step, &done)?;
                } else if after != before {
                    return Err(format!("revision {before} became {after}"));
                }
            }
        }
        self.read(name)?;
        self.last = "write with a fault";
        Ok(())
    }

    fn revision(&mut self, name: &str) -> Result<u64, Failure> {
        let row = self.clients[0].find(name).map_err(|error| describe(&error))?;
        row.map(|row| row.revision.get()).ok_or_else(|| format!("`{name}` is not there"))
    }

    /// A session that may be outdated: its step is refused, or it is the next one.
    fn write_kept(&mut self) -> Result<(), Failure> {
        self.last = "write to a kept session";
        if self.kept.len() < 3 {
            let (client, Some(name)) = (self.client(), self.name()) else { return Ok(()) };
            let session = client.session(&name).map_err(|error| describe(&error))?;
            self.kept.push(Kept { name, session });
            return Ok(());
        }
        let number = self.random.index(self.kept.len());
        let name = self.kept[number].name.clone();
        let stored = self.clients[0].find(&name).map_err(|error| describe(&error))?;
        let kept = &mut self.kept[number];
        let Some(row) = stored.filter(|row| row.id == kept.session.row().id) else {
            // Deleted or renamed meanwhile.
            self.kept.remove(number);
            return Ok(());
        };
        let is_current = row.revision == kept.session.row().revision;
        let truth = self.truths.get_mut(&name).ok_or("a context that no model has")?;
        let step = truth.next_step(&mut self.random);
        match write(&mut kept.session, &step) {
            Ok(did) if is_current => truth.apply(&step, &Ok(did))?,
            Ok(_) => return Err("an old session wrote over newer steps".to_owned()),
            Err(Unwritten::Refused(refusal)) if is_current => truth.apply(&step, &Err(refusal))?,
            Err(Unwritten::Refused(_)) => {}
            Err(Unwritten::Store(StoreError::Conflict { .. })) if !is_current => {
                kept.session.refresh().map_err(|error| describe(&error))?;
                return compare(&kept.session, truth);
            }
            Err(Unwritten::Store(error)) => return Err(describe(&error)),
        }
        if is_current { compare(&kept.session, truth) } else { Ok(()) }
    }

    fn fork(&mut self, name: &str) -> Result<(), Failure> {
        self.last = "fork";
        let (client, new) = (self.client(), self.new_name());
        let truth = &self.truths[name];
        let cycles = truth.cycles();
        let of_working = cycles.is_empty() || self.random.percent(50);
        if of_working && truth.is_calling() {
            return Ok(());
        }
        let (address, engine) = if of_working {
            (None, truth.engine.0.fork_working())
        } else {
            let cycle = *self.random.pick(&cycles);
            let address = SnapshotAddress::from(cycle);
            let engine = truth.engine.0.fork(address).map_err(|error| error.to_string())?;
            (Some(address), engine)
        };
        match client.fork(name, address, &new) {
            Ok(session) => {
                let truth = truth.forked(engine, of_working);
                compare(&session, &truth)?;
                self.truths.insert(new, truth);
                Ok(())
            }
            Err(error) => {
                let gone = |cycle: u64| truth.may_be_gone.iter().any(|it| u64::from(*it) == cycle);
                match address {
                    Some(SnapshotAddress::Cycle(cycle))
                        if error.code() == "E_SNAPSHOT_RETIRED" && gone(cycle) =>
                    {
                        Ok(())
                    }
                    _ => Err(describe_read(&error)),
                }
            }
        }
    }

    /// Reads a whole context through a client.
    fn read(&mut self, name: &str) -> Result<(), Failure> {
        self.last = "read";
        let client = self.client();
        read_all(&client, name, &self.truths[name])
    }

    fn retain(&mut self, name: &str) -> Result<(), Failure> {
        self.last = "retain";
        let client = self.client();
        let newest = 1 + self.random.below(4);
        let retention = Retention { keep_newest: Some(newest), ..Retention::default() };
        client.retain(name, &retention, false).map_err(|error| describe(&error))?;
        let truth = self.truths.get_mut(name).expect("it was just picked");
        let kept = usize::try_from(newest).expect("a small number");
        let old = truth.cycles().into_iter().rev().skip(kept);
        let gone: Vec<Cycle> = old.filter(|cycle| !truth.pins.contains(cycle)).collect();
        truth.may_be_gone.extend(gone);
        read_all(&client, name, truth)
    }

    fn pin(&mut self, name: &str) -> Result<(), Failure> {
        self.last = "pin";
        let client = self.client();
        let mut session = client.session(name).map_err(|error| describe(&error))?;
        let truth = self.truths.get_mut(name).expect("it was just picked");
        let cycles = truth.cycles();
        if cycles.is_empty() {
            return Ok(());
        }
        let cycle = *self.random.pick(&cycles);
        if self.random.percent(30) {
            session.unpin_snapshot(cycle).map_err(|error| describe(&error))?;
            truth.pins.remove(&cycle);
            return Ok(());
        }
        match session.pin_snapshot(SnapshotAddress::from(cycle), "kept") {
            Ok(()) => {
                truth.pins.insert(cycle);
                truth.may_be_gone.remove(&cycle);
                Ok(())
            }
            Err(_) if truth.may_be_gone.contains(&cycle) => Ok(()),
            Err(error) => Err(describe_read(&error)),
        }
    }

    fn rename(&mut self, name: &str) -> Result<(), Failure> {
        self.last = "rename";
        let (client, new) = (self.client(), self.new_name());
        client.rename(name, &new).map_err(|error| describe(&error))?;
        let truth = self.truths.remove(name).expect("it was just picked");
        self.truths.insert(new, truth);
        Ok(())
    }

    fn delete(&mut self, name: &str) -> Result<(), Failure> {
        self.last = "delete";
        let client = self.client();
        client.delete(name).map_err(|error| describe(&error))?;
        self.truths.remove(name);
        match client.session(name) {
            Err(StoreError::NotFound { .. }) => Ok(()),
            Err(error) => Err(describe(&error)),
            Ok(_) => Err("a deleted context is there".to_owned()),
        }
    }

    fn verify(&mut self) -> Result<(), Failure> {
        self.last = "verify";
        check_all(&self.client())
    }

    fn backup(&mut self) -> Result<(), Failure> {
        self.last = "backup";
        if self.place == Where::Memory {
            return Ok(());
        }
        self.names += 1;
        let name = format!("copy{}.db", self.names);
        let path = self.folder.file(&name);
        let client = self.client();
        let copied = client.backend().backup(&path, &mut |_, _| {}, &|_| Ok(()));
        copied.map_err(|error| describe(&error))?;
        let copy = crate::script::open(&self.folder.url(&name)).map_err(|it| describe(&it))?;
        for (name, truth) in &self.truths {
            read_all(&copy, name, truth)?;
        }
        check_all(&copy)?;
        drop(copy);
        std::fs::remove_file(path).map_err(|error| error.to_string())
    }

    fn reclaim(&mut self) -> Result<(), Failure> {
        self.last = "reclaim";
        self.client().backend().reclaim().map(drop).map_err(|error| describe(&error))
    }

    fn hold(&mut self, name: &str) -> Result<(), Failure> {
        self.last = "hold a reader";
        let reader = self.client().reader(name).map_err(|error| describe(&error))?;
        let working = reader.working().map_err(|error| describe(&error))?.export();
        if working != self.truths[name].engine.0.export_working() {
            return Err("a new reader shows another working state".to_owned());
        }
        if self.held.len() > 4 {
            self.held.remove(0);
        }
        self.held.push(Held { reader, working });
        Ok(())
    }

    fn look_at_held(&mut self) -> Result<(), Failure> {
        self.last = "read from a held reader";
        for held in &self.held {
            let now = held.reader.working().map_err(|error| describe(&error))?.export();
            if now != held.working {
                return Err("an old reader shows something new".to_owned());
            }
        }
        Ok(())
    }

    fn reopen(&mut self) -> Result<(), Failure> {
        self.last = "reopen";
        let number = self.random.index(self.clients.len());
        self.clients[number] = self.open(number).map_err(|error| describe(&error))?;
        Ok(())
    }

    /// Reads everything through every client.
    pub(super) fn check_everything(&mut self) -> Result<(), Failure> {
        for client in &self.clients {
            let listed = client.contexts(None, 1_000).map_err(|error| describe(&error))?;
            let listed: Vec<String> = listed.into_iter().map(|row| row.name).collect();
            let expected: Vec<String> = self.truths.keys().cloned().collect();
            if listed != expected {
                return Err(format!("listed {listed:?}, expected {expected:?}"));
            }
            for (name, truth) in &self.truths {
                read_all(client, name, truth)?;
            }
        }
        check_all(&self.clients[0])
    }
}

fn write(session: &mut Session, step: &Step) -> Result<Did, Unwritten> {
    session.write(|context| drive(context, step).map_err(Unwritten::Refused))
}

/// Compares what a session shows with the truth.
fn compare(session: &Session, truth: &Truth) -> Result<(), Failure> {
    let working = session.working().map_err(|error| describe(&error))?.export();
    if working != truth.engine.0.export_working() {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (found, expected) = (text(&working), text(&truth.engine.0.export_working()));
        let same = found.bytes().zip(expected.bytes()).take_while(|(one, other)| one == other);
        let from = same.count().saturating_sub(60);
        let part = |text: &str| text.chars().skip(from).take(200).collect::<String>();
        let (found, expected) = (part(&found), part(&expected));
        return Err(format!("the working state differs: {found} instead of {expected}"));
    }
    let head = session.newest().map_err(|error| describe(&error))?.map(|head| head.digest());
    if head != truth.engine.0.newest().map(|head| head.digest()) {
        return Err("the newest snapshot differs".to_owned());
    }
    let attempts = session.attempts().map_err(|error| describe(&error))?;
    let expected = truth.engine.0.attempts();
    if !attempts.ends_with(expected) && !expected.ends_with(attempts) {
        return Err(format!("attempts {attempts:?}, expected {expected:?}"));
    }
    Ok(())
}

/// Compares everything that a client can read with the truth.
fn read_all(client: &Store, name: &str, truth: &Truth) -> Result<(), Failure> {
    let session = client.session(name).map_err(|error| describe(&error))?;
    compare(&session, truth)?;
    for snapshot in truth.engine.0.history().iter() {
        let cycle = snapshot.cycle();
        match session.snapshot(SnapshotAddress::from(cycle)) {
            Ok(found) if found.export() == snapshot.export() => {}
            Ok(_) => return Err(format!("@c{cycle} of `{name}` differs")),
            Err(error)
                if error.code() == "E_SNAPSHOT_RETIRED" && truth.may_be_gone.contains(&cycle) => {}
            Err(error) => return Err(format!("@c{cycle} of `{name}`: {}", describe_read(&error))),
        }
    }
    Ok(())
}
