//! The address of a store on a server, and everything that can be set by it.

use std::time::Duration;

use contextree_store::{Result, StoreError, display_url};
use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};

/// How far the server's certificate is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Not at all: the connection is encrypted, but the server is not authenticated (`sslmode=prefer` and `require`, as in libpq).
    Anybody,
    /// It must come from an authority that is known (`verify-ca`).
    Authority,
    /// It must also be for the host that was asked for (`verify-full`).
    Host,
}

/// Everything that is known before the first connection is made.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) config: Config,
    pub(crate) schema: String,
    pub(crate) trust: Trust,
    /// A file with the certificates of authorities; those of the system otherwise.
    pub(crate) authorities: Option<String>,
    pub(crate) pool_max: usize,
    pub(crate) pool_wait: Duration,
    pub(crate) statement_timeout: Duration,
    pub(crate) patience: Duration,
    pub(crate) relaxed: bool,
    pub(crate) notify: bool,
}

impl Options {
    /// Reads an address. Parameters that are not ours go to the client: `connect_timeout`, `application_name`, `target_session_attrs` …
    pub(crate) fn parse(url: &str) -> Result<Options> {
        let wrong = |message: String| StoreError::Url { url: display_url(url), message };
        let (address, query) = url.split_once('?').unwrap_or((url, ""));
        if !address.starts_with("postgres://") && !address.starts_with("postgresql://") {
            return Err(wrong("it does not begin with `postgres://`".to_owned()));
        }
        let mut ours = Own::default();
        let mut rest = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decode(value).ok_or_else(|| wrong(format!("`{pair}` is not UTF-8")))?;
            if !ours.take(name, &value).map_err(wrong)? {
                rest.push(pair);
            }
        }
        let mark = if rest.is_empty() { "" } else { "?" };
        let mut config: Config = format!("{address}{mark}{}", rest.join("&"))
            .parse()
            .map_err(|error: tokio_postgres::Error| wrong(crate::error::text(&error)))?;
        let query = format!("&{}", rest.join("&"));
        let given = |name: &str| query.contains(&format!("&{name}="));
        if !given("connect_timeout") {
            config.connect_timeout(Duration::from_secs(5));
        }
        if !given("application_name") {
            config.application_name("contextree");
        }
        if !given("keepalives_idle") {
            config.keepalives_idle(Duration::from_secs(30));
        }
        if !given("tcp_user_timeout") {
            config.tcp_user_timeout(ours.statement_timeout + GRACE);
        }
        // Of several servers the one that takes writes is meant.
        if config.get_hosts().len() > 1 && !given("target_session_attrs") {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        config.ssl_mode(ours.ssl_mode);
        Ok(Options {
            config,
            schema: ours.schema,
            trust: ours.trust,
            authorities: ours.authorities,
            pool_max: ours.pool_max,
            pool_wait: ours.pool_wait,
            statement_timeout: ours.statement_timeout,
            patience: ours.patience,
            relaxed: ours.relaxed,
            notify: ours.notify,
        })
    }

    /// Returns how long the client waits for the answer to a statement: longer than the server takes to give up.
    pub(crate) fn answer_timeout(&self) -> Duration {
        self.statement_timeout + GRACE
    }
}

/// How much longer the client waits than the server works.
const GRACE: Duration = Duration::from_secs(5);

struct Own {
    schema: String,
    ssl_mode: SslMode,
    trust: Trust,
    authorities: Option<String>,
    pool_max: usize,
    pool_wait: Duration,
    statement_timeout: Duration,
    patience: Duration,
    relaxed: bool,
    notify: bool,
}

impl Default for Own {
    fn default() -> Own {
        Own {
            schema: "contextree".to_owned(),
            ssl_mode: SslMode::Prefer,
            trust: Trust::Anybody,
            authorities: None,
            pool_max: 8,
            pool_wait: Duration::from_secs(10),
            statement_timeout: Duration::from_secs(30),
            patience: Duration::from_secs(5),
            relaxed: false,
            notify: true,
        }
    }
}

impl Own {
    /// Takes a parameter if it is ours.
    fn take(&mut self, name: &str, value: &str) -> Result<bool, String> {
        let one_of = |known: &str| format!("`{name}={value}`: expected one of {known}");
        let millis = || {
            value
                .parse()
                .map(Duration::from_millis)
                .map_err(|_| format!("`{name}={value}`: expected a number of milliseconds"))
        };
        match name {
            "schema" | "search_path" => self.schema = schema(value)?,
            "sslmode" => {
                (self.ssl_mode, self.trust) = match value {
                    "disable" => (SslMode::Disable, Trust::Anybody),
                    "prefer" => (SslMode::Prefer, Trust::Anybody),
                    "require" => (SslMode::Require, Trust::Anybody),
                    "verify-ca" => (SslMode::Require, Trust::Authority),
                    "verify-full" => (SslMode::Require, Trust::Host),
                    _ => {
                        return Err(one_of(
                            "`disable`, `prefer`, `require`, `verify-ca`, `verify-full`",
                        ));
                    }
                }
            }
            "sslrootcert" => self.authorities = (value != "system").then(|| value.to_owned()),
            "pool_max" => match value.parse() {
                Ok(number @ 1..) => self.pool_max = number,
                _ => return Err(format!("`{name}={value}`: expected a number of connections")),
            },
            "pool_wait_ms" => self.pool_wait = millis()?,
            "statement_timeout_ms" => self.statement_timeout = millis()?,
            "patience_ms" => self.patience = millis()?,
            "durability" => {
                self.relaxed = match value {
                    "full" => false,
                    "relaxed" => true,
                    _ => return Err(one_of("`full`, `relaxed`")),
                }
            }
            "notify" => {
                self.notify = match value {
                    "on" => true,
                    "off" => false,
                    _ => return Err(one_of("`on`, `off`")),
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A schema's name is written into every statement, so it is plain.
fn schema(value: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let fine = value.bytes().all(plain)
        && value.as_bytes().first().is_some_and(|first| !first.is_ascii_digit())
        && value.len() <= 48;
    if fine {
        Ok(value.to_owned())
    } else {
        Err(format!("the schema `{value}` is not of the form `[a-z_][a-z0-9_]*`, or too long"))
    }
}

/// Undoes percent encoding.
fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            out.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_sets_what_is_ours_and_leaves_the_rest_to_the_client() {
        let options = Options::parse(
            "postgres://me:secret@one,two:5433/store?schema=team_a&sslmode=verify-full&pool_max=3&connect_timeout=2&patience_ms=250",
        )
        .unwrap();
        assert_eq!(options.schema, "team_a");
        assert_eq!(options.trust, Trust::Host);
        assert_eq!(options.config.get_ssl_mode(), SslMode::Require);
        assert_eq!(options.pool_max, 3);
        assert_eq!(options.patience, Duration::from_millis(250));
        assert_eq!(options.config.get_connect_timeout(), Some(&Duration::from_secs(2)));
        assert_eq!(options.config.get_dbname(), Some("store"));
        assert_eq!(options.config.get_hosts().len(), 2);
        assert_eq!(options.config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
    }

    #[test]
    fn what_is_wrong_with_an_address_is_said_without_its_password() {
        let check = |url: &str, expected: &str| {
            let error = Options::parse(url).unwrap_err();
            assert_eq!(error.code(), "E_STORE_URL");
            let text = error.to_string();
            assert!(text.contains(expected), "{text}");
            assert!(!text.contains("secret"), "{text}");
        };
        check("mysql://x", "does not begin with `postgres://`");
        check("postgres://me:secret@host/db?schema=A;drop", "the schema `A;drop`");
        check("postgres://me:secret@host/db?sslmode=maybe", "`verify-full`");
        check("postgres://me:secret@host/db?pool_max=0", "a number of connections");
        check("postgres://me@host/db?password=secret&colour=red", "colour");
    }
}
