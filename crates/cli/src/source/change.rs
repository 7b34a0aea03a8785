//! Options of every command that changes a context.

use contextree_app::Change;

/// Options of every command that changes a context.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ChangeOptions {
    /// Report what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Only if the newest snapshot is that of commit N (0: there is none); otherwise exit with 4
    #[arg(long, value_name = "N")]
    if_head: Option<u32>,
}

impl ChangeOptions {
    /// Returns the options for a request.
    pub(crate) fn to_change(self) -> Change {
        Change { dry_run: self.dry_run, if_head: self.if_head }
    }
}
