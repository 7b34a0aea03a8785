//! Follows a conversation with another system and prints one line of JSON:
//! `peers rig-memory|rig-dir|rig-sqlite|pactree-memory|pactree-file chat|agent LENGTH CONVERSATION FOLDER`.

mod common;
mod pact;
mod rig;

fn main() {
    let Some(run) = common::Run::new() else {
        eprintln!("usage: peers SYSTEM chat|agent LENGTH CONVERSATION FOLDER");
        std::process::exit(2);
    };
    let done = if run.system.starts_with("rig") { rig::follow(run) } else { pact::follow(run) };
    if let Err(error) = done {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
