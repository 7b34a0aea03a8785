//! The layer itself: C functions that ask the disk and then call the default layer.
//!
//! A file of ours is [`File`], and after it, in the same allocation of SQLite, the file of the default layer. SQLite calls one function at a
//! time for a file, so a file's state needs no lock.

#![expect(unsafe_code, reason = "SQLite calls a VFS through C function pointers")]

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Arc, OnceLock};

use rusqlite::ffi;

use crate::{Call, Disk, Kind, Verdict, disk_of};

/// The head of an open file, as SQLite sees it.
#[repr(C)]
struct File {
    base: ffi::sqlite3_file,
    state: *mut State,
}

struct State {
    disk: Option<Arc<dyn Disk>>,
    path: PathBuf,
}

/// The default layer that ours wraps.
struct Below(*mut ffi::sqlite3_vfs);

// SAFETY: SQLite's layers are registered once, never removed, and may be called by any thread.
unsafe impl Send for Below {}
// SAFETY: as above.
unsafe impl Sync for Below {}

static BELOW: OnceLock<Below> = OnceLock::new();

fn below() -> *mut ffi::sqlite3_vfs {
    BELOW.get().expect("set before the layer is registered").0
}

/// Registers the layer as the default of this process.
pub(crate) fn install() {
    // SAFETY: the default layer exists after initialization; ours is leaked, so that its address stays valid, and is a copy of the default one, whose
    // other functions do not depend on the address of their layer.
    unsafe {
        assert_eq!(ffi::sqlite3_initialize(), ffi::SQLITE_OK);
        let below = ffi::sqlite3_vfs_find(ptr::null());
        assert!(!below.is_null(), "SQLite has a default layer");
        BELOW.get_or_init(|| Below(below));
        let head = c_int::try_from(size_of::<File>()).expect("a small number");
        let layer = ffi::sqlite3_vfs {
            szOsFile: head + (*below).szOsFile,
            zName: c"contextree-testkit".as_ptr(),
            pNext: ptr::null_mut(),
            xOpen: Some(open),
            xDelete: Some(delete),
            xAccess: Some(access),
            ..*below
        };
        assert_eq!(ffi::sqlite3_vfs_register(Box::into_raw(Box::new(layer)), 1), ffi::SQLITE_OK);
    }
}

/// Version 2: without mapped pages, so that every read is a call.
static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// Returns the error that a call of a kind fails with.
fn code(kind: Kind, verdict: Verdict) -> c_int {
    match (kind, verdict) {
        (Kind::Write | Kind::Open | Kind::ShmMap | Kind::Truncate, Verdict::Full) => {
            ffi::SQLITE_FULL
        }
        (Kind::Open, _) => ffi::SQLITE_CANTOPEN,
        (Kind::Delete, _) => ffi::SQLITE_IOERR_DELETE,
        (Kind::Access, _) => ffi::SQLITE_IOERR_ACCESS,
        (Kind::Read, _) => ffi::SQLITE_IOERR_READ,
        (Kind::Write, _) => ffi::SQLITE_IOERR_WRITE,
        (Kind::Truncate, _) => ffi::SQLITE_IOERR_TRUNCATE,
        (Kind::Sync, _) => ffi::SQLITE_IOERR_FSYNC,
        (Kind::Size, _) => ffi::SQLITE_IOERR_FSTAT,
        (Kind::Lock, _) => ffi::SQLITE_IOERR_LOCK,
        (Kind::ShmMap, _) => ffi::SQLITE_IOERR_SHMMAP,
        (Kind::ShmLock, _) => ffi::SQLITE_IOERR_SHMLOCK,
    }
}

/// Asks the disk about a call, and carries it out or not.
fn run(disk: Option<&Arc<dyn Disk>>, call: &Call<'_>, act: impl FnOnce() -> c_int) -> c_int {
    let Some(disk) = disk else { return act() };
    let done = match disk.ask(call) {
        Verdict::Pass => act(),
        Verdict::Skip => ffi::SQLITE_OK,
        verdict => return code(call.kind, verdict),
    };
    if done == ffi::SQLITE_OK {
        disk.done(call);
    }
    done
}

/// Calls a function of the file below, which has it if SQLite calls ours.
macro_rules! pass {
    ($file:expr, $function:ident $(, $argument:expr)*) => {{
        // SAFETY: the file was opened by `open`, so the one below it is open, too, and the arguments are SQLite's own.
        unsafe {
            let below = real($file);
            match (*(*below).pMethods).$function {
                Some(function) => function(below $(, $argument)*),
                None => ffi::SQLITE_IOERR,
            }
        }
    }};
}

/// Returns the file of the default layer.
unsafe fn real(file: *mut ffi::sqlite3_file) -> *mut ffi::sqlite3_file {
    // SAFETY: SQLite allocates `szOsFile` bytes for a file, which is room for both.
    unsafe { file.cast::<File>().add(1).cast() }
}

unsafe fn state<'a>(file: *mut ffi::sqlite3_file) -> &'a State {
    // SAFETY: `open` put a box there, which lives until `close`.
    unsafe { &*(*file.cast::<File>()).state }
}

unsafe fn named<'a>(name: *const c_char) -> Option<&'a Path> {
    // SAFETY: SQLite passes a C string, or null for a temporary file.
    let text = unsafe { (!name.is_null()).then(|| CStr::from_ptr(name)) };
    text.map(|text| Path::new(OsStr::from_bytes(text.to_bytes())))
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes a file of `szOsFile` bytes to be filled in. Without methods it is not closed.
    unsafe {
        (*file).pMethods = ptr::null();
        let path = named(name).unwrap_or(Path::new(""));
        let disk = disk_of(path);
        let call = Call { kind: Kind::Open, path, offset: 0, data: &[] };
        let below = real(file);
        (*below).pMethods = ptr::null();
        let done = run(disk.as_ref(), &call, || match (*self::below()).xOpen {
            Some(function) => function(self::below(), name, below, flags, out),
            None => ffi::SQLITE_CANTOPEN,
        });
        if (*below).pMethods.is_null() {
            return if done == ffi::SQLITE_OK { ffi::SQLITE_CANTOPEN } else { done };
        }
        let state = State { disk, path: path.to_owned() };
        (*file.cast::<File>()).state = Box::into_raw(Box::new(state));
        (*file).pMethods = &METHODS;
        done
    }
}

unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    // SAFETY: the arguments are SQLite's own.
    unsafe {
        let path = named(name).unwrap_or(Path::new(""));
        let call = Call { kind: Kind::Delete, path, offset: u64::from(sync != 0), data: &[] };
        run(disk_of(path).as_ref(), &call, || match (*below()).xDelete {
            Some(function) => function(below(), name, sync),
            None => ffi::SQLITE_IOERR,
        })
    }
}

unsafe extern "C" fn access(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: the arguments are SQLite's own.
    unsafe {
        let path = named(name).unwrap_or(Path::new(""));
        let call = Call { kind: Kind::Access, path, offset: 0, data: &[] };
        run(disk_of(path).as_ref(), &call, || match (*below()).xAccess {
            Some(function) => function(below(), name, flags, out),
            None => ffi::SQLITE_IOERR,
        })
    }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    let done = pass!(file, xClose);
    // SAFETY: SQLite closes a file once, and does not use it afterwards.
    unsafe { drop(Box::from_raw((*file.cast::<File>()).state)) };
    done
}

/// Asks the disk of an open file, and carries the call out or not.
unsafe fn ask(
    file: *mut ffi::sqlite3_file,
    kind: Kind,
    offset: i64,
    data: &[u8],
    act: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: the file is open.
    let State { disk, path } = unsafe { state(file) };
    let offset = u64::try_from(offset).unwrap_or(0);
    run(disk.as_ref(), &Call { kind, path, offset, data }, act)
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    to: *mut c_void,
    amount: c_int,
    offset: i64,
) -> c_int {
    let act = || pass!(file, xRead, to, amount, offset);
    // SAFETY: the file is open.
    unsafe { ask(file, Kind::Read, offset, &[], act) }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    from: *const c_void,
    amount: c_int,
    offset: i64,
) -> c_int {
    let length = usize::try_from(amount).unwrap_or(0);
    let act = || pass!(file, xWrite, from, amount, offset);
    // SAFETY: SQLite passes this many bytes; the file is open.
    let done = unsafe {
        let data = std::slice::from_raw_parts(from.cast::<u8>(), length);
        ask(file, Kind::Write, offset, data, act)
    };
    if done == ffi::SQLITE_FULL {
        // What a full disk had room for is written.
        pass!(file, xWrite, from, amount / 2, offset);
    }
    done
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    let act = || pass!(file, xTruncate, size);
    // SAFETY: the file is open.
    unsafe { ask(file, Kind::Truncate, size, &[], act) }
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    let act = || pass!(file, xSync, flags);
    // SAFETY: the file is open.
    unsafe { ask(file, Kind::Sync, 0, &[], act) }
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, out: *mut i64) -> c_int {
    let act = || pass!(file, xFileSize, out);
    // SAFETY: the file is open.
    unsafe { ask(file, Kind::Size, 0, &[], act) }
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    let act = || pass!(file, xLock, level);
    // SAFETY: the file is open.
    unsafe { ask(file, Kind::Lock, 0, &[], act) }
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    pass!(file, xUnlock, level)
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, out: *mut c_int) -> c_int {
    pass!(file, xCheckReservedLock, out)
}

unsafe extern "C" fn file_control(
    file: *mut ffi::sqlite3_file,
    operation: c_int,
    argument: *mut c_void,
) -> c_int {
    pass!(file, xFileControl, operation, argument)
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    pass!(file, xSectorSize)
}

unsafe extern "C" fn device_characteristics(file: *mut ffi::sqlite3_file) -> c_int {
    pass!(file, xDeviceCharacteristics)
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    page: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    let act = move || pass!(file, xShmMap, page, size, extend, out);
    // SAFETY: the file is open, and `out` is SQLite's own. It reads it even after an error.
    unsafe {
        *out = ptr::null_mut();
        ask(file, Kind::ShmMap, 0, &[], act)
    }
}

unsafe extern "C" fn shm_lock(
    file: *mut ffi::sqlite3_file,
    offset: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    let act = || pass!(file, xShmLock, offset, count, flags);
    if flags & ffi::SQLITE_SHM_UNLOCK != 0 {
        return act();
    }
    // SAFETY: the file is open.
    unsafe { ask(file, Kind::ShmLock, 0, &[], act) }
}

unsafe extern "C" fn shm_barrier(file: *mut ffi::sqlite3_file) {
    // SAFETY: the file is open, and so is the one below.
    unsafe {
        let below = real(file);
        if let Some(function) = (*(*below).pMethods).xShmBarrier {
            function(below);
        }
    }
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, delete: c_int) -> c_int {
    pass!(file, xShmUnmap, delete)
}
