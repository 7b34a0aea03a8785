//! Every command of Contextree as a function: a typed request in, a typed response or an [`Error`] out.
//!
//! This is what the command line, a server, MCP tools and bindings share. A function takes a [`Workspace`] (a store or a
//! document), a request, and a [`Control`] (cancellation and progress). It does not know about arguments, terminals or HTTP.
//!
//! ```
//! use contextree_app::{Control, Workspace, command, wire};
//! use contextree_json::parse;
//!
//! let store = contextree::open("memory:")?;
//! let workspace = Workspace::over(store, "memory:");
//! let control = Control::default();
//! command::new(&workspace, &Default::default(), &control)?;
//!
//! let request = parse(br#"{"node":{"role":"user","content":"Will it rain in Oslo?"}}"#)?;
//! let request = contextree_json::from_value(request)?;
//! let added = command::add(&workspace, &request, &control)?;
//! assert_eq!(added.id, "block:1.1");
//!
//! let report = command::commit(&workspace, &Default::default(), &control)?.report;
//! assert_eq!(wire::to_value(&report).get("cycle"), Some(&1.into()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | room | what |
//! |---|---|
//! | [`mod@command`] | one file per command: request, response, function |
//! | [`catalog`] | every command as data, for doors that offer all of them |
//! | [`record`] | calls of other programs, recorded while they are made |
//! | [`wire`] | the JSON of operations, nodes, reports, diffs, findings and errors, and its schema |
//! | `workspace` | stores and documents: opening, addresses of states, changes, dry runs |
//! | `error` | codes, messages, details and hints |
//! | `control` | cancellation and progress |

#![forbid(unsafe_code)]

pub mod catalog;
pub mod command;
mod control;
mod error;
pub mod record;
pub mod wire;
mod workspace;

pub use control::{Cancel, Control, Limits, Progress};
pub use error::{Advice, Error, Hint};
pub use wire::Document;
pub use workspace::{
    Address, Change, CompareError, Compared, InvalidAddress, MOST_OF_A_FILE, MOST_OF_A_STREAM,
    Names, Range, Source, StateRef, Watch, Workspace, read_within,
};
