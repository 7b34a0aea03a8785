//! Hides the secrets in URLs and texts before they are shown.
//!
//! It works on text, not on parsed URLs: a URL that is misspelt may hold a password, too. Where it is unclear how far a
//! secret reaches, it hides more rather than less.

/// What stands for a secret.
const HIDDEN: &str = "…";

/// Names of parameters whose values are secrets, as in `password=…`.
const SECRET_NAMES: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "secret",
    "token",
    "sslkey",
    "apikey",
    "api_key",
    "auth",
    "credentials",
];

/// Returns the URL of a store as it may be shown: without its password.
///
/// ```
/// use contextree_store::display_url;
///
/// assert_eq!(display_url("postgres://me:hunter2@db/agents"), "postgres://me:…@db/agents");
/// assert_eq!(display_url("sqlite:/data/me@home.db"), "sqlite:/data/me@home.db");
/// ```
#[must_use]
pub fn display_url(url: &str) -> String {
    mask_parameters(&mask_account(url))
}

/// Returns the path of a file as it may be shown. A URL that was taken for a path may hold a password, also after its slashes were put
/// together: `/home/me/postgres:/user:hunter2@db`.
///
/// ```
/// use contextree_store::display_path;
///
/// assert_eq!(display_path("//me:hunter2@db/agents"), "//me:…@db/agents");
/// assert_eq!(display_path("/data/a:b@c.db"), "/data/a:b@c.db");
/// ```
#[must_use]
pub fn display_path(path: &str) -> String {
    let rest = match path.find(":/") {
        Some(at) => path[at + 1..].trim_start_matches('/'),
        None if path.starts_with("//") => path.trim_start_matches('/'),
        None => return mask_parameters(path),
    };
    let begin = &path[..path.len() - rest.len()];
    mask_parameters(&format!("{begin}{}", hide_password(rest).unwrap_or_else(|| rest.to_owned())))
}

/// Returns a text with the secrets of all URLs and parameters in it hidden: `://user:…@`, `password=…`.
#[must_use]
pub fn mask_secrets(text: &str) -> String {
    let words: String = mask_lines(text)
        .split_inclusive(is_delimiter)
        .map(|word| {
            let end = word.trim_end_matches(is_delimiter).len();
            format!("{}{}", mask_account(&word[..end]), &word[end..])
        })
        .collect();
    mask_parameters(&words)
}

/// Hides the password of each URL in a text: all from the account's `:` to the last `@` before the next URL or the end of the line, because a
/// password may contain blanks and quotes.
fn mask_lines(text: &str) -> String {
    let mask_line = |line: &str| {
        let mut parts = line.split("://");
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            out.push_str("://");
            out.push_str(&hide_password(part).unwrap_or_else(|| part.to_owned()));
        }
        out
    };
    text.split_inclusive('\n').map(mask_line).collect()
}

/// Returns `user:password@place` with the password hidden; `None` if there is none.
fn hide_password(text: &str) -> Option<String> {
    // A password may contain any character, also another `@`.
    let (account, place) = text.rsplit_once('@')?;
    let (user, _) = account.split_once(':')?;
    Some(format!("{user}:{HIDDEN}@{place}"))
}

/// Hides the password before the `@` of a URL, also of one that is misspelt: `postgres:me:hunter2@db`, `me:hunter2@db`.
fn mask_account(url: &str) -> String {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        // The path of a file may contain anything.
        None if url.starts_with("sqlite:") || url.starts_with("memory:") => return url.to_owned(),
        None => match url.split_once(':') {
            Some((scheme, rest)) if rest.contains(':') => (format!("{scheme}:"), rest),
            _ => (String::new(), url),
        },
    };
    hide_password(rest).map_or_else(|| url.to_owned(), |masked| format!("{scheme}{masked}"))
}

fn is_delimiter(character: char) -> bool {
    character.is_whitespace() || matches!(character, '`' | '"' | '\'')
}

fn mask_parameters(text: &str) -> String {
    // Lower case of ASCII letters only, so that offsets stay the same.
    let lower = text.to_ascii_lowercase();
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    while let Some(value) = next_secret(&lower, done) {
        let length = match text[value..].strip_prefix('\'') {
            // A value in quotes ends with the next one that is not escaped.
            Some(quoted) => 1 + end_of_quoted(quoted),
            None => text[value..]
                .find(|end: char| end.is_whitespace() || matches!(end, '&' | '`' | '"'))
                .unwrap_or(text.len() - value),
        };
        out.push_str(&text[done..value]);
        if length > 0 {
            out.push_str(HIDDEN);
        }
        done = value + length;
    }
    out.push_str(&text[done..]);
    out
}

/// Returns where the value of the next secret parameter begins.
fn next_secret(lower: &str, from: usize) -> Option<usize> {
    let value_after = |(at, name): (usize, &str)| {
        let after = lower[from + at + name.len()..].trim_start_matches(' ');
        let value = after.strip_prefix('=')?.trim_start_matches(' ');
        Some(lower.len() - value.len())
    };
    let values = SECRET_NAMES
        .iter()
        .filter_map(|name| lower[from..].match_indices(name).find_map(value_after));
    values.min()
}

fn end_of_quoted(quoted: &str) -> usize {
    let mut escaped = false;
    for (at, character) in quoted.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\'' => return at + 1,
            _ => {}
        }
    }
    quoted.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_spelling_of_a_url_shows_its_password() {
        for (url, shown) in [
            ("postgres://u:SECRET@h/d", "postgres://u:…@h/d"),
            ("postgre://u:SECRET@h:5432/d?schema=a", "postgre://u:…@h:5432/d?schema=a"),
            ("Postgres://u:SECRET@h,i/d", "Postgres://u:…@h,i/d"),
            ("postgres://u:SEC/R?E@T@h/d", "postgres://u:…@h/d"),
            ("postgres://h/d?password=SECRET&schema=a", "postgres://h/d?password=…&schema=a"),
            ("postgres://h/d?PassWord=SECRET", "postgres://h/d?PassWord=…"),
            ("postgres:u:SECRET@h/d", "postgres:u:…@h/d"),
            ("u:SECRET@h/d", "u:…@h/d"),
            ("host=h user=u password=SECRET dbname=d", "host=h user=u password=… dbname=d"),
            ("host=h password = 'SE CRET\\' x' dbname=d", "host=h password = … dbname=d"),
            ("postgres:host=h password=SECRET", "postgres:host=h password=…"),
            ("sqlite://u:SECRET@h/d", "sqlite://u:…@h/d"),
            ("sqlite:postgres://u:SECRET@h/d", "sqlite:postgres://u:…@h/d"),
            ("sqlite:x.db?pass=SECRET", "sqlite:x.db?pass=…"),
            ("postgres://u:S'E CRET@h/d", "postgres://u:…@h/d"),
            ("postgres://u@h/d", "postgres://u@h/d"),
            ("postgres://h:5432/d", "postgres://h:5432/d"),
            ("sqlite:/data/a:b@c.db", "sqlite:/data/a:b@c.db"),
            ("memory:", "memory:"),
            ("agent.db", "agent.db"),
        ] {
            assert_eq!(display_url(url), shown, "{url}");
            assert_eq!(display_url(shown), shown, "what is shown already stays");
        }
    }

    #[test]
    fn a_url_that_was_taken_for_a_path_shows_no_password() {
        for (path, shown) in [
            ("//u:SECRET@h/d", "//u:…@h/d"),
            ("postgres://u:SEC/RET@h/d", "postgres://u:…@h/d"),
            ("/home/me/postgres:/u:SECRET@h/d", "/home/me/postgres:/u:…@h/d"),
            ("x.db?pass=SECRET", "x.db?pass=…"),
            ("//server/share/a.db", "//server/share/a.db"),
            ("/data/a:b@c.db", "/data/a:b@c.db"),
        ] {
            assert_eq!(display_path(path), shown, "{path}");
        }
    }

    #[test]
    fn a_password_with_quotes_and_blanks_is_hidden_in_a_message() {
        for (text, shown) in [
            (
                "unexpected argument 'postgres://u:SE'CR ET@h/d' found",
                "unexpected argument 'postgres://u:…@h/d' found",
            ),
            (
                "one postgres://u:SE CRET@h and two: pg://v:SEC`RET@i\nme@home: ok",
                "one postgres://u:…@h and two: pg://v:…@i\nme@home: ok",
            ),
        ] {
            assert_eq!(mask_secrets(text), shown);
        }
    }

    #[test]
    fn urls_in_a_message_are_masked_and_the_rest_stays() {
        let text = "unexpected argument 'postgres://u:SECRET@h/d' found; see http://docs/a:b";
        let shown = "unexpected argument 'postgres://u:…@h/d' found; see http://docs/a:b";
        assert_eq!(mask_secrets(text), shown);
        assert_eq!(
            mask_secrets("`password=`, tokens and passwords"),
            "`password=`, tokens and passwords"
        );
    }
}
