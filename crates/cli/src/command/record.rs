//! `ctx record`: a proxy that keeps what an agent sends.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use contextree::SystemClock;
use contextree_app::Workspace;
use contextree_app::record::budget_of;
use contextree_record::{Config, Report, Upstreams, environment, led, run_child, start};
use contextree_server::Config as PageConfig;
use contextree_server::shell::{Tokens, token_in};
use tokio::runtime::Runtime;

use super::Call;
use super::commit::budget;
use super::serve::usual_token_file;
use super::ui::{free_address, page_url};
use crate::args::parse_size;
use crate::environment::variable;
use crate::error::{Exit, Failure};
use crate::output::Format;

/// Where the proxy listens if nothing else is said and no program is started.
const ADDRESS: &str = "127.0.0.1:8378";

/// The warning for a program that ended without a call.
const UNUSED: &str = "the program made no call through the proxy, so nothing was recorded; programs that do not read variables such as \
`OPENAI_BASE_URL` are set up with `ctx record --listen ADDR` and the base URL of the proxy";

/// Record what an agent sends, without changing it
///
/// Starts a program with base URLs that lead to a proxy on this machine, and passes its model calls on to the provider unchanged. Each
/// call becomes a snapshot of what was sent, with its answer, its usage and its timing. The exit code is the program's.
///
/// Without a program, the proxy serves agents that are already running, until Ctrl-C. Calls are recorded after they were delivered: if
/// that fails, there is a warning, and traffic continues. Credentials pass through and are never stored.
///
/// With a budget, requests that exceed it are pruned by the rules of `ctx commit` before they are sent: calls and their results together,
/// never the newest user message. What was removed stays removed, so that the provider's cache stays valid. The snapshot is what was sent.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx record -- claude
  ctx record -- python agent.py
  ctx record --listen 127.0.0.1:8378
  ctx record --max-tokens 100k -- claude                                prunes what is over the budget
  ctx record --upstream openai=http://localhost:11434/v1 -- python agent.py
  ANTHROPIC_BASE_URL=http://127.0.0.1:8378/anthropic claude             with `--listen`
  OPENAI_BASE_URL=http://127.0.0.1:8378/p/research/openai python a.py   into the context `research`")]
pub(crate) struct Args {
    /// The address to listen on, of this machine only [default: 127.0.0.1:8378; with a program, a free port]
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,

    /// Where calls are passed on to: `anthropic`, `openai`, `google`, `chatgpt`, or a name of your own, which begins the path
    #[arg(long, value_name = "NAME=URL")]
    upstream: Vec<String>,

    /// What new contexts are named after [default: the name of the program, or `agent`]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Record the calls of the program into this context, and those of its subagents into `NAME.2` and so on
    #[arg(long, value_name = "NAME")]
    into: Option<String>,

    /// Make calls wait for the store, and fail if they cannot be recorded
    #[arg(long)]
    strict: bool,

    /// Prune requests before they are sent: a budget in tokens, as TOML or JSON (see `ctx help budget`)
    #[arg(long, value_name = "FILE", conflicts_with = "max_tokens")]
    budget: Option<String>,

    /// Prune requests before they are sent: at most N tokens in each: 100k
    #[arg(long, value_name = "N", value_parser = parse_size)]
    max_tokens: Option<u64>,

    /// Serve the page that shows what the model saw, too, and print its address
    #[arg(long)]
    ui: bool,

    /// Write the line of each call to a file, so that it does not disturb a program that draws on the terminal
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// The program and its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let mut upstreams = Upstreams::default();
    upstreams.read_environment(variable)?;
    args.upstream.iter().try_for_each(|upstream| upstreams.set(upstream))?;
    let usual = || if args.program.is_empty() { ADDRESS } else { "127.0.0.1:0" };
    let listen = args.listen.unwrap_or_else(|| {
        usual().parse().unwrap_or_else(|_| SocketAddr::from(([127, 0, 0, 1], 0)))
    });
    let name = args.name.clone().unwrap_or_else(|| name_of(&args.program));
    let mut config = Config::new(listen, &name);
    config.upstreams = upstreams;
    config.strict = args.strict;
    let workspace = Workspace::at(&call.global.store)
        .with_tenant(call.global.tenant.clone())
        .with_context(&call.global.context)
        .with_edition(call.global.edition)
        .with_clock(Arc::new(SystemClock));
    let budget = budget::given(args.budget.as_deref(), args.max_tokens)?;
    config.budget = budget.map(|budget| budget_of(&budget, &workspace)).transpose()?;
    // The page and the recorder share one open store.
    let workspace = workspace.created()?;
    let lines = Lines::new(args.log.as_deref(), call.output.format())?;
    let has_calls = Arc::clone(&lines.has_calls);
    let runtime = Runtime::new().map_err(|error| Failure::io("the runtime", error))?;
    let done = runtime.block_on(async {
        let running = start(config, &workspace, lines.into_report()).await?;
        let page = match args.ui {
            true => Some(serve_page(&workspace, call).await?),
            false => None,
        };
        let address = running.address();
        let code = if args.program.is_empty() {
            ready(call, address)?;
            contextree_server::until_signal().await?;
            Exit::Ok
        } else {
            let variables = environment(address, args.into.as_deref(), variable);
            let ended = run_child(&led(&args.program, &variables), &variables).await;
            // Everything that was delivered is recorded, however the program ended.
            ended.map(|ended| Exit::Code(ended.code))?
        };
        running.stop().await;
        // Otherwise it would look as if the agent had been recorded.
        if !args.program.is_empty() && !has_calls.load(Ordering::Relaxed) {
            call.output.warning(UNUSED);
        }
        if let Some(page) = page {
            page.stop().await;
        }
        Ok(code)
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    done
}

/// Returns what contexts are named after: the program, or the script that an interpreter runs.
fn name_of(program: &[OsString]) -> String {
    let stem = |argument: &OsString| {
        Path::new(argument).file_stem().map(|stem| stem.to_string_lossy().into_owned())
    };
    let Some(first) = program.first().and_then(stem) else { return "agent".to_owned() };
    let interpreters = [
        "python", "python3", "node", "deno", "bun", "uv", "npx", "tsx", "ruby", "sh", "bash", "env",
    ];
    if !interpreters.contains(&first.as_str()) {
        return first;
    }
    let is_script = |argument: &&OsString| {
        let text = argument.to_string_lossy();
        !text.starts_with('-')
            && !matches!(&*text, "run" | "exec")
            && !text.contains([' ', '\n', '='])
    };
    program[1..].iter().find(is_script).and_then(stem).unwrap_or(first)
}

/// Says where the proxy is.
fn ready(call: &Call<'_>, address: SocketAddr) -> Result<(), Failure> {
    let url = format!("http://{address}");
    if call.output.format() != Format::Human {
        let form =
            contextree::json::Object::from_iter([("url", contextree::json::Value::from(url))]);
        let line = contextree::json::Value::Object(form).to_canonical();
        return call.output.say_data(&String::from_utf8_lossy(&line));
    }
    call.output.say_data(&format!("recording into {} at {url}", call.global.shown_store()))?;
    call.output.say(&format!(
        "base URLs: {url}/anthropic, {url}/openai, {url}/google; {url}/p/NAME/openai records into the context NAME"
    ));
    Ok(())
}

/// Starts the page.
async fn serve_page(
    workspace: &Workspace,
    call: &Call<'_>,
) -> Result<contextree_server::Running, Failure> {
    let token = token_in(&usual_token_file()?)?;
    let mut config = PageConfig::new(free_address(), Tokens::new(true));
    let mut tokens = Tokens::new(true);
    tokens.add_owner(&token, &config.limits)?;
    config.tokens = tokens;
    let running = contextree_server::start(config, workspace.clone()).await?;
    call.output.say(&format!("the page is at {}", page_url(running.address(), "", false, &token)));
    Ok(running)
}

/// Where the line of each call is written.
struct Lines {
    file: Option<File>,
    is_json: bool,
    /// Whether there was a call, recorded or not.
    has_calls: Arc<AtomicBool>,
}

impl Lines {
    fn new(file: Option<&Path>, format: Format) -> Result<Lines, Failure> {
        let open = |path: &Path| {
            let opened = File::options().create(true).append(true).open(path);
            opened.map_err(|error| Failure::io(&path.display().to_string(), error))
        };
        let (file, is_json) = (file.map(open).transpose()?, format != Format::Human);
        Ok(Lines { file, is_json, has_calls: Arc::default() })
    }

    fn into_report(mut self) -> impl FnMut(Report) + Send + 'static {
        move |report| {
            self.has_calls.store(true, Ordering::Relaxed);
            let line = match &report {
                Report::Call(line) if self.is_json => {
                    String::from_utf8_lossy(&line.to_value().to_canonical()).into_owned()
                }
                Report::Call(line) => line.to_string(),
                Report::NotRecorded(why) => format!("warning: not recorded: {why}"),
                Report::NotExact(why) | Report::NotPruned(why) | Report::OverBudget(why) => {
                    format!("warning: {why}")
                }
                _ => return,
            };
            // A log that cannot be written must not end the traffic.
            let _ = match &mut self.file {
                Some(file) => writeln!(file, "{line}"),
                None => writeln!(std::io::stderr(), "{line}"),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_named_after_the_program_or_its_script() {
        let check = |program: &[&str], name: &str| {
            let program: Vec<OsString> = program.iter().map(Into::into).collect();
            assert_eq!(name_of(&program), name);
        };
        check(&["claude", "-p", "hi"], "claude");
        check(&["/usr/bin/python3", "-u", "tools/agent.py", "x"], "agent");
        check(&["uv", "run", "agent.py"], "agent");
        check(&["python3", "-c", "import x"], "python3");
        check(&[], "agent");
    }
}
