//! Prints the complete selector in canonical form.

use std::fmt::{self, Display, Formatter, Write as _};

use super::List;
use super::filter::Quoted;
use crate::ast::{Body, Controls, Selector, Tag};
use crate::scan::is_identifier_text;
use crate::{Edition, Spanned};

impl Display for Selector {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut words = Words { f, first: true };
        if let Some(time) = &self.time {
            words.push(time)?;
        }
        let is_search = matches!(self.body, Body::Step | Body::Deep(_) | Body::Tree);
        let (plus, mut block): (Vec<&Tag>, Vec<&Tag>) =
            self.tags.iter().partition(|tag| is_plain_tag(&tag.name));
        let mut plus = plus;
        // `+tag` alone is a deep search; every other search needs a block.
        let bare = matches!(self.body, Body::Deep(None));
        if is_search && !bare && self.filters.is_empty() && block.is_empty() {
            block = std::mem::take(&mut plus);
        }
        let has_block = !self.filters.is_empty() || !block.is_empty();
        match &self.body {
            Body::Chains(chains) => words.push(List(chains, ", "))?,
            Body::Position(position) => words.push(position)?,
            Body::Step => words.push("?")?,
            Body::Deep(None) if !has_block && !plus.is_empty() => {}
            Body::Deep(None) => words.push("??")?,
            Body::Deep(Some(within)) => words.push(format_args!("{within} ??"))?,
            Body::Tree => {}
        }
        if is_search && has_block {
            words.block(self, &block)?;
        }
        for tag in &plus {
            words.push(format_args!("+{}", tag.name))?;
        }
        if !is_search && has_block {
            words.block(self, &block)?;
        }
        // Directly after a chain a bracket would be another step.
        let is_step = matches!(self.body, Body::Chains(_)) && plus.is_empty() && !has_block;
        if is_step {
            words.controls(&self.controls)?;
            return words.behavior(self);
        }
        words.behavior(self)?;
        words.controls(&self.controls)
    }
}

/// Returns whether a tag can be written `+tag`: an identifier without a colon.
fn is_plain_tag(name: &str) -> bool {
    is_identifier_text(name) && !name.contains(':')
}

/// Writes items separated by single spaces.
struct Words<'w, 'f> {
    f: &'w mut Formatter<'f>,
    first: bool,
}

impl Words<'_, '_> {
    fn push(&mut self, word: impl Display) -> fmt::Result {
        if !std::mem::take(&mut self.first) {
            self.f.write_char(' ')?;
        }
        write!(self.f, "{word}")
    }

    fn block(&mut self, selector: &Selector, tags: &[&Tag]) -> fmt::Result {
        let filters = selector.filters.iter().map(ToString::to_string);
        let tags = tags.iter().map(|tag| format!("tag={}", Quoted(&tag.name)));
        let properties: Vec<String> = filters.chain(tags).collect();
        self.push(format_args!("{{ {} }}", properties.join(", ")))
    }

    fn behavior(&mut self, selector: &Selector) -> fmt::Result {
        if selector.behavior.is_empty() {
            return Ok(());
        }
        match selector.edition {
            Edition::V0_3 => self.push(format_args!("[ {} ]", List(&selector.behavior, ", "))),
            // Lists of conditions were introduced in edition 0.3.
            _ => self.push(format_args!("[{}]", List(&selector.behavior, "]["))),
        }
    }

    fn controls(&mut self, controls: &Controls) -> fmt::Result {
        if let Some(Spanned { value, .. }) = controls.mode {
            self.push(format_args!("@mode={}", value.as_str()))?;
        }
        if let Some(Spanned { value, .. }) = controls.page {
            self.push(format_args!("@p={value}"))?;
        }
        if let Some(Spanned { value, .. }) = controls.limit {
            self.push(format_args!("@limit={value}"))?;
        }
        if let Some(Spanned { value, .. }) = controls.order {
            self.push(format_args!("@order={}", value.as_str()))?;
        }
        if controls.first.is_some() {
            self.push("@first")?;
        }
        if controls.unique.is_some() {
            self.push("@unique")?;
        }
        Ok(())
    }
}
