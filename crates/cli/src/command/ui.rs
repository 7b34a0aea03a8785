//! `ctx ui`: the page that shows what the model saw.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use contextree::SystemClock;
use contextree_app::Workspace;
use contextree_app::command::import::{self, ImportRequest};
use contextree_server::shell::{Tokens, token_in, write_secret};
use contextree_server::{Config, run as run_server};

use super::Call;
use super::serve::{ADDRESS, state_folder, stored, usual_token_file};
use crate::error::{Exit, Failure};
use crate::source;

/// Open the page that shows what the model saw
///
/// Serves the store on this machine and opens the page in a browser, until Ctrl-C. With a file, a log of an agent or a request, the page
/// shows that file: it is imported into memory, and no store is touched.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx ui
  ctx ui session.jsonl            a log, without importing it into a store
  ctx ui --read-only --no-browser")]
pub(crate) struct Args {
    /// A log, a request, a snapshot or a history to show
    file: Option<String>,

    /// The address to listen on [default: 127.0.0.1:8377, or a free port]
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,

    /// Refuse every change
    #[arg(long)]
    read_only: bool,

    /// Print the address of the page, with the token, instead of opening it
    #[arg(long)]
    no_browser: bool,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let workspace = match &args.file {
        Some(file) => imported(file, call)?,
        None => stored(call)?,
    };
    let token = token_in(&usual_token_file()?)?;
    let mut tokens = Tokens::new(args.read_only);
    let listen = args.listen.unwrap_or_else(free_address);
    let mut config = Config::new(listen, Tokens::new(args.read_only));
    tokens.add_owner(&token, &config.limits)?;
    config.tokens = tokens;
    let name = workspace.context().to_owned();
    let mut redirect = None;
    run_server(config, workspace, |address| {
        let url = page_url(address, &name, args.file.is_some(), &token);
        if args.no_browser {
            return call.output.say_data(&url);
        }
        let path = state_folder()?.join(format!("open-{}.html", address.port()));
        redirect = Some(Redirect::new(path, &url)?);
        call.output.say(&format!("the page is at http://{address}/; Ctrl-C ends it"));
        let page = redirect.as_ref().map(|redirect| redirect.0.as_path());
        page.map_or(Ok(()), |page| open(page, address))
    })?;
    Ok(Exit::Ok)
}

/// Returns the address of the page. The token is in the part that a browser does not send: the page exchanges it for a cookie.
pub(super) fn page_url(
    address: SocketAddr,
    name: &str,
    shows_context: bool,
    token: &str,
) -> String {
    let context = match shows_context {
        true => format!("&context={}", encoded(name)),
        false => String::new(),
    };
    format!("http://{address}/#token={token}{context}")
}

fn encoded(name: &str) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(byte);
    let encode = |byte: u8| match is_plain(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    name.bytes().map(encode).collect()
}

/// A file that leads the browser to the page. The address with the token would be visible to all users as an argument of a program.
struct Redirect(PathBuf);

impl Redirect {
    fn new(path: PathBuf, url: &str) -> Result<Redirect, Failure> {
        // One of a program that was killed.
        let _ = fs::remove_file(&path);
        let page = format!(
            "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0; url={url}\"><title>Contextree</title>\n"
        );
        write_secret(&path, &page)?;
        Ok(Redirect(path))
    }
}

impl Drop for Redirect {
    fn drop(&mut self) {
        // If this fails, only its owner can read the file that stays.
        let _ = fs::remove_file(&self.0);
    }
}

fn open(page: &Path, address: SocketAddr) -> Result<(), Failure> {
    open::that_detached(page).map_err(|error| {
        Failure::io("the browser", error).with_hint(format!(
            "`ctx ui --no-browser` prints the address; the page is at http://{address}/"
        ))
    })
}

/// Returns the usual address, or one with a free port if another program listens there.
pub(super) fn free_address() -> SocketAddr {
    let usual: SocketAddr =
        ADDRESS.parse().unwrap_or_else(|_| SocketAddr::from(([127, 0, 0, 1], 0)));
    match std::net::TcpListener::bind(usual) {
        Ok(_) => usual,
        Err(_) => SocketAddr::new(usual.ip(), 0),
    }
}

/// Imports a file into a store in memory. The context is called like the file.
fn imported(file: &str, call: &Call<'_>) -> Result<Workspace, Failure> {
    let name = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or("main");
    let workspace = Workspace::at("memory:")
        .with_context(name)
        .with_edition(call.global.edition)
        .with_clock(Arc::new(SystemClock))
        .opened()?;
    let request = ImportRequest { keep_going: true, ..ImportRequest::default() };
    let source = source::open(file)?;
    let done = call.on(&workspace, |workspace, control| {
        import::import(workspace, &request, source, control)
    })?;
    for line in done.import.iter().flat_map(|report| &report.bad_lines) {
        call.output.warning(&line.message);
    }
    Ok(workspace)
}
