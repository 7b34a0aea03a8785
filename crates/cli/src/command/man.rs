//! `ctx man`: manual pages.

use std::path::Path;

use super::Call;
use crate::error::{self, Exit, Failure};

/// Print a manual page, or write all of them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx man | man -l -
  ctx man diff | man -l -
  ctx man --all ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// The command [default: the page of `ctx` itself]
    command: Option<String>,

    /// Write every page into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    all: Option<String>,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    // The page of `ctx` lists the commands; the template of the help page is for terminals.
    let mut root = crate::command().help_template("{all-args}");
    root.build();
    if let Some(directory) = &args.all {
        let fail = |error: std::io::Error| Failure::io(directory, error);
        std::fs::create_dir_all(directory).map_err(fail)?;
        let mut pages = 0;
        for (name, page) in pages_of(&root)? {
            std::fs::write(Path::new(directory).join(name), page).map_err(fail)?;
            pages += 1;
        }
        call.output.note(&format!("wrote {pages} pages to {directory}"));
        return Ok(Exit::Ok);
    }
    let command = match &args.command {
        None => root,
        Some(name) => find(&root, name)?.clone(),
    };
    call.output.bytes(&page(command)?);
    Ok(Exit::Ok)
}

fn pages_of(root: &clap::Command) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let mut pages = vec![("ctx.1".to_owned(), page(root.clone())?)];
    for command in root.get_subcommands() {
        pages.push((format!("ctx-{}.1", command.get_name()), page(command.clone())?));
    }
    Ok(pages)
}

fn page(command: clap::Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    // The day of a page is left out: the same program prints the same page.
    let source = concat!("ctx ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command)
        .date("")
        .source(source)
        .manual("Contextree")
        .render(&mut page)
        .map_err(error::output)?;
    Ok(page)
}

/// Returns a command by its name.
pub(super) fn find<'c>(root: &'c clap::Command, name: &str) -> Result<&'c clap::Command, Failure> {
    if let Some(command) = root.find_subcommand(name) {
        return Ok(command);
    }
    let names: Vec<&str> = root.get_subcommands().map(clap::Command::get_name).collect();
    let failure = Failure::usage(format!("there is no command `{name}`"));
    Err(match contextree::selector::closest(name, &names) {
        Some(near) => failure.with_hint(format!("did you mean `{near}`?")),
        None => failure.with_hint("`ctx help` lists the commands"),
    })
}
