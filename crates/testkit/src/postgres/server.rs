//! Starts a private server, or connects to a running one.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use super::programs::Programs;

/// The settings of a server.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Further settings of the server: `("max_connections", "200")`. Acknowledged writes are
    /// durable unless `fsync` is turned off here.
    pub parameters: Vec<(String, String)>,
    /// Files for the data folder, readable only by its owner: a certificate and its key.
    pub files: Vec<(String, Vec<u8>)>,
}

/// A running server. It is stopped when this value is dropped, and at the latest when the process
/// ends.
#[derive(Debug)]
pub struct Server {
    url: String,
    own: Option<Own>,
}

#[derive(Debug)]
struct Own {
    programs: Programs,
    folder: PathBuf,
    port: u16,
    user: Option<User>,
    settings: Settings,
    process: Mutex<Option<Child>>,
    /// Closing the pipe makes the watchdog clean up.
    watchdog: Mutex<Option<(Child, ChildStdin)>>,
}

/// The user that runs the server if this process is root.
#[derive(Clone, Copy, Debug)]
struct User {
    uid: u32,
    gid: u32,
}

impl Server {
    /// Returns the server that `CONTEXTREE_TEST_POSTGRES` names, or starts one.
    ///
    /// # Errors
    ///
    /// If no server can be started; with a message for people.
    pub fn obtain() -> Result<Server, String> {
        match std::env::var_os("CONTEXTREE_TEST_POSTGRES") {
            Some(url) => {
                let url = url.into_string().map_err(|_| "the URL is not UTF-8".to_owned())?;
                Ok(Server { url, own: None })
            }
            None => Server::start(&Settings::default()),
        }
    }

    /// Starts a private server.
    ///
    /// # Errors
    ///
    /// If it cannot be started; with a message for people and the end of the server's log.
    pub fn start(settings: &Settings) -> Result<Server, String> {
        let programs = Programs::obtain()?;
        let user = unprivileged()?;
        let folder = new_folder(user)?;
        // From here on, everything is cleaned up however this process ends.
        let watchdog = watchdog(&programs, user, &folder)?;
        let initdb = ["--auth=trust", "--username=postgres", "--no-locale", "--encoding=UTF8"];
        let data = folder.join("data");
        let output = as_user(&programs.program("initdb"), user)
            .args(initdb)
            .arg("--pgdata")
            .arg(&data)
            .current_dir(&folder)
            .output()
            .map_err(|error| format!("initdb: {error}"))?;
        if !output.status.success() {
            return Err(format!("initdb: {}", String::from_utf8_lossy(&output.stderr)));
        }
        for (name, bytes) in &settings.files {
            private_file(&data.join(name), bytes, user)?;
        }
        let mut own = Own {
            programs,
            folder,
            port: 0,
            user,
            settings: settings.clone(),
            process: Mutex::new(None),
            watchdog: Mutex::new(Some(watchdog)),
        };
        // Another process may take the port between our check and the start of the server.
        let mut last = String::new();
        for _ in 0..5 {
            own.port = free_port()?;
            match own.launch() {
                Ok(()) => {
                    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", own.port);
                    return Ok(Server { url, own: Some(own) });
                }
                Err(message) => last = message,
            }
        }
        Err(last)
    }

    /// Returns the URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the URL with further parameters: `schema=one&pool_max=2`.
    #[must_use]
    pub fn url_with(&self, parameters: &str) -> String {
        let mark = if self.url.contains('?') { '&' } else { '?' };
        format!("{}{mark}{parameters}", self.url)
    }

    /// Returns the URL for another account, which needs no password; `None` for a server that was not started here.
    #[must_use]
    pub fn url_as(&self, account: &str, parameters: &str) -> Option<String> {
        let own = self.own.as_ref()?;
        Some(format!("postgres://{account}@127.0.0.1:{}/postgres?{parameters}", own.port))
    }

    /// Returns whether the server was started here, so that it can be killed and restarted.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// Kills the server as a power failure would: none of its processes can do anything more.
    ///
    /// # Errors
    ///
    /// If the server was not started here.
    pub fn kill(&self) -> Result<(), String> {
        let own = self.own.as_ref().ok_or("this server was not started here")?;
        let mut process =
            own.process.lock().map_err(|_| "a test failed while it held the server")?;
        if let Some(mut child) = process.take() {
            child.kill().map_err(|error| error.to_string())?;
            child.wait().map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Restarts a server that was killed, with the same data and port; returns when it answers.
    ///
    /// # Errors
    ///
    /// If it does not answer.
    pub fn restart(&self) -> Result<(), String> {
        let own = self.own.as_ref().ok_or("this server was not started here")?;
        own.launch()
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Ok(mut watchdog) = self.watchdog.lock()
            && let Some((mut child, pipe)) = watchdog.take()
        {
            drop(pipe);
            let _ = child.wait();
        }
        if let Ok(mut process) = self.process.lock()
            && let Some(mut child) = process.take()
        {
            let _ = child.wait();
        }
    }
}

impl Own {
    /// Starts the server's process and waits until it answers.
    fn launch(&self) -> Result<(), String> {
        // The processes of a killed server take a moment to exit; until then a new one refuses to
        // start.
        let mut last = String::new();
        for _ in 0..200 {
            match self.try_launch() {
                Ok(child) => {
                    *self.process.lock().map_err(|_| "a test failed while it held the server")? =
                        Some(child);
                    return Ok(());
                }
                Err(message) if message.contains("still in use") => last = message,
                Err(message) => return Err(message),
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err(last)
    }

    fn try_launch(&self) -> Result<Child, String> {
        let log = self.folder.join("log");
        let file = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        let mut command = as_user(&self.programs.program("postgres"), self.user);
        command.arg("-D").arg(self.folder.join("data"));
        command.arg("-p").arg(self.port.to_string());
        command.arg("-k").arg(&self.folder);
        command.args(["-c", "listen_addresses=127.0.0.1", "-c", "max_connections=100"]);
        for (name, value) in &self.settings.parameters {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        command.current_dir(&self.folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        let mut child = command.spawn().map_err(|error| format!("postgres: {error}"))?;
        for _ in 0..1200 {
            if let Ok(Some(status)) = child.try_wait() {
                let text = fs::read_to_string(&log).unwrap_or_default();
                return Err(format!("postgres ended ({status}): {text}"));
            }
            if self.answers() {
                return Ok(child);
            }
            thread::sleep(Duration::from_millis(25));
        }
        let _ = child.kill();
        let _ = child.wait();
        Err("postgres does not answer".to_owned())
    }

    fn answers(&self) -> bool {
        Command::new(self.programs.program("pg_isready"))
            .args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()])
            .status()
            .is_ok_and(|status| status.success())
    }
}

/// Returns whether this process runs as root.
#[must_use]
pub fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

/// Returns the user that runs the server; `None` if this process is not root.
fn unprivileged() -> Result<Option<User>, String> {
    if !is_root() {
        return Ok(None);
    }
    let accounts = fs::read_to_string("/etc/passwd").map_err(|error| error.to_string())?;
    let find = |name: &str| {
        let line = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some(User { uid: fields.next()?.parse().ok()?, gid: fields.next()?.parse().ok()? })
    };
    find("postgres")
        .or_else(|| find("nobody"))
        .map(Some)
        .ok_or_else(|| "no account `postgres` or `nobody` to run the server".to_owned())
}

fn as_user(program: &Path, user: Option<User>) -> Command {
    let mut command = Command::new(program);
    if let Some(User { uid, gid }) = user {
        command.uid(uid).gid(gid);
    }
    command
}

fn new_folder(user: Option<User>) -> Result<PathBuf, String> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("contextree-pg-{}-{number}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    // Left over from an earlier process with the same id.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).map_err(told)?;
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).map_err(told)?;
    if let Some(User { uid, gid }) = user {
        chown(&folder, Some(uid), Some(gid)).map_err(told)?;
    }
    Ok(folder)
}

fn private_file(path: &Path, bytes: &[u8], user: Option<User>) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::write(path, bytes).map_err(told)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(told)?;
    match user {
        Some(User { uid, gid }) => chown(path, Some(uid), Some(gid)).map_err(told),
        None => Ok(()),
    }
}

fn free_port() -> Result<u16, String> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| format!("no free port: {error}"))
}

/// Starts the shell that cleans up when its input ends. It has its own process group, so a signal
/// to ours does not reach it.
fn watchdog(
    programs: &Programs,
    user: Option<User>,
    folder: &Path,
) -> Result<(Child, ChildStdin), String> {
    // A program that was still running when we ended may write once more, so the folder is deleted
    // twice.
    let script = r#"cat >/dev/null; "$1" -D "$2/data" -m immediate -w stop
        until rm -rf "$2" && sleep 0.2 && ! [ -e "$2" ]; do "$1" -D "$2/data" -m immediate -w stop; done"#;
    let mut child = as_user(Path::new("/bin/sh"), user)
        .arg("-c")
        .arg(script)
        .arg("watchdog")
        .arg(programs.program("pg_ctl"))
        .arg(folder)
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("sh: {error}"))?;
    match child.stdin.take() {
        Some(pipe) => Ok((child, pipe)),
        None => Err("the watchdog has no input".to_owned()),
    }
}
