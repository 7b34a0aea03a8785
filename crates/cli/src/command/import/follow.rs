//! `ctx import --follow`: imports a log while another program writes it.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use contextree::SystemClock;
use contextree_app::Control;
use contextree_app::command::import::{self, ImportRequest};

use super::{Call, number};
use crate::error::{Exit, Failure};
use crate::output::text::count;
use crate::source::{open, place};

/// How long to wait before looking at the log again.
const INTERVAL: Duration = Duration::from_millis(250);

/// Follows a log until the process is asked to end.
pub(super) fn run(
    document: &str,
    request: &ImportRequest,
    name: &str,
    call: &mut Call<'_>,
) -> Result<Exit, Failure> {
    let (sender, ends) = channel();
    // The handler can be set once per process, and a process follows one log.
    ctrlc::set_handler(move || {
        // If nothing receives it, the import has ended already.
        let _ = sender.send(());
    })
    .map_err(|error| Failure::io("signals", std::io::Error::other(error)))?;
    let workspace = call.store().with_context(name).with_clock(Arc::new(SystemClock));
    let mut waits = false;
    let (first, mut log) = loop {
        let begun = call.on(&workspace, |workspace, control| {
            import::follow(workspace, request, || open(document), control)
        })?;
        if let Some(begun) = begun {
            break begun;
        }
        if !std::mem::replace(&mut waits, true) {
            let text = format!("waiting for the first message of {}", place(document));
            call.output.say(&text);
        }
        if ends.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout) {
            return Ok(Exit::Ok);
        }
    };
    super::tell(&first, place(document), call);
    call.output.say(&format!(
        "{} in `{name}`; following {}, Ctrl-C ends it",
        count(first.snapshots, "snapshot"),
        place(document),
    ));
    let control = Control::default();
    let (mut calls, mut messages) = (0, 0);
    let mut is_ending = false;
    loop {
        if let Some(added) = log.look(&control)? {
            (calls, messages) = (calls + added.calls, messages + added.messages);
            call.output.say(&format!(
                "{} and {} added",
                number(added.calls, "call"),
                number(added.messages, "message"),
            ));
        } else if is_ending {
            break;
        }
        // The second look after the end stores what only the end of the log decides.
        is_ending = is_ending || ends.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Timeout);
    }
    call.output.note(&format!(
        "{} and {} added while following",
        number(calls, "call"),
        number(messages, "message"),
    ));
    Ok(Exit::Ok)
}
