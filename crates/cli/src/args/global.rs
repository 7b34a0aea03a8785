//! Options that every command has.

use clap::parser::ValueSource;
use clap::{Args, ValueEnum};
use contextree::Edition;
use contextree::store::{Tenant, display_url};

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Where the name of the context comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NamedBy {
    /// Nothing names one.
    #[default]
    Default,
    /// The option `-c`.
    Option,
    /// The variable `CONTEXTREE_CONTEXT`.
    Environment,
    /// The file `.contextree` of the working directory.
    File,
}

/// Options that every command has.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The store: `sqlite:PATH`, `postgres://…`, or `memory:`
    #[arg(
        long,
        global = true,
        env = "CONTEXTREE_STORE",
        hide_env_values = true,
        value_name = "URL",
        value_parser = store,
        default_value = "sqlite:contextree.db",
        hide_short_help = true
    )]
    pub(crate) store: String,

    /// Open the store for one tenant: only contexts whose names begin with PREFIX exist, such as `team-a/`
    #[arg(
        long,
        global = true,
        env = "CONTEXTREE_TENANT",
        hide_env_values = true,
        value_name = "PREFIX",
        value_parser = tenant,
        hide_short_help = true
    )]
    pub(crate) tenant: Option<Tenant>,

    /// The context in the store [default: that of `ctx switch`, or main]
    #[arg(
        short,
        long,
        global = true,
        env = "CONTEXTREE_CONTEXT",
        hide_env_values = true,
        value_name = "NAME",
        default_value = "main",
        hide_default_value = true,
        hide_short_help = true
    )]
    pub(crate) context: String,

    /// Where the name of the context comes from.
    #[arg(skip)]
    pub(crate) named_by: NamedBy,

    /// All arguments as they were given, without the name of the program: to repeat the command in a hint.
    #[arg(skip)]
    pub(crate) words: Vec<String>,

    /// Read this file instead of a store: a snapshot, a history (JSON Lines) or a fixture
    /// `{"snapshots":[…],"working":…}`; `-` is standard input
    #[arg(short, long, global = true, value_name = "FILE", hide_short_help = true)]
    pub(crate) file: Option<String>,

    /// The edition of selectors: 0.1, 0.2 or 0.3 [default: that of the context, 0.3 for files]
    #[arg(
        long,
        global = true,
        value_name = "EDITION",
        value_parser = edition,
        hide_short_help = true
    )]
    pub(crate) edition: Option<Edition>,

    /// Print one JSON document
    #[arg(long, global = true, conflicts_with = "jsonl", hide_short_help = true)]
    pub(crate) json: bool,

    /// Print JSON Lines: one document per line
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) jsonl: bool,

    /// When to use colour
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_short_help = true,
        hide_possible_values = true
    )]
    pub(crate) color: ColorWhen,

    /// Print long output directly
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_pager: bool,

    /// The time, in nanoseconds since 1970, for scripts and tests that must print the same every time
    #[arg(
        long,
        global = true,
        hide = true,
        env = "CONTEXTREE_NOW",
        value_name = "NANOSECONDS",
        allow_negative_numbers = true
    )]
    pub(crate) now: Option<i64>,
}

impl Global {
    /// Returns the URL of the store as it may be printed, without its password.
    pub(crate) fn shown_store(&self) -> String {
        display_url(&self.store)
    }

    /// Notes where the name of the context comes from. A file of the directory names it unless an option or a variable does.
    pub(crate) fn choose_context(&mut self, source: Option<ValueSource>, file: Option<String>) {
        self.named_by = match (source, file) {
            (Some(ValueSource::CommandLine), _) => NamedBy::Option,
            (Some(ValueSource::EnvVariable), _) => NamedBy::Environment,
            (_, Some(name)) => {
                self.context = name;
                NamedBy::File
            }
            _ => NamedBy::Default,
        };
        // Every tenant has a default context of its own.
        if let (NamedBy::Default, Some(tenant)) = (self.named_by, &self.tenant) {
            self.context = format!("{}{}", tenant.prefix(), self.context);
        }
    }
}

/// Refuses a URL without a path; what else is wrong with one is reported when the store is opened.
fn store(text: &str) -> Result<String, String> {
    match text {
        "sqlite:" => {
            Err("the path is missing; write for example `sqlite:contextree.db`".to_owned())
        }
        _ => Ok(text.to_owned()),
    }
}

fn tenant(text: &str) -> Result<Tenant, String> {
    Tenant::new(text).map_err(|error| error.to_string())
}

fn edition(text: &str) -> Result<Edition, String> {
    text.parse().map_err(|error: contextree::selector::UnknownEdition| error.to_string())
}
