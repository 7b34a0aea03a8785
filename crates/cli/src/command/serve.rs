//! `ctx serve`: the HTTP server.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use contextree::SystemClock;
use contextree_app::Workspace;
use contextree_server::shell::{Tokens, read_secret, token_in};
use contextree_server::{Config, run as run_server};
use tracing_subscriber::filter::LevelFilter;

use super::Call;
use crate::environment::variable;
use crate::error::{Exit, Failure};
use crate::output::Format;

/// Where a server listens if nothing else is said.
pub(super) const ADDRESS: &str = "127.0.0.1:8377";

/// Serve the store over HTTP
///
/// Every command is a route with the same JSON, changes are sent as events, and `/` is the page that `ctx ui` opens; `/docs` describes
/// all routes. Callers need a token: the one in the token file, which is created if it is missing, or one of the file of named tokens.
/// The server listens on this machine only, unless told otherwise. It ends with Ctrl-C, and finishes what it has begun.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx serve
  ctx serve --read-only --listen 127.0.0.1:0
  ctx serve --listen 0.0.0.0:8377 --host ctx.example.org:8377 --tokens tokens.toml
  ctx serve --public-url https://example.org/ctx        with a reverse proxy")]
pub(crate) struct Args {
    /// The address to listen on; port 0 takes one that is free
    #[arg(long, value_name = "ADDR", default_value = ADDRESS)]
    listen: SocketAddr,

    /// The file with the token that may do everything; created if it is missing [default: `token` in the state directory of the user]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// A file with named tokens, each limited to a right and to prefixes of names
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,

    /// Refuse every change
    #[arg(long)]
    read_only: bool,

    /// A name, with its port, that callers use for this server; needed for every address but loopback
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,

    /// The URL that callers use, if a reverse proxy is in between
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,

    /// An origin of another site whose pages may call this server
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,

    #[command(flatten)]
    limits: LimitOptions,

    /// The log on standard error
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log: LogFormat,
}

/// How much a caller may ask for.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct LimitOptions {
    /// The largest body of a request, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64)]
    max_body: usize,

    /// The longest time of a command, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    max_time: u64,

    /// The most nodes, rows or entries of a response
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    max_results: usize,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LogFormat {
    /// A line of text for each request.
    Text,
    /// A JSON object for each request.
    Json,
    /// Nothing.
    Off,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    start_log(args.log);
    let mut tokens = Tokens::new(args.read_only);
    let mut config = Config::new(args.listen, Tokens::new(args.read_only));
    args.limits.apply(&mut config);
    // With a file of named tokens, one that may do everything is not made unasked.
    let owner = match (&args.token_file, &args.tokens) {
        (Some(path), _) => Some(path.clone()),
        (None, Some(_)) => None,
        (None, None) => Some(usual_token_file()?),
    };
    if let Some(path) = &owner {
        tokens.add_owner(&token_in(path)?, &config.limits)?;
    }
    if let Some(path) = &args.tokens {
        tokens.add_file(&path.display().to_string(), &read_secret(path)?, &config.limits)?;
    }
    config.tokens = tokens;
    config.hosts.clone_from(&args.host);
    config.public_url.clone_from(&args.public_url);
    config.origins.clone_from(&args.allow_origin);
    let workspace = stored(call)?;
    run_server(config, workspace, |address| ready(call, address, owner.as_deref()))?;
    Ok(Exit::Ok)
}

impl LimitOptions {
    /// Sets the limits of a server.
    pub(super) fn apply(&self, config: &mut Config) {
        config.limits.body = self.max_body << 20;
        config.limits.time = Duration::from_secs(self.max_time);
        config.limits.results = self.max_results;
    }
}

/// Returns the store that the options name, open, with the time of the system.
pub(super) fn stored(call: &Call<'_>) -> Result<Workspace, Failure> {
    let clock = Arc::new(SystemClock);
    Workspace::at(&call.global.store)
        .with_tenant(call.global.tenant.clone())
        .with_context(&call.global.context)
        .with_clock(clock)
        .opened()
}

/// Says where the server is. The token itself is never printed.
fn ready(call: &Call<'_>, address: SocketAddr, token: Option<&Path>) -> Result<(), Failure> {
    let url = format!("http://{address}/");
    let token = token.map(|token| token.display().to_string());
    if call.output.format() != Format::Human {
        let form = contextree::json::Object::from_iter([
            ("url", contextree::json::Value::from(url)),
            ("token_file", token.map_or(contextree::json::Value::Null, Into::into)),
        ]);
        let line = contextree::json::Value::Object(form).to_canonical();
        return call.output.say_data(&String::from_utf8_lossy(&line));
    }
    call.output.say_data(&format!("serving {} at {url}", call.global.shown_store()))?;
    if let Some(token) = token {
        call.output.say(&format!("the token is in {token}; the page asks for it once"));
    }
    Ok(())
}

fn start_log(format: LogFormat) {
    let log = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(LevelFilter::INFO)
        .with_target(false);
    // It fails if the program has a log already, as in tests.
    let _ = match format {
        LogFormat::Text => log.with_ansi(false).try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
        LogFormat::Off => Ok(()),
    };
}

/// Returns the usual token file, in the directory where programs of a user keep their state.
pub(super) fn usual_token_file() -> Result<PathBuf, Failure> {
    Ok(state_folder()?.join("token"))
}

/// Returns the directory where this program keeps its state.
pub(super) fn state_folder() -> Result<PathBuf, Failure> {
    let state = variable("XDG_STATE_HOME")
        .or_else(|| variable("LOCALAPPDATA"))
        .map(PathBuf::from)
        .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".local/state")));
    state.map(|state| state.join("contextree")).ok_or_else(|| {
        Failure::usage("no directory for the token file is known")
            .with_hint("set `HOME`, or name a file with `ctx serve --token-file`")
    })
}
