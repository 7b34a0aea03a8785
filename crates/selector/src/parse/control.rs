//! Parses controls: `@mode=latest`, `@limit=5`, `@first`.

use super::report::quote;
use super::time::CONTROLS;
use super::{Failed, Parsed, Parser};
use crate::ast::{Controls, Mode, Order};
use crate::error::{ErrorKind, SelectorError};
use crate::scan::is_word;
use crate::{Edition, Span, Spanned};

impl Parser<'_> {
    /// Parses one control into its field. On failure its value has been skipped.
    pub(super) fn control(&mut self, controls: &mut Controls) -> Parsed<()> {
        self.count();
        let start = self.scan.position();
        self.scan.advance(1);
        let name = self.scan.take_while(is_word);
        let name_span = self.scan.span_since(start);
        match name {
            "mode" => self.needs(Edition::V0_2, name_span, "the control `@mode`"),
            "p" => self.needs(Edition::V0_3, name_span, "the control `@p`"),
            "limit" => self.needs(Edition::V0_3, name_span, "the control `@limit`"),
            "order" => self.needs(Edition::V0_3, name_span, "the control `@order`"),
            "first" => self.needs(Edition::V0_3, name_span, "the control `@first`"),
            "unique" => self.needs(Edition::V0_3, name_span, "the control `@unique`"),
            _ => return Err(self.unknown_control(name, name_span)),
        }
        let read = self.control_value(name, start, controls);
        if read.is_err() {
            // The value is invalid; values never contain whitespace.
            self.scan.take_while(|byte| !crate::scan::is_blank(byte) && byte != b'@');
        }
        let again = read?;
        if again {
            let found = format!("`@{name}`");
            let span = self.scan.span_since(start);
            let expected = "each control once";
            self.report(SelectorError::new(ErrorKind::Duplicate, span, found, expected));
        }
        Ok(())
    }

    /// Parses the value of the control `name` and stores it; returns whether there was one already.
    fn control_value(&mut self, name: &str, start: usize, controls: &mut Controls) -> Parsed<bool> {
        Ok(match name {
            "mode" => {
                let mode = self.choice(start, &Mode::ALL, Mode::as_str)?;
                controls.mode.replace(mode).is_some()
            }
            "order" => {
                let order = self.choice(start, &Order::ALL, Order::as_str)?;
                controls.order.replace(order).is_some()
            }
            "limit" => {
                let limit = self.number_of(start)?;
                controls.limit.replace(limit).is_some()
            }
            "p" => {
                let page = self.number_of(start)?;
                if page.value == 0 {
                    let expected = "a page counted from 1";
                    let error =
                        SelectorError::new(ErrorKind::InvalidNumber, page.span, "`0`", expected);
                    self.report(error);
                }
                controls.page.replace(page).is_some()
            }
            "first" => controls.first.replace(self.scan.span_since(start)).is_some(),
            _ => controls.unique.replace(self.scan.span_since(start)).is_some(),
        })
    }

    fn equals(&mut self) -> Parsed<()> {
        self.scan.skip_blanks();
        if !self.scan.eat(b'=') {
            return Err(self.unexpected("`=` and a value"));
        }
        self.scan.skip_blanks();
        Ok(())
    }

    fn number_of(&mut self, start: usize) -> Parsed<Spanned<u64>> {
        self.equals()?;
        let number = self.unsigned("a whole number")?;
        Ok(Spanned::new(number, self.scan.span_since(start)))
    }

    fn choice<T: Copy>(
        &mut self,
        start: usize,
        choices: &[T],
        name_of: impl Fn(T) -> &'static str,
    ) -> Parsed<Spanned<T>> {
        self.equals()?;
        let at = self.scan.position();
        let word = self.scan.take_while(|byte| is_word(byte) || byte == b':' || byte == b',');
        if let Some(choice) = choices.iter().find(|choice| name_of(**choice) == word) {
            return Ok(Spanned::new(*choice, self.scan.span_since(start)));
        }
        if word.is_empty() {
            return Err(self.unexpected("a value"));
        }
        let names: Vec<&str> = choices.iter().map(|choice| name_of(*choice)).collect();
        let listed = format!("`{}`", names.join("`, `"));
        let (whole, span) = (self.scan.since(start), self.scan.span_since(at));
        let error =
            SelectorError::new(ErrorKind::UnknownControl, span, quote(whole), listed.clone());
        Err(self.report(error.help(format!("the values are {listed}")).suggest("", word, &names)))
    }

    #[cold]
    fn unknown_control(&mut self, name: &str, span: Span) -> Failed {
        let is_snapshot = name == "history"
            || name.strip_prefix(['t', 'c']).is_some_and(|digits| digits.parse::<i64>().is_ok())
            || (name.is_empty() && self.scan.peek() == Some(b'*'));
        self.scan.take_while(|byte| !crate::scan::is_blank(byte) && byte != b'@');
        let found = quote(self.scan.since(span.start as usize));
        let span = self.scan.span_since(span.start as usize);
        let listed = "`@mode`, `@p`, `@limit`, `@order`, `@first`, `@unique`";
        self.report(if is_snapshot {
            let expected = "the snapshot at the beginning";
            SelectorError::new(ErrorKind::Misplaced, span, found, expected)
        } else {
            SelectorError::new(ErrorKind::UnknownControl, span, found, listed)
                .help(format!("the controls are {listed}"))
                .suggest("@", name, &CONTROLS)
        })
    }
}
