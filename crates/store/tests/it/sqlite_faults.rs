//! Faults below the store: a typed error, everything as before, and it works again when the fault is gone.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use contextree_store::{Backend, Cycle, Sqlite, SqliteOptions, StoreError};
use contextree_testkit::suite::new;
use tempfile::TempDir;

use crate::child::{command, command_of, task};
use crate::support::{Home, contents_of, grow, kilobyte, open};

/// Appends until that fails, and checks that nothing of what failed is there. Returns the error.
fn append_until_it_fails(store: &dyn Backend, name: &str) -> StoreError {
    for _ in 0..5_000 {
        let row = store.find(name).unwrap().unwrap();
        match store.append(row.id, row.revision, &kilobyte(&row)) {
            Ok(now) => assert_eq!(now.snapshots, row.snapshots + 1),
            Err(error) => {
                let (now, bodies) = contents_of(store, name);
                assert_eq!(now, row, "the context is as before");
                assert_eq!(bodies.len() as u64, row.snapshots, "so are its commits");
                return error;
            }
        }
    }
    panic!("five megabytes fit");
}

#[test]
fn a_full_store_refuses_and_works_again_when_there_is_space() {
    let home = Home::with(&SqliteOptions { max_bytes: Some(600_000), ..SqliteOptions::default() });
    home.create(&new("main")).unwrap();
    let error = append_until_it_fails(&*home, "main");
    assert_eq!(error.code(), "E_STORE_FULL");
    assert!(error.hint().is_some());
    assert_eq!(append_until_it_fails(&*home, "main").code(), "E_STORE_FULL");
    let before = contents_of(&*home, "main");
    let path = home.path();
    let _folder = home.close();
    let store = open(path).unwrap();
    assert_eq!(contents_of(&store, "main"), before);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    grow(&store, before.0, 10);
}

#[test]
fn of_many_threads_on_a_full_store_each_keeps_what_was_acknowledged() {
    let home = Home::with(&SqliteOptions { max_bytes: Some(600_000), ..SqliteOptions::default() });
    let counts: Vec<u64> = thread::scope(|scope| {
        let work = |number: usize| {
            let home = &home;
            move || {
                let mut row = home.create(&new(&format!("context {number}"))).unwrap();
                loop {
                    match home.append(row.id, row.revision, &kilobyte(&row)) {
                        Ok(now) => row = now,
                        Err(StoreError::Full { .. }) => return row.snapshots,
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        };
        let threads: Vec<_> = (0..8).map(|number| scope.spawn(work(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (number, count) in counts.into_iter().enumerate() {
        let (row, bodies) = contents_of(&*home, &format!("context {number}"));
        assert_eq!((row.snapshots, bodies.len() as u64), (count, count));
    }
    assert_eq!(home.check().unwrap(), Vec::<String>::new());
}

/// A file system of its own, of one megabyte; nothing if this machine does not let us make one.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn new() -> Option<SmallDisk> {
        let folder = TempDir::new().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "none"])
            .arg(folder.path())
            .output();
        mounted.ok().filter(|mounted| mounted.status.success()).map(|_| SmallDisk(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg(self.0.path()).status().ok();
    }
}

#[test]
fn a_full_disk_is_told_and_the_store_works_again_when_there_is_space() {
    let Some(disk) = SmallDisk::new() else {
        println!("not checked: no file system can be mounted here");
        return;
    };
    let ballast = disk.0.path().join("ballast");
    fs::write(&ballast, vec![0; 300_000]).unwrap();
    let store = open(disk.0.path().join("store.db")).unwrap();
    store.create(&new("main")).unwrap();
    assert_eq!(append_until_it_fails(&store, "main").code(), "E_STORE_FULL");
    assert_eq!(append_until_it_fails(&store, "main").code(), "E_STORE_FULL");
    let before = contents_of(&store, "main");
    let error = open(disk.0.path().join("second.db")).map(drop).unwrap_err();
    assert_eq!(error.code(), "E_STORE_FULL", "{error}");
    fs::remove_file(ballast).unwrap();
    let row = grow(&store, before.0, 10);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    drop(store);
    let store = open(disk.0.path().join("store.db")).unwrap();
    let (again, bodies) = contents_of(&store, "main");
    assert_eq!((again, bodies.len()), (row, before.1.len() + 10));
}

/// Runs where no file may become larger than some kilobytes: the system answers a write beyond that with an error.
#[test]
fn task_append_until_the_system_fails() {
    let Some(task) = task() else { return };
    let store = open(&task[0]).unwrap();
    let error = append_until_it_fails(&store, "main");
    assert_eq!(error.code(), "E_STORE_IO", "{error}");
    assert_eq!(append_until_it_fails(&store, "main").code(), "E_STORE_IO");
    println!("failed as expected");
}

#[test]
fn an_error_of_the_system_is_told_and_the_store_works_again_when_it_is_gone() {
    // The limit meets another write each time: of the log, its header, the file itself.
    for kilobytes in [88, 96, 133, 200, 256] {
        let home = Home::new();
        let row = home.create(&new("main")).unwrap();
        grow(&*home, row, 2);
        let path = home.path();
        let folder = home.close();
        let name = "sqlite_faults::task_append_until_the_system_fails";
        let plain = command(name, &[path.to_str().unwrap()]);
        let mut limited = Command::new("sh");
        limited
            .args(["-c", &format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", kilobytes * 2), "sh"])
            .arg(plain.get_program())
            .args(plain.get_args());
        for (variable, value) in plain.get_envs() {
            limited.env(variable, value.unwrap());
        }
        let output = limited.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("failed as expected"), "{output:?}");
        let store = open(&path).unwrap();
        let (row, bodies) = contents_of(&store, "main");
        assert_eq!(row.snapshots, bodies.len() as u64);
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        grow(&store, row, 3);
        drop((store, folder));
    }
}

/// A folder with a copy of this program that anybody may run, and a store in it.
struct Stage {
    _folder: TempDir,
    program: PathBuf,
    store: PathBuf,
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

impl Stage {
    fn new() -> Stage {
        let folder = TempDir::new().unwrap();
        set_mode(folder.path(), 0o755);
        let program = folder.path().join("program");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        set_mode(&program, 0o755);
        let home = folder.path().join("home");
        fs::create_dir(&home).unwrap();
        let store = home.join("store.db");
        let made = open(&store).unwrap();
        grow(&made, made.create(&new("main")).unwrap(), 3);
        Stage { _folder: folder, program, store }
    }

    /// Runs a task as somebody without special rights.
    fn run(&self, test: &str, expected: &str) {
        let mut command =
            command_of(&self.program, test, &[self.store.to_str().unwrap(), expected]);
        if fs::metadata(&self.program).unwrap().uid() == 0 {
            command.uid(65_534).gid(65_534);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("as expected"), "{output:?}");
    }
}

/// Opens the store, which cannot be written, and reads it.
#[test]
fn task_read_only() {
    let Some(task) = task() else { return };
    let store = open(&task[0]).unwrap();
    assert!(store.is_read_only());
    let (row, bodies) = contents_of(&store, "main");
    assert_eq!((row.snapshots, bodies.len()), (3, 3));
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    let refused = store.append(row.id, row.revision, &kilobyte(&row)).unwrap_err();
    assert_eq!(refused.code(), "E_STORE_READ_ONLY");
    println!("as expected");
}

/// Tries to open the store.
#[test]
fn task_refused() {
    let Some(task) = task() else { return };
    let error = open(&task[0]).map(drop).unwrap_err();
    assert_eq!(error.code(), task[1], "{error}");
    println!("as expected");
}

#[test]
fn a_file_that_may_only_be_read_is_read() {
    let stage = Stage::new();
    let home = stage.store.parent().unwrap();
    set_mode(&stage.store, 0o444);
    set_mode(home, 0o777);
    stage.run("sqlite_faults::task_read_only", "");
    // The folder cannot be written either: a medium that is for reading only.
    for name in ["store.db-wal", "store.db-shm"] {
        fs::remove_file(home.join(name)).ok();
    }
    set_mode(home, 0o555);
    stage.run("sqlite_faults::task_read_only", "");
    set_mode(home, 0o755);
    let store = open(&stage.store).unwrap();
    let (row, bodies) = contents_of(&store, "main");
    assert_eq!((row.snapshots, bodies.len()), (3, 3));
}

#[test]
fn a_file_that_may_not_be_read_is_refused_and_works_when_it_may() {
    let stage = Stage::new();
    set_mode(&stage.store, 0o600);
    stage.run("sqlite_faults::task_refused", "E_STORE_PERMISSION");
    set_mode(&stage.store, 0o444);
    stage.run("sqlite_faults::task_read_only", "");
}

/// Opens the store while the process may open no more files.
#[test]
fn task_too_many_files() {
    let Some(task) = task() else { return };
    let mut taken = Vec::new();
    while let Ok(file) = fs::File::open("/dev/null") {
        taken.push(file);
    }
    // One after the other becomes free again, so that another call fails each time: the file, its log, the index of the log.
    loop {
        match open(&task[0]) {
            Ok(store) => {
                assert!(!store.is_read_only(), "an error that passes is not a reason to read only");
                break;
            }
            Err(error) => {
                assert_eq!(error.code(), "E_STORE_IO", "{error}");
                assert!(taken.pop().is_some(), "it opens when files can be opened");
            }
        }
    }
    println!("as expected");
}

#[test]
fn an_error_that_passes_is_an_error_and_never_another_mode() {
    let stage = Stage::new();
    let plain = command_of(
        &stage.program,
        "sqlite_faults::task_too_many_files",
        &[stage.store.to_str().unwrap(), ""],
    );
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 32; exec \"$@\"", "sh"]);
    limited.arg(plain.get_program()).args(plain.get_args());
    for (variable, value) in plain.get_envs() {
        limited.env(variable, value.unwrap());
    }
    let output = limited.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("as expected"), "{output:?}");
}

#[test]
fn a_log_that_cannot_be_read_with_its_file_is_not_passed_over() {
    let stage = Stage::new();
    let home = stage.store.parent().unwrap();
    let store = open(&stage.store).unwrap();
    let row = store.find("main").unwrap().unwrap();
    grow(&store, row, 1);
    // A copy of file and log as a crash would leave them, without the index of the log, in a folder that cannot be written.
    let crashed = home.join("crashed");
    fs::create_dir(&crashed).unwrap();
    for name in ["store.db", "store.db-wal"] {
        fs::copy(home.join(name), crashed.join(name)).unwrap();
        set_mode(&crashed.join(name), 0o444);
    }
    set_mode(&crashed, 0o555);
    let stage = Stage { store: crashed.join("store.db"), ..stage };
    stage.run("sqlite_faults::task_refused", "E_STORE_IO");
    set_mode(&crashed, 0o755);
    set_mode(&stage.store, 0o644);
    set_mode(&crashed.join("store.db-wal"), 0o644);
    let (row, _) = contents_of(&open(&stage.store).unwrap(), "main");
    assert_eq!(row.snapshots, 4, "with its log the file has everything");
}

#[test]
fn a_damaged_file_is_noticed() {
    let home = Home::new();
    grow(&*home, home.create(&new("main")).unwrap(), 200);
    let path = home.path();
    let folder = home.close();
    let whole = fs::read(&path).unwrap();
    let (half, page) = (whole.len() / 8_192 * 4_096, 4_096);
    for (what, damaged) in [
        ("cut", whole[..half].to_vec()),
        ("a page of zeros", [&whole[..half], &vec![0; page], &whole[half + page..]].concat()),
    ] {
        fs::write(&path, &damaged).unwrap();
        let options = SqliteOptions { read_only: true, ..SqliteOptions::default() };
        let store = Sqlite::open(&path, &options);
        let found = store.and_then(|store| {
            let faults = store.check()?;
            assert_ne!(faults, Vec::<String>::new(), "{what}");
            let row = store.find("main")?.unwrap();
            let mut count = 0;
            store.commits(row.branch, Cycle::ZERO, Cycle::MAX, &mut |_| {
                count += 1;
                Ok(())
            })?;
            Ok(count)
        });
        match found {
            Err(StoreError::Corrupt { .. }) => {}
            other => panic!("{what}: {other:?}"),
        }
    }
    drop(folder);
}
