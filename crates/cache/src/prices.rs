//! Prices of models, from a file: what calls cost.
//!
//! ```toml
//! currency = "USD"
//!
//! [models."claude-opus-4-5"]       # and every model whose name begins with this
//! input = 5.00                     # per million tokens
//! output = 25.00
//! cache_read = 0.50                # default: like input
//! cache_write = 6.25               # default: like input
//! cache_write_1h = 10.00           # default: like cache_write
//! ```

use std::fmt;

use contextree_tokens::bare_model;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::history::Step;

/// Prices of models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prices {
    currency: String,
    /// By the beginning of the name.
    models: Vec<(String, Price)>,
}

/// The price of a token, in millionths of a millionth of the currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Input that is neither read from the cache nor written to it.
    pub input: u64,
    /// Output, reasoning included.
    pub output: u64,
    /// Input that is read from the cache.
    pub cache_read: u64,
    /// Input that is written to the cache.
    pub cache_write: u64,
    /// Input that is written to the cache for an hour.
    pub cache_write_1h: u64,
}

impl Prices {
    /// Reads a price file.
    ///
    /// # Errors
    ///
    /// If it is not TOML, or has other keys or values than these; with the line and the column.
    pub fn read(text: &str) -> Result<Prices, PriceError> {
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let message = error.message().lines().next().unwrap_or_default().to_owned();
            PriceError::new(text, at, message)
        })?;
        let mut prices = Prices { currency: "USD".to_owned(), models: Vec::new() };
        for (key, value) in table.get_ref() {
            let at = value.span().start;
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("currency", DeValue::String(currency)) => prices.currency = currency.to_string(),
                ("models", DeValue::Table(models)) => {
                    for (name, price) in models {
                        let DeValue::Table(table) = price.get_ref() else {
                            let message =
                                format!("the prices of `{}` are not a table", name.get_ref());
                            return Err(PriceError::new(text, price.span().start, message));
                        };
                        prices.models.push((name.get_ref().to_string(), price_of(text, table)?));
                    }
                }
                ("currency" | "models", _) => {
                    return Err(PriceError::new(
                        text,
                        at,
                        format!("`{}` has the wrong type", key.get_ref()),
                    ));
                }
                (other, _) => {
                    let at = key.span().start;
                    return Err(PriceError::new(text, at, format!("prices have no `{other}`")));
                }
            }
        }
        // The longest beginning counts.
        prices.models.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Ok(prices)
    }

    /// Returns the currency.
    #[must_use]
    pub fn currency(&self) -> &str {
        &self.currency
    }

    /// Returns the price of a model: that with the longest name that its name begins with.
    #[must_use]
    pub fn of_model(&self, model: &str) -> Option<Price> {
        let model = bare_model(model);
        let found = self.models.iter().find(|(name, _)| model.starts_with(name.as_str()));
        found.map(|(_, price)| *price)
    }
}

impl Price {
    /// Returns what a call cost, in millionths of the currency, rounded. By its bill, or without one
    /// by what is predicted: then `writes` tells whether everything new is written to the cache.
    #[must_use]
    pub fn micros(&self, step: &Step, writes: bool) -> u64 {
        let (input, cached, written, hour, output) = match &step.billed {
            Some(billed) => {
                let written = billed.written.unwrap_or(0);
                let hour = billed.written_hour.unwrap_or(0).min(written);
                let cached = billed.cached.unwrap_or(step.cached).min(billed.input);
                (billed.input, cached, written, hour, billed.output.unwrap_or(0))
            }
            None => {
                let new = step.tokens.saturating_sub(step.cached);
                (step.tokens, step.cached, if writes { new } else { 0 }, 0, 0)
            }
        };
        let plain = input.saturating_sub(cached).saturating_sub(written);
        let parts = [
            (plain, self.input),
            (cached, self.cache_read),
            (written - hour, self.cache_write),
            (hour, self.cache_write_1h),
            (output, self.output),
        ];
        let all: u128 =
            parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum();
        u64::try_from((all + MILLION / 2) / MILLION).unwrap_or(u64::MAX)
    }
}

const MILLION: u128 = 1_000_000;

fn price_of(text: &str, table: &DeTable<'_>) -> Result<Price, PriceError> {
    let mut found = [None; 5];
    for (key, value) in table {
        let Some(index) = KEYS.iter().position(|name| *name == key.get_ref().as_ref()) else {
            let message = format!("a price has no `{}`", key.get_ref());
            return Err(PriceError::new(text, key.span().start, message));
        };
        found[index] = Some(number(text, value)?);
    }
    let [input, output, cache_read, cache_write, cache_write_1h] = found;
    let input = input.unwrap_or(0);
    let cache_write = cache_write.unwrap_or(input);
    Ok(Price {
        input,
        output: output.unwrap_or(0),
        cache_read: cache_read.unwrap_or(input),
        cache_write,
        cache_write_1h: cache_write_1h.unwrap_or(cache_write),
    })
}

const KEYS: [&str; 5] = ["input", "output", "cache_read", "cache_write", "cache_write_1h"];

/// Returns a decimal number times a million. Floating point would round it.
fn number(text: &str, value: &Spanned<DeValue<'_>>) -> Result<u64, PriceError> {
    let written = match value.get_ref() {
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Float(number) => number.as_str().to_owned(),
        _ => String::new(),
    };
    let (whole, rest) = written.split_once('.').unwrap_or((&written, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let scaled = (!whole.is_empty() && digits(whole) && digits(rest) && rest.len() <= 6)
        .then(|| format!("{whole}{rest:0<6}").parse().ok());
    scaled.flatten().ok_or_else(|| {
        let message = "a price is a number with at most six decimals, such as 6.25".to_owned();
        PriceError::new(text, value.span().start, message)
    })
}

/// An invalid price file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceError {
    /// What is wrong.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

impl PriceError {
    fn new(text: &str, at: usize, message: String) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = before.matches('\n').count() + 1;
        PriceError { message, line, column: before[line_start..].chars().count() + 1 }
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "E_PRICES_INVALID"
    }

    /// Returns a hint.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        "a table for each model, `[models.\"claude-opus-4-5\"]`, with input, output, cache_read, cache_write and cache_write_1h per million tokens"
    }
}

impl fmt::Display for PriceError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for PriceError {}

#[cfg(test)]
mod tests {
    use super::{Price, Prices};

    const FILE: &str = "currency = \"EUR\"\n[models.\"claude-opus\"]\ninput = 5\noutput = 25.0\ncache_read = 0.5\ncache_write = 6.25\n[models.\"claude-opus-4-1\"]\ninput = 15\n";

    #[test]
    fn the_longest_name_counts() {
        let prices = Prices::read(FILE).unwrap();
        let expected = Price {
            input: 5_000_000,
            output: 25_000_000,
            cache_read: 500_000,
            cache_write: 6_250_000,
            cache_write_1h: 6_250_000,
        };
        assert_eq!(prices.of_model("anthropic/claude-opus-4-5"), Some(expected));
        assert_eq!(prices.of_model("claude-opus-4-1").unwrap().cache_read, 15_000_000);
        assert_eq!((prices.of_model("gpt-5"), prices.currency()), (None, "EUR"));
    }

    #[test]
    fn errors_have_a_position() {
        let check = |text: &str, expected: &str| {
            assert_eq!(Prices::read(text).unwrap_err().to_string(), expected);
        };
        check("currencies = 1", "line 1, column 1: prices have no `currencies`");
        check(
            "[models.x]\ninput = -1",
            "line 2, column 9: a price is a number with at most six decimals, such as 6.25",
        );
        check("[models.x]\nin = 1", "line 2, column 1: a price has no `in`");
        check("models = 3", "line 1, column 10: `models` has the wrong type");
    }
}
