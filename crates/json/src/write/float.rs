//! Doubles as Python's `repr` writes them: the shortest digits that read back to the same double.
//!
//! From 1e-4 up to below 1e16 the text is positional and has a point (`100000.0`), otherwise it has
//! an exponent with a sign and at least two digits (`1e+16`, `1e-07`, `1.5e+300`).

/// Appends a finite double.
///
/// NaN and infinities have no JSON text. A [`Number`](crate::Number) cannot hold them; if a caller
/// passes one anyway, this writes `null`.
pub fn float(out: &mut Vec<u8>, float: f64) {
    if !float.is_finite() {
        debug_assert!(false, "a non-finite double has no JSON text");
        out.extend_from_slice(b"null");
        return;
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(float);
    let size = float.abs();
    if size == 0.0 || (1e-4..1e16).contains(&size) {
        // In this range the formatter's shortest positional text equals Python's, character by
        // character.
        out.extend_from_slice(text.as_bytes());
    } else {
        scientific(out, text);
    }
}

/// Rewrites a number from any notation to `d.ddde±xx`.
fn scientific(out: &mut Vec<u8>, text: &str) {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut exponent: i32 = exponent.parse().unwrap_or(0);

    let digits: String = [whole, fraction].concat();
    let significant = digits.trim_start_matches('0');
    let leading_zeros = digits.len() - significant.len();
    exponent += whole.len() as i32 - leading_zeros as i32 - 1;
    let significant = significant.trim_end_matches('0');

    out.extend_from_slice(sign.as_bytes());
    let (first, rest) = significant.split_at(1);
    out.extend_from_slice(first.as_bytes());
    if !rest.is_empty() {
        out.push(b'.');
        out.extend_from_slice(rest.as_bytes());
    }
    out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
    if exponent.abs() < 10 {
        out.push(b'0');
    }
    out.extend_from_slice(itoa::Buffer::new().format(exponent.unsigned_abs()).as_bytes());
}

#[cfg(test)]
mod tests {
    #[test]
    fn doubles_are_written_as_python_writes_them() {
        #[track_caller]
        fn check(float: f64, expect: &str) {
            let mut out = Vec::new();
            super::float(&mut out, float);
            assert_eq!(String::from_utf8(out).unwrap(), expect);
        }
        check(0.0, "0.0");
        check(-0.0, "-0.0");
        check(1.0, "1.0");
        check(0.1, "0.1");
        check(-2.5, "-2.5");
        check(100_000.0, "100000.0");
        check(123_456_789.125, "123456789.125");
        check(9_999_999_999_999_998.0, "9999999999999998.0");
        check(1e16, "1e+16");
        check(-1.234e16, "-1.234e+16");
        check(1e21, "1e+21");
        check(1e22, "1e+22");
        check(1e23, "1e+23");
        check(0.0001, "0.0001");
        check(0.000_099_99, "9.999e-05");
        check(0.00001, "1e-05");
        check(-0.000_012_5, "-1.25e-05");
        check(1e-7, "1e-07");
        check(1.5e300, "1.5e+300");
        check(5e-324, "5e-324");
        check(f64::MIN_POSITIVE, "2.2250738585072014e-308");
        check(f64::MAX, "1.7976931348623157e+308");
        check(f64::MIN, "-1.7976931348623157e+308");
    }
}
