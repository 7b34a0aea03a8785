//! Measures the HTTP server.
#![expect(clippy::print_stdout, reason = "the program's output")]

use std::process::ExitCode;

use super::Common;
use crate::outcome::{finish, note};
use crate::{server, table};

pub(crate) fn run(common: &Common) -> ExitCode {
    let (rounds, requests) = if common.quick { (5, 50) } else { (21, 400) };
    let (contexts, clients) = if common.quick { (100, 100) } else { (1_000, 1_000) };
    let measured = (|| {
        Ok::<_, Box<dyn std::error::Error>>(vec![
            server::small_read(rounds, requests)?,
            server::heads(rounds, contexts)?,
            server::subscribers(clients)?,
        ])
    })();
    match measured {
        Ok(rows) => {
            println!("{}", table::markdown(&rows));
            let text = format!(
                "one commit reached {clients} clients in {:.1} ms",
                rows[2].nanoseconds.0 / 1e6
            );
            println!("{text}");
            finish(common, &rows, &[note(&text)])
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}
