//! Which encodings of a response a caller takes, as far as the layer that compresses does not decide it well.

use axum::http::{HeaderMap, HeaderValue, header};

/// What is put first if a caller refuses responses that are not encoded: they are the last resort, but possible.
const PLAIN: &str = "identity;q=0.001";

/// Lets a response be plain for a caller who takes none of the encodings that there are. The layer that compresses would turn it into a
/// 406 afterwards, when a change has been made already.
pub(super) fn allow_plain(headers: &mut HeaderMap) {
    let given = || headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut items = given().filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(','));
    if !items.any(refuses_plain) {
        return;
    }
    let lines: Vec<&str> =
        [PLAIN].into_iter().chain(given().filter_map(|line| line.to_str().ok())).collect();
    if let Ok(value) = HeaderValue::from_str(&lines.join(", ")) {
        headers.insert(header::ACCEPT_ENCODING, value);
    }
}

/// Returns whether one item of the header is `identity;q=0` or `*;q=0`.
fn refuses_plain(item: &str) -> bool {
    let Some((name, weight)) = item.split_once(';') else { return false };
    let name = name.trim();
    let weight = weight.trim().to_ascii_lowercase();
    let is_zero = weight
        .strip_prefix("q=0")
        .is_some_and(|rest| rest.trim_start_matches('.').chars().all(|digit| digit == '0'));
    is_zero && (name == "*" || name.eq_ignore_ascii_case("identity"))
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue, header};

    use super::allow_plain;

    fn check(given: &'static str, expected: &str) {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(given));
        allow_plain(&mut headers);
        assert_eq!(headers[header::ACCEPT_ENCODING], expected);
    }

    #[test]
    fn plain_responses_become_the_last_resort_of_those_who_refuse_them() {
        check("*;q=0", "identity;q=0.001, *;q=0");
        check("br, identity; Q=0.000", "identity;q=0.001, br, identity; Q=0.000");
        for kept in ["gzip", "gzip;q=0", "*;q=0.5", "identity;q=0.01, gzip", "", "*"] {
            check(kept, kept);
        }
    }
}
