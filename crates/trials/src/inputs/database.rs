//! Files of stores.

use std::sync::LazyLock;

use contextree::{NewNode, Place};
use contextree_store::{Retention, Session};

use super::Choices;
use crate::damage::{NAMES, Subject, answers};
use crate::folder::Folder;

static SOUND: LazyLock<Vec<u8>> =
    LazyLock::new(|| Subject::new().expect("a sound store can be made").bytes().to_vec());

/// Changes bytes of the file of a small store, and does with it whatever a program can do: reads, checks, saves what is intact, writes, deletes.
///
/// The bytes are places and new values, in turn. A first byte of 255 cuts the file off.
pub fn database(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mut bytes = SOUND.clone();
    if choices.byte() == 255 {
        bytes.truncate(choices.index(bytes.len()));
    }
    while !choices.is_empty() && !bytes.is_empty() {
        // Most of what decides how a page is read is at its beginning.
        let page = choices.index(bytes.len().div_ceil(4096));
        let at = (page * 4096 + choices.index(4096)).min(bytes.len() - 1);
        bytes[at] = choices.byte();
    }
    let folder = Folder::new();
    let path = folder.file("store.db");
    std::fs::write(&path, bytes).expect("a file can be written");
    drop(answers(&path));
    let Ok(store) = crate::script::open(&format!("sqlite:{}", path.display())) else { return };
    store.verify(&mut |_, _| {}).ok();
    for name in NAMES {
        store.salvage(name, &mut Vec::new()).ok();
        if let Ok(mut session) = store.session(name) {
            write(&mut session).ok();
        }
        store.retain(name, &Retention { keep_newest: Some(1), ..Retention::default() }, false).ok();
        store.delete(name).ok();
    }
    store.backend().reclaim().ok();
}

/// Takes a step whose nodes get new names, whatever the damaged file says about the last one.
fn write(session: &mut Session) -> Result<(), Box<dyn std::error::Error>> {
    session.write(|context| {
        context.add(Place::head(), NewNode::text("after the damage").role("user"))?;
        context.commit()?;
        Ok(())
    })
}
