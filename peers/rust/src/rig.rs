//! rig-memory: a conversation in memory, and a save after each turn, into memory, a folder or SQLite.

use std::error::Error;

use rig_core::completion::Message;
use rig_core::conversation::Conversation;
use rig_memory::{
    AsyncStore as _, DirStore, MemoryStore, Store, as_of, history, load, load_async, save,
    save_async,
};
use rig_sqlite::SqliteSessionStore;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio_rusqlite::Connection;

use crate::common::{Run, read, text};

type Outcome<T> = Result<T, Box<dyn Error>>;

const LOG: &str = "main";

enum Kept {
    Here(MemoryStore),
    Folder(DirStore),
    File(SqliteSessionStore, Runtime),
}

impl Kept {
    fn open(run: &Run) -> Outcome<Kept> {
        Ok(match run.system.as_str() {
            "rig-memory" => Kept::Here(MemoryStore::default()),
            "rig-dir" => Kept::Folder(DirStore::open(format!("{}/rig", run.folder))?),
            _ => {
                let runtime = Builder::new_current_thread().enable_all().build()?;
                let path = format!("{}/rig.sqlite", run.folder);
                let store = runtime.block_on(async {
                    let connection = Connection::open(path).await?;
                    // What Contextree sets for its own file, and what the Python systems have.
                    connection
                        .call(|connection| {
                            connection.execute_batch(
                                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
                            )?;
                            Ok(())
                        })
                        .await?;
                    Ok::<_, Box<dyn Error>>(SqliteSessionStore::open(connection).await?)
                })?;
                Kept::File(store, runtime)
            }
        })
    }

    fn save(&self, conversation: &mut Conversation) -> Outcome<()> {
        match self {
            Kept::Here(store) => save(store, LOG, conversation)?,
            Kept::Folder(store) => save(store, LOG, conversation)?,
            Kept::File(store, runtime) => runtime.block_on(save_async(store, LOG, conversation))?,
        }
        Ok(())
    }

    fn load(&self) -> Outcome<Conversation> {
        Ok(match self {
            Kept::Here(store) => load(store, LOG)?,
            Kept::Folder(store) => load(store, LOG)?,
            Kept::File(store, runtime) => runtime.block_on(load_async(store, LOG))?,
        })
    }

    /// Asks for the past. Only stores that do not wait have it; from SQLite the log is read whole and put into one in memory.
    fn past<T>(&self, ask: impl Fn(&dyn Store) -> Outcome<T>) -> Outcome<T> {
        match self {
            Kept::Here(store) => ask(store),
            Kept::Folder(store) => ask(store),
            Kept::File(store, runtime) => {
                let bytes = runtime.block_on(store.read_log_async(LOG))?;
                let memory = MemoryStore::default();
                memory
                    .append_log(LOG, 0, &bytes)
                    .map_err(|_| "the log cannot be put into memory")?;
                ask(&memory)
            }
        }
    }
}

fn messages(line: &Value) -> Outcome<Vec<Message>> {
    if line.get("result").is_some() {
        let id = json!({"provider": line["id"]});
        let arguments: Value = serde_json::from_str(text(line, "arguments"))?;
        let call = json!({"role": "assistant", "content": [
            {"type": "text", "text": line["say"]},
            {"type": "toolcall", "id": id, "function": {"name": line["name"], "arguments": arguments}}]});
        let result = json!({"role": "user", "content": [{"type": "toolresult", "call": id, "name": line["name"],
            "content": [{"type": "text", "text": line["result"]}]}]});
        return Ok(vec![serde_json::from_value(call)?, serde_json::from_value(result)?]);
    }
    let mut said = vec![Message::user(text(line, "user"))];
    if line.get("assistant").is_some() {
        said.push(Message::assistant(text(line, "assistant")));
    }
    Ok(said)
}

fn count(conversation: &Conversation) -> Outcome<(usize, usize)> {
    let mut texts = Vec::new();
    for message in conversation.messages() {
        collect(&serde_json::to_value(&**message)?, &mut texts);
    }
    Ok(read(texts.iter().map(String::as_str)))
}

/// A quick look at every byte, for what is measured: the messages as they are in memory.
fn touch(conversation: &Conversation) -> usize {
    conversation
        .messages()
        .iter()
        .map(|message| std::hint::black_box(std::sync::Arc::strong_count(message).min(1)))
        .sum()
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(text)) = fields.get("text") {
                texts.push(text.clone());
            }
            for (name, value) in fields {
                if name != "text" {
                    collect(value, texts);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        _ => {}
    }
}

fn clean(run: &Run) {
    let _ = std::fs::remove_dir_all(format!("{}/rig", run.folder));
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}/rig.sqlite{end}", run.folder));
    }
}

/// Bytes on disk, when nothing is left in the log of SQLite.
fn bytes(run: &Run) -> Outcome<u64> {
    if run.system == "rig-dir" {
        return Ok(below(&format!("{}/rig", run.folder)));
    }
    let path = format!("{}/rig.sqlite", run.folder);
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let connection = Connection::open(&path).await?;
        connection
            .call(|connection| {
                connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
                Ok(())
            })
            .await?;
        Ok::<_, Box<dyn Error>>(())
    })?;
    Ok(["", "-wal"]
        .map(|end| std::fs::metadata(format!("{path}{end}")).map_or(0, |file| file.len()))
        .iter()
        .sum())
}

fn below(folder: &str) -> u64 {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |file: std::fs::DirEntry| match file.metadata() {
        Ok(data) if data.is_dir() => below(&file.path().display().to_string()),
        Ok(data) => data.len(),
        Err(_) => 0,
    };
    files.map(size).sum()
}

pub fn follow(mut run: Run) -> Outcome<()> {
    clean(&run);
    let warm = Kept::open(&run)?;
    let mut conversation = warm.load()?;
    for line in run.lines().take(5) {
        conversation.extend(messages(&line)?);
        warm.save(&mut conversation)?;
    }
    drop(warm);
    clean(&run);

    let kept = Kept::open(&run)?;
    let mut conversation = kept.load()?;
    run.began();
    for line in run.lines() {
        let new = messages(&line)?;
        run.step(|| {
            conversation.extend(new);
            kept.save(&mut conversation)
        })?;
    }
    run.ended();
    run.field("versions", json!({"rig-memory": "0.46.0", "rig-sqlite": "0.46.0"}));
    run.field(
        "settings",
        json!(match kept {
            Kept::Here(_) => "memory",
            Kept::Folder(_) => "appends to a file, no fsync",
            Kept::File(..) => "journal_mode=wal, synchronous=FULL (set by us; the crate leaves it to the connection)",
        }),
    );
    run.kept("", count(&conversation)?);
    // The record that the second half begins with; the records before it are the state at half of the turns.
    let records = kept.past(|store| Ok(history(store, LOG)?))?;
    let wanted = run.length / 2 + usize::from(run.is_agent);
    if records.len() != run.length + usize::from(run.is_agent) {
        return Err("a turn is not one record".into());
    }
    let place = records[wanted].0.n;
    drop(records);
    let middle = run.measure("middle", || kept.past(|store| Ok(as_of(store, LOG, place)?)))?;
    touch(&middle);
    run.kept("middle_", count(&middle)?);
    let entries = run.measure("history", || kept.past(|store| Ok(history(store, LOG)?.len())))?;
    run.field("history_records", json!(entries));
    run.skip("the whole log or nothing", &["page"]);
    run.skip("no query over the messages", &["select"]);
    run.skip("no diff", &["diff"]);
    run.skip("inside its provider clients", &["render"]);
    drop(kept);
    if run.system == "rig-memory" {
        run.skip("in memory only", &["bytes", "open", "middle_cold"]);
    } else {
        let size = bytes(&run)?;
        run.field("bytes", json!(size));
        let system = Run::new().ok_or("the arguments were read once")?;
        run.measure("open", || {
            Kept::open(&system)?.load().map(|conversation| touch(&conversation))
        })?;
        run.measure("middle_cold", || {
            Kept::open(&system)?.past(|store| Ok(touch(&as_of(store, LOG, place)?)))
        })?;
    }
    clean(&run);
    run.print();
    Ok(())
}
