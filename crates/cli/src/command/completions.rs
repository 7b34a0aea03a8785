//! `ctx completions`: what a shell needs to complete commands and options.

use clap_complete::Shell;

use super::Call;
use crate::error::{Exit, Failure};

/// Print the completions of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx completions bash > ~/.local/share/bash-completion/completions/ctx
  ctx completions zsh > ~/.zfunc/_ctx
  ctx completions fish > ~/.config/fish/completions/ctx.fish")]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::command(), "ctx", &mut script);
    call.output.bytes(&script);
    Ok(Exit::Ok)
}
