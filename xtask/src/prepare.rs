//! Packages that tests need: Python environments and npm packages, all below `target/` and `inspector/node_modules`.
//!
//! `cargo xtask test` installs them while cargo compiles. Every chore also installs what it needs itself.

use std::path::Path;

use crate::record::{self, Packages, node, python};
use crate::test::say;
use crate::{adapters, hostile, inspector, mcp, providers, tokens};

/// Installs what is missing.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    providers::install(root)?;
    tokens::install(root)?;
    hostile::install(root)?;
    crate::python::tools(root)?;
    for (packages, programs) in [(record::PACKAGES, "node"), (mcp::PACKAGES, "suite")] {
        let place = Packages::new(root, packages)?;
        python(&place, "python")?;
        node(&place, programs)?;
    }
    adapters::install(root)?;
    inspector::install(root)?;
    say("all packages are installed");
    Ok(())
}
