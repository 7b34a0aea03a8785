//! Tokens: who calls, and what they may do.

use std::sync::Arc;

use contextree_app::catalog::Right;
use contextree_app::{Error, Names};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

use super::limits::Limits;
use super::pool::Lane;

/// The shortest token that is accepted. A token is not a password: it is drawn, not chosen.
const SHORTEST: usize = 20;

/// Who calls, and what they may do.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The name of the token, for logs.
    pub name: Arc<str>,
    /// What the caller may do.
    pub right: Right,
    /// Which contexts exist for the caller.
    pub names: Names,
    /// What the caller's commands may take of the pool.
    pub lane: Arc<Lane>,
}

/// The tokens that a server accepts.
#[derive(Debug)]
pub struct Tokens {
    entries: Vec<Entry>,
    /// The most that anyone may do, whatever the token says.
    most: Right,
}

struct Entry {
    /// The hash of the token.
    token: [u8; 32],
    /// The hash of the value of the cookie.
    cookie: [u8; 32],
    /// The value of the cookie.
    value: String,
    identity: Identity,
}

/// Without secrets, so that a log never has one.
impl std::fmt::Debug for Entry {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Entry").field("identity", &self.identity).finish_non_exhaustive()
    }
}

/// One entry of a file of tokens.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    /// The token.
    token: Option<String>,
    /// Its SHA-256 in hexadecimal digits, instead of the token.
    sha256: Option<String>,
    right: Right,
    /// Prefixes of the names of contexts; all contexts if it is absent.
    contexts: Option<Vec<String>>,
}

impl Tokens {
    /// Returns no token at all.
    #[must_use]
    pub fn new(read_only: bool) -> Tokens {
        Tokens { entries: Vec::new(), most: if read_only { Right::Read } else { Right::Admin } }
    }

    /// Adds a token that may do everything with all contexts.
    ///
    /// # Errors
    ///
    /// If it is too short.
    pub fn add_owner(&mut self, token: &str, limits: &Limits) -> Result<(), Error> {
        let form = Form {
            token: Some(token.to_owned()),
            sha256: None,
            right: Right::Admin,
            contexts: None,
        };
        self.add("owner", &form, limits)
    }

    /// Adds the tokens of a file, a table for each:
    ///
    /// ```toml
    /// [acme]
    /// token = "ctx_…"            # or sha256 = "…"
    /// right = "write"            # read, write or admin
    /// contexts = ["acme/"]       # only names that begin with it; absent: all
    /// ```
    ///
    /// # Errors
    ///
    /// If the text is not such a file, or a token is too short or occurs twice. Messages never quote a token.
    pub fn add_file(&mut self, name: &str, text: &str, limits: &Limits) -> Result<(), Error> {
        // Messages of the parser may quote a token, so only the place is reported.
        let table: toml::Table = toml::from_str(text).map_err(|error: toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
            Error::usage(format!("{name}: line {line} is not TOML"))
        })?;
        for (token, entry) in table {
            let form: Form = entry.try_into().map_err(|_: toml::de::Error| {
                Error::usage(format!("{name}: [{token}] is not a token")).with_hint(
                    "a token has `token` or `sha256`, `right` (`read`, `write`, `admin`), and `contexts` if it is limited",
                )
            })?;
            self.add(&token, &form, limits)
                .map_err(|error| Error::usage(format!("{name}: [{token}]: {error}")))?;
        }
        Ok(())
    }

    fn add(&mut self, name: &str, form: &Form, limits: &Limits) -> Result<(), Error> {
        let (token, value) = match (&form.token, &form.sha256) {
            (Some(token), None) if token.len() < SHORTEST => {
                let message = format!("a token has at least {SHORTEST} characters");
                return Err(Error::usage(message).with_hint("draw at least 20 random characters"));
            }
            // The cookie follows from the token, so that it outlives a restart; but not the token from the cookie.
            (Some(token), None) => {
                (hash(&[token.as_bytes()]), hash(&[b"cookie\0", token.as_bytes()]))
            }
            // Who knows only the hash must not be able to compute the cookie.
            (None, Some(digits)) => {
                let token = from_hex(digits)
                    .ok_or_else(|| Error::usage("`sha256` has 64 hexadecimal digits"))?;
                (token, hash(&[&random()?, &token]))
            }
            _ => return Err(Error::usage("either `token` or `sha256` is needed")),
        };
        if self.entries.iter().any(|entry| entry.token == token) {
            return Err(Error::usage("the same token occurs twice"));
        }
        let value = to_hex(&value);
        let names = form.contexts.clone().map_or(Names::all(), Names::beginning_with);
        let lane = Arc::new(Lane::new(limits));
        let right = form.right.min(self.most);
        let identity = Identity { name: name.into(), right, names, lane };
        self.entries.push(Entry { token, cookie: hash(&[value.as_bytes()]), value, identity });
        Ok(())
    }

    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns who has a token, and the value of their cookie.
    #[must_use]
    pub fn by_token(&self, token: &str) -> Option<(&Identity, &str)> {
        let given = hash(&[token.as_bytes()]);
        self.find(|entry| entry.token.ct_eq(&given)).map(|entry| (&entry.identity, &*entry.value))
    }

    /// Returns who has a cookie.
    #[must_use]
    pub fn by_cookie(&self, value: &str) -> Option<&Identity> {
        let given = hash(&[value.as_bytes()]);
        self.find(|entry| entry.cookie.ct_eq(&given)).map(|entry| &entry.identity)
    }

    /// Compares with all entries, so that the time does not tell which one it was. Hashes are compared, so that it does not tell how
    /// much of a token is right either.
    fn find(&self, is_equal: impl Fn(&Entry) -> Choice) -> Option<&Entry> {
        let mut found = None;
        for entry in &self.entries {
            if bool::from(is_equal(entry)) {
                found = Some(entry);
            }
        }
        found
    }
}

/// Returns a new token: 256 random bits.
///
/// # Errors
///
/// If the system has no random bytes.
pub(super) fn draw() -> Result<String, Error> {
    Ok(format!("ctx_{}", to_hex(&random()?)))
}

fn random() -> Result<[u8; 32], Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::new("E_IO", format!("no random bytes: {error}")))?;
    Ok(bytes)
}

fn hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

fn to_hex(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use contextree_app::catalog::Right;

    use super::{Limits, Tokens, draw, hash, to_hex};

    const FILE: &str =
        "[acme]\ntoken = 'ctx_0123456789abcdef'\nright = 'write'\ncontexts = ['acme/']\n";

    #[test]
    fn a_token_gives_its_right_and_a_cookie_that_is_not_the_token() {
        let mut tokens = Tokens::new(false);
        tokens.add_file("tokens.toml", FILE, &Limits::default()).expect("a valid file");
        let (identity, cookie) = tokens.by_token("ctx_0123456789abcdef").expect("it is known");
        assert_eq!((&*identity.name, identity.right), ("acme", Right::Write));
        assert!(identity.names.contains("acme/x") && !identity.names.contains("other"));
        assert!(tokens.by_cookie(cookie).is_some());
        assert!(
            tokens.by_token(cookie).is_none() && tokens.by_cookie("ctx_0123456789abcdef").is_none()
        );
        assert!(tokens.by_token("ctx_0123456789abcdee").is_none());
    }

    #[test]
    fn a_read_only_server_gives_no_one_more_than_reading() {
        let mut tokens = Tokens::new(true);
        let token = draw().expect("random bytes");
        tokens.add_owner(&token, &Limits::default()).expect("it is long enough");
        assert_eq!(tokens.by_token(&token).map(|(who, _)| who.right), Some(Right::Read));
    }

    #[test]
    fn the_cookie_of_a_hashed_token_does_not_follow_from_the_hash() {
        let digest = hash(&[b"ctx_0123456789abcdef"]);
        let file = format!("[a]\nsha256 = '{}'\nright = 'read'\n", to_hex(&digest));
        let cookie = || {
            let mut tokens = Tokens::new(false);
            tokens.add_file("tokens.toml", &file, &Limits::default()).expect("a valid file");
            tokens.by_token("ctx_0123456789abcdef").expect("it is known").1.to_owned()
        };
        assert_ne!(cookie(), cookie());
    }

    #[test]
    fn messages_about_a_file_never_quote_a_token() {
        for wrong in [
            "[a]\ntoken = 'ctx_secret_secret_secret'\nright = 'king'\n",
            "[a]\ntoken = 'ctx_secret_secret_secret\nright = 'read'\n",
            "[a]\ntoken = 'ctx_secret'\nright = 'read'\n",
            "[a]\ntoken = ['ctx_secret_secret_secret']\nright = 'read'\n",
            "a = 'ctx_secret_secret_secret'\n",
        ] {
            let error = Tokens::new(false)
                .add_file("tokens.toml", wrong, &Limits::default())
                .expect_err("it is invalid");
            assert!(!error.message().contains("secret"), "{error}");
        }
    }
}
