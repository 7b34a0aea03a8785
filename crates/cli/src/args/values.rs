//! Addresses of states and sizes, as they are written on the command line.

use contextree_app::{Address, InvalidAddress, Range};

use crate::output::text::argument;

/// Reads `@`, `@t0`, `@t-3`, `@c12` or `12`.
pub(crate) fn parse_address(text: &str) -> Result<Address, String> {
    text.parse().map_err(|error: InvalidAddress| match of_other_context(text) {
        Some((context, at)) => {
            let context = argument(context);
            format!("it is a state of another context; write the two separately: `-c {context}` and `{at}`")
        }
        None => error.to_string().replacen(": write ", "; write ", 1),
    })
}

/// Returns the context and the state of `alt@t0`, an address that only some commands read.
pub(crate) fn of_other_context(text: &str) -> Option<(&str, &str)> {
    let at = text.find('@').filter(|at| *at > 0)?;
    let (context, state) = text.split_at(at);
    state.parse::<Address>().is_ok().then_some((context, state))
}

/// Reads `A..B`, or a single address.
pub(crate) fn parse_range(text: &str) -> Result<Range, String> {
    text.parse().map_err(|error: InvalidAddress| error.to_string())
}

/// Reads a number that may end with a unit: `10k` is 10,000, `1.5M` is 1,500,000, `8Ki` is 8,192.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    contextree::budget::parse_size(text).ok_or_else(|| {
        format!("`{text}` is not a size; write for example `8000`, `10k`, `1.5M` or `8Ki`")
    })
}

#[cfg(test)]
mod tests {
    use super::{of_other_context, parse_address, parse_size};

    #[test]
    fn a_state_of_another_context_is_recognized() {
        assert_eq!(of_other_context("alt@t0"), Some(("alt", "@t0")));
        assert_eq!(of_other_context("team-a/x@c12"), Some(("team-a/x", "@c12")));
        assert_eq!(of_other_context("alt@"), Some(("alt", "@")));
        for text in ["@t0", "block:1.1", "me@example.org", "alt", ""] {
            assert_eq!(of_other_context(text), None, "{text}");
        }
        let refused = parse_address("main@c1").expect_err("it is refused");
        assert!(refused.ends_with("`-c main` and `@c1`"), "{refused}");
    }

    #[test]
    fn sizes_have_units() {
        for (text, size) in [
            ("0", 0),
            ("8000", 8_000),
            ("10k", 10_000),
            ("10K", 10_000),
            ("1.5M", 1_500_000),
            ("8Ki", 8_192),
            ("1.5KiB", 1_536),
            ("20kB", 20_000),
        ] {
            assert_eq!(parse_size(text), Ok(size), "{text}");
        }
        for text in ["", "k", "10x", "-1", "1.5", "ten", "99999999999999999999", ".5k", "1.k5"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
