//! Reads a budget from a document.

use contextree_query::{QueryError, resolve_on_tree};
use contextree_selector::{Edition, parse};
use contextree_tokens::Tokenizer;
use contextree_tree::Region;

use crate::budget::Budget;
use crate::document::{self, Item, Value, place};
use crate::error::{BudgetError, Fault};
use crate::size::parse_size;

const KEYS: [&str; 12] = [
    "tokenizer",
    "max_tokens",
    "turn_tokens",
    "max_turns",
    "keep_turns",
    "keep_user",
    "exclude",
    "clear_at_least",
    "keep_results",
    "placeholder",
    "summary_tokens",
    "regions",
];
const REGIONS: [&str; 3] = ["sys", "seq", "ah"];

impl Budget {
    /// Reads a budget from TOML. Selectors are checked in the default edition.
    ///
    /// # Errors
    ///
    /// Returns the first problem in `text`, with its line, column and key, and a hint.
    pub fn from_toml(text: &str) -> Result<Budget, BudgetError> {
        let text = without_mark(text);
        Reading { text, edition: Edition::default() }.budget(&document::toml(text)?)
    }

    /// Reads a budget from JSON. The keys are those of TOML.
    ///
    /// # Errors
    ///
    /// In the same cases as [`Budget::from_toml`].
    pub fn from_json(text: &str) -> Result<Budget, BudgetError> {
        let text = without_mark(text);
        Reading { text, edition: Edition::default() }.budget(&document::json(text)?)
    }

    /// Reads a budget from JSON if the text begins with `{`, and from TOML otherwise. Checks
    /// selectors in the edition of a context.
    ///
    /// # Errors
    ///
    /// In the same cases as [`Budget::from_toml`].
    pub fn read(text: &str, edition: Edition) -> Result<Budget, BudgetError> {
        let text = without_mark(text);
        let is_json = text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with('{');
        let document = if is_json { document::json(text)? } else { document::toml(text)? };
        Reading { text, edition }.budget(&document)
    }
}

/// Removes the byte order mark with which some editors begin a file.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

struct Reading<'t> {
    text: &'t str,
    edition: Edition,
}

impl Reading<'_> {
    fn budget(&self, document: &Item) -> Result<Budget, BudgetError> {
        let mut budget = Budget::default();
        let mut places: Vec<(&str, usize)> = Vec::new();
        for (key, at, item) in self.table(document, "")? {
            if places.iter().any(|(known, _)| known == key) {
                return Err(self.error(*at, key, Fault::DuplicateKey, "remove one of the two"));
            }
            places.push((key, *at));
            match key.as_str() {
                "tokenizer" => budget.tokenizer = Some(self.tokenizer(item)?),
                "max_tokens" => budget.max_tokens = Some(self.whole(item, key)?),
                "turn_tokens" => budget.turn_tokens = Some(self.whole(item, key)?),
                "max_turns" => budget.max_turns = Some(self.whole(item, key)?),
                "keep_turns" => budget.keep_turns = self.whole(item, key)?,
                "keep_user" => budget.keep_user = self.truth(item, key)?,
                "clear_at_least" => budget.clear_at_least = Some(self.whole(item, key)?),
                "keep_results" => budget.keep_results = Some(self.whole(item, key)?),
                "placeholder" => budget.placeholder = Some(self.text_of(item, key)?.to_owned()),
                "summary_tokens" => budget.summary_tokens = Some(self.whole(item, key)?),
                "exclude" => budget.exclude = self.selectors(item)?,
                "regions" => budget.region_tokens = self.regions(item)?,
                _ => return Err(self.unknown(*at, "", key, &KEYS)),
            }
        }
        self.agrees(&budget, &places)?;
        Ok(budget)
    }

    /// Refuses budgets that cannot be satisfied.
    fn agrees(&self, budget: &Budget, places: &[(&str, usize)]) -> Result<(), BudgetError> {
        let refuse = |key: &str, message: String, hint: &str| {
            let at = places.iter().find(|(known, _)| *known == key).map_or(0, |(_, at)| *at);
            Err(self.error(at, key, Fault::Contradiction { message }, hint))
        };
        let limits = budget.rules().len() - usize::from(budget.clear_at_least.is_some());
        if budget.clear_at_least.is_some() && limits == 0 {
            return refuse(
                "clear_at_least",
                "nothing is ever cleared, because there is no limit to exceed".to_owned(),
                "set `max_tokens` as well",
            );
        }
        if let (Some(least), Some(max)) = (budget.clear_at_least, budget.max_tokens)
            && least >= max
        {
            let message = format!("clearing at least {least} of {max} tokens would leave nothing");
            return refuse(
                "clear_at_least",
                message,
                "a tenth to a third of `max_tokens` is usual",
            );
        }
        let set = [
            (
                "keep_results",
                budget.keep_results.is_some() && limits == 0,
                "no result is ever cleared, because there is no limit to exceed",
                "set `max_tokens` as well",
            ),
            (
                "placeholder",
                budget.placeholder.is_some() && budget.keep_results.is_none(),
                "no result is ever cleared",
                "set `keep_results` as well: the newest results that are not cleared",
            ),
            (
                "summary_tokens",
                budget.summary_tokens.is_some() && budget.max_tokens.is_none(),
                "there is no limit to stay below",
                "set `max_tokens` as well",
            ),
        ];
        for (key, is_useless, message, hint) in set {
            if is_useless {
                return refuse(key, message.to_owned(), hint);
            }
        }
        if let (Some(kept), Some(max)) = (budget.summary_tokens, budget.max_tokens)
            && kept >= max
        {
            let message = format!("a summary of {kept} of {max} tokens would leave nothing");
            return refuse("summary_tokens", message, "a tenth of `max_tokens` is usual");
        }
        if let Some(max) = budget.max_turns
            && max < budget.keep_turns
        {
            let kept = budget.keep_turns;
            let message = format!("cannot keep {kept} of {max} turns");
            return refuse("max_turns", message, "raise `max_turns`, or lower `keep_turns`");
        }
        Ok(())
    }

    fn tokenizer(&self, item: &Item) -> Result<Tokenizer, BudgetError> {
        let name = self.text_of(item, "tokenizer")?;
        Tokenizer::named(name).map_err(|unknown| {
            let hint = unknown.hint();
            self.error(item.at, "tokenizer", Fault::UnknownTokenizer { name: unknown.name }, &hint)
        })
    }

    fn selectors(&self, item: &Item) -> Result<Vec<String>, BudgetError> {
        let Value::List(items) = &item.value else {
            return Err(self.wrong(item, "exclude", "a list of selectors"));
        };
        let selector = |(index, item): (usize, &Item)| {
            let key = format!("exclude[{index}]");
            let text = self.text_of(item, &key)?;
            let checked = parse(text, self.edition)
                .map_err(QueryError::from)
                .and_then(|selector| Ok(resolve_on_tree(&selector)?));
            match checked {
                Ok(_) => Ok(text.to_owned()),
                Err(error) => {
                    let message = error.to_string();
                    let fault = Fault::Selector { message, code: error.code().to_owned() };
                    let hint =
                        "use a selector without a time prefix, such as `.block[kind='task']`";
                    Err(self.error(item.at, &key, fault, hint))
                }
            }
        };
        items.iter().enumerate().map(selector).collect()
    }

    fn regions(&self, item: &Item) -> Result<[Option<u64>; 3], BudgetError> {
        let mut tokens = [None; 3];
        for (name, at, item) in self.table(item, "regions")? {
            let key = format!("regions.{name}");
            let word = format!("^{}", name.strip_prefix('^').unwrap_or(name));
            let Some(region) = Region::from_word(&word) else {
                return Err(self.unknown(*at, "regions.", name, &REGIONS));
            };
            let slot: &mut Option<u64> = &mut tokens[region as usize];
            if slot.is_some() {
                return Err(self.error(*at, &key, Fault::DuplicateKey, "remove one of the two"));
            }
            *slot = Some(self.whole(item, &key)?);
        }
        Ok(tokens)
    }

    fn table<'i>(
        &self,
        item: &'i Item,
        key: &str,
    ) -> Result<&'i [(String, usize, Item)], BudgetError> {
        match &item.value {
            Value::Table(entries) => Ok(entries),
            _ => Err(self.wrong(item, key, "a table")),
        }
    }

    fn text_of<'i>(&self, item: &'i Item, key: &str) -> Result<&'i str, BudgetError> {
        match &item.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.wrong(item, key, "a string")),
        }
    }

    fn whole(&self, item: &Item, key: &str) -> Result<u64, BudgetError> {
        match &item.value {
            Value::Whole(number) => Ok(*number),
            Value::Text(text) => {
                parse_size(text).ok_or_else(|| self.wrong(item, key, "a whole number"))
            }
            _ => Err(self.wrong(item, key, "a whole number")),
        }
    }

    fn truth(&self, item: &Item, key: &str) -> Result<bool, BudgetError> {
        match &item.value {
            Value::Truth(value) => Ok(*value),
            _ => Err(self.wrong(item, key, "a boolean")),
        }
    }

    fn wrong(&self, item: &Item, key: &str, expected: &'static str) -> BudgetError {
        let fault = Fault::WrongType { expected, found: item.value.name() };
        let hint = match expected {
            "a whole number" => "write a number of tokens or turns: 100000 or \"100k\"",
            "a boolean" => "write `true` or `false` without quotes",
            "a list of selectors" => {
                "write selectors in brackets, each in quotes: [\".block[kind='task']\"]"
            }
            "a table" => "write keys with values, such as `sys = 4000` below `[regions]`",
            _ => "write it in quotes",
        };
        self.error(item.at, key, fault, hint)
    }

    fn unknown(&self, at: usize, above: &str, key: &str, known: &[&str]) -> BudgetError {
        let hint = match contextree_selector::closest(key, known) {
            Some(closest) => format!("did you mean `{closest}`?"),
            None => format!("expected one of: {}", known.join(", ")),
        };
        self.error(at, &format!("{above}{key}"), Fault::UnknownKey, &hint)
    }

    fn error(&self, at: usize, key: &str, fault: Fault, hint: &str) -> BudgetError {
        let (line, column) = place(self.text, at);
        BudgetError { fault, key: key.to_owned(), line, column, hint: hint.to_owned() }
    }
}
