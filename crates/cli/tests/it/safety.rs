//! What must not happen, whatever is typed: history deleted by a large number, a password on the screen, an id that becomes another
//! one in a pipe, a store made by looking for it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::transcript::Folder;

/// Runs commands that must all succeed; returns what the last one prints.
fn succeed(folder: &Folder, commands: &[&str]) -> String {
    let mut last = String::new();
    for command in commands {
        let (printed, code) = folder.run(command);
        assert_eq!(code, 0, "{command}: {printed}");
        last = printed;
    }
    last
}

#[test]
fn a_large_number_of_days_keeps_everything() {
    let folder = Folder::new();
    succeed(&folder, &["ctx new", "for n in 1 2 3 4; do ctx add x && ctx commit; done"]);
    for days in ["106751", "106752", "999999", "4294967295"] {
        let printed = succeed(&folder, &[&format!("ctx gc --keep-days {days} --json")]);
        assert!(printed.contains("\"dropped\":0"), "{days} days: {printed}");
    }
}

#[test]
fn a_command_has_a_log_if_the_environment_asks_for_one() {
    let folder = Folder::new();
    assert_eq!(succeed(&folder, &["ctx new"]).matches("DEBUG").count(), 0);
    let logged = succeed(&folder, &["CONTEXTREE_LOG=debug ctx add x"]);
    assert!(logged.contains("DEBUG"), "{logged}");
    let (refused, code) = folder.run("CONTEXTREE_LOG=loud ctx add x");
    assert_eq!(code, 2, "{refused}");
    assert!(
        refused.contains("there is no level `loud`") && refused.contains("hint: use error"),
        "{refused}"
    );
}

#[test]
fn no_command_shows_a_password() {
    let folder = Folder::new();
    let urls = [
        "postgres://u:S3CRET@127.0.0.1:1/d?patience_ms=1",
        "postgres://127.0.0.1:1/d?patience_ms=1&user=u&password=S3CRET",
        "postgre://u:S3CRET@h/d",
        "Postgres://u:S3CRET@h/d",
        "postgres:u:S3CRET@h/d",
        "host=h user=u password=S3CRET",
        "u:S3CRET@h/d",
        "sqlite://u:S3CRET@h/d",
        "sqlite:postgres://u:S3CRET@h/d",
        "sqlite:missing/x.db?pass=S3CRET",
        "postgres://u:a b`S3CRET@h/d?patience_ms=1",
    ];
    let commands = [
        "status",
        "new",
        "contexts",
        "verify",
        "export",
        "gc",
        "backup x.db",
        "restore x.db",
        "log",
        "add hello",
        "delete x --yes",
    ];
    for url in urls {
        for command in commands {
            for format in ["", "--json"] {
                let line = format!("ctx --store '{url}' {format} {command}");
                let (printed, code) = folder.run(&line);
                assert!(!printed.contains("S3CRET"), "{line}: {printed}");
                assert_ne!(code, 0, "{line}: {printed}");
            }
        }
        let (printed, _) = folder.run(&format!("ctx status '{url}'; ctx --json '{url}' status"));
        assert!(!printed.contains("S3CRET"), "misplaced: {printed}");
    }
    for quoted in [r#""postgres://u:a'S3CRET@h/d""#, r#""postgres://u:a' S3CRET@h/d""#] {
        let (printed, _) = folder.run(&format!("ctx status {quoted}; ctx --json {quoted} status"));
        assert!(!printed.contains("S3CRET"), "misplaced: {printed}");
    }
}

#[test]
fn a_program_that_serves_a_store_does_not_show_its_password() {
    let folder = Folder::new();
    // The name of a file, but one that looks like a URL with a password.
    let store = "--store 'sqlite:x.db?password=S3CRET'";
    succeed(&folder, &[&format!("ctx {store} new")]);
    for command in ["serve --listen 127.0.0.1:0 --token-file token", "record --listen 127.0.0.1:0"]
    {
        let line = format!(
            "ctx {store} {command} > out 2> errors & until test -s out; do kill -0 $! || break; done; kill $!; cat out errors"
        );
        let (printed, _) = folder.run(&line);
        assert!(printed.contains("sqlite:x.db?password=…"), "{command}: {printed}");
        assert!(!printed.contains("S3CRET"), "{command}: {printed}");
    }
}

#[test]
fn looking_for_a_store_does_not_make_one() {
    let folder = Folder::new();
    for command in
        ["status", "contexts", "verify", "export", "gc --dry-run", "log", "add x", "commit"]
    {
        for make in ["rm -f x.db", ": > x.db"] {
            let line = format!(
                "{make}; ctx --store sqlite:x.db {command}; code=$?; test ! -s x.db && exit $code"
            );
            let (printed, code) = folder.run(&line);
            assert_eq!(code, 3, "{make}, {command}: {printed}");
            assert!(printed.contains("E_STORE_NOT_FOUND"), "{make}, {command}: {printed}");
        }
    }
}

/// Root may do everything, so the commands run as nobody.
#[test]
fn a_store_that_may_not_be_opened_is_named_with_what_to_do() {
    let folder = Folder::new();
    succeed(&folder, &["ctx new", "ctx add hello", "ctx commit"]);
    let (user, _) = folder.run("id -u");
    let (_, has_setpriv) = folder.run("command -v setpriv");
    if user.trim() == "0" && has_setpriv != 0 {
        return;
    }
    let nobody = match user.trim() {
        "0" => "setpriv --reuid=65534 --regid=65534 --clear-groups",
        _ => "env",
    };
    let set = |path: &str, mode: u32| {
        let path = folder.path().join(path);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    let tries = |command: &str, text: &[&str]| {
        let (printed, code) = folder.run(&format!("{nobody} \"$(command -v ctx)\" {command}"));
        assert_eq!(code, 5, "{command}: {printed}");
        for text in text {
            assert!(printed.contains(text), "{command}: `{text}` is not in {printed}");
        }
    };
    set("", 0o777);
    set("contextree.db", 0o000);
    let denied = ["error[E_STORE_PERMISSION]", "contextree.db`", "hint: "];
    tries("status", &denied);
    tries("add more", &denied);
    tries("verify --json", &[r#""code":"E_STORE_PERMISSION""#, "hints"]);
    set("contextree.db", 0o600);
    set("", 0o555);
    tries("--store sqlite:new.db new", &["error[E_STORE_PERMISSION]", "new.db`", "hint: "]);
    set("", 0o755);
}

#[test]
fn an_export_replaces_its_file_whole_or_not_at_all() {
    let folder = Folder::new();
    succeed(&folder, &["ctx new", "ctx add hello", "ctx commit", "ctx export -o out.json"]);
    let path = folder.path().join("out.json");
    assert_eq!(fs::metadata(&path).expect("it was written").permissions().mode() & 0o777, 0o600);
    let before = fs::read(&path).expect("it was written");
    succeed(&folder, &["ctx add \"$(head -c 60000 /dev/zero | tr '\\0' x)\"", "ctx commit"]);
    // No file may become larger than 8 KiB: the system answers the write with an error.
    let (printed, code) = folder.run("trap '' XFSZ; ulimit -f 16; ctx export -o out.json");
    assert_ne!(code, 0, "{printed}");
    assert_eq!(fs::read(&path).expect("it is still there"), before);
}
