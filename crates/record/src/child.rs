//! The environment of a program that is started, and running it.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitStatus;

use contextree_app::Error;
use tokio::process::Command;

use crate::route::Upstreams;

/// The variables that name the base URL of an upstream.
const VARIABLES: [(&str, &str); 6] = [
    ("ANTHROPIC_BASE_URL", "anthropic"),
    ("ANTHROPIC_API_URL", "anthropic"),
    ("OPENAI_BASE_URL", "openai"),
    ("OPENAI_API_BASE", "openai"),
    ("GOOGLE_GEMINI_BASE_URL", "google"),
    ("GEMINI_API_BASE", "google"),
];

/// Variables that list the hosts which are called without a proxy.
const DIRECT: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// Uses the base URLs of the environment as upstreams: a program that is set up for a gateway still calls it.
///
/// # Errors
///
/// If one of them is not a base URL.
pub(crate) fn gateways(
    upstreams: &mut Upstreams,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(), Error> {
    // The first variable of an upstream counts.
    for (name, upstream) in VARIABLES.iter().rev() {
        if let Some(url) = variable(name).filter(|url| !url.is_empty()) {
            let set = upstreams.set(&format!("{upstream}={url}"));
            set.map_err(|error| Error::usage(format!("{name}: {}", error.message())))?;
        }
    }
    Ok(())
}

impl Upstreams {
    /// Uses the base URLs of an environment: a program that is set up for a gateway still calls it.
    ///
    /// # Errors
    ///
    /// If one of them is not a base URL.
    pub fn read_environment(
        &mut self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<(), Error> {
        gateways(self, variable)
    }
}

/// Returns the variables that lead a program to the proxy. `variable` reads the environment that it would have.
pub fn environment(
    address: SocketAddr,
    context: Option<&str>,
    variable: impl Fn(&str) -> Option<String>,
) -> Vec<(&'static str, String)> {
    let prefix = context.map(|name| format!("/p/{}", encoded(name))).unwrap_or_default();
    let base = |(name, upstream): (&'static str, &str)| {
        (name, format!("http://{address}{prefix}/{upstream}"))
    };
    let mut all: Vec<_> = VARIABLES.into_iter().map(base).collect();
    for name in DIRECT {
        let before = variable(name).filter(|hosts| !hosts.is_empty());
        let hosts = before.map_or_else(String::new, |hosts| format!("{hosts},"));
        all.push((name, format!("{hosts}127.0.0.1,localhost")));
    }
    all
}

/// Returns the command with the arguments that lead it to the proxy if it reads no variable: Codex takes its base URL from its
/// configuration only.
pub fn led(command: &[OsString], variables: &[(&'static str, String)]) -> Vec<OsString> {
    let mut led = command.to_vec();
    let is_codex = command
        .first()
        .is_some_and(|program| Path::new(program).file_stem().is_some_and(|stem| stem == "codex"));
    // Arguments of the caller decide.
    let is_led = |argument: &OsString| {
        let text = argument.to_string_lossy();
        text.contains("openai_base_url") || text.contains("model_provider")
    };
    let url = variables.iter().find(|(name, _)| *name == "OPENAI_BASE_URL");
    if let (true, false, Some((_, url))) = (is_codex, command.iter().any(is_led), url) {
        let setting = format!("openai_base_url=\"{url}\"");
        led.splice(1..1, [OsString::from("-c"), OsString::from(setting)]);
    }
    led
}

fn encoded(name: &str) -> String {
    percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC).to_string()
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The code that a shell would show: its own, or 128 and the number of the signal that ended it.
    pub code: u8,
}

/// Runs a program until it ends. Signals that ask this process to end are the program's: Ctrl-C reaches both, and SIGTERM is passed on.
///
/// # Errors
///
/// If it cannot be started.
pub async fn run_child(
    command: &[OsString],
    variables: &[(&'static str, String)],
) -> Result<Ended, Error> {
    let [program, arguments @ ..] = command else {
        return Err(Error::usage("no program is named"));
    };
    let place = program.to_string_lossy().into_owned();
    let mut child = Command::new(program)
        .args(arguments)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .spawn()
        .map_err(|error| Error::io(&place, error))?;
    let status = wait(&mut child).await.map_err(|error| Error::io(&place, error))?;
    Ok(Ended { code: code_of(status) })
}

#[cfg(unix)]
async fn wait(child: &mut tokio::process::Child) -> std::io::Result<ExitStatus> {
    use rustix::process::{Pid, Signal, kill_process};
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    loop {
        tokio::select! {
            status = child.wait() => return status,
            // The terminal has sent it to the program as well.
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {
                // It fails if the program has just ended.
                let _ = pid.map(|pid| kill_process(pid, Signal::TERM));
            }
        }
    }
}

#[cfg(not(unix))]
async fn wait(child: &mut tokio::process::Child) -> std::io::Result<ExitStatus> {
    loop {
        tokio::select! {
            status = child.wait() => return status,
            _ = tokio::signal::ctrl_c() => {}
        }
    }
}

fn code_of(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        if let Some(signal) = status.signal() {
            return u8::try_from(128 + signal).unwrap_or(u8::MAX);
        }
    }
    status.code().map_or(1, |code| u8::try_from(code).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_led_to_the_proxy_and_not_past_it() {
        let address = SocketAddr::from(([127, 0, 0, 1], 8378));
        let all = environment(address, Some("my run"), |name| {
            (name == "NO_PROXY").then(|| "example.org".to_owned())
        });
        let value = |name: &str| all.iter().find(|(it, _)| *it == name).map(|(_, it)| it.as_str());
        assert_eq!(value("ANTHROPIC_BASE_URL"), Some("http://127.0.0.1:8378/p/my%20run/anthropic"));
        assert_eq!(value("OPENAI_BASE_URL"), Some("http://127.0.0.1:8378/p/my%20run/openai"));
        assert_eq!(value("NO_PROXY"), Some("example.org,127.0.0.1,localhost"));
        assert_eq!(value("no_proxy"), Some("127.0.0.1,localhost"));
    }

    #[test]
    fn codex_is_led_by_its_configuration_unless_the_caller_says_otherwise() {
        let address = SocketAddr::from(([127, 0, 0, 1], 8378));
        let variables = environment(address, None, |_| None);
        let check = |given: &[&str], expected: &[&str]| {
            let given: Vec<OsString> = given.iter().map(Into::into).collect();
            assert_eq!(led(&given, &variables), expected);
        };
        let setting = "openai_base_url=\"http://127.0.0.1:8378/openai\"";
        check(&["/bin/codex", "exec", "hi"], &["/bin/codex", "-c", setting, "exec", "hi"]);
        let own = ["codex", "-c", "model_provider=\"own\""];
        check(&own, &own);
        check(&["claude", "-p", "hi"], &["claude", "-p", "hi"]);
    }

    #[test]
    fn gateways_of_the_environment_are_upstreams() {
        let mut upstreams = Upstreams::default();
        let gateway = |name: &str| (name == "OPENAI_BASE_URL").then(|| "http://gw/v1".to_owned());
        upstreams.read_environment(gateway).expect("it is a URL");
        let mut same = Upstreams::default();
        same.set("openai=http://gw/v1").expect("it is a URL");
        assert_eq!(upstreams, same);
    }
}
