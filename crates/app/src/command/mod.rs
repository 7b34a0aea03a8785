//! One file per command: its request, its response, and what it does.

pub mod add;
pub mod append;
pub mod apply;
pub mod attempt;
pub mod backup;
pub mod budget;
pub mod cache;
pub mod call;
pub mod canon;
pub mod commit;
pub mod contexts;
pub mod delete;
pub mod diff;
pub mod edit;
pub mod explain;
pub mod export;
pub mod fork;
pub mod gc;
pub mod hash;
pub mod import;
mod known;
pub mod lint;
pub mod log;
pub mod move_;
pub mod new;
pub mod node;
pub mod pin;
pub mod put;
pub mod recall;
pub mod records;
pub mod redact;
pub mod remove;
pub mod rename;
pub mod render;
pub mod rows;
pub mod select;
pub mod selected;
pub mod show;
pub mod split;
pub mod status;
pub mod thread;
pub mod timeline;
pub mod tokens;
pub mod undo;
pub mod verify;

pub use add::add;
pub use append::append;
pub use apply::apply;
pub use attempt::{end as end_attempt, list as list_attempts, start as start_attempt};
pub use backup::{backup, restore};
pub use budget::{set as set_budget, show_budget, unset as unset_budget};
pub use cache::cache;
pub use call::{answer, cancel, request};
pub use canon::canon;
pub use commit::commit;
pub use contexts::contexts;
pub use delete::delete;
pub use diff::diff;
pub use edit::edit;
pub use explain::explain;
pub use export::export;
pub use fork::fork;
pub use gc::gc;
pub use hash::hash;
pub use import::import;
pub use lint::lint;
pub use log::log;
pub use move_::move_;
pub use new::new;
pub use node::{node, node_history};
pub use pin::{pin, unpin};
pub use put::put;
pub use recall::recall;
pub use records::records;
pub use redact::redact;
pub use remove::remove;
pub use rename::rename;
pub use render::{render, sent};
pub use rows::rows;
pub use select::select;
pub use selected::open_selection;
pub use show::show;
pub use split::split;
pub use status::status;
pub use thread::thread;
pub use timeline::timeline;
pub use tokens::tokens;
pub use undo::{discard, operations, redo, reset, undo};
pub use verify::verify;

/// Returns canonical JSON as text.
fn ascii(bytes: Vec<u8>) -> String {
    // Canonical JSON escapes everything beyond ASCII, so nothing is ever replaced here.
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
